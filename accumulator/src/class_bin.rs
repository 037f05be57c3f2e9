use serde::{Deserialize, Serialize};

use super::{Accumulator, BinAccumulator, Observations, Rows, Saved, check_equal, format::saved};
use burn_calibration::{
    error::{
        Result,
        checks::{check_classes, check_parameter},
    },
    estimator::{ClassWeight, Event, TceForm},
};

/// The class-wise calibration error: a [`BinAccumulator`] for each class against the rest.
///
/// It is [`Cwce`](burn_calibration::estimator::Cwce) of all predictions together, with bins of equal width. An
/// estimate from no samples is an error.
///
/// Memory: `m·B` bins of 88 bytes: 14 KB for 10 classes in 15 bins, 1.4 MB for 1000. Cost: four sums for each class and
/// sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct ClassBinAccumulator {
    /// At least two.
    classes: Vec<BinAccumulator>,
}

impl ClassBinAccumulator {
    /// Starts sums of predictions over `classes` classes, in `bins` bins for each.
    ///
    /// # Errors
    ///
    /// No bins, or fewer than two classes.
    pub fn new(bins: usize, classes: usize) -> Result<Self> {
        check_classes(classes)?;
        let class = |class| BinAccumulator::new(Event::Class(class), bins, classes);
        Ok(Self {
            classes: (0..classes).map(class).collect::<Result<_>>()?,
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
        let (name, order) = ("the order of the class-wise error", form.order());
        check_parameter(order.is_finite(), name, order, "a finite number")?;
        let powers = self.classes.iter().map(|class| class.power(form));
        let sum = powers.sum::<Result<f64>>()?;
        Ok(weight.total(sum, self.classes.len()))
    }

    /// Takes the classes in another order, each once.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        let classes = order.iter().map(|&class| self.classes[class].clone());
        let classes = classes.enumerate();
        self.classes = classes
            .map(|(class, bins)| bins.with_event(Event::Class(class)))
            .collect();
    }

    fn check(&self) -> Result<(), String> {
        let count = self.classes.len();
        check_classes(count).map_err(|e| e.to_string())?;
        let alike = |bins: &BinAccumulator| (bins.bins(), bins.observations());
        let is_wrong = |(class, bins): (usize, &BinAccumulator)| {
            alike(bins) != alike(&self.classes[0])
                || bins.observations().classes != count
                || bins.event() != Event::Class(class)
        };
        if self.classes.iter().enumerate().any(is_wrong) {
            return Err("its classes differ in the numbers of bins or samples".into());
        }
        Ok(())
    }
}

impl Accumulator for ClassBinAccumulator {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        let mut classes = self.classes.iter_mut();
        classes.try_for_each(|class| class.update_rows(rows)) // if the first takes them, all do
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        let count = |classes: &Self| classes.classes.len();
        check_equal("the number of classes", count(self), count(other))?;
        let mut classes = self.classes.iter_mut().zip(&other.classes);
        classes.try_for_each(|(class, other)| class.merge(other)) // as well
    }

    fn observations(&self) -> Observations {
        self.classes[0].observations()
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.classes.iter().map(Accumulator::bytes).sum::<usize>()
    }
}

saved!(ClassBinAccumulator, "accumulator of bins of each class");
