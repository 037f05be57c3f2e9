//! Kinds of predictions: how their files are read, and what there is of them.

use std::path::Path;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{AbsoluteMoments, Geometry, Given, Subject},
    error,
    estimator::{Event, JointKernel, Skce},
    hypothesis::{CalibrationTest, Omnibus, OmnibusOutcome},
    kernel::Kernel,
    names::Name,
};
use burn_calibration_report::{ReportBuilder, Reportable};
use rand::rngs::StdRng;
use serde::Serialize;

use crate::{
    answer::{Size, Sizing},
    args::{Evaluate, Lens, SourceArgs},
    input::{Ids, Result},
    rows::Wanted,
    words::TargetWords,
};

/// Runs the same lines for the type of predictions of a family.
macro_rules! with_family {
    ($family:expr, $kind:ident => $body:expr) => {{
        match $family {
            $crate::args::Family::Categorical => {
                type $kind = burn_calibration::distribution::Categorical;
                $body
            }
            other => $crate::kind::with_vectors!(other, $kind => $body),
        }
    }};
}

/// Runs the same lines for the type of predictions of a family of real numbers.
macro_rules! with_vectors {
    ($family:expr, $kind:ident => $body:expr) => {{
        use burn_calibration::distribution as kinds;
        match $family {
            $crate::args::Family::Categorical => {
                Err("--family: both categorical or neither".to_owned())
            }
            $crate::args::Family::Normal => {
                type $kind = kinds::Normal;
                $body
            }
            $crate::args::Family::Laplace => {
                type $kind = kinds::Laplace;
                $body
            }
            $crate::args::Family::NormalMixture => {
                type $kind = kinds::Mixture<kinds::Normal>;
                $body
            }
            $crate::args::Family::LaplaceMixture => {
                type $kind = kinds::Mixture<kinds::Laplace>;
                $body
            }
            $crate::args::Family::Samples => {
                type $kind = kinds::Samples;
                $body
            }
        }
    }};
}
pub(crate) use {with_family, with_vectors};

/// An aspect whose calibration is tested: predictions with targets.
pub struct View<P: Kind> {
    /// The class, where it is one against the rest.
    pub class: Option<usize>,
    /// What numbers are of, in words.
    pub of: Words,
    pub predictions: P,
    pub targets: P::Targets,
    /// The event that the top-label quantities look at.
    pub event: Event,
}

/// What a number is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The whole prediction.
    Whole,
    /// The event of the view: the top label, or that which is asked for.
    Event,
    /// The one event of quantities of one event: class 1 of two classes.
    One,
    /// Sums over an event and its complement.
    WholeOfBoth,
    OneOfBoth,
}

/// The words for what numbers are of; none of real numbers.
#[derive(Debug, Clone, Default)]
pub struct Words {
    pub whole: String,
    pub event: String,
    pub one: String,
    /// Whether the whole prediction is one event and its complement.
    pub is_of_two: bool,
}

impl Words {
    pub fn of(&self, of: Of) -> String {
        let both = |words: &str| format!("{words}, summed over both outcomes");
        match of {
            Of::WholeOfBoth if self.is_of_two => both(&self.whole),
            Of::Whole | Of::WholeOfBoth => self.whole.clone(),
            Of::Event => self.event.clone(),
            Of::One => self.one.clone(),
            Of::OneOfBoth => both(&self.one),
        }
    }
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

/// A kind of prediction of the command line.
pub trait Kind: Omnibus + Geometry + 'static {
    /// The kernel of the SKCE.
    type Joint: JointKernel<Self> + Copy + 'static;

