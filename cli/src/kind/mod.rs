//! Kinds of predictions: how their files are read, and what there is of them.

mod classes;

use std::iter;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{AbsoluteMoments, Geometry, Predictive, Subject},
    hypothesis::CalibrationTest,
    kernel::Kernel,
    names::Name,
    score::Score,
};
use burn_calibration_report::{ReportBuilder, Reportable, Scored};
use rand::rngs::StdRng;

use crate::{
    args::{BinArgs, CompareArgs, EvaluateArgs, LensName, SourceArgs},
    compare::{Change, Others},
    coverage::Coverage,
    error::Result,
    files::Inputs,
    given::Column,
    quantities::Pairs,
    rows::Wanted,
    words::{DataWords, Estimate, Named, OutcomeSpace, TargetWords, Told},
};

/// Runs the same lines for the type of predictions of a family.
macro_rules! with_family {
    ($family:expr, $kind:ident => $body:expr) => {
        $crate::kind::with_kind!($family, $kind => $body, {
            Categorical: Categorical,
            Normal: Normal,
            Laplace: Laplace,
            NormalMixture: Mixture<kinds::Normal>,
            LaplaceMixture: Mixture<kinds::Laplace>,
            Samples: Samples,
            Quantiles: QuantileForecasts,
        })
    };
}

/// Runs the same lines for the type of predictions of a family of real numbers.
macro_rules! with_vectors {
    ($family:expr, $kind:ident => $body:expr) => {
        $crate::kind::with_kind!($family, $kind => $body, {
            Normal: Normal,
            Laplace: Laplace,
            NormalMixture: Mixture<kinds::Normal>,
            LaplaceMixture: Mixture<kinds::Laplace>,
            Samples: Samples,
        })
    };
}

/// Runs the same lines for the type of one of some families; that the family is one of them is checked before.
macro_rules! with_kind {
    ($family:expr, $kind:ident => $body:expr, { $($name:ident: $of:ident $(<$part:ty>)?,)* }) => {{
        use burn_calibration::distribution as kinds;
        match $family {
            $($crate::args::FamilyName::$name => {
                type $kind = kinds::$of $(<$part>)?;
                $body
            })*
            other => unreachable!("{other:?} is refused before"),
        }
    }};
}
pub(crate) use {with_family, with_kind, with_vectors};

/// An aspect whose calibration is looked at: predictions with targets.
#[derive(Clone)]
pub struct View<P: Kind> {
    /// The class, where it is one against the rest.
    pub class: Option<usize>,
    /// What numbers are of, in words.
    pub of: SubjectWords,
    pub predictions: P,
    pub targets: P::Targets,
    /// The bins of its errors.
    pub bins: BinArgs,
}

/// Views of the same samples, each made when it is its turn: those of many classes are not in memory at a time.
pub type LazyViews<P> = Box<dyn ExactSizeIterator<Item = Result<View<P>>>>;

/// The words for what numbers are of; none of real numbers.
#[derive(Debug, Clone, Default)]
pub struct SubjectWords {
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
    /// What the first set is, for a result of it.
    pub data: DataWords,
    /// Names of the columns in the order of the classes or parameters: those of the first file, or of
    /// `--classes`; empty where there are none.
    pub columns: Vec<String>,
    /// Variables of each sample.
    pub given: Vec<Column>,
}

/// Values with what they are of.
pub type Estimates = Vec<(Name, Told<Estimate>)>;

/// A kind of prediction of the command line; the kernel of one without distances is `()`.
pub trait Kind: Reportable<Kernel: Pairs<Self>> + 'static {
    /// Counts what is predicted.
    const OUTCOMES: fn(usize) -> OutcomeSpace;

    /// Reads sets of predictions of the same samples, and their targets.
    fn read(inputs: &Inputs, args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>>;

    /// The whole predictions, or those of a class against the rest; classes have names.
    fn view(self, targets: Self::Targets, class: Option<usize>, names: &[String]) -> View<Self> {
        View {
            class,
            of: self.words(class, names),
            predictions: self,
            targets,
            bins: BinArgs::default(),
        }
    }

    /// What numbers of the predictions are of, in words; classes have names.
    fn words(&self, _class: Option<usize>, _names: &[String]) -> SubjectWords {
        SubjectWords::default()
    }

    /// The aspects that the arguments ask for; classes have names.
    fn views(
        self,
        targets: Self::Targets,
        (_, names): (LensName, &[String]),
    ) -> Result<LazyViews<Self>> {
        Ok(Box::new(iter::once(Ok(self.view(targets, None, names)))))
    }

    /// The kernel that the arguments ask for, with its bandwidth fixed.
    fn kernel(args: &EvaluateArgs, view: &View<Self>, rng: &mut StdRng) -> Result<Self::Kernel>;

    /// The kernel that has no part on targets, of classes.
    fn on_classes(_kernel: Option<Kernel>) -> Option<Self::Kernel> {
        None
    }

    /// The kernel on targets, if there is a choice.
    fn on_targets(_kernel: &Self::Kernel) -> Option<TargetWords> {
        None
    }

    /// What happened on average, and what was predicted, of classes: shares.
    fn summary(&self, _targets: &Self::Targets) -> Named<f64> {
        Named::default()
    }

    /// What the predictions are about, of classes.
    fn predicted(&self) -> Subject {
        Subject::Classes
    }

    /// The estimates besides those by a kernel.
    fn estimates(view: &View<Self>) -> Estimates;

    /// The coverage of levels with intervals of a level, of quantiles.
    fn coverage(_view: &View<Self>, _level: f64) -> Result<Option<Coverage>> {
        Ok(None)
    }

    /// The tests besides those by a kernel.
    fn tests() -> Vec<Test<Self>> {
        vec![]
    }

    /// Sets names of classes, and bins.
    fn set_up<'a>(
        builder: ReportBuilder<'a, Self>,
        _names: &[String],
        _bins: &BinArgs,
    ) -> ReportBuilder<'a, Self> {
        builder
    }

    /// The paired change of the SKCE, of classes.
    fn change_of_skce(
        _args: &CompareArgs,
        _before: &View<Self>,
        _after: &View<Self>,
        _kernel: Option<Kernel>,
    ) -> Option<Change> {
        None
    }

    /// What else changes.
    fn other_changes(
        _args: &CompareArgs,
        _before: &View<Self>,
        _after: &View<Self>,
    ) -> Result<Others> {
        Ok(Others::default())
    }
}

/// Kinds with distances, and so with kernels.
pub trait WithKernel: Geometry {}

/// A test.
pub struct Test<P: Kind> {
    /// The name, whose key is that on the command line too.
    pub name: Name,
    pub of: fn(&SubjectWords) -> &str,
    pub build: Build<P>,
}

/// Builds the test of an aspect with a number of replicates.
pub type Build<P> = fn(<P as Reportable>::Kernel, &View<P>, usize) -> Box<dyn CalibrationTest<P>>;

/// Predictions of real numbers, from the rows of a file.
pub trait Vectors:
    Geometry + Predictive<Unconditional = Self> + AbsoluteMoments + Scored + 'static
{
    /// Whether the columns are locations and then scales.
    const HALVES: bool = false;
    /// Whether scales may be given by variances.
    const VARIANCES: bool = false;
    /// The fair CRPS, where the columns are draws, each as likely as the others.
    const FAIR_CRPS: Option<&'static dyn Score<Self>> = None;

    /// Predictions for targets of some dimension.
    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self>;

    /// The same predictions, as kernels compare them.
    fn for_kernels(self) -> Self {
        self
    }
}
