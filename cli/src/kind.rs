//! Kinds of predictions: how their files are read, and what there is of them.

use std::path::Path;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{AbsoluteMoments, Geometry, Given, Subject},
    error,
    estimator::{Event, Skce},
    hypothesis::{CalibrationTest, OmnibusOutcome},
    kernel::Kernel,
    names::Name,
};
use burn_calibration_report::{ReportBuilder, Reportable, Scored};
use rand::rngs::StdRng;

use crate::{
    answer::{Size, Sizing},
    args::{Evaluate, Lens, SourceArgs},
    error::Result,
    input::Ids,
    rows::Wanted,
    words::{DataWords, Named, Outcomes, TargetWords, Told},
};

/// Runs the same lines for the type of predictions of a family.
macro_rules! with_family {
    ($family:expr, $kind:ident => $body:expr) => {
        if $family == $crate::args::Family::Categorical {
            type $kind = burn_calibration::distribution::Categorical;
            $body
        } else {
            $crate::kind::with_vectors!($family, $kind => $body)
        }
    };
}

/// Runs the same lines for the type of predictions of a family of real numbers.
macro_rules! with_vectors {
    ($family:expr, $kind:ident => $body:expr) => {
        $crate::kind::with_vectors!($family, $kind => $body, {
            Normal: Normal,
            Laplace: Laplace,
            NormalMixture: Mixture<kinds::Normal>,
            LaplaceMixture: Mixture<kinds::Laplace>,
            Samples: Samples,
        })
    };
    ($family:expr, $kind:ident => $body:expr, { $($name:ident: $of:ident $(<$part:ty>)?,)* }) => {{
        use burn_calibration::distribution as kinds;
        match $family {
            $crate::args::Family::Categorical => Err($crate::error::wrong!(
                "--family: both categorical or neither"
            )),
            $($crate::args::Family::$name => {
                type $kind = kinds::$of $(<$part>)?;
                $body
            })*
        }
    }};
}
pub(crate) use {with_family, with_vectors};

/// An aspect whose calibration is looked at: predictions with targets.
pub struct View<P: Kind> {
    /// The class, where it is one against the rest.
    pub class: Option<usize>,
    /// What numbers are of, in words.
    pub of: Words,
    pub predictions: P,
    pub targets: P::Targets,
    /// The event that the quantities of an event look at: the top label, or the one that is asked for.
    pub event: Event,
}

/// The words for what numbers are of; none of real numbers.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The whole prediction.
    pub whole: String,
    /// The same of sums over classes, which may be an event and its complement.
    pub sum: String,
    /// The event of the view.
    pub event: String,
    /// The event of quantities of one event: class 1 of two classes.
    pub one: String,
}

/// Sets of predictions of the same samples, and their targets.
pub struct Loaded<P: Kind> {
    pub sets: Vec<P>,
    pub targets: P::Targets,
    /// Names of classes; empty where these are numbers from 0.
    pub class_names: Vec<String>,
    /// Names of the columns in the order of the classes or parameters: those of the first file, or of
    /// `--classes`; empty where there are none.
    pub columns: Vec<String>,
    /// What names the rows.
    pub ids: Option<Ids>,
}

/// Values with what they are of.
pub type Estimates = Vec<(Name, Told<f64>)>;

/// A kind of prediction of the command line.
pub trait Kind: Reportable<Kernel: Copy + 'static> + 'static {
    /// Counts what is predicted.
    const OUTCOMES: fn(usize) -> Outcomes;

    /// Reads sets of predictions of the same samples, and their targets.
    fn read(paths: &[&Path], args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>>;

    /// The whole predictions, or those of a class against the rest; classes have names.
    fn view(self, targets: Self::Targets, class: Option<usize>, names: &[String]) -> View<Self>;

    /// The aspects that the arguments ask for; classes have names.
    fn views(self, targets: Self::Targets, lens: (Lens, &[String])) -> Result<Vec<View<Self>>>;

    /// The kernel that the arguments ask for, with its bandwidth fixed.
    fn kernel(args: &Evaluate, view: &View<Self>, rng: &mut StdRng) -> Result<Self::Kernel>;

    /// The exact test of an SKCE.
    fn exact(skce: Skce<Self::Kernel>, replicates: usize) -> Box<dyn CalibrationTest<Self>>;

    /// The test given a variable, with so many redraws.
    fn given(
        given: &Given<Self>,
        targets: &Self::Targets,
        redraws: usize,
        rng: &mut StdRng,
    ) -> error::Result<OmnibusOutcome>;

    /// The kernel on predictions.
    fn on_predictions(kernel: &Self::Kernel) -> Kernel;

    /// The kernel on targets, if there is a choice.
    fn on_targets(_kernel: &Self::Kernel) -> Option<TargetWords> {
        None
    }

    /// What happened on average, and what was predicted, of classes: shares.
    fn summary(&self, _targets: &Self::Targets) -> Named<f64> {
        Named(Vec::new())
    }

    /// What the predictions are about, of classes.
    fn predicted(&self) -> Subject {
        Subject::Classes
    }

    /// What the predictions are, for a result of them.
    fn in_words(&self, class_names: &[String]) -> DataWords {
        DataWords {
            n: self.len(),
            outcomes: Self::OUTCOMES(self.dimensions()),
            class_names: class_names.to_vec(),
            subject: self.predicted(),
        }
    }

    /// The estimates besides those of all kinds.
    fn estimates(view: &View<Self>) -> Estimates;

    /// The tests besides those of all kinds.
    fn tests() -> Vec<Test<Self>> {
        vec![]
    }

    /// The errors whose size is told, before the SKCE.
    fn sizes(sizing: &Sizing<Self>) -> Vec<(Name, Size)>;

    /// Names the classes.
    fn named<'a>(builder: ReportBuilder<'a, Self>, _names: &[String]) -> ReportBuilder<'a, Self> {
        builder
    }
}

/// A test.
pub struct Test<P: Kind> {
    /// The name, whose key is that on the command line too.
    pub name: Name,
    pub of: fn(&Words) -> &str,
    pub build: Build<P>,
}

/// Builds the test of an aspect with a number of replicates.
pub type Build<P> = fn(<P as Reportable>::Kernel, &View<P>, usize) -> Box<dyn CalibrationTest<P>>;

/// The log score of each prediction.
pub type LogScoreOf<P> = fn(&P, &Tensor<2>) -> error::Result<Vec<f64>>;

/// Predictions of real numbers, from the rows of a file.
pub trait Vectors: Geometry + AbsoluteMoments + Scored + 'static {
    /// Whether the columns are locations and then scales.
    const HALVES: bool = false;
    /// Whether the columns are draws, each as likely as the others.
    const DRAWS: bool = false;

    /// The log score, where there is a density.
    const LOG_SCORE: Option<LogScoreOf<Self>> = None;

    /// Predictions for targets of some dimension.
    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self>;
}
