use burn::config::Config;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{
    TestOutcome,
    engine::{EventStatistic, OfEvent, test_of_event},
};
use crate::{
    distribution::{Weights, weights_refused},
    error::Result,
    estimator::{Binning, Event},
};

/// The test of Hosmer and Lemeshow (1980) of the probabilities `r_i` of an event: observed against expected
/// counts in groups of equal mass, ten by default.
///
/// ```text
/// H = Σ_b (O_b − E_b)² / (E_b (1 − E_b/n_b)),   O_b = Σ_{i∈b} c_i,   E_b = Σ_{i∈b} r_i
/// ```
///
/// For a calibrated model `H` is asymptotically `χ²_g` for `g` groups, for predictions that were not fitted
/// to these labels; `g − 2`, which software for logistic regression uses, is for the data of the fit. The
/// denominator is at least the variance `Σ_{i∈b} r_i(1 − r_i)`, so the test is a little conservative where
/// probabilities vary within groups. The number of groups decides what it sees.
///
/// There is no accepted form for samples with weights: they are an error, also of the exact test.
/// [`OmnibusTest`](super::OmnibusTest) takes them.
///
/// Groups are those of [`Binning::EqualMass`]: equal probabilities share one, so there can be fewer. A group
/// whose probabilities are all 0 or all 1 has no variance: it is left out, or makes `H` infinite if an
/// outcome is not the one that is certain.
///
/// [`outcome`](super::CalibrationTest::outcome) takes the `χ²` distribution;
/// [`ExactTest`](super::ExactTest) with this statistic redraws the labels, which is right for small counts
/// too.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, estimator::Event, hypothesis::{CalibrationTest, HosmerLemeshow},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // one group: 80 expected, 50 observed, 30²/(80 · 0.2)
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.2, 0.8]; 100], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..100, &device).remainder_scalar(2);
/// let test = HosmerLemeshow::new(Event::Class(1));
/// let outcome = test.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0))?;
/// assert!((outcome.statistic - 56.25).abs() < 1e-3 && outcome.is_bound);
/// # Ok(())
/// # }
/// ```
#[derive(Config, Debug, Copy, PartialEq, Eq)]
#[must_use]
pub struct HosmerLemeshow {
    /// The event, by default the top label.
    pub event: Event,
    /// The number `g` of groups, 10 by default.
    #[config(default = 10)]
    pub groups: usize,
}

impl Default for HosmerLemeshow {
    fn default() -> Self {
        Self::new(Event::TopLabel)
    }
}

impl OfEvent for HosmerLemeshow {
    fn event(&self) -> Event {
        self.event
    }

    fn prepare(&self, probability: &[f64], weights: &Weights) -> Result<Box<dyn EventStatistic>> {
        if weights.are_given() {
            let expected = "the omnibus test, which takes them";
            return Err(weights_refused("test of Hosmer and Lemeshow", expected));
        }
        let binning = Binning::EqualMass { bins: self.groups };
        let partition = binning.partition_weighted(probability, 1, weights)?;
        let mut group = vec![0; probability.len()];
        let of_group = |(number, members): (usize, &Vec<usize>)| {
            members.iter().for_each(|&i| group[i] = number);
            let expected: f64 = members.iter().map(|&i| probability[i]).sum();
            GroupCount {
                expected,
                variance: expected * (1.0 - expected / members.len() as f64),
            }
        };
        let counts = partition.iter().enumerate().map(of_group).collect();
        Ok(Box::new(Groups { group, counts }))
    }
}

/// The groups and the moments of their counts, which depend on the probabilities alone.
struct Groups {
    /// The group of each sample.
    group: Vec<usize>,
    counts: Vec<GroupCount>,
}

/// The moments of the count of a group: `E_b` and `E_b (1 − E_b/n_b)`.
struct GroupCount {
    expected: f64,
    variance: f64,
}

impl EventStatistic for Groups {
    fn value(&self, occurred: &[bool]) -> f64 {
        let mut observed = vec![0.0; self.counts.len()];
        for (&group, &occurred) in self.group.iter().zip(occurred) {
            observed[group] += f64::from(occurred);
        }
        let terms = observed.iter().zip(&self.counts);
        let term = |(observed, count): (&f64, &GroupCount)| {
            let gap = observed - count.expected;
            if gap == 0.0 {
                return 0.0;
            }
            gap * gap / count.variance
        };
        terms.map(term).sum()
    }

    fn asymptotic(&self, occurred: &[bool]) -> Result<TestOutcome> {
        let varying = self.counts.iter().filter(|count| count.variance > 0.0);
        let freedom = varying.count();
        let (statistic, n) = (self.value(occurred), occurred.len());
        let name = "test of Hosmer and Lemeshow";
        let estimate = statistic / n as f64;
        Ok(chi_squared(name, n, estimate, statistic, freedom))
    }
}

test_of_event!(
    /// The outcome by the `χ²` distribution: the statistic is `H`, the estimate `H/n`, the mean squared gap
    /// over groups in units of their variance. Nothing is drawn. No groups are an error.
    HosmerLemeshow
);

/// The outcome of a statistic that is `χ²` of so many degrees of freedom; of none it is 0 or infinite.
pub(super) fn chi_squared(
    name: &'static str,
    samples: usize,
    estimate: f64,
    statistic: f64,
    freedom: usize,
) -> TestOutcome {
    let degrees = freedom as f64;
    let tail = if statistic.is_infinite() {
        0.0
    } else if freedom == 0 {
        1.0
    } else {
        let null = ChiSquared::new(degrees).expect("positive degrees of freedom");
        null.sf(statistic)
    };
    let standardised = (statistic - degrees) / (2.0 * degrees).sqrt();
    TestOutcome::asymptotic(name, samples, estimate, statistic, tail)
        .with_standardised(standardised)
}
