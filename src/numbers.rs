//! Formatting of numbers for the command line, the report and findings. Small numbers have significant
//! digits, so only 0 is printed as 0, and only 1 as 1.
//!
//! ```
//! use burn_calibration::numbers::{percent, points_with_error, share};
//!
//! assert_eq!(share(0.999_97, 3), "0.999970");
//! assert_eq!(percent(0.000_31, 1), "0.031 %");
//! assert_eq!(points_with_error(0.0546, 0.0034), "5.46 ± 0.34");
//! ```

/// Numbers of which those that agree up to rounding are equal: each is the smallest of the numbers that it agrees with.
/// Code that orders or splits numbers takes these. So the rounding of computed widths, means or probabilities decides
/// nothing.
///
/// - rounding: the largest difference for rounding of the number at a place, a few ulps of the largest of its parts
pub(crate) fn tied(values: &[f64], rounding: impl Fn(usize) -> f64) -> Vec<f64> {
    let most = (0..values.len()).map(&rounding).fold(0.0, f64::max);
    if are_apart(values, most) {
        return values.to_vec();
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut tied = values.to_vec();
    let mut least = f64::NAN;
    for at in order {
        if values[at] - least <= rounding(at) {
            tied[at] = least;
        } else {
            least = values[at]; // NaN as well
        }
    }
    tied
}

/// Whether numbers that are not the same bits differ by more than a rounding: then there is nothing to tie. Bits are
/// sorted in a third of the time of places.
fn are_apart(values: &[f64], rounding: f64) -> bool {
    // the order of `total_cmp`
    let flip = |bits: i64| bits ^ ((bits >> 63) as u64 >> 1) as i64;
    let bits = values.iter().map(|value| flip(value.to_bits() as i64));
    let mut bits: Vec<i64> = bits.collect();
    bits.sort_unstable();
    bits.windows(2).all(|pair| {
        let [least, next] = [pair[0], pair[1]].map(|bits| f64::from_bits(flip(bits) as u64));
        let is_rounding = next - least <= rounding; // not of NaN
        pair[0] == pair[1] || !is_rounding
    })
}

/// The most decimals: smaller numbers have an exponent.
const MOST: i32 = 8;

/// Writes a number with at least this number of decimals, and at least this number of significant digits.
pub fn decimals(x: f64, decimals: usize, digits: usize) -> String {
    if let Some(text) = not_finite(x) {
        return text.into();
    }
    if x == 0.0 {
        return format!("{:.decimals$}", 0.0); // −0 as well
    }
    let places = (decimals as i32).max(places(x, digits));
    if places > MOST {
        format!("{x:.*e}", digits.saturating_sub(1))
    } else {
        format!("{x:.*}", places as usize)
    }
}

/// Writes a number with this number of significant digits; large and small ones have an exponent.
pub fn significant(x: f64, digits: usize) -> String {
    if x == 0.0 {
        "0".into()
    } else if x.abs() < 1e-4 || x.is_finite() && x.abs() >= 1e6 {
        format!("{x:.*e}", digits.saturating_sub(1))
    } else {
        decimals(x, 0, digits)
    }
}

/// Writes a frequency or a probability with at least this number of decimals, and with two significant
/// digits of it and of its distance from 1: 0.99997 is not 1.
pub fn share(x: f64, least: usize) -> String {
    share_of(x, 1.0, least)
}

/// Writes a frequency as a percentage, `94.8 %`, as [`share`] does.
pub fn percent(x: f64, least: usize) -> String {
    match x {
        0.0 => "0 %".into(),
        1.0 => "100 %".into(),
        x => share_of(100.0 * x, 100.0, least) + " %",
    }
}

/// Writes a difference of frequencies in points, hundredths, with at least this number of decimals and two
/// significant digits. What is less than the rounding of a sum of frequencies is 0.
pub fn points(x: f64, least: usize) -> String {
    let is_rounding = x.abs() < 1e-13;
    decimals(if is_rounding { 0.0 } else { 100.0 * x }, least, 2)
}

/// Writes a difference of frequencies in points with its standard error, `5.46 ± 0.34`, both with the decimals that
/// show two significant digits of the error.
pub fn points_with_error(x: f64, error: f64) -> String {
    let [x, error] = [x, error].map(|x| 100.0 * x);
    let places = places(error, 2).clamp(1, MOST) as usize;
    format!("{x:.places$} ± {error:.places$}")
}

/// Writes a number with this number of decimals; without a sign where all digits are 0.
///
/// ```
/// use burn_calibration::numbers::fixed;
///
/// assert_eq!([fixed(-0.25, 1), fixed(-1e-9, 6), fixed(-0.0, 2)], ["-0.2", "0.000000", "0.00"]);
/// ```
pub fn fixed(x: f64, decimals: usize) -> String {
    unsigned_zero(format!("{x:.decimals$}"))
}

/// Writes a difference with its sign and this number of decimals; without a sign where all digits are 0.
pub fn signed(x: f64, decimals: usize) -> String {
    unsigned_zero(format!("{x:+.decimals$}"))
}

/// A zero without its sign.
fn unsigned_zero(text: String) -> String {
    let zero = text.trim_start_matches(['+', '-']);
    if zero.chars().all(|c| matches!(c, '0' | '.')) {
        zero.to_owned()
    } else {
        text
    }
}

/// Writes a number of things: `1 row`, `20 rows`, `3 classes`.
pub fn counted(number: usize, what: &str) -> String {
    let plural = match what {
        _ if number == 1 => "",
        what if what.ends_with('s') => "es",
        _ => "s",
    };
    format!("{number} {what}{plural}")
}

/// Writes an expected number of events.
pub fn expected(x: f64) -> String {
    match x {
        x if x >= 100.0 => decimals(x, 0, 3),
        x => significant(x, 3),
    }
}

fn share_of(x: f64, whole: f64, least: usize) -> String {
    let left = whole - x;
    if x > 0.0 && left > 0.0 && left < x && places(left, 2) <= MOST + 4 {
        format!("{x:.*}", (least as i32).max(places(left, 2)) as usize)
    } else {
        decimals(x, least, 2)
    }
}

/// The decimals that show this number of significant digits; 0 has none.
fn places(x: f64, digits: usize) -> i32 {
    let text = format!("{x:.*e}", digits.saturating_sub(1)); // rounds as it is printed
    let exponent = text
        .split_once('e')
        .and_then(|(_, e)| e.parse::<i32>().ok());
    let last = digits as i32 - 1;
    exponent.map_or(0, |exponent| (last - exponent).max(0))
}

fn not_finite(x: f64) -> Option<&'static str> {
    if x.is_nan() {
        Some("undefined")
    } else if x.is_infinite() {
        Some(if x > 0.0 { "∞" } else { "-∞" })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::tied;

    #[test]
    fn numbers_that_agree_up_to_rounding_are_equal() {
        let numbers = [0.1 + 0.2, 1.0, 0.3, f64::NAN, -0.3, 0.3 + 1e-12];
        let found = tied(&numbers, |at| 8.0 * f64::EPSILON * numbers[at].abs());
        assert_eq!(found[..3], [0.3, 1.0, 0.3]);
        assert!(found[3].is_nan());
        assert_eq!(found[4..], [-0.3, 0.3 + 1e-12]);
        // a chain ends: each is near the smallest
        assert_eq!(tied(&[0.0, 0.6, 1.2, 1.8], |_| 1.0), [0.0, 0.0, 1.2, 1.2]);
        let infinite = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(tied(&infinite, |_| 1e-9), infinite);
        assert!(tied(&[], |_| 1.0).is_empty());
        // far apart except for the last two, of either sign
        let apart: Vec<f64> = (-50..50).map(f64::from).chain([49.0 + 1e-14]).collect();
        let [found, kept] = [1e-12, 1e-15].map(|rounding| tied(&apart, |_| rounding));
        assert_eq!((found[100], kept[100]), (49.0, 49.0 + 1e-14));
        assert_eq!(found[..100], apart[..100]);
        assert!(tied(&[0.0, -0.0], |_| 0.0)[0].is_sign_negative());
    }
}
