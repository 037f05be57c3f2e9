//! Several statistics combined over the same redraws.

use crate::parallel;

/// A statistic of the data and of each redraw, large where the model is not calibrated.
pub struct AspectStatistics {
    pub data: f64,
    pub drawn: Vec<f64>,
    pub family: Option<Family>,
}

/// Aspects of one kind, of every class or coordinate: they count as the largest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Classes,
    Location,
    Spread,
    Coverage,
    LocationTrend,
    SpreadTrend,
    OtherLabels,
    Correlation,
    /// The bandwidths of a kernel on real targets.
    Kernel,
}

impl Family {
    const ALL: [Self; 9] = [
        Self::Classes,
        Self::Location,
        Self::Spread,
        Self::Coverage,
        Self::LocationTrend,
        Self::SpreadTrend,
        Self::OtherLabels,
        Self::Correlation,
        Self::Kernel,
    ];

    /// The number by which its p-values are divided (Genovese, Roeder, Wasserman: *False discovery control with
    /// p-value weighting*, 2006): more for what is common and named, which has no more aspects of its own than what is
    /// rare. The level holds for any weights that do not depend on the data.
    fn weight(self) -> f64 {
        match self {
            Self::Location => 4.0,
            Self::Spread | Self::LocationTrend | Self::SpreadTrend | Self::Correlation => 2.0,
            Self::Classes | Self::Coverage | Self::OtherLabels | Self::Kernel => 1.0,
        }
    }
}

impl AspectStatistics {
    /// The scores of the values among those of all sets, which can be compared with those of another statistic.
    pub fn ranked(self) -> Self {
        let ranks = Ranks::of(self.values().collect());
        Self {
            data: ranks.score(self.data, 1.0),
            drawn: self
                .drawn
                .iter()
                .map(|&value| ranks.score(value, 1.0))
                .collect(),
            ..self
        }
    }

    /// The values of each set, the data first.
    fn values(&self) -> impl Iterator<Item = f64> {
        std::iter::once(self.data).chain(self.drawn.iter().copied())
    }
}

/// The combined p-values.
pub struct Combined {
    pub p_value: f64,
    /// Redraws whose combined statistic is at least that of the data.
    pub exceedances: usize,
    /// The p-value of each column on its own.
    pub p_values: Vec<f64>,
    /// Adjusted for all columns.
    pub adjusted: Vec<f64>,
}

/// The minimum of p-values, and step-down adjusted p-values (Westfall and Young 1993, algorithm 2.8).
///
/// Each statistic becomes its p-value among all `R + 1`, those of a family their p-values among the
/// largest of the family, divided by its weight but at least `1/(R + 1)`. Where several have the same, the one
/// further out in standard deviations of all `R + 1` counts as less. These functions treat the data and the redraws alike; so under the
/// hypothesis the data's minimum is equally likely to have any rank among them, and its p-value is exact.
pub fn combine(columns: &[AspectStatistics]) -> Combined {
    let sets = columns[0].drawn.len() + 1;
    // the largest of the family of each set
    let families = parallel::map(Family::ALL.len(), &|family| {
        let mut largest = vec![f64::NEG_INFINITY; sets];
        let is_one = |column: &&AspectStatistics| column.family == Some(Family::ALL[family]);
        for column in columns.iter().filter(is_one) {
            let pairs = largest.iter_mut().zip(column.values());
            pairs.for_each(|(largest, value)| *largest = largest.max(value));
        }
        Ranks::of(largest)
    });
    let (scores, p_values): (Vec<Vec<f64>>, Vec<f64>) = parallel::map(columns.len(), &|column| {
        let column = &columns[column];
        let own = Ranks::of(column.values().collect());
        let ranks = column
            .family
            .map_or(&own, |family| &families[family as usize]);
        let weight = column.family.map_or(1.0, Family::weight);
        let scores: Vec<f64> = (column.values().map(|value| ranks.score(value, weight))).collect();
        (scores, own.p_value(column.data))
    })
    .into_iter()
    .unzip();
    // from the least to the most significant of the data: the largest score so far of each set
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| scores[a][0].total_cmp(&scores[b][0]));
    let mut largest = vec![f64::NEG_INFINITY; sets];
    let mut exceedances = 0;
    let mut adjusted = vec![1.0; columns.len()];
    for &column in &order {
        for (largest, score) in largest.iter_mut().zip(&scores[column]) {
            *largest = largest.max(*score);
        }
        let data = scores[column][0];
        exceedances = largest[1..].iter().filter(|&&score| score >= data).count();
        adjusted[column] = (1 + exceedances) as f64 / sets as f64;
    }
    let p_value = order.last().map_or(1.0, |&column| adjusted[column]);
    // none is more significant than one before it
    let mut least = 0.0f64;
    for &column in order.iter().rev() {
        least = least.max(adjusted[column]);
        adjusted[column] = least;
    }
    Combined {
        p_value,
        exceedances,
        p_values,
        adjusted,
    }
}

