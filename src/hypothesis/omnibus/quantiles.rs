use rand::Rng;

use super::aspect::{Aspect, Deviation, Observed, Omnibus, OmnibusPlan, TestedAspect};
use crate::{
    distribution::{Predictive, QuantileForecasts, Weighted as _, Weights},
    error::Result,
    estimator::regression::Region,
    host::{rounding, to_vec},
    hypothesis::engine::Evaluator,
    kernel::Kernel,
    numbers::{self, tied},
    parallel,
};

/// The coverage of each level and of each central interval; and, of the samples with the higher and the lower
/// forecasts, and with the wider and the narrower ones, that of the level next to ½ and of the widest interval.
///
/// A target that equals a quantile may be on either side of its level. It counts as what makes the coverage the most
/// likely: a calibrated model has no larger distance from the level than its redraws, which are of the distribution
/// with the fewest such targets. So the p-value is exact where no target equals a quantile or quantiles are equal only
/// as they have to be, and else too large if anything. There is no kernel.
impl Omnibus for QuantileForecasts {
    fn aspects<'a>(
        &'a self,
        _weight: f64,
        _kernel: Kernel,
        _exact: usize,
        _rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, Vec<Vec<f64>>>> {
        let (values, levels) = (to_vec(self.values()), self.levels());
        let (_, weights) = self.parted();
        let quantiles = |k: usize| values.iter().copied().skip(k).step_by(levels.len());
        let (of_levels, of_intervals) = (Region::by_level(self), Region::by_interval(self));
        let from_half = |k: &usize| (levels[*k] - 0.5).abs();
        let by_distance = |a: &usize, b: &usize| from_half(a).total_cmp(&from_half(b));
        let middle = (0..levels.len()).min_by(by_distance).expect("a level");
        let ends: Vec<(f64, f64)> = quantiles(0).zip(quantiles(levels.len() - 1)).collect();
        let widths: Vec<f64> = ends.iter().map(|(low, high)| high - low).collect();
        let rounding = rounding(self.dtype());
        let middles: Vec<f64> = quantiles(middle).collect();
        let [low, high] = halves(&tied(&middles, |row| rounding * middles[row].abs()));
        let part = |row: usize| ends[row].0.abs().max(ends[row].1.abs());
        let [narrow, wide] = halves(&tied(&widths, |row| rounding * part(row)));
        let groups = [
            ("high", high),
            ("low", low),
            ("wide", wide),
            ("narrow", narrow),
        ];
        let all: Vec<usize> = (0..self.len()).collect();
        let mut looks: Vec<Look> = (of_levels.iter().chain(&of_intervals))
            .map(|region| Look::new(("", all.clone()), *region))
            .collect();
        let few = || {
            of_levels[middle..=middle]
                .iter()
                .chain(of_intervals.first())
        };
        for (name, rows) in groups.into_iter().filter(|(_, rows)| !rows.is_empty()) {
            looks.extend(few().map(|region| Look::new((name, rows.clone()), *region)));
        }
        let aspects: Vec<_> = (looks.iter().enumerate())
            .map(|(at, look)| look.aspect(at, levels, &weights))
            .collect();
        let levels = levels.to_vec();
        let mut plan = OmnibusPlan::new();
        let evaluator = CoverageGaps {
            values,
            levels,
            looks,
            weights,
        };
        plan.push(evaluator, aspects);
        Ok(plan)
    }
}

/// The rows with a number up to the median, and those above it; none where all are equal.
fn halves(numbers: &[f64]) -> [Vec<usize>; 2] {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (median, last) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() - 1]);
    // of many equal ones at the top these are the upper half
    let is_upper = |number: f64| number > median || median == last && number == last;
    let (upper, lower): (Vec<usize>, _) =
        (0..numbers.len()).partition(|&row| is_upper(numbers[row]));
    if lower.is_empty() {
        return [Vec::new(), Vec::new()];
    }
    [lower, upper]
}

/// The coverage of a region among some rows.
struct Look {
    /// The name of the rows; empty where these are all.
    group: &'static str,
    rows: Vec<usize>,
    region: Region,
}

impl Look {
    fn new((group, rows): (&'static str, Vec<usize>), region: Region) -> Self {
        Self {
            group,
            rows,
            region,
        }
    }

    /// The aspect of the number at a place: the coverage less what is expected.
    fn aspect(&self, at: usize, levels: &[f64], weights: &Weights) -> TestedAspect {
        let probability = self.region.probability(levels);
        let effective = weights.select(&self.rows).effective(self.rows.len());
        let variance = probability * (1.0 - probability) / effective;
        let aspect = CoverageAspect {
            group: self.group,
            is_interval: self.region.lower.is_some(),
            probability,
        };
        TestedAspect {
            deviation: Deviation::Known(variance.sqrt()),
            ..TestedAspect::new(Aspect::Quantiles(aspect), at)
        }
    }
}

/// The coverage of a level or of a central interval among some rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CoverageAspect {
    /// The name of the rows; empty where these are all.
    group: &'static str,
    is_interval: bool,
    probability: f64,
}

impl CoverageAspect {
    pub fn name(&self) -> String {
        let kind = if self.is_interval {
            "interval"
        } else {
            "level"
        };
        let name = format!("{kind}_{}", without_rounding(self.probability));
        match self.group {
            "" => name,
            group => format!("{group}_{name}"),
        }
    }

    pub fn finding(&self, data: &Observed) -> String {
        let probability = self.probability;
        let of = match self.group {
            "" => String::new(),
            "wide" => "where forecasts are wider, ".into(),
            group => format!("where forecasts are {group}er, "),
        };
        let what = if self.is_interval {
            let percent = without_rounding(100.0 * probability);
            format!("central {percent} % intervals cover")
        } else {
            let level = without_rounding(probability);
            format!("the quantile at level {level} covers")
        };
        let [covered, expected] =
            [probability + data.estimate, probability].map(|share| numbers::percent(share, 1));
        format!("{of}{what} {covered} of the targets, {expected} if calibrated")
    }
}

/// A difference of levels as it is meant.
fn without_rounding(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// The coverage of each look less its probability.
struct CoverageGaps {
    values: Vec<f64>,
    levels: Vec<f64>,
    looks: Vec<Look>,
    weights: Weights,
}

impl CoverageGaps {
    fn of(&self, look: &Look, targets: &[f64]) -> f64 {
        let (k, weights) = (self.levels.len(), &self.weights);
        let sums = (look.region).sums(&look.rows, &self.values, k, targets, weights);
        let [inside, covered] = sums.map(|sum| sum / weights.sum(&look.rows));
        let expected = look.region.probability(&self.levels);
        expected.clamp(inside, covered) - expected
    }
}

impl Evaluator<Vec<Vec<f64>>> for CoverageGaps {
    fn width(&self) -> usize {
        self.looks.len()
    }

    fn values(&self, sets: &Vec<Vec<f64>>) -> Result<Vec<f64>> {
        Ok(parallel::map(sets.len(), &|set| -> Vec<f64> {
            let looks = self.looks.iter();
            looks.map(|look| self.of(look, &sets[set])).collect()
        })
        .concat())
    }
}
