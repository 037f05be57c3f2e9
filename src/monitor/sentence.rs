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
        let class = |class: usize| match names.get(class) {
            Some(name) => name.clone(),
            None => format!("class {class}"),
        };
        let what = match self.part {
            Part::Class(k) => format!("the probabilities of {}", class(k)),
            Part::TopLabel => "the probabilities of the most likely class".into(),
            Part::Probabilities => {
                let better = number(1.0 / self.factor);
                return format!(
                    "the probabilities are too {extreme}: temperature {better} fits better"
                );
            }
            Part::Range { low, high } => return self.range(low, high),
            Part::Vector | Part::Coordinate(0) => "the predictions".into(),
            Part::Coordinate(k) => format!("the predictions of coordinate {k}"),
        };
        if self.share < 1.0 {
            let share = percent(self.share);
            return format!(
                "the tails of {what} are too light: a mixture with {share} that are {factor} times as wide fits better"
            );
        }
        let (unit, spread) = if matches!(self.part, Part::Class(_) | Part::TopLabel) {
            let better = format!("too {extreme}: {factor} times their log-odds fit better");
            ("in log-odds", better)
        } else {
            let narrow = if is_less { "wide" } else { "narrow" };
            let better = format!("too {narrow}: {factor} times as wide fits better");
            ("standard deviations", better)
        };
        let side = if self.shift < 0.0 { "high" } else { "low" };
        let location = format!("too {side} by {} {unit}", number(self.shift.abs()));
        match (self.shift != 0.0, self.factor != 1.0) {
            (true, true) => format!("{what} are {location}, and {spread}"),
            (true, false) => format!("{what} are {location}"),
            _ => format!("{what} are {spread}"),
        }
    }

    fn range(&self, low: f64, high: f64) -> String {
        let level = high - low;
        let better = percent(self.recalibrated(level));
        let is_rarer = self.shift < 0.0;
        let level = percent(level);
        if low == 0.0 {
            let side = if is_rarer { "low" } else { "high" };
            format!("the {level} quantile is too {side}: {better} of the targets are below it")
        } else {
            let width = if is_rarer { "narrow" } else { "wide" };
            format!("the {level} interval is too {width}: {better} of the targets are inside")
        }
    }
}
