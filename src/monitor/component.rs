use serde::{Deserialize, Serialize};

use super::{Finding, exact};
use crate::distribution::central_intervals;

/// The kind of predictions of a stream. All rows of a monitor have the same kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// One event: class 1 of two.
    Event,
    /// This number of classes.
    Classes(usize),
    /// Vectors of this dimension, with a density.
    Density(usize),
    /// Vectors of this dimension, predicted by draws. Their number may change from update to update.
    Draws(usize),
    /// Numbers that are predicted by quantiles at these levels.
    Quantiles(#[serde(with = "exact::list")] Vec<f64>),
}

/// The part of a prediction that a recalibration changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The probability of a class. The other classes keep their proportions.
    Class(usize),
    /// The probability of the most likely class. The others keep their proportions.
    TopLabel,
    /// The probabilities of all classes.
    Probabilities,
    /// The probability of a target between the quantiles at two levels; below the second if the first is 0.
    Range {
        /// The first level, or 0.
        #[serde(with = "exact")]
        low: f64,
        /// The second level.
        #[serde(with = "exact")]
        high: f64,
    },
    /// All coordinates of a density.
    Vector,
    /// One coordinate of draws: the normal scores of ranks.
    Coordinate(usize),
}

impl Part {
    /// The predicted probability of a range of quantiles; none of other parts.
    pub fn level(self) -> Option<f64> {
        match self {
            Self::Range { low, high } => Some(high - low),
            _ => None,
        }
    }

    /// Whether it is the probability of an event: a class, the top label, a range.
    pub(super) fn is_probability(self) -> bool {
        matches!(self, Self::Class(_) | Self::TopLabel | Self::Range { .. })
    }
}

/// A recalibration that the monitor bets on, with the wealth that it has gained.
///
/// It is a factor and a shift of a [part](Part) of the prediction:
///
/// - of the log-odds `l` of an event (class, top label, range): `factor · l + shift`
/// - of all probabilities: `p^factor`, normalised. The temperature is `1/factor`
/// - of vectors and coordinates: the location moves by `shift` predicted standard deviations, and deviations become
///   `factor` times as large. Of the probability a `share` is that of this distribution, the rest is the prediction's
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// The part of the prediction.
    pub part: Part,
    /// The factor.
    #[serde(with = "exact")]
    pub factor: f64,
    /// The shift.
    #[serde(with = "exact")]
    pub shift: f64,
    /// The share, at most 1.
    #[serde(with = "exact")]
    pub share: f64,
    /// The share of the wealth with which it starts.
    #[serde(with = "exact")]
    pub weight: f64,
    /// The curvature of the log loss in factor, both, and shift, if the component learns; empty otherwise.
    #[serde(with = "exact::list")]
    curvature: Vec<f64>,
    #[serde(with = "exact")]
    pub(super) wealth: f64,
    /// `M_t` of the detector.
    #[serde(with = "exact")]
    pub(super) detector: f64,
    /// The wealth over its last minimum, and the row after that.
    #[serde(with = "exact")]
    rise: f64,
    since: u64,
    /// The logarithm of the wealth that the limits have cut. States that were saved before it have none.
    #[serde(with = "exact", default, skip_serializing_if = "is_zero")]
    cut: f64,
    /// What the rows show by themselves about the part, in a component that explains an alarm or the wealth; empty in
    /// others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Smaller wealth counts as this, which adds at most `rows · LEAST` to the expected wealth.
const LEAST: f64 = 1e-250;
/// Larger wealth counts as this, and a larger ratio as its root. Both lose wealth, and keep the level.
const MOST: f64 = 1e200;
/// Wealth over its last minimum counts as at most this, so that a fall by as much ends a rise.
const MOST_RISE: f64 = 1e4;

impl Component {
    /// Creates a component with share 1 that has seen no rows.
    fn new(part: Part, factor: f64, shift: f64) -> Self {
        Self {
            part,
            factor,
            shift,
            share: 1.0,
            weight: 1.0,
            curvature: Vec::new(),
            wealth: 1.0,
            detector: 0.0,
            rise: 1.0,
            since: 0,
            cut: 0.0,
            findings: Vec::new(),
        }
    }

    /// Creates one that learns, with the curvature of its prior.
    fn learning(part: Part) -> Self {
        Self {
            curvature: vec![4.0, 0.0, 4.0],
            ..Self::new(part, 1.0, 0.0)
        }
    }

    /// The product of its ratios, from 1: its wealth per unit of its weight. It stays within 1e-250 and 1e200,
    /// except that it stays 0 after a ratio of 0.
    pub fn wealth(&self) -> f64 {
        self.wealth
    }

    /// The row, from 0, since which it gains: the row after the last minimum of its wealth. A fall by 1e4 begins a
    /// search for another minimum.
    pub fn since(&self) -> u64 {
        self.since
    }

    pub(super) fn learns(&self) -> bool {
        !self.curvature.is_empty()
    }

    /// The logarithm of the wealth without limits.
    pub(super) fn log_wealth(&self) -> f64 {
        self.wealth.ln() + self.cut
    }

    #[inline]
    pub(super) fn step(&mut self, ratio: f64, row: u64) {
        let ratio = ratio.min(MOST.sqrt());
        let is_lost = ratio <= 0.0 || self.wealth <= 0.0;
        let least = if is_lost { 0.0 } else { LEAST };
        let before = self.wealth;
        let wealth = before * ratio;
        self.wealth = wealth.clamp(least, MOST);
        if wealth != self.wealth {
            self.cut += before.ln() + ratio.ln() - self.wealth.ln();
        }
        self.detector = (ratio * (self.detector + 1.0)).min(MOST);
        if self.rise <= 1.0 {
            (self.rise, self.since) = (1.0, row);
        }
        self.rise = (self.rise * ratio).min(MOST_RISE);
    }

