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
        let factor = number(self.factor);
        let extreme = if is_less { "extreme" } else { "moderate" };
        let of_event = |of: &str| {
            let spread = format!("too {extreme}: {factor} times their log-odds fit better");
            self.moved(&format!("the probabilities of {of}"), "in log-odds", spread)
        };
        let of_vector = |of: &str| {
            let narrow = if is_less { "wide" } else { "narrow" };
            let spread = format!("too {narrow}: {factor} times as wide fits better");
            self.moved(
                &format!("the predictions{of}"),
                "standard deviations",
                spread,
            )
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
                let [side, narrow] =
                    [["high", "wide"], ["low", "narrow"]][usize::from(self.shift < 0.0)];
                match low {
                    0.0 => format!(
                        "the {level} quantile is too {side}: {better} of the targets are below it"
                    ),
                    _ => format!(
                        "the {level} interval is too {narrow}: {better} of the targets are inside"
                    ),
                }
            }
            Part::Vector | Part::Coordinate(_) if self.share < 1.0 => {
                let share = percent(self.share);
                format!(
                    "the tails are too light: {share} of them {factor} times as wide fits better"
                )
            }
            Part::Vector | Part::Coordinate(0) => of_vector(""),
            Part::Coordinate(coordinate) => of_vector(&format!(" of coordinate {coordinate}")),
        }
    }

    fn moved(&self, of: &str, unit: &str, spread: String) -> String {
        let side = if self.shift < 0.0 { "high" } else { "low" };
        let by = number(self.shift.abs());
        let location = format!("too {side} by {by} {unit}");
        match (self.shift != 0.0, self.factor != 1.0) {
            (true, true) => format!("{of} are {location}, and {spread}"),
            (true, false) => format!("{of} are {location}"),
            _ => format!("{of} are {spread}"),
        }
    }
}
