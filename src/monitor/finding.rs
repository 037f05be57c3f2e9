use serde::{Deserialize, Serialize};

use super::{Component, Part};

/// A direction in which predictions are wrong, which the bets on it show against all bets without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The event happens more often than predicted, or targets are higher.
    TooLow,
    /// The event happens more rarely than predicted, or targets are lower.
    TooHigh,
    /// Larger factors are better: log-odds are too moderate, or intervals too narrow.
    TooNarrow,
    /// Smaller factors are better: log-odds are too extreme, or intervals too wide.
    TooWide,
    /// The tails are too light.
    LightTails,
}

/// The least ratio of the capital of bets on a finding to that of each bet without it.
const LEAST_RATIO: f64 = 20.0;

impl Finding {
    const ALL: [Self; 5] = [
        Self::TooLow,
        Self::TooHigh,
        Self::TooNarrow,
        Self::TooWide,
        Self::LightTails,
    ];

    /// Whether a component bets on the finding.
    fn has(self, component: &Component) -> bool {
        let is_whole = component.share == 1.0;
        match self {
            Self::TooLow => is_whole && component.shift > 0.0,
            Self::TooHigh => is_whole && component.shift < 0.0,
            Self::TooNarrow => is_whole && component.factor > 1.0,
            Self::TooWide => is_whole && component.factor < 1.0,
            Self::LightTails => !is_whole,
        }
    }

    fn is_shift(self) -> bool {
        matches!(self, Self::TooLow | Self::TooHigh)
    }
}

/// The logarithm of the capital of a component.
#[derive(Clone, Copy)]
pub(super) struct Capital<'a> {
    pub component: &'a Component,
    pub log: f64,
}

/// The findings that the bets on a part show.
///
/// The weighted mean capital of the bets on a finding must be 20 times that of each bet without it. If one of the latter
/// is right, this ratio to it is a non-negative martingale from 1, which ever reaches 20 with a probability of at most
/// 5 %. Where the right factor or shift is between those of the bets, a parabola through the best three stands for it.
///
/// A probability is too low if the event happens more often, whatever the factor is. So the bets without a factor must
/// show it, too. They suffice with 20² times the capital, because probabilities that hardly vary do not tell a factor
/// from a shift. The square allows for a factor that makes errors up to twice as variable as predicted.
///
/// - capitals: those of the components of the part that do not learn
/// - unchanged: the logarithm of the capital of the prediction itself
pub(super) fn findings(part: Part, capitals: &[Capital<'_>], unchanged: f64) -> Vec<Finding> {
    let least = LEAST_RATIO.ln();
    let is_shown = |finding: &Finding| {
        let is_clear = log_ratio(*finding, capitals, unchanged) >= least;
        if !(finding.is_shift() && part.is_probability()) {
            return is_clear;
        }
        let shifts = capitals.iter().filter(|one| one.component.factor == 1.0);
        let shifts: Vec<Capital> = shifts.copied().collect();
        let frequency = log_ratio(*finding, &shifts, unchanged);
        frequency >= least && (is_clear || frequency >= 2.0 * least)
    };
    Finding::ALL.into_iter().filter(is_shown).collect()
}

/// The logarithm of the ratio of the capital with a finding to the largest without it; negative infinity if no bet is on
/// the finding.
fn log_ratio(finding: Finding, capitals: &[Capital<'_>], unchanged: f64) -> f64 {
    let bets = capitals.iter().copied();
    let (with, without): (Vec<_>, Vec<_>) = bets.partition(|one| finding.has(one.component));
    if with.is_empty() {
        return f64::NEG_INFINITY;
    }
    let most = with.iter().map(|one| one.log).fold(f64::MIN, f64::max);
    let weight: f64 = with.iter().map(|one| one.component.weight).sum();
    let weighted = |one: &Capital| one.component.weight * (one.log - most).exp();
    let mean = most + (with.iter().map(weighted).sum::<f64>() / weight).ln();
    let mut rival = without.iter().map(|one| one.log).fold(unchanged, f64::max);
    // without a finding about one of factor and shift, any value of the other is possible
    let line = |place: fn(&Component) -> f64, other: fn(&Component) -> bool| {
        let on = |one: &&Capital| one.component.share == 1.0 && other(one.component);
        let points = without.iter().filter(on);
        let points = points.map(|one| [place(one.component), one.log]);
        peak(points.chain([[0.0, unchanged]]).collect())
    };
    let is_spread = matches!(finding, Finding::TooNarrow | Finding::TooWide);
    if !is_spread {
        rival = rival.max(line(|one| one.factor.ln(), |one| one.shift == 0.0));
    }
    if !finding.is_shift() {
        rival = rival.max(line(|one| one.shift, |one| one.factor == 1.0));
    }
    mean - rival
}

/// The highest point of the parabola through the highest of some points and its neighbours, given as place and height.
fn peak(mut points: Vec<[f64; 2]>) -> f64 {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let heights = points.iter().map(|point| point[1]);
    let most = heights.fold(f64::MIN, f64::max);
    let middle = |three: &&[[f64; 2]]| three[1][1] == most;
    let mut threes = points.windows(3);
    let three = match threes.clone().find(middle) {
        Some(three) => Some(three),
        None if points.last().is_some_and(|last| last[1] == most) => threes.next_back(),
        None => threes.next(),
    };
    let Some(&[[x0, y0], [x1, y1], [x2, y2]]) = three else {
        return most;
    };
    let [first, second] = [(y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)];
    let curvature = (second - first) / (x2 - x0);
    if !curvature.is_finite() || curvature >= 0.0 {
        return most;
    }
    let x = 0.5 * (x0 + x1) - 0.5 * first / curvature;
    most.max(y0 + (x - x0) * (first + curvature * (x - x1)))
}
