use super::{
    aspects::{AspectKind, Deviation, TestedAspect},
    transforms::PARTS,
};

/// Kinds of aspects of real targets. A coordinate is named where there are several.
///
/// `u` are the transforms, `z = Φ⁻¹(u)` the normal scores, and `r` the errors in standard deviations of the
/// predictions. A sentence names the quantity that the test is about, so that it is true whatever else is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RealKind {
    /// Mean `u` less ½.
    Location(Option<usize>),
    /// `½ ln` of the variance of `r` about their mean: a common shift leaves it alone.
    Spread(Option<usize>),
    /// Mean `|2u − 1|` less ½.
    Middle(Option<usize>),
    /// Correlation of `z²` with the ranks of the predicted means.
    Trend(Option<usize>),
    /// Mean `z²` less 1, to the upper side.
    Tails,
    /// `−ln(N q)` of the least probability `q = 2 min(u, 1 − u)` of `N`.
    Furthest { dimensions: usize },
    /// Root of the sum of squared differences of the shares of `u` in equal parts, over those expected.
    Shares,
}

impl RealKind {
    /// Those of `d` coordinates, in the order of the numbers of [`Transforms`](super::transforms::Transforms).
    pub fn aspects(d: usize) -> Vec<TestedAspect> {
        let aspect = |kind, name: &str, c: Option<usize>, deviation, details| TestedAspect {
            kind: AspectKind::Real(kind),
            name: c.map_or(name.into(), |c| format!("{name}_{c}")),
            deviation,
            details,
        };
        let of_coordinate = |c: usize| {
            let c = (d > 1).then_some(c);
            let studentised = |kind, name| aspect(kind, name, c, Deviation::OfSet, 0);
            [
                studentised(Self::Location(c), "location"),
                studentised(Self::Spread(c), "spread"),
                studentised(Self::Middle(c), "middle"),
                studentised(Self::Trend(c), "trend"),
            ]
        };
        let mut aspects: Vec<TestedAspect> = (0..d).flat_map(of_coordinate).collect();
        let furthest = Self::Furthest { dimensions: d };
        aspects.push(aspect(Self::Tails, "tails", None, Deviation::None, 0));
        aspects.push(aspect(
            furthest,
            "furthest_target",
            None,
            Deviation::None,
            2,
        ));
        aspects.push(aspect(Self::Shares, "transforms", None, Deviation::None, 2));
        aspects
    }

    /// The row that the numbers of the data are of, if they are of one.
    pub fn row(self, numbers: &[f64]) -> Option<usize> {
        match self {
            Self::Furthest { dimensions } => Some(numbers[1] as usize / dimensions),
            _ => None,
        }
    }

    /// The numbers of the data in words.
    ///
    /// - row: the row that they are of, if they are of one
    pub fn finding(self, numbers: &[f64], row: Option<usize>) -> String {
        let estimate = numbers[0];
        let high = estimate > 0.0;
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        match self {
            Self::Location(c) => format!(
                "targets{} are too {}: on average at level {:.3} of their predictions, 0.5 if calibrated",
                of(c),
                if high { "high" } else { "low" },
                0.5 + estimate,
            ),
            Self::Spread(c) => format!(
                "predictions{} are too {}: after a common shift, errors are {} times as large as their \
                 standard deviations say",
                of(c),
                if high { "narrow" } else { "wide" },
                super::outcome::short(estimate.exp()),
            ),
            Self::Middle(c) => format!(
                "targets{} are {} the middle of the predictions than these say: on average a central \
                 interval of {} reaches them, 50 % if calibrated",
                of(c),
                if high { "further from" } else { "closer to" },
                percent(0.5 + estimate),
            ),
            Self::Trend(c) => format!(
                "targets{} are further outside where predictions are {}: the squared normal scores have a \
                 correlation of {estimate:.2} with the ranks of the predicted means, 0 if calibrated",
                of(c),
                if high { "high" } else { "low" },
            ),
            Self::Tails => format!(
                "targets are far outside more often than predicted: the mean squared normal score is {}, \
                 1 if calibrated",
                super::outcome::short(1.0 + estimate),
            ),
            Self::Furthest { dimensions } => {
                let (at, probability) = (numbers[1] as usize, numbers[2]);
                let c = (dimensions > 1).then_some(at % dimensions);
                let row = row.unwrap_or(at / dimensions);
                format!(
                    "the target{} of row {row} is too far outside: its prediction gives a probability of \
                     {probability:.1e} to targets as far out",
                    of(c),
                )
            }
            Self::Shares => {
                let (part, share) = (numbers[1], numbers[2]);
                let edge = |part: f64| part / PARTS as f64;
                format!(
                    "shares of targets between levels of the predictions differ from those predicted: \
                     most between {:.2} and {:.2}, with {} in the place of {}",
                    edge(part),
                    edge(part + 1.0),
                    percent(share),
                    percent(edge(1.0)),
                )
            }
        }
    }
}

fn of(c: Option<usize>) -> String {
    c.map_or(String::new(), |c| format!(" of coordinate {c}"))
}
