use num_bigint::Sign;
use serde::{Deserialize, Serialize};

use super::{
    Accumulator, Rows, Saved, check_counts, check_equal, check_merge, check_rows, check_samples,
    exact_sum::{Exact, ExactSum},
    format::saved,
    weight_sums::WeightSums,
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
/// `r_i`, and how often the event occurred; of samples with weights `Σ w`, `Σ w²`, `Σ w r` and `Σ w c` as well.
///
/// From these come [`Ece`](burn_calibration::estimator::Ece), [`Mce`](burn_calibration::estimator::Mce) and
/// [`Tce`](burn_calibration::estimator::Tce) of all predictions together. Bins of equal mass and median-variance
/// bins depend on all predictions at once, and sums over them cannot be merged: they are not offered.
///
/// An estimate from no samples is an error.
///
/// Memory: 80 bytes a bin, and some 60 more if it is occupied, 400 with weights. Cost: `m` operations a sample for the top
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
        let occurred = self.bins.sum(BinSums::occurred);
        Ok(occurred.over(&self.bins.sum(BinSums::weight)))
    }

    /// The occupied bins by increasing probability, as [`Ece::bins`](burn_calibration::estimator::Ece::bins) has
    /// them: mean predictions `(1 − r̄, r̄)`, frequencies `(1 − c̄, c̄)`.
    pub fn occupied(&self) -> Vec<Bin> {
        let two = |r: f64| vec![1.0 - r, r];
        let bins = self.bins.means().map(|(samples, bin)| Bin {
            size: samples as usize,
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
            weight: bin.weight().value(),
            probability: bin.probability.value(),
            occurred: bin.occurred().value(),
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
        check_rows(self, rows)?;
        for row in rows.iter() {
            self.bins.add(self.event.outcome(row.p, row.y), row.weight);
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the event", self.event, other.event)?;
        check_merge(self, other)?;
        check_equal("the number of bins", self.bins.len(), other.bins.len())?;
        self.bins.merge(&other.bins);
        Ok(())
    }

    fn samples(&self) -> u64 {
        self.bins.samples()
    }

    fn weighted(&self) -> Option<bool> {
        self.bins.weighted()
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
    /// The sum of their weights: their number where there are none.
    pub weight: f64,
    /// The weighted sum of the probabilities of the event.
    pub probability: f64,
    /// The sum of the weights of the samples for which the event occurred.
    pub occurred: f64,
}

/// Bins of equal width, at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Bins(Vec<BinSums>);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct BinSums {
    samples: u64,
    /// `Σ w r`
    probability: ExactSum,
    occurred: u64,
    /// `Σ w`, `Σ w²` and `Σ w c`
    #[serde(default, skip_serializing_if = "WeightSums::is_empty")]
    weights: WeightSums,
}

impl BinSums {
    /// `Σ w`
    fn weight(&self) -> Exact {
        self.weights.exact(0, Exact::of(self.samples))
    }

    /// `Σ w²`
    fn squares(&self) -> Exact {
        self.weights.exact(1, Exact::of(self.samples))
    }

    /// `Σ w c`
    fn occurred(&self) -> Exact {
        self.weights.exact(2, Exact::of(self.occurred))
    }

    /// Returns whether samples can have these sums, so many of them with weights.
    fn is_possible(&self, sums: usize) -> bool {
        if self.samples == 0 {
            return *self == Self::default();
        }
        let weight = self.weight();
        let is_share = |sum: Exact| (0.0..=1.0).contains(&sum.over(&weight));
        self.weights.len() == sums
            && self.occurred <= self.samples
            && [&weight, &self.squares()].map(Exact::sign) == [Sign::Plus; 2]
            && is_share(self.probability.exact())
            && is_share(self.occurred())
    }
}

impl Bins {
    pub fn new(bins: usize) -> Result<Self> {
        check_count("the number of bins", bins)?;
        Ok(Self(vec![BinSums::default(); bins]))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds the probability of a sample and whether the event occurred, with the weight if there are weights.
    pub fn add(&mut self, (probability, occurred): (f64, bool), weight: Option<f64>) {
        let bin = equal_width_bin(probability, self.0.len());
        let bin = &mut self.0[bin];
        bin.samples += 1;
        bin.occurred += u64::from(occurred);
        let Some(w) = weight else {
            bin.probability.add(probability);
            return;
        };
        bin.probability.add_product(&[w, probability]);
        bin.weights
            .add([&[w], &[w, w], &[w, f64::from(u8::from(occurred))]]);
    }

    /// Takes the samples of as many bins.
    pub fn merge(&mut self, other: &Self) {
        for (bin, other) in self.0.iter_mut().zip(&other.0) {
            bin.samples += other.samples;
            bin.probability.merge(&other.probability);
            bin.occurred += other.occurred;
            bin.weights.merge(&other.weights);
        }
    }

    pub fn samples(&self) -> u64 {
        self.0.iter().map(|bin| bin.samples).sum()
    }

    /// Returns whether samples have weights; None without samples.
    pub fn weighted(&self) -> Option<bool> {
        let bin = self.0.iter().find(|bin| bin.samples > 0);
        bin.map(|bin| !bin.weights.is_empty())
    }

    fn sum(&self, of: impl Fn(&BinSums) -> Exact) -> Exact {
        let terms = self.0.iter().map(of);
        terms.fold(Exact::of(0), |sum, term| sum + term)
    }

    /// `Σ_b (n_b/n) …`, of at least one sample.
    pub fn power(&self, form: TceForm) -> f64 {
        form.expected(self.means().map(|(_, bin)| bin))
    }

    /// The occupied bins, whose weights sum to the number of samples; their squares are not known.
    fn means(&self) -> impl Iterator<Item = (u64, EventBin)> {
        let (count, total) = (Exact::of(self.samples()), self.sum(BinSums::weight));
        let occupied = self.0.iter().filter(|bin| bin.samples > 0);
        occupied.map(move |bin| {
            let weight = bin.weight();
            let means = EventBin {
                weight: (&weight * &count).over(&total),
                size: (&weight * &weight).over(&bin.squares()),
                probability: bin.probability.exact().over(&weight),
                frequency: bin.occurred().over(&weight),
                square: f64::NAN,
            };
            (bin.samples, means)
        })
    }

    /// Bytes apart from their own size.
    pub fn held(&self) -> usize {
        let bin =
            |bin: &BinSums| size_of::<BinSums>() + bin.probability.held() + bin.weights.held();
        self.0.iter().map(bin).sum()
    }

    /// Checks that predictions can have these sums.
    pub fn check(&self) -> Result<(), String> {
        check_counts(self.0.iter().map(|bin| bin.samples))?;
        let sums = if self.weighted() == Some(true) { 3 } else { 0 };
        match self.0.iter().position(|bin| !bin.is_possible(sums)) {
            Some(bin) => Err(format!(
                "bin {bin} holds more occurrences or greater probabilities than samples"
            )),
            None if self.0.is_empty() => Err("it has no bins".into()),
            None => Ok(()),
        }
    }
}
