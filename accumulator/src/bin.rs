use serde::{Deserialize, Serialize};

use super::{
    Accumulator, Rows, Saved, check_counts, check_equal, check_samples, check_total,
    exact_sum::ExactSum, format::saved,
};
use burn_calibration::{
    error::{
        Error, Result,
        checks::{check_count, check_parameter},
    },
    estimator::{Bin, Discrepancy, Event, EventBin, TceForm, equal_width_bin},
};

/// The sums of a reliability diagram of one event: in each of `B` bins of equal width,
/// `((b−1)/B, b/B]` with 0 in the first, the number of samples, the exact sum of their probabilities
/// `r_i`, and how often the event occurred.
///
/// From these come [`Ece`](burn_calibration::estimator::Ece), [`Mce`](burn_calibration::estimator::Mce) and
/// [`Tce`](burn_calibration::estimator::Tce) of all predictions together. Bins of equal mass and median-variance
/// bins depend on all predictions at once, and sums over them cannot be merged: they are not offered.
///
/// An estimate from no samples is an error.
///
/// Memory: 56 bytes a bin, and some 60 more if it is occupied. Cost: `m` operations a sample for the top
/// label, one for a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct BinAccumulator {
    event: Event,
    classes: usize,
    bins: Bins,
}

impl BinAccumulator {
    /// Starts sums of an event in `bins` bins, for predictions over `classes` classes.
    ///
    /// # Errors
    ///
    /// No bins, or an event that is not a class.
    pub fn new(event: Event, bins: usize, classes: usize) -> Result<Self> {
        if let Event::Class(class) = event {
            let expected = "less than the number of classes";
            let name = "the class of the event";
            check_parameter(class < classes, name, class as f64, expected)?;
        }
        Ok(Self {
            event,
            classes,
            bins: Bins::new(bins)?,
        })
    }

    /// Starts sums of the top label.
    ///
    /// # Errors
    ///
    /// No bins.
    pub fn top_label(bins: usize, classes: usize) -> Result<Self> {
        Self::new(Event::TopLabel, bins, classes)
    }

    /// The event.
    pub fn event(&self) -> Event {
        self.event
    }

    /// The expected calibration error by total variation, `Σ_b (n_b/n) |r̄_b − c̄_b|`.
    pub fn ece(&self) -> Result<f64> {
        self.expected(Discrepancy::TotalVariation)
    }

    /// The expected calibration error by any distance, as [`Ece`](burn_calibration::estimator::Ece).
    pub fn expected(&self, discrepancy: Discrepancy) -> Result<f64> {
        check_samples(self)?;
        Ok(discrepancy.expected(&self.occupied()))
    }

    /// The maximum calibration error `max_b |r̄_b − c̄_b|`, as [`Mce`](burn_calibration::estimator::Mce).
    pub fn mce(&self) -> Result<f64> {
        check_samples(self)?;
        Ok(Discrepancy::TotalVariation.greatest(&self.occupied()))
    }

    /// The power `TCE_p^p` of the calibration error of the event, as
    /// [`Tce::power`](burn_calibration::estimator::Tce::power).
    ///
    /// # Errors
    ///
    /// No samples, an order below 1, or [`TceForm::Unbiased`], which needs the squares of each sample.
    pub fn power(&self, form: TceForm) -> Result<f64> {
        check_form(form)?;
        check_samples(self)?;
        Ok(self.bins.power(form))
    }

    /// The frequency of the event; of the top label, the accuracy.
    pub fn frequency(&self) -> Result<f64> {
        check_samples(self)?;
        let occurred: u64 = self.bins.0.iter().map(|bin| bin.occurred).sum();
        Ok(occurred as f64 / self.samples() as f64)
    }

    /// The occupied bins by increasing probability, as [`Ece::bins`](burn_calibration::estimator::Ece::bins) has
    /// them: mean predictions `(1 − r̄, r̄)`, frequencies `(1 − c̄, c̄)`.
    pub fn occupied(&self) -> Vec<Bin> {
        let two = |r: f64| vec![1.0 - r, r];
        let bins = self.bins.means().map(|bin| Bin {
            size: bin.size as usize,
            weight: bin.weight,
            prediction: two(bin.probability),
            frequency: two(bin.frequency),
        });
        bins.collect()
    }

