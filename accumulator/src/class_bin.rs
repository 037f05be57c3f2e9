use serde::{Deserialize, Serialize};

use super::{
    Accumulator, Rows, Saved,
    bin::{Bins, check_form},
    check_equal, check_merge, check_rows, check_samples,
    format::saved,
};
use burn_calibration::{
    error::{
        Result,
        checks::{check_classes, check_parameter},
    },
    estimator::{ClassWeight, Event, TceForm},
};

/// The class-wise calibration error: the sums of a [`BinAccumulator`](super::BinAccumulator) for each
/// class against the rest.
///
/// It is [`Cwce`](burn_calibration::estimator::Cwce) of all predictions together, with bins of equal width. An
/// estimate from no samples is an error.
///
/// Memory: `m·B` bins of 80 bytes, and some 60 more for each that is occupied, 400 with weights: without 21 KB for
/// 10 classes in 15 bins, 2.1 MB for 1000. Cost: one operation for each class and sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct ClassBinAccumulator {
    /// The bins of each class, as many everywhere.
    classes: Vec<Bins>,
}

impl ClassBinAccumulator {
    /// Starts sums of predictions over `classes` classes, in `bins` bins for each.
    ///
    /// # Errors
    ///
    /// No bins, or fewer than two classes.
    pub fn new(bins: usize, classes: usize) -> Result<Self> {
        check_classes(classes)?;
        Ok(Self {
            classes: vec![Bins::new(bins)?; classes],
        })
    }

    /// The mean over classes of order 1, the "static" or class-wise ECE.
    pub fn cwce(&self) -> Result<f64> {
        self.power(TceForm::PlugIn { order: 1.0 }, ClassWeight::Mean)
    }

    /// The power `CWCE_p^p`, as [`Cwce::power`](burn_calibration::estimator::Cwce::power).
    ///
    /// # Errors
    ///
    /// No samples, an order below 1 or infinite, or [`TceForm::Unbiased`], which needs the squares of each sample.
    pub fn power(&self, form: TceForm, weight: ClassWeight) -> Result<f64> {
        check_form(form)?;
        let (name, order) = ("the order of the class-wise error", form.order());
        check_parameter(order.is_finite(), name, order, "a finite number")?;
        check_samples(self)?;
        let sum = self.classes.iter().map(|bins| bins.power(form)).sum();
        Ok(weight.total(sum, self.classes.len()))
    }

    /// Takes the classes in another order, each once.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        self.classes = order
            .iter()
            .map(|&class| self.classes[class].clone())
            .collect();
    }

    fn check(&self) -> Result<(), String> {
        let first = self.classes.first().ok_or("it has no classes")?;
        for bins in &self.classes {
            bins.check()?;
            let alike = |bins: &Bins| (bins.len(), bins.samples(), bins.weighted());
            if alike(bins) != alike(first) {
                return Err("its classes differ in the numbers of bins or samples".into());
            }
        }
        Ok(())
    }
}

impl Accumulator for ClassBinAccumulator {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        check_rows(self, rows)?;
        for row in rows.iter() {
            for (class, bins) in self.classes.iter_mut().enumerate() {
                bins.add(Event::Class(class).outcome(row.p, row.y), row.weight);
            }
        }
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_merge(self, other)?;
        let bins = |sums: &Self| sums.classes[0].len();
        check_equal("the number of bins", bins(self), bins(other))?;
        let pairs = self.classes.iter_mut().zip(&other.classes);
        pairs.for_each(|(bins, other)| bins.merge(other));
        Ok(())
    }

    fn samples(&self) -> u64 {
        self.classes[0].samples() // there are at least two
    }

    fn weighted(&self) -> Option<bool> {
        self.classes[0].weighted()
    }

    fn classes(&self) -> usize {
        self.classes.len()
    }

    fn bytes(&self) -> usize {
        let bins = |bins: &Bins| size_of::<Bins>() + bins.held();
        size_of::<Self>() + self.classes.iter().map(bins).sum::<usize>()
    }
}

saved!(ClassBinAccumulator, "accumulator of bins of each class");