    /// Learns factor and shift of an event after a row, by a Newton step of the log loss.
    pub(super) fn learn(&mut self, log_odds: f64, happened: bool) {
        let [aa, ab, bb] = &mut self.curvature[..] else {
            return;
        };
        let x = log_odds.clamp(-30.0, 30.0);
        let q = 1.0 / (1.0 + (-(self.factor * x + self.shift)).exp());
        let (error, curvature) = (q - f64::from(u8::from(happened)), q * (1.0 - q));
        *aa += curvature * x * x;
        *ab += curvature * x;
        *bb += curvature;
        let determinant = *aa * *bb - *ab * *ab;
        if determinant > 0.0 {
            let [by_factor, by_shift] = [*bb * x - *ab, *aa - *ab * x];
            self.factor = (self.factor - error * by_factor / determinant).clamp(0.05, 20.0);
            self.shift = (self.shift - error * by_shift / determinant).clamp(-10.0, 10.0);
        }
    }
}

const FACTORS: [f64; 7] = [0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0];
const SHIFTS: [f64; 7] = [-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0];
/// The shifts of one class of many, and of one range.
const SHIFTS_OF_ONE: [f64; 6] = [-1.0, -0.5, -0.2, 0.2, 0.5, 1.0];
/// Shares and factors of heavier tails.
const TAILS: [(f64, f64); 3] = [(0.05, 3.0), (0.2, 2.0), (0.05, 10.0)];
/// The largest number of classes, or of coordinates of draws, that have components of their own.
const MOST_SEPARATE: usize = 100;

impl Stream {
    /// The components of a monitor of such predictions, with their joint weights in parentheses. These are divided by
    /// their sum.
    ///
    /// - two classes: 48 lines of class 1, with factors from ½ to 2 and shifts from −1 to 1 (0.9), and one that learns
    ///   factor and shift after each row: by a Newton step of the log loss, from a normal prior about 1 and 0 with
    ///   variance ¼ (0.1)
    /// - more classes: the same lines of the top label (0.5), 6 temperatures (0.25), and 6 shifts of each class
    ///   (0.25), if there are at most 100 classes. Weights of shifts are in proportion to `1/|shift|`: a small error
    ///   takes many rows to find, a large one few
    /// - densities, and each coordinate of draws, of the first 100: 48 shifts and scales (0.85) and 3 heavier tails
    ///   (0.15)
    /// - quantiles: the same 6 shifts of the log-odds of each level and of each central interval
    pub fn components(&self) -> Vec<Component> {
        let shifts = |part| {
            let by_size = |one: Component| Component {
                weight: 1.0 / one.shift.abs(),
                ..one
            };
            grid(part, &[1.0], &SHIFTS_OF_ONE).into_iter().map(by_size)
        };
        let lines = |weight: f64, part| {
            let fixed = weighted(0.9 * weight, grid(part, &FACTORS, &SHIFTS));
            let learning = weighted(0.1 * weight, vec![Component::learning(part)]);
            [fixed, learning].concat()
        };
        let moved = |part| {
            let tail = |(share, factor)| Component {
                share,
                ..Component::new(part, factor, 0.0)
            };
            let tails = weighted(0.15, TAILS.map(tail).to_vec());
            [weighted(0.85, grid(part, &FACTORS, &SHIFTS)), tails].concat()
        };
        let components = match self {
            Self::Event | Self::Classes(2) => lines(1.0, Part::Class(1)),
            &Self::Classes(classes) => {
                let separate = if classes > MOST_SEPARATE { 0 } else { classes };
                let of_one = (0..separate).map(Part::Class).flat_map(shifts);
                [
                    lines(0.5, Part::TopLabel),
                    weighted(0.25, grid(Part::Probabilities, &FACTORS, &[0.0])),
                    weighted(0.25, of_one.collect()),
                ]
                .concat()
            }
            Self::Density(_) => moved(Part::Vector),
            &Self::Draws(coordinates) => {
                let separate = 0..coordinates.min(MOST_SEPARATE);
                separate.map(Part::Coordinate).flat_map(moved).collect()
            }
            Self::Quantiles(_) => self.ranges().into_iter().flat_map(shifts).collect(),
        };
        weighted(1.0, components)
    }

    /// The ranges of quantiles: below each level, then the central intervals, the widest first. Empty for others.
    pub(super) fn ranges(&self) -> Vec<Part> {
        let Self::Quantiles(levels) = self else {
            return Vec::new();
        };
        let range = |low, high| Part::Range { low, high };
        let below = levels.iter().map(|&high| range(0.0, high));
        let central = central_intervals(levels).into_iter();
        let central = central.map(|[low, high]| range(levels[low], levels[high]));
        below.chain(central).collect()
    }

    /// Whether components are about the parts of such predictions, in their order.
    pub(super) fn has(&self, components: &[Component]) -> bool {
        let parts = self.components().into_iter().map(|one| one.part);
        parts.eq(components.iter().map(|one| one.part))
    }
}

/// Components with weights in the same proportions and with this sum.
fn weighted(weight: f64, mut components: Vec<Component>) -> Vec<Component> {
    let sum: f64 = components.iter().map(|one| one.weight).sum();
    let mine = components.iter_mut();
    mine.for_each(|one| one.weight = weight * one.weight / sum);
    components
}

/// All factors and shifts but the pair that changes nothing.
fn grid(part: Part, factors: &[f64], shifts: &[f64]) -> Vec<Component> {
    let of = |&factor| (shifts.iter()).map(move |&shift| Component::new(part, factor, shift));
    let all = factors.iter().flat_map(of);
    all.filter(|one| (one.factor, one.shift) != (1.0, 0.0))
        .collect()
}
