use super::{Component, Part};
use crate::numbers::significant;

/// Three digits, without zeros at the end.
fn number(x: f64) -> String {
    let text = significant(x, 3);
    let short = text.parse::<f64>().map(|x| x.to_string());
    short.unwrap_or(text)
}

fn percent(p: f64) -> String {
    format!("{} %", number(100.0 * p))
}

impl Component {
    /// The sentence about the predictions that is true if this recalibration is better.
    ///
    /// - names: names of the classes; empty for their numbers
    pub fn sentence(&self, names: &[String]) -> String {
        let is_less = self.factor < 1.0;
        let (factor, share) = (number(self.factor), percent(self.share));
        let extreme = if is_less { "extreme" } else { "moderate" };
        let narrow = if is_less { "wide" } else { "narrow" };
        let of_event = |of: &str| {
            let spread = format!("too {extreme}: {factor} times their log-odds fit better");
            self.moved(&format!("the probabilities of {of}"), "in log-odds", spread)
        };
        let of_vector = |of: &str| {
            let spread = format!("too {narrow}: {factor} times as wide fits better");
            self.moved(of, "standard deviations", spread)
        };
        match self.part {
            Part::Class(class) => match names.get(class) {
                Some(name) => of_event(name),
                None => of_event(&format!("class {class}")),
            },
            Part::TopLabel => of_event("the most likely class"),
            Part::Probabilities => {
                let temperature = number(1.0 / self.factor);
                format!(
                    "the probabilities are too {extreme}: temperature {temperature} fits better"
                )
            }
            Part::Range { low, high } => {
                let (level, better) = (percent(high - low), percent(self.recalibrated(high - low)));
                let is_rarer = self.shift < 0.0;
                if low == 0.0 {
                    let side = if is_rarer { "low" } else { "high" };
                    format!(
                        "the {level} quantile is too {side}: {better} of the targets are below it"
                    )
                } else {
                    let narrow = if is_rarer { "narrow" } else { "wide" };
                    format!(
                        "the {level} interval is too {narrow}: {better} of the targets are inside"
                    )
                }
            }
            _ if self.share < 1.0 => {
                format!(
                    "the tails are too light: {share} of them {factor} times as wide fits better"
                )
            }
            Part::Vector | Part::Coordinate(0) => of_vector("the predictions"),
            Part::Coordinate(k) => of_vector(&format!("the predictions of coordinate {k}")),
        }
    }

    fn moved(&self, of: &str, unit: &str, spread: String) -> String {
        let side = if self.shift < 0.0 { "high" } else { "low" };
        let location = format!("too {side} by {} {unit}", number(self.shift.abs()));
        match (self.shift != 0.0, self.factor != 1.0) {
            (true, true) => format!("{of} are {location}, and {spread}"),
            (true, false) => format!("{of} are {location}"),
            _ => format!("{of} are {spread}"),
        }
    }
}