    /// All bins with their edges and sums: a reliability diagram as numbers.
    pub fn totals(&self) -> Vec<BinTotals> {
        let count = self.bins.0.len() as f64;
        let totals = |(b, bin): (usize, &BinSums)| BinTotals {
            lower: b as f64 / count,
            upper: (b + 1) as f64 / count,
            samples: bin.samples,
            probability: bin.probability.value(),
            occurred: bin.occurred,
        };
        self.bins.0.iter().enumerate().map(totals).collect()
    }

    fn check(&self) -> Result<(), String> {
        Self::new(self.event, self.bins.0.len(), self.classes).map_err(|e| e.to_string())?;
        self.bins.check()
    }
}

impl Accumulator for BinAccumulator {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        rows.check_classes(self.classes)?;
        for row in rows.iter() {
            self.bins.add(self.event.outcome(row.p, row.y));
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the event", self.event, other.event)?;
        check_equal("the number of classes", self.classes, other.classes)?;
        self.bins.merge(&other.bins)
    }

    fn samples(&self) -> u64 {
        self.bins.samples()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.bins.held()
    }
}

saved!(BinAccumulator, "accumulator of bins");

/// Checks that an error of this form is known from sums of probabilities and outcomes.
pub(super) fn check_form(form: TceForm) -> Result<()> {
    form.validate()?;
    match form {
        TceForm::Unbiased => Err(Error::Unsupported {
            what: "sums over bins do not tell the variance within them".into(),
            expected: "TceForm::Debiased or TceForm::PlugIn",
        }),
        _ => Ok(()),
    }
}

/// The sums of a bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BinTotals {
    /// The lower edge, which is not in the bin unless it is 0.
    pub lower: f64,
    /// The upper edge.
    pub upper: f64,
    /// The number of samples.
    pub samples: u64,
    /// The sum of the probabilities of the event.
    pub probability: f64,
    /// The number of samples for which the event occurred.
    pub occurred: u64,
}

/// Bins of equal width, at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Bins(Vec<BinSums>);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct BinSums {
    samples: u64,
    probability: ExactSum,
    occurred: u64,
}

impl Bins {
    pub fn new(bins: usize) -> Result<Self> {
        check_count("the number of bins", bins)?;
        Ok(Self(vec![BinSums::default(); bins]))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn add(&mut self, (probability, occurred): (f64, bool)) {
        let bin = equal_width_bin(probability, self.0.len());
        let bin = &mut self.0[bin];
        bin.samples += 1;
        bin.probability.add(probability);
        bin.occurred += u64::from(occurred);
    }

    pub fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the number of bins", self.0.len(), other.0.len())?;
        check_total(self.samples(), other.samples())?;
        for (bin, other) in self.0.iter_mut().zip(&other.0) {
            bin.samples += other.samples;
            bin.probability.merge(&other.probability);
            bin.occurred += other.occurred;
        }
        Ok(())
    }

    pub fn samples(&self) -> u64 {
        self.0.iter().map(|bin| bin.samples).sum()
    }

    /// `Σ_b (n_b/n) …`, of at least one sample.
    pub fn power(&self, form: TceForm) -> f64 {
        form.expected(self.means())
    }

    /// The occupied bins; their squares are not known.
    fn means(&self) -> impl Iterator<Item = EventBin> {
        let occupied = self.0.iter().filter(|bin| bin.samples > 0);
        occupied.map(|bin| {
            let size = bin.samples as f64;
            EventBin {
                weight: size,
                size,
                probability: bin.probability.value() / size,
                frequency: bin.occurred as f64 / size,
                square: f64::NAN,
            }
        })
    }

    /// Bytes apart from their own size.
    pub fn held(&self) -> usize {
        let bin = |bin: &BinSums| size_of::<BinSums>() + bin.probability.held();
        self.0.iter().map(bin).sum()
    }

    /// Checks that predictions can have these sums.
    pub fn check(&self) -> Result<(), String> {
        check_counts(self.0.iter().map(|bin| bin.samples))?;
        let wrong = |bin: &BinSums| {
            let sum = bin.probability.value();
            bin.occurred > bin.samples || !(0.0..=bin.samples as f64).contains(&sum)
        };
        match self.0.iter().position(wrong) {
            Some(bin) => Err(format!(
                "bin {bin} holds more occurrences or greater probabilities than samples"
            )),
            None if self.0.is_empty() => Err("it has no bins".into()),
            None => Ok(()),
        }
    }
}
