//! Numbers as people write them.

use burn_calibration::{hypothesis::Probability, numbers};

/// `10,000`.
pub(super) fn whole(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of things: `1 sample`, `10,000 samples`.
pub(super) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", whole(number))
}

/// A count in at most five characters: `8,127`, `12.3k`, `250k`, `1.2M`.
pub(super) fn short(number: usize) -> String {
    let scaled = |unit: f64, letter: char| match number as f64 / unit {
        x if x < 99.95 => format!("{}{letter}", decimals(x, 1)),
        x => format!("{x:.0}{letter}"),
    };
    match number {
        0..10_000 => whole(number),
        10_000..999_500 => scaled(1e3, 'k'),
        999_500..999_500_000 => scaled(1e6, 'M'),
        _ => scaled(1e9, 'G'),
    }
}

/// Writes a number with at most this number of decimals, without zeros at the end.
pub(super) fn decimals(x: f64, places: usize) -> String {
    let text = format!("{x:.places$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    match text {
        "-0" => "0".into(),
        text => text.replace('-', "−"),
    }
}

/// Sets the minus and the exponent of a number, as `−6.07 × 10⁻⁴`, in one piece.
fn typeset(text: &str) -> String {
    let text = text.replace(' ', "\u{a0}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, ""));
    let mantissa = mantissa.replace('-', "−");
    if exponent.parse::<i32>().is_ok() {
        format!("{mantissa}\u{a0}×\u{a0}10{}", superscript(exponent))
    } else {
        text.replace('-', "−")
    }
}

/// Writes a number with four decimals, as in a table, more where it is small.
pub(super) fn fixed(x: f64) -> String {
    typeset(&numbers::decimals(x, 4, 2))
}

/// Writes a frequency with three decimals, more where it is near 0 or 1.
pub(super) fn share(x: f64) -> String {
    typeset(&numbers::share(x, 3))
}

/// Writes a ratio with three digits.
pub(super) fn ratio(x: f64) -> String {
    typeset(&numbers::significant(x, 3))
}

/// Writes the edge of a bin: three decimals, more where it is near 0 or 1, without zeros at the end.
pub(super) fn edge(x: f64) -> String {
    let text = share(x);
    if text.contains('×') {
        text
    } else {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// `94.83 %`, in one piece.
pub(super) fn percent(x: f64) -> String {
    typeset(&numbers::percent(x, 2))
}

/// `6.07 × 10⁻⁴`.
pub(super) fn scientific(x: f64) -> String {
    if x.is_finite() && x != 0.0 {
        typeset(&format!("{x:.2e}"))
    } else {
        ratio(x)
    }
}

/// `10⁻²`.
pub(super) fn power_of_ten(exponent: i32) -> String {
    format!("10{}", superscript(&exponent.to_string()))
}

/// Four digits of a number of whatever unit, an exponent where it is very large or small.
pub(super) fn significant(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e6).contains(&size) => {
            let places = (3.0 - size.log10().floor()).max(0.0) as usize;
            format!("{x:.places$}").replace('-', "−")
        }
        _ => scientific(x),
    }
}

/// A p-value without line breaks: `p = 0.034`, or `p ≤ 0.001` if it is a bound.
pub(super) fn p_value(p: Probability) -> String {
    typeset(&p.to_string())
}

/// A share in points, hundredths of a probability.
pub(super) fn points(x: f64) -> String {
    typeset(&numbers::points(without_rounding(x), 2))
}

/// A difference of shares, or 0 where it is no more than their rounding.
pub(super) fn without_rounding(x: f64) -> f64 {
    if x.abs() < 1e-14 { 0.0 } else { x }
}

fn superscript(exponent: &str) -> String {
    let raised = |character| match character {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    exponent.chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_write_them() {
        assert_eq!([whole(7), whole(999), whole(1000)], ["7", "999", "1,000"]);
        assert_eq!(whole(1_234_567), "1,234,567");
        let counts = [9_999, 10_000, 12_345, 99_949, 99_960, 250_000, 999_499];
        let expected = ["9,999", "10k", "12.3k", "99.9k", "100k", "250k", "999k"];
        assert_eq!(counts.map(short), expected);
        assert_eq!([short(999_500), short(1_234_567)], ["1M", "1.2M"]);
        assert_eq!([decimals(0.5, 3), decimals(-0.0001, 2)], ["0.5", "0"]);
        assert_eq!([decimals(100.0, 0), fixed(-0.25)], ["100", "−0.2500"]);
        assert_eq!(percent(0.94834), "94.83\u{a0}%");
        let pieces = |text: String| text.replace('\u{a0}', " ");
        assert_eq!(pieces(scientific(6.0719e-4)), "6.07 × 10⁻⁴");
        assert_eq!(pieces(scientific(-1.5e-10)), "−1.50 × 10⁻¹⁰");
        let numbers = [0.0, 0.001, -0.12346, 9.8765, 1234.56, 654_321.0, 1e6, -2e-5];
        let expected = "0 0.001000 −0.1235 9.877 1235 654321 1.00×10⁶ −2.00×10⁻⁵";
        let found = numbers.map(|x| significant(x).replace('\u{a0}', ""));
        assert_eq!(found.join(" "), expected);
        assert_eq!([points(0.0861), points(-1e-6)], ["8.61", "−0.00010"]);
        let edges = [0.0, 0.000_4, 0.25, 0.999_92, 1.0].map(edge);
        assert_eq!(edges, ["0", "0.0004", "0.25", "0.99992", "1"]);
        assert_eq!(fixed(0.000_012), "0.000012");
        assert_eq!([points(-0.0125), points(-2.8e-17)], ["−1.25", "0.00"]);
        let p_values = [0.001, 0.25, 0.002].map(|p| p_value(Probability::resampled(p, 999)));
        let expected = ["p ≤ 0.001", "p = 0.250", "p = 0.002"];
        assert_eq!(p_values.map(pieces), expected);
        assert_eq!(
            pieces(p_value(Probability::resampled(1e-4, 9999))),
            "p ≤ 1.0 × 10⁻⁴"
        );
        assert!(
            !p_value(Probability::AtMost(0.001)).contains(' '),
            "no line ends in it"
        );
    }

    #[test]
    fn any_number() {
        let numbers = [f64::MAX, -5e-324, f64::INFINITY, -f64::INFINITY, f64::NAN];
        let expected = "1.80×10³⁰⁸ −4.94×10⁻³²⁴ ∞ −∞ undefined";
        for write in [scientific, significant] {
            let found = numbers.map(|x| write(x).replace('\u{a0}', ""));
            assert_eq!(found.join(" "), expected);
        }
    }
}
