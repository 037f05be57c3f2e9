use serde::{Deserialize, Serialize};

use super::{
    Accumulator, BinAccumulator, BlockSkceAccumulator, ClassBinAccumulator, Observations, Rows,
    Saved, ScoreAccumulator, check_equal, format::saved,
};
use burn_calibration::{
    distribution::Subject,
    error::{Error, Result},
    estimator::Event,
    kernel::Kernel,
    score::{Brier, LogScore, Spherical},
};

/// One pass over predictions: proper scores, binned errors of the top label or of an event, and of each class,
/// and, if a kernel is given, the block SKCE with its test.
///
/// Memory and cost are the sums of those of its parts, most of it the bins of the classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Evaluation {
    subject: Subject,
    brier: ScoreAccumulator<Brier>,
    log: ScoreAccumulator<LogScore>,
    spherical: ScoreAccumulator<Spherical>,
    top_label: BinAccumulator,
    class_wise: ClassBinAccumulator,
    skce: Option<BlockSkceAccumulator>,
}

impl Evaluation {
    /// Starts an evaluation of predictions of `classes` classes, with `bins` bins of equal width.
    ///
    /// # Errors
    ///
    /// No bins, or fewer than two classes.
    pub fn new(bins: usize, classes: usize) -> Result<Self> {
        Ok(Self {
            subject: Subject::Classes,
            brier: ScoreAccumulator::new(Brier, classes),
            log: ScoreAccumulator::new(LogScore, classes),
            spherical: ScoreAccumulator::new(Spherical, classes),
            top_label: BinAccumulator::top_label(bins, classes)?,
            class_wise: ClassBinAccumulator::new(bins, classes)?,
            skce: None,
        })
    }

    /// Starts the evaluation of predictions about something else than classes: for an event the bins are
    /// those of class 1, before the first update.
    ///
    /// # Errors
    ///
    /// An event of other than two classes.
    ///
    /// # Panics
    ///
    /// If it has taken samples.
    pub fn about(self, subject: Subject) -> Result<Self> {
        assert_eq!(self.samples(), 0, "samples before it is known of what");
        let Observations { classes, .. } = self.observations();
        subject.check(classes)?;
        Ok(Self {
            top_label: BinAccumulator::new(Event::about(subject), self.top_label.bins(), classes)?,
            subject,
            ..self
        })
    }

    /// The subject of the predictions.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Adds the SKCE in blocks of `size` samples, before the first update.
    ///
    /// # Errors
    ///
    /// As [`BlockSkceAccumulator::new`].
    ///
    /// # Panics
    ///
    /// If it has taken samples.
    pub fn with_skce(self, kernel: Kernel, size: usize) -> Result<Self> {
        assert_eq!(self.samples(), 0, "samples before the SKCE was asked for");
        let skce = BlockSkceAccumulator::new(kernel, size, self.observations().classes)?;
        Ok(Self {
            skce: Some(skce),
            ..self
        })
    }

    /// The Brier score.
    pub fn brier(&self) -> &ScoreAccumulator<Brier> {
        &self.brier
    }

    /// The log score.
    pub fn log(&self) -> &ScoreAccumulator<LogScore> {
        &self.log
    }

    /// The spherical score.
    pub fn spherical(&self) -> &ScoreAccumulator<Spherical> {
        &self.spherical
    }

    /// The bins of the top label, or of the event: frequency, ECE, MCE and the reliability diagram. The
    /// frequency of the top label is the accuracy.
    pub fn top_label(&self) -> &BinAccumulator {
        &self.top_label
    }

    /// The bins of each class.
    pub fn class_wise(&self) -> &ClassBinAccumulator {
        &self.class_wise
    }

    /// The block SKCE, if a kernel was given.
    pub fn skce(&self) -> Option<&BlockSkceAccumulator> {
        self.skce.as_ref()
    }

    /// The same sums with the classes in another order: `order` has the number of each class once.
    ///
    /// # Errors
    ///
    /// An order that has not each class once.
    pub fn with_class_order(mut self, order: &[usize]) -> Result<Self> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let Observations { classes, .. } = self.observations();
        if !sorted.into_iter().eq(0..classes) {
            return Err(Error::Unsupported {
                what: format!("the order {order:?} of {classes} classes"),
                expected: "each class once",
            });
        }
        self.class_wise.reorder(order);
        Ok(self)
    }

    fn check(&self) -> Result<(), String> {
        let all = self.observations();
        let parts = [
            self.log.observations(),
            self.spherical.observations(),
            self.top_label.observations(),
            self.class_wise.observations(),
            self.skce.as_ref().map_or(all, Accumulator::observations),
        ];
        if parts != [all; 5] {
            return Err(
                "its parts differ in the numbers of samples or classes, or in weights".into(),
            );
        }
        let is_subject = self.subject.check(all.classes);
        is_subject.map_err(|e| e.to_string())?;
        if self.top_label.event() != Event::about(self.subject) {
            return Err("its parts are of other events".into());
        }
        Ok(())
    }
}

impl Accumulator for Evaluation {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        self.brier.update_rows(rows)?; // if one does not take the rows, this one does not
        self.log.update_rows(rows)?;
        self.spherical.update_rows(rows)?;
        self.top_label.update_rows(rows)?;
        self.class_wise.update_rows(rows)?;
        self.skce
            .iter_mut()
            .try_for_each(|skce| skce.update_rows(rows))
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("what predictions are about", self.subject, other.subject)?;
        let present = |evaluation: &Self| evaluation.skce.is_some();
        check_equal(
            "the presence of the block SKCE",
            present(self),
            present(other),
        )?;
        let mut merged = self.clone();
        merged.brier.merge(&other.brier)?;
        merged.log.merge(&other.log)?;
        merged.spherical.merge(&other.spherical)?;
        merged.top_label.merge(&other.top_label)?;
        merged.class_wise.merge(&other.class_wise)?;
        for (skce, other) in merged.skce.iter_mut().zip(&other.skce) {
            skce.merge(other)?;
        }
        *self = merged;
        Ok(())
    }

    fn observations(&self) -> Observations {
        self.brier.observations()
    }

    fn bytes(&self) -> usize {
        let scores = self.brier.bytes() + self.log.bytes() + self.spherical.bytes();
        let skce = self.skce.as_ref().map_or(0, Accumulator::bytes);
        scores + self.top_label.bytes() + self.class_wise.bytes() + skce
    }
}

saved!(Evaluation, "evaluation");