    /// Reads sets of predictions of the same samples, and their targets.
    fn read(paths: &[&Path], args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>>;

    /// The aspects that the arguments ask for; classes have names.
    fn views(self, targets: Self::Targets, lens: (Lens, &[String])) -> Result<Vec<View<Self>>>;

    /// The kernel that the arguments ask for, with its bandwidth fixed.
    fn kernel(args: &Evaluate, view: &View<Self>, rng: &mut StdRng) -> Result<Self::Joint>;

    /// The exact test of an SKCE.
    fn exact(skce: Skce<Self::Joint>, replicates: usize) -> Box<dyn CalibrationTest<Self>>;

    /// The test given a variable, with so many redraws.
    fn given(
        given: &Given<Self>,
        targets: &Self::Targets,
        redraws: usize,
        rng: &mut StdRng,
    ) -> error::Result<OmnibusOutcome>;

    /// The kernel on predictions.
    fn on_predictions(kernel: &Self::Joint) -> Kernel;

    /// The kernel on targets, if there is a choice.
    fn on_targets(_kernel: &Self::Joint) -> Option<TargetWords> {
        None
    }

    /// The name and the number of what is predicted.
    fn outcomes(&self) -> (&'static str, usize);

    /// The accuracy and the mean confidence, of classes.
    fn summary(&self, _targets: &Self::Targets) -> Option<Summary> {
        None
    }

    /// What the predictions are about, of classes.
    fn subject(&self) -> Subject {
        Subject::Classes
    }

    /// The event that is looked at where there can be one only.
    fn event(&self) -> Event {
        Event::TopLabel
    }

    /// The estimates besides those of all kinds.
    fn estimates() -> Vec<Estimate<Self>>;

    /// The tests besides those of all kinds.
    fn tests() -> Vec<Test<Self>> {
        vec![]
    }

    /// The errors whose size is told, before the SKCE.
    fn sizes(sizing: &Sizing<Self>, view: (Event, &Words)) -> Vec<(Name, Size)>;

    /// Names the classes.
    fn named<'a>(builder: ReportBuilder<'a, Self>, _names: &[String]) -> ReportBuilder<'a, Self>
    where
        Self: Reportable,
    {
        builder
    }
}

/// What happened on average, and what was predicted.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Summary {
    /// How often the most likely classes are right, and how often they say they are.
    Classes { accuracy: f64, mean_confidence: f64 },
    /// How often the event occurs, and its mean probability.
    Event {
        event_frequency: f64,
        mean_risk: f64,
    },
}

/// The input of an estimate.
pub struct Data<'a, P: Kind> {
    pub predictions: &'a P,
    pub targets: &'a P::Targets,
    /// The kernel, with a fixed bandwidth.
    pub kernel: P::Joint,
    /// The event whose probability the quantities of an event look at.
    pub event: Event,
    pub of: &'a Words,
    /// The unbiased SKCE over all pairs, once it is known.
    pub unbiased: Option<f64>,
}

/// An estimate.
pub struct Estimate<P: Kind> {
    pub name: Name,
    pub of: Of,
    /// Whether the cost grows with the square of the number of samples.
    pub is_quadratic: bool,
    pub run: fn(&Data<P>) -> error::Result<f64>,
}

/// A test.
pub struct Test<P: Kind> {
    /// The name, whose key is that on the command line too.
    pub name: Name,
    pub of: Of,
    pub build: Build<P>,
}

/// Builds the test of an aspect with a number of replicates.
pub type Build<P> = fn(<P as Kind>::Joint, &View<P>, usize) -> Box<dyn CalibrationTest<P>>;

/// The log score of each prediction.
pub type LogScoreOf<P> = fn(&P, &Tensor<2>) -> error::Result<Vec<f64>>;

/// Predictions of real numbers, from the rows of a file.
pub trait Vectors: Geometry + AbsoluteMoments + 'static {
    /// Whether the columns are locations and then scales.
    const HALVES: bool = false;
    /// Whether the columns are draws, each as likely as the others.
    const DRAWS: bool = false;

    /// The log score, where there is a density.
    const LOG_SCORE: Option<LogScoreOf<Self>> = None;

    /// Predictions for targets of some dimension.
    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self>;
}
