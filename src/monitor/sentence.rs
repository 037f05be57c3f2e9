use super::{Component, Finding, Part};
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
    /// The sentence about the predictions. It names what the [findings](Self::findings) show; without findings it says
    /// that this recalibration fits better.
    ///
    /// - names: names of the classes; empty for their numbers
    pub fn sentence(&self, names: &[String]) -> String {
        let class = |class: usize| match names.get(class) {
            Some(name) => name.clone(),
            None => format!("class {class}"),
        };
        let what = match self.part {
            Part::Class(k) => format!("the probabilities of {}", class(k)),
            Part::TopLabel => "the probabilities of the most likely class".into(),
            Part::Probabilities => "the probabilities".into(),
            Part::Range { low, high } => return self.range(low, high),
            Part::Vector | Part::Coordinate(0) => "the predictions".into(),
            Part::Coordinate(k) => format!("the predictions of coordinate {k}"),
        };
        let is_event = self.part.is_probability() || self.part == Part::Probabilities;
        let found = self.findings.iter().map(|finding| match finding {
            Finding::TooLow => "too low",
            Finding::TooHigh => "too high",
            Finding::TooNarrow if is_event => "too moderate",
            Finding::TooNarrow => "too narrow",
            Finding::TooWide if is_event => "too extreme",
            Finding::TooWide => "too wide",
            Finding::LightTails => "too light in their tails",
        });
        let found = found.collect::<Vec<_>>().join(" and ");
        let found = if found.is_empty() { "wrong" } else { &found };
        format!("{what} are {found}: {}", self.better())
    }

    /// The recalibration, and that it fits better.
    fn better(&self) -> String {
        let factor = number(self.factor);
        if self.part == Part::Probabilities {
            return format!("temperature {} fits better", number(1.0 / self.factor));
        }
        if self.share < 1.0 {
            let share = percent(self.share);
            return format!("a mixture with {share} that are {factor} times as wide fits better");
        }
        let size = number(self.shift.abs());
        let (is_moved, is_scaled) = (self.shift != 0.0, self.factor != 1.0);
        if self.part.is_probability() {
            let sign = if self.shift < 0.0 { "minus" } else { "plus" };
            let times = if is_scaled {
                &format!("{factor} times ")
            } else {
                ""
            };
            let shift = if is_moved {
                &format!(" {sign} {size}")
            } else {
                ""
            };
            return format!("{times}their log-odds{shift} fit better");
        }
        let side = if self.shift < 0.0 { "lower" } else { "higher" };
        let unit = if size == "1" {
            "deviation"
        } else {
            "deviations"
        };
        let moved = is_moved.then(|| format!("{size} standard {unit} {side}"));
        let scaled = is_scaled.then(|| format!("{factor} times as wide"));
        let both: Vec<String> = moved.into_iter().chain(scaled).collect();
        format!("{} they fit better", both.join(" and "))
    }

    /// The sentence about a range of quantiles. How many targets are in it since the change is not known, so no share is
    /// stated.
    fn range(&self, low: f64, high: f64) -> String {
        let (is_rarer, level) = (self.shift < 0.0, percent(high - low));
        let more = if is_rarer { "fewer" } else { "more" };
        let [[kind, place], rarer, more_frequent] = if low == 0.0 {
            [
                ["quantile", "below it"],
                ["low", "higher"],
                ["high", "lower"],
            ]
        } else {
            [
                ["interval", "inside"],
                ["narrow", "wider"],
                ["wide", "narrower"],
            ]
        };
        let [wrong, better] = if is_rarer { rarer } else { more_frequent };
        if self.findings.is_empty() {
            return format!("the predictions are wrong: a {better} {level} {kind} fits better");
        }
        format!("the {level} {kind} is too {wrong}: {more} than {level} of the targets are {place}")
    }
}