/// Numbers in increasing order.
struct Ranks {
    sorted: Vec<f64>,
    /// The start of the numbers that equal each except for rounding: those without a gap between them, so
    /// that numbers equal to one are equal to each other.
    starts: Vec<usize>,
    mean: f64,
    deviation: f64,
    /// Numbers closer than this are equal except for rounding.
    rounding: f64,
}

impl Ranks {
    fn of(mut sorted: Vec<f64>) -> Self {
        sorted.sort_unstable_by(f64::total_cmp);
        let finite = || sorted.iter().copied().filter(|value| value.is_finite());
        let count = finite().count().max(1) as f64;
        let mean = finite().sum::<f64>() / count;
        let square: f64 = finite().map(|value| (value - mean) * (value - mean)).sum();
        let largest = finite().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let rounding = 1e-9 * largest;
        let mut starts: Vec<usize> = (0..sorted.len()).collect();
        for k in 1..sorted.len() {
            if sorted[k] == sorted[k - 1] || sorted[k] - sorted[k - 1] <= rounding {
                starts[k] = starts[k - 1];
            }
        }
        Self {
            mean,
            deviation: (square / count).sqrt(),
            rounding,
            starts,
            sorted,
        }
    }

    /// The count of numbers that are less than the value by more than rounding, and than those that
    /// equal it.
    fn below(&self, value: f64) -> usize {
        let least = if value.is_finite() {
            value - self.rounding
        } else {
            value
        };
        let first = self.sorted.partition_point(|&other| other < least);
        self.starts.get(first).copied().unwrap_or(first)
    }

    /// The share of numbers that are at least the value, itself among them.
    fn p_value(&self, value: f64) -> f64 {
        let reaching = self.sorted.len() - self.below(value);
        reaching.max(1) as f64 / self.sorted.len() as f64
    }

    /// `−ln p` of the p-value over a weight, but at most that of the least p-value, with differences below those of
    /// different p-values by how far out the value is.
    fn score(&self, value: f64, weight: f64) -> f64 {
        // of numbers that are equal but for rounding the same: a tie is not broken by rounding
        let out = self.distance(self.least_equal(value));
        let sets = self.sorted.len() as f64;
        let of_p_value = (weight / self.p_value(value)).min(sets).ln();
        of_p_value + 0.25 / sets * (out / (1.0 + out.abs()))
    }

    /// The least of the numbers that equal the value except for rounding; itself where none does.
    fn least_equal(&self, value: f64) -> f64 {
        match self.sorted.get(self.below(value)) {
            Some(&other) if other <= value => other,
            _ => value,
        }
    }

