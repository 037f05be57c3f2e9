//! A root in one dimension in f64, which cannot fail: a bracket is kept at every step.

use std::ops::RangeInclusive;

/// The root of an increasing function in a bracket, or the end that is nearer to it: Newton steps, replaced by
/// bisection where they leave the bracket or shrink it too slowly.
///
/// Returns the point, and whether it converged.
///
/// - `f(x)` gives the value and the derivative.
pub(super) fn increasing_root(
    mut f: impl FnMut(f64) -> (f64, f64),
    bracket: RangeInclusive<f64>,
    start: f64,
    tolerance: f64,
    limit: usize,
) -> (f64, bool) {
    let (mut low, mut high) = bracket.into_inner();
    if f(low).0 >= 0.0 {
        return (low, true);
    }
    if f(high).0 <= 0.0 {
        return (high, true);
    }
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
            return (if value == 0.0 { x } else { next }, true);
        }
        x = next;
    }
    (x, false)
}
