//! One-dimensional solvers in f64 that cannot fail: a bracket is kept at every step.

use std::ops::RangeInclusive;

/// Where a solver ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SolverEnd {
    pub x: f64,
    pub converged: bool,
}

impl SolverEnd {
    fn at(x: f64, converged: bool) -> Self {
        Self { x, converged }
    }
}

/// The root of an increasing function in a bracket with `f(low) < 0 < f(high)`: Newton steps,
/// replaced by bisection where they leave the bracket or shrink it too slowly.
///
/// - `f(x)` gives the value and the derivative.
pub(super) fn increasing_root(
    mut f: impl FnMut(f64) -> (f64, f64),
    bracket: RangeInclusive<f64>,
    start: f64,
    tolerance: f64,
    limit: usize,
) -> SolverEnd {
    let (mut low, mut high) = bracket.into_inner();
    let mut x = start.clamp(low, high);
    let mut last_step = high - low;
    for _ in 0..limit {
        let (value, slope) = f(x);
        if value < 0.0 {
            low = x
        } else {
            high = x
        }
        let newton = x - value / slope;
        let halves = (newton - x).abs() <= 0.5 * last_step;
        let next = if newton > low && newton < high && halves {
            newton
        } else {
            0.5 * (low + high)
        };
        last_step = (next - x).abs();
        if value == 0.0 || last_step <= tolerance {
            let x = if value == 0.0 { x } else { next };
            return SolverEnd::at(x, true);
        }
        x = next;
    }
    SolverEnd::at(x, false)
}

/// The minimum of a continuous function that lies downhill from a start in a bracket: steps that
/// double until the function rises again, then Brent's method (parabolic steps, replaced by golden
/// sections where they misbehave). Values that are not finite count as infinite; an end of the
/// bracket is a solution.
///
/// R. Brent: *Algorithms for minimization without derivatives*, 1973, chapter 5.
pub(super) fn minimum(
    mut f: impl FnMut(f64) -> f64,
    bracket: RangeInclusive<f64>,
    start: f64,
    tolerance: f64,
    limit: usize,
) -> SolverEnd {
    let (low, high) = bracket.into_inner();
    let mut f = |x| {
        Some(f(x))
            .filter(|value| value.is_finite())
            .unwrap_or(f64::INFINITY)
    };
    let mut at = |x: f64| (x.clamp(low, high), f(x.clamp(low, high)));
    let mut step = 0.125f64.min(0.5 * (high - low));
    let (mut left, mut middle, mut right) = (at(start - step), at(start), at(start + step));
    // walk until the middle is no higher than both of its neighbours
    while left.1 < middle.1 || right.1 < middle.1 {
        step *= 2.0;
        if left.1 <= right.1 {
            (left, middle, right) = (at(left.0 - step), left, middle);
        } else {
            (left, middle, right) = (middle, right, at(right.0 + step));
        }
    }
    if middle.0 == low || middle.0 == high {
        return SolverEnd::at(middle.0, true);
    }
    brent(f, (left.0, right.0), middle, tolerance, limit)
}

/// Brent's method from a bracket and its best known point with the value there.
fn brent(
    mut f: impl FnMut(f64) -> f64,
    (mut a, mut b): (f64, f64),
    (mut x, mut fx): (f64, f64),
    tolerance: f64,
    limit: usize,
) -> SolverEnd {
    let golden = 0.5 * (3.0 - 5f64.sqrt());
    let (mut w, mut fw, mut v, mut fv) = (x, fx, x, fx); // second best, and the one before
    let (mut step, mut previous) = (0.0f64, 0.0f64);
    for _ in 0..limit {
        let middle = 0.5 * (a + b);
        if (x - middle).abs() + 0.5 * (b - a) <= 2.0 * tolerance {
            return SolverEnd::at(x, true);
        }
        let parabola = parabolic_step((x, fx), (w, fw), (v, fv));
        let inside = |s: f64| x + s > a + tolerance && x + s < b - tolerance;
        let golden_step = if x < middle {
            golden * (b - x)
        } else {
            golden * (a - x)
        };
        (step, previous) = match parabola {
            Some(s) if s.abs() < 0.5 * previous.abs() && inside(s) => (s, step),
            _ => (golden_step, if x < middle { b - x } else { a - x }),
        };
        let u = x + if step.abs() >= tolerance {
            step
        } else {
            tolerance.copysign(step)
        };
        let fu = f(u);
        if fu <= fx {
            if u < x {
                b = x
            } else {
                a = x
            }
            (v, fv, w, fw, x, fx) = (w, fw, x, fx, u, fu);
        } else {
            if u < x {
                a = u
            } else {
                b = u
            }
            if fu <= fw || w == x {
                (v, fv, w, fw) = (w, fw, u, fu);
            } else if fu <= fv || v == x || v == w {
                (v, fv) = (u, fu);
            }
        }
    }
    SolverEnd::at(x, false)
}

/// The step from `x` to the vertex of the parabola through three points, if there is one.
fn parabolic_step((x, fx): (f64, f64), (w, fw): (f64, f64), (v, fv): (f64, f64)) -> Option<f64> {
    let r = (x - w) * (fx - fv);
    let q = (x - v) * (fx - fw);
    let p = (x - v) * q - (x - w) * r;
    Some(-0.5 * p / (q - r)).filter(|step| step.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_of_a_steep_and_of_a_flat_function() {
        let steep = increasing_root(|x| (x.exp() - 3.0, x.exp()), -50.0..=50.0, 40.0, 1e-14, 200);
        assert!(steep.converged && (steep.x - 3f64.ln()).abs() < 1e-14);
        let flat = increasing_root(
            |x| (x.tanh(), 1.0 / x.cosh().powi(2)),
            -50.0..=60.0,
            30.0,
            1e-14,
            200,
        );
        assert!(flat.converged && flat.x.abs() < 1e-13);
    }

    #[test]
    fn minimum_inside_at_an_end_and_beside_a_wall() {
        for start in [-5.0, -1.0, 0.3, 5.0] {
            let inside = minimum(|x| (x - 0.3).powi(2) + 1.0, -5.0..=5.0, start, 1e-9, 100);
            assert!(
                inside.converged && (inside.x - 0.3).abs() < 1e-7,
                "{inside:?}"
            );
        }
        assert_eq!(minimum(|x| x, -5.0..=5.0, 1.0, 1e-9, 100).x, -5.0);
        assert_eq!(minimum(|x| -x, -5.0..=5.0, 1.0, 1e-9, 100).x, 5.0);
        assert_eq!(minimum(|_| 1.0, -5.0..=5.0, 5.0, 1e-9, 100).x, 5.0);
        let wall = minimum(|x: f64| x - x.ln(), -2.0..=6.0, 3.0, 1e-9, 100); // NaN below 0
        assert!((wall.x - 1.0).abs() < 1e-7, "{wall:?}");
    }

    #[test]
    fn minimum_stays_in_the_valley_of_its_start() {
        let f = |x: f64| (x * x - 4.0).powi(2) + x;
        for (start, sign) in [(-1.5, -1.0), (1.5, 1.0)] {
            let x = minimum(f, -4.0..=4.0, start, 1e-10, 100).x;
            assert!(
                x * sign > 0.0 && (4.0 * x * (x * x - 4.0) + 1.0).abs() < 1e-5,
                "{x}"
            );
        }
    }
}