    /// The distance from the mean in standard deviations.
    fn distance(&self, value: f64) -> f64 {
        match (self.deviation > 0.0, value.is_finite()) {
            (true, true) => (value - self.mean) / self.deviation,
            (false, true) => 0.0,
            (_, false) => f64::MAX.copysign(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    fn column(data: f64, drawn: &[f64]) -> AspectStatistics {
        AspectStatistics {
            data,
            drawn: drawn.to_vec(),
            family: None,
        }
    }

    /// The families of the columns of `exact_by_exchangeability`: one has a weight, and two are of one family.
    const FAMILIES: [Option<Family>; 5] = {
        let both = Some(Family::Classes);
        [Some(Family::Spread), None, None, both, both]
    };

    /// Nine redraws; by hand.
    #[test]
    fn by_hand() {
        let small: Vec<f64> = (0..9).map(f64::from).collect();
        let mirrored: Vec<f64> = small.iter().rev().copied().collect();
        let combined = combine(&[column(7.5, &small), column(100.0, &mirrored)]);
        // reached by one redraw; by none
        assert_eq!(combined.p_values, [0.2, 0.1]);
        // 100 is further out than any redraw
        assert_eq!((combined.p_value, combined.adjusted[1]), (0.1, 0.1));
        // of the first alone
        assert_eq!(combined.adjusted[0], 0.2);
        // one column is itself
        let alone = combine(&[column(4.0, &small)]);
        assert_eq!((alone.p_value, alone.p_values[0]), (0.6, 0.6));
        // equal statistics say nothing
        assert_eq!(combine(&[column(1.0, &[1.0; 9])]).p_value, 1.0);
        // ties are not broken by rounding: adjusted as it is
        let noisy: Vec<f64> = (0..9).map(|k| 1.0 - f64::from(k % 3) * 1e-15).collect();
        let tied = combine(&[column(1.0, &noisy), column(0.0, &small)]);
        assert_eq!((tied.p_values[0], tied.adjusted[0]), (1.0, 1.0));
        // a weight of 2
        let spread = AspectStatistics {
            family: Some(Family::Spread),
            ..column(6.5, &small)
        };
        let both = combine(&[spread, column(-1.0, &mirrored)]);
        assert_eq!(both.p_value, 0.4); // 0.6 without the weight
        // what cannot happen
        assert_eq!(combine(&[column(f64::INFINITY, &small)]).p_value, 0.1);
    }

    /// Uniform under exchangeability, with heavy and with light tails together, ties and a family; and
    /// the family-wise error where one column is far off.
    #[test]
    fn exact_by_exchangeability() {
        let mut rng = StdRng::seed_from_u64(0);
        let (trials, redraws) = (4000, 39);
        let levels = [0.025, 0.05, 0.2, 0.5];
        let (mut rejected, mut any, mut alone) = ([0; 4], [0; 4], 0);
        for _ in 0..trials {
            let mut draw = || {
                let u: f64 = rng.random();
                let base: f64 = rng.random();
                [base, u.powi(-2), (3.0 * base).floor(), base + 0.3 * u, u]
            };
            let data = draw();
            let drawn: Vec<[f64; 5]> = (0..redraws).map(|_| draw()).collect();
            let mut columns: Vec<AspectStatistics> = (0..5)
                .map(|c| AspectStatistics {
                    data: data[c],
                    drawn: drawn.iter().map(|set| set[c]).collect(),
                    family: FAMILIES[c],
                })
                .collect();
            let p = combine(&columns).p_value;
            columns.push(column(1e9, &vec![0.0; redraws]));
            let adjusted = combine(&columns).adjusted;
            // 0.05 where one redraw of the heavy tail is as far out, as rarely happens
            assert!(adjusted[5] <= 0.05);
            alone += usize::from(adjusted[5] == 0.025);
            let least = adjusted[..5].iter().copied().fold(1.0, f64::min);
            for (k, level) in levels.iter().enumerate() {
                rejected[k] += usize::from(p <= level + 1e-12);
                any[k] += usize::from(least <= level + 1e-12);
            }
        }
        assert!(alone > trials as usize - 10, "{alone}");
        for ((level, rejected), any) in levels.iter().zip(rejected).zip(any) {
            let expected = f64::from(trials) * level;
            let deviation = (expected * (1.0 - level)).sqrt();
            assert!(
                (rejected as f64 - expected).abs() < 3.5 * deviation,
                "{rejected} at {level}"
            );
            assert!(any as f64 <= expected + 3.5 * deviation, "{any} at {level}");
        }
    }
}
