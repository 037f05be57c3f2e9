//! Roots of increasing functions in one dimension. A bracket is kept at every step, so that they cannot fail.

use std::ops::RangeInclusive;

/// A function and its derivative at a point.
pub(crate) struct Evaluation {
    pub value: f64,
    pub derivative: f64,
}

/// The root of an increasing function in a bracket, or the end that is nearer to it: Newton steps, replaced by
/// bisection where they leave the bracket or shrink it too slowly.
///
/// Returns the point, and whether it converged.
pub(crate) fn increasing_root(
    mut f: impl FnMut(f64) -> Evaluation,
    bracket: RangeInclusive<f64>,
    start: f64,
    tolerance: f64,
    limit: usize,
) -> (f64, bool) {
    let (mut low, mut high) = bracket.into_inner();
    if f(low).value >= 0.0 {
        return (low, true);
    }
    if f(high).value <= 0.0 {
        return (high, true);
    }
    let mut x = start.clamp(low, high);
    let mut last_step = high - low;
    for _ in 0..limit {
        let Evaluation { value, derivative } = f(x);
        if value < 0.0 {
            low = x
        } else {
            high = x
        }
        let newton = x - value / derivative;
        let halves = (newton - x).abs() <= 0.5 * last_step;
        let next = if newton > low && newton < high && halves {
            newton
        } else {
            0.5 * (low + high)
        };
        last_step = (next - x).abs();
        if value == 0.0 || last_step <= tolerance {
            return (if value == 0.0 { x } else { next }, true);
        }
        x = next;
    }
    (x, false)
}

/// Encloses the least number of an interval at which an increasing function is at least 0: the function is below 0 at
/// the first number, and not at the second. The interval ends with at most the given width, with 0 at neighbouring
/// numbers. Without a derivative, for a function with steps or infinite values too.
///
/// From the end that is nearer to the root a step of the secant comes first, then one twice as long, which leaves the
/// root behind, so that both ends come near; then bisection, if the interval is not half as long (Alefeld, Potra,
/// Shi: *Enclosing zeros of continuous functions*, 1995).
pub(crate) fn enclose(
    [mut low, mut high]: [f64; 2],
    width: f64,
    mut f: impl FnMut(f64) -> f64,
) -> [f64; 2] {
    let [mut at_low, mut at_high] = [low, high].map(&mut f);
    if at_low >= 0.0 {
        return [low; 2];
    }
    let mut before = high - low;
    // 2⁻¹²⁸ of the interval at the latest, where the root is 0
    for round in 0..3 * 128 {
        let (length, middle) = (high - low, 0.5 * low + 0.5 * high);
        if middle <= low || middle >= high || length <= width {
            break;
        }
        let secant = |times: f64| {
            let slope = (at_high - at_low) / length;
            let (end, at_end) = if -at_low < at_high {
                (low, at_low)
            } else {
                (high, at_high)
            };
            Some(end - times * at_end / slope).filter(|x| low < *x && *x < high)
        };
        let x = match round % 3 {
            0 => secant(1.0).unwrap_or(middle),
            1 => secant(2.0).unwrap_or(middle),
            _ if length <= 0.5 * before => {
                before = length;
                continue;
            }
            _ => {
                before = length;
                middle
            }
        };
        let at_x = f(x);
        if at_x >= 0.0 {
            (high, at_high) = (x, at_x);
        } else {
            (low, at_low) = (x, at_x);
        }
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same number as by bisection, in few steps: of a straight line, of a curve with a flat part, a step, and a
    /// function that is infinite.
    #[test]
    fn least_roots() {
        type Function = fn(f64) -> f64;
        let functions: [(Function, usize); 5] = [
            (|x| x - 0.3, 6),
            (|x| (x.exp() - 1.2).max(0.0).ln(), 24),
            (|x| x.powi(9) - 1e-3, 40),
            (|x| (x - 0.7).max(0.0) + (x - 0.2).min(0.0), 200),
            (|x| if x < 0.6 { -1.0 } else { 1.0 }, 200),
        ];
        for (at, (f, most)) in functions.into_iter().enumerate() {
            let mut calls = 0;
            let [below, root] = enclose([-1.5, 4.0], 0.0, |x| {
                calls += 1;
                f(x)
            });
            assert!(f(root) >= 0.0 && f(below) < 0.0, "{at}: {root}");
            assert_eq!(below, root.next_down(), "{at}");
            assert!(calls <= most, "{at}: {calls} calls");
        }
        // an end of the interval, and none
        assert_eq!(enclose([2.0, 2.0], 0.0, |x| x), [2.0; 2]);
        assert_eq!(enclose([-2.0, 0.0], 0.0, |x| x)[1], 0.0);
        let [below, above] = enclose([-2.0, 5.0], 1e-3, |x| x * x * x);
        assert!(below < 0.0 && above >= 0.0 && above - below <= 1e-3);
    }
}
