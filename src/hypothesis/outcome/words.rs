use std::fmt;

use super::TestOutcome;

impl fmt::Display for TestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        writeln!(f, "    estimate      {:.4e}", self.estimate)?;
        writeln!(f, "    statistic     {:.4}", self.statistic)?;
        if let Some(standardised) = self.standardised {
            writeln!(
                f,
                "    standardised  {standardised:.1} (standard deviations of the null)"
            )?;
        }
        write!(f, "    p-value       ")?;
        match (self.is_bound, self.strict) {
            (true, true) => write!(f, "p < {}", ShortNumber(self.p_value))?,
            (true, false) => write!(f, "p <= {}", ShortNumber(rounded_up(self.p_value)))?,
            (false, _) => write!(f, "p = {}", Digits(self.p_value))?,
        }
        write!(f, "  (n = {}", self.samples)?;
        match self.replicates {
            Some(replicates) => write!(f, ", {replicates} replicates)")?,
            None => write!(f, ")")?,
        }
        match &self.caveat {
            Some(caveat) => write!(f, "\n    caveat        {caveat}"),
            None => Ok(()),
        }
    }
}

/// A number with four decimals, or an exponent where they would show too little.
struct Digits(f64);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            p if p >= 1e-3 => write!(f, "{p:.4}"),
            p => write!(f, "{p:.2e}"),
        }
    }
}

/// A number with as few digits as it has.
struct ShortNumber(f64);

impl fmt::Display for ShortNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            p if p >= 1e-4 || p == 0.0 => write!(f, "{p}"),
            p => write!(f, "{p:e}"),
        }
    }
}

/// The least number of two significant digits that is not less.
fn rounded_up(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return p;
    }
    let unit = 10f64.powi(p.log10().floor() as i32 - 1);
    let up = (p / unit - 1e-6).ceil() * unit;
    format!("{up:.1e}").parse().expect("a number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_well() {
        let head = "test\n    estimate      1.0000e-2\n    statistic     1.0000\n    \
                    standardised  27.3 (standard deviations of the null)\n    p-value       ";
        let asymptotic =
            |tail| TestOutcome::asymptotic("test", 100, 0.01, 1.0, tail).with_standardised(27.34);
        let outcome = asymptotic(1e-44).with_expected_errors(Some(1.53));
        let caveat = "1.5 errors are expected: too few for this approximation, use ExactTest or \
                      OmnibusTest";
        assert_eq!(outcome.caveat().as_deref(), Some(caveat));
        assert_eq!(
            outcome.to_string(),
            format!("{head}p < 0.001  (n = 100)\n    caveat        {caveat}")
        );
        let outcome = asymptotic(0.034).with_expected_errors(Some(20.0));
        assert_eq!(outcome.caveat(), None);
        assert_eq!(outcome.to_string(), format!("{head}p = 0.0340  (n = 100)"));
    }

    #[test]
    fn bounds_are_rounded_up() {
        for (p, up) in [
            (1.0 / 1001.0, "0.001"),
            (1.0 / 1000.0, "0.001"),
            (1.0 / 61.0, "0.017"),
            (1.0 / 20.0, "0.05"),
            (1.0 / 3.0, "0.34"),
            (3.71e-6, "3.8e-6"),
            (1.0, "1"),
        ] {
            assert_eq!(ShortNumber(rounded_up(p)).to_string(), up);
        }
    }
}
