//! The answer that a page begins with: is the model calibrated, and if not, where does it fail?

use rand::{SeedableRng, rngs::StdRng};

use super::{
    number::{p_value, whole},
    page::capital,
    svg::escaped,
};
use burn_calibration::{
    distribution::Predictive,
    error::Result,
    hypothesis::{AspectOutcome, Omnibus, OmnibusOutcome, OmnibusTest},
    kernel::Kernel,
    score::{Interval, Quantify},
};

/// The level of the test.
const LEVEL: f64 = 0.05;
/// Failing aspects that a page lists: there is one of each class.
const LISTED: usize = 10;

/// The omnibus test of all samples.
pub(super) fn omnibus<P: Omnibus>(
    kernel: Kernel,
    (predictions, targets): (&P, &P::Targets),
    seed: u64,
) -> Result<OmnibusOutcome> {
    let mut rng = StdRng::seed_from_u64(seed);
    let test = OmnibusTest::new().with_kernel(kernel);
    test.outcome(predictions, targets, &mut rng)
}

/// An error with its confidence interval.
pub(super) fn interval<P: Predictive>(
    error: &impl Quantify<P>,
    (predictions, targets): (&P, &P::Targets),
    level: f64,
) -> Result<Interval> {
    error.size(predictions, targets)?.interval(level)
}

/// The verdicts on one or two sets of predictions with their names, and the aspects that fail.
pub(super) fn verdicts(named: &[(&str, &Result<OmnibusOutcome>)]) -> String {
    let verdict = |(name, omnibus): &(&str, &Result<OmnibusOutcome>)| {
        let lead = match named.len() {
            1 => String::new(),
            _ => format!("{} recalibration: ", capital(name)),
        };
        let answer = match omnibus {
            Ok(outcome) => answer(outcome),
            Err(reason) => format!(
                "There is no test of calibration on these data: {}.</p>\n",
                escaped(&reason.to_string())
            ),
        };
        format!("<p class=\"verdict\">{lead}{answer}")
    };
    let verdicts: String = named.iter().map(verdict).collect();
    format!("<div class=\"answer\">\n{verdicts}</div>\n")
}

/// The verdict, and the aspects that fail as a list.
fn answer(outcome: &OmnibusOutcome) -> String {
    let verdict = outcome.verdict();
    let redraws = whole(outcome.redraws);
    let html = format!("<strong>{verdict}</strong> Omnibus test with {redraws} redraws.");
    let failing = outcome.failing(LEVEL);
    if outcome.p_value > LEVEL {
        return html + " That does not show that the model is calibrated.</p>\n";
    }
    if failing.is_empty() {
        return html + " No single aspect is significant by itself.</p>\n";
    }
    let item = |aspect: &&AspectOutcome| {
        format!(
            "<li>{} (adjusted {})</li>\n",
            escaped(&aspect.finding),
            p_value(aspect.adjusted_p_value, outcome.redraws)
        )
    };
    let mut items: String = failing.iter().take(LISTED).map(item).collect();
    if failing.len() > LISTED {
        let more = whole(failing.len() - LISTED);
        items += &format!("<li>and {more} more</li>\n");
    }
    format!("{html} It fails here:</p>\n<ul>\n{items}</ul>\n")
}
