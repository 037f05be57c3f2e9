//! Kinds of predictions: how their files are read, and what there is of them.

mod classes;

use std::iter;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{AbsoluteMoments, Geometry, Predictive, Subject},
    hypothesis::CalibrationTest,
    kernel::Kernel,
    names::Name,
};
use burn_calibration_report::{
    NamedScore, ReportBuilder, Reportable, Scored, SubjectWords, View, WithDistances,
};

use crate::{
    args::{CompareArgs, EvaluateArgs, LensName, ReportArgs, SourceArgs},
    compare::{Change, Others},
    coverage::Coverage,
    error::Result,
    files::{File, Inputs},
    given::Column,
    quantities::Pairs,
    rows::PredictionForm,
    words::{DataWords, OutcomeSpace, TargetWords},
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

/// Views of the same samples, each made when it is its turn: those of many classes are not in memory at a time.
pub type LazyViews<P> = Box<dyn ExactSizeIterator<Item = Result<View<P>>>>;

/// Sets of predictions of the same samples, and their targets.
pub struct Loaded<P: Kind> {
    pub sets: Vec<P>,
    pub targets: P::Targets,
    /// The description of the first set, for a result.
    pub data: DataWords,
    /// Names of the columns in the order of the classes or parameters: those of the first file, or of
    /// `--classes`; empty where there are none.
    pub columns: Vec<String>,
    /// The name of the column of an event, which is no name of a class.
    pub event: Option<String>,
    /// Variables of each sample.
    pub given: Vec<Column>,
}

/// A kind of prediction of the command line; the kernel of one without distances is `()`.
pub trait Kind: Reportable<Kernel: Pairs<Self>> + 'static {
    /// Counts what is predicted.
    const OUTCOMES: fn(usize) -> OutcomeSpace;

    /// Reads sets of predictions of the same samples, and their targets.
    fn read(inputs: &Inputs, args: &SourceArgs, form: PredictionForm) -> Result<Loaded<Self>>;

    /// Makes predictions of the numbers of a file whose targets are still to come, and checks them. Returns the names of
    /// their columns as a monitor knows them.
    fn without_targets(file: &mut File, args: &SourceArgs) -> Result<(Self, Vec<String>)>;

    /// The aspects that the arguments ask for; classes have names.
    fn views(
        self,
        targets: Self::Targets,
        (_, names): (LensName, &[String]),
    ) -> Result<LazyViews<Self>> {
        Ok(Box::new(iter::once(Ok(View::new(
            self, targets, None, names,
        )))))
    }

    /// The kernel that the arguments ask for, with its bandwidth fixed.
    fn kernel(args: &EvaluateArgs, view: &View<Self>) -> Result<Self::Kernel>;

    /// The kernel that has no part on targets, of classes.
    fn on_classes(_kernel: Option<Kernel>) -> Option<Self::Kernel> {
        None
    }

    /// The kernel on targets, if there is a choice.
    fn on_targets(_kernel: &Self::Kernel) -> Option<TargetWords> {
        None
    }

    /// Returns the subject of predictions of classes.
    fn predicted(&self) -> Subject {
        Subject::Classes
    }

    /// The coverage of levels with intervals of a level, of quantiles.
    fn coverage(_view: &View<Self>, _level: f64) -> Result<Option<Coverage>> {
        Ok(None)
    }

    /// The tests besides those by a kernel.
    fn tests() -> Vec<Test<Self>> {
        vec![]
    }

    /// Sets names of classes, their order, and bins.
    fn set_up<'a>(
        builder: ReportBuilder<'a, Self>,
        _names: &[String],
        _args: &ReportArgs,
    ) -> ReportBuilder<'a, Self> {
        builder
    }

    /// The score of classes that have an order.
    fn ordered_score() -> Option<NamedScore<Self>> {
        None
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

    /// Returns the other changes.
    fn other_changes(
        _args: &CompareArgs,
        _before: &View<Self>,
        _after: &View<Self>,
    ) -> Result<Others> {
        Ok(Others::default())
    }
}

/// Kinds with distances, and so with kernels.
pub trait WithKernel: WithDistances {}

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

    /// Predictions for targets of some dimension.
    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self>;

    /// The same predictions, as kernels compare them.
    fn for_kernels(self) -> Self {
        self
    }
}
