use serde::{Deserialize, Serialize};

use super::{
    Accumulator, Observations, Rows, Saved, check_equal, double_double::DoubleDouble,
    format::saved, weights::common_unit,
};
use burn_calibration::{
    error::{
        Error, Result,
        checks::{check_count, check_parameter},
    },
    estimator::{Bin, Discrepancy, Event, EventBin, TceForm, equal_width_bin},
};

/// The sums of a reliability diagram of one event: in each of `B` bins of equal width,
/// `((b−1)/B, b/B]` with 0 in the first, the number of samples, and `Σ w`, `Σ w²`, `Σ w r` and `Σ w c` over their
/// weights, probabilities `r` and outcomes `c`.
///
/// From these come [`Ece`](burn_calibration::estimator::Ece), [`Mce`](burn_calibration::estimator::Mce) and
/// [`Tce`](burn_calibration::estimator::Tce) of all predictions together. Bins of equal mass and median-variance
/// bins depend on all predictions at once, and sums over them cannot be merged: they are not offered.
///
/// An estimate from no samples is an error.
///
/// Memory: 88 bytes a bin. Cost: four sums a sample, and `m` operations for the top label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct BinAccumulator {
    event: Event,
    observations: Observations,
    bins: Vec<BinSums>,
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
        check_count("the number of bins", bins)?;
        Ok(Self {
            event,
            observations: Observations::none(classes),
            bins: vec![BinSums::default(); bins],
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

    /// The number of bins.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// The expected calibration error by total variation, `Σ_b (n_b/n) |r̄_b − c̄_b|`.
    pub fn ece(&self) -> Result<f64> {
        self.expected(Discrepancy::TotalVariation)
    }

    /// The expected calibration error by any distance, as [`Ece`](burn_calibration::estimator::Ece).
    pub fn expected(&self, discrepancy: Discrepancy) -> Result<f64> {
        self.observations.check_any()?;
        Ok(discrepancy.expected(&self.occupied()))
    }

    /// The maximum calibration error `max_b |r̄_b − c̄_b|`, as [`Mce`](burn_calibration::estimator::Mce).
    pub fn mce(&self) -> Result<f64> {
        self.observations.check_any()?;
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
        self.observations.check_any()?;
        Ok(form.expected(self.means().map(|(_, bin)| bin)))
    }

    /// The frequency of the event; of the top label, the accuracy.
    pub fn frequency(&self) -> Result<f64> {
        self.observations.check_any()?;
        let all = self.sums();
        Ok((all.occurred / all.weight).value())
    }

    /// The occupied bins by increasing probability, as [`Ece::bins`](burn_calibration::estimator::Ece::bins) has
    /// them: mean predictions `(1 − r̄, r̄)`, frequencies `(1 − c̄, c̄)`.
    pub fn occupied(&self) -> Vec<Bin> {
        let two = |r: f64| vec![1.0 - r, r];
        let bins = self.means().map(|(samples, bin)| Bin {
            size: samples as usize,
            weight: bin.weight,
            prediction: two(bin.probability),
            frequency: two(bin.frequency),
        });
        bins.collect()
    }

    /// All bins with their edges and sums: a reliability diagram as numbers.
    pub fn totals(&self) -> Vec<BinTotals> {
        let count = self.bins.len() as f64;
        let totals = |(b, bin): (usize, &BinSums)| {
            let value = |sum: DoubleDouble| (sum * bin.unit).value();
            BinTotals {
                lower: b as f64 / count,
                upper: (b + 1) as f64 / count,
                samples: bin.samples,
                weight: value(bin.weight),
                probability: value(bin.probability),
                occurred: value(bin.occurred),
            }
        };
        self.bins.iter().enumerate().map(totals).collect()
    }

    /// The sums over all bins.
    fn sums(&self) -> BinSums {
        let mut all = BinSums::default();
        self.bins.iter().for_each(|bin| all.merge(bin));
        all
    }

    /// The occupied bins with their numbers of samples. The weights of bins sum to the number of samples; squares of
    /// samples are not known.
    fn means(&self) -> impl Iterator<Item = (u64, EventBin)> {
        let all = self.sums();
        let share = DoubleDouble::from(all.samples as f64) / all.weight;
        let occupied = self.bins.iter().filter(|bin| bin.samples > 0);
        occupied.map(move |bin| {
            let means = EventBin {
                weight: (bin.in_unit(all.unit.value()).weight * share).value(),
                size: (bin.weight * bin.weight / bin.squares).value(),
                probability: (bin.probability / bin.weight).value(),
                frequency: (bin.occurred / bin.weight).value(),
                square: f64::NAN,
            };
            (bin.samples, means)
        })
    }

    /// The same sums of another event.
    pub(super) fn with_event(self, event: Event) -> Self {
        Self { event, ..self }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let Observations {
            classes, samples, ..
        } = self.observations;
        Self::new(self.event, self.bins.len(), classes).map_err(|e| e.to_string())?;
        self.observations.check()?;
        if let Some(bin) = self.bins.iter().position(|bin| !bin.is_possible()) {
            return Err(format!(
                "bin {bin} holds more occurrences or greater probabilities than samples"
            ));
        }
        let in_bins = self
            .bins
            .iter()
            .map(|bin| u128::from(bin.samples))
            .sum::<u128>();
        if in_bins == u128::from(samples) {
            Ok(())
        } else {
            Err(format!("its bins hold {in_bins} of {samples} samples"))
        }
    }
}

impl Accumulator for BinAccumulator {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        self.observations = self.observations.with_rows(rows)?;
        let count = self.bins.len();
        for row in rows.iter() {
            let (probability, occurred) = self.event.outcome(row.p, row.y);
            let bin = &mut self.bins[equal_width_bin(probability, count)];
            bin.add(probability, occurred, row.weight);
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the event", self.event, other.event)?;
        check_equal("the number of bins", self.bins.len(), other.bins.len())?;
        self.observations = self.observations.with(other.observations)?;
        let bins = self.bins.iter_mut().zip(&other.bins);
        bins.for_each(|(bin, other)| bin.merge(other));
        Ok(())
    }

    fn observations(&self) -> Observations {
        self.observations
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.bins.len() * size_of::<BinSums>()
    }
}

saved!(BinAccumulator, "accumulator of bins");

/// Checks that an error of this form is known from sums of probabilities and outcomes.
fn check_form(form: TceForm) -> Result<()> {
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

/// The sums of a bin, with weights in units of [`common_unit`], 1 where there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct BinSums {
    samples: u64,
    unit: DoubleDouble,
    /// `Σ w`
    weight: DoubleDouble,
    /// `Σ w²`
    squares: DoubleDouble,
    /// `Σ w r`
    probability: DoubleDouble,
    /// `Σ w c`
    occurred: DoubleDouble,
}

impl BinSums {
    fn add(&mut self, probability: f64, occurred: bool, weight: f64) {
        let one = DoubleDouble::from(1.0);
        self.merge(&Self {
            samples: 1,
            unit: weight.into(),
            weight: one,
            squares: one,
            probability: probability.into(),
            occurred: f64::from(u8::from(occurred)).into(),
        });
    }

    fn merge(&mut self, other: &Self) {
        if other.samples == 0 {
            return;
        }
        if self.samples == 0 {
            *self = *other;
            return;
        }
        let unit = common_unit(self.unit.value(), other.unit.value());
        let (a, b) = (self.in_unit(unit), other.in_unit(unit));
        *self = Self {
            samples: a.samples + b.samples,
            unit: unit.into(),
            weight: a.weight + b.weight,
            squares: a.squares + b.squares,
            probability: a.probability + b.probability,
            occurred: a.occurred + b.occurred,
        };
    }

    /// The same sums in another unit of the weights.
    fn in_unit(&self, unit: f64) -> Self {
        if self.unit.value() == unit {
            return *self;
        }
        let factor = DoubleDouble::from(self.unit.value() / unit);
        Self {
            samples: self.samples,
            unit: unit.into(),
            weight: self.weight * factor,
            squares: self.squares * factor * factor,
            probability: self.probability * factor,
            occurred: self.occurred * factor,
        }
    }

    /// Returns whether samples can have these sums.
    fn is_possible(&self) -> bool {
        if self.samples == 0 {
            return *self == Self::default();
        }
        let is_share = |sum| (0.0..=1.0).contains(&DoubleDouble::value(sum / self.weight));
        let weights = [self.unit, self.weight, self.squares];
        weights.iter().all(|sum| sum.value() > 0.0)
            && is_share(self.probability)
            && is_share(self.occurred)
    }
}
