//! Kinds of predictions: how their files are read, and what there is of them.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{AbsoluteMoments, Categorical, Geometry, Given, Predictive, Subject},
    error,
    estimator::{Aspect, Event, JointKernel, Skce, Tce},
    hypothesis::{CalibrationTest, ExactTest, GivenTest, OmnibusOutcome},
    kernel::Kernel,
    names::{self, Name},
    recalibration::LpCalibrationError,
    score::{ErrorSize, MeanEstimate, Overconfidence},
};
use burn_calibration_report::{ReportBuilder, Reportable, Scored};
use rand::rngs::StdRng;

use crate::{
    answer::{Size, Sizing, Unit},
    args::{BinArgs, Evaluate, Lens, SourceArgs},
    error::{Result, bail},
    files::{Inputs, LeftOut, SampleWeights},
    given::Column,
    kernel::fixed,
    quantities::{estimates_of_classes, tests_of_classes},
    rows::{Wanted, read_classes},
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
            $crate::args::Family::Quantiles => Err($crate::error::wrong!(
                "--family quantiles: of evaluate, report, fit, apply, and of compare with --before and --after, both quantiles"
            )),
            $crate::args::Family::Multilabel => Err($crate::error::wrong!(
                "--family multilabel: of evaluate; --positive --columns NAME --label-column NAME takes one of \
                 the columns"
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
    /// The bins of its errors.
    pub bins: BinArgs,
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
    /// Variables of each sample.
    pub given: Vec<Column>,
    /// The rows that are not among them.
    pub left_out: LeftOut,
    pub weights: Option<SampleWeights>,
}

impl<P: Kind> Loaded<P> {
    /// What the first set is, for a result of it.
    pub fn in_words(&self, class_names: &[String]) -> DataWords {
        DataWords {
            left_out: self.left_out,
            weights: self.weights.clone(),
            ..self.sets[0].in_words(class_names)
        }
    }
}

/// Values with what they are of.
pub type Estimates = Vec<(Name, Told<f64>)>;

/// A kind of prediction of the command line.
pub trait Kind:
    Reportable<Kernel: JointKernel<Self> + Copy + 'static> + Geometry + 'static
{
    /// Counts what is predicted.
    const OUTCOMES: fn(usize) -> Outcomes;

    /// Reads sets of predictions of the same samples, and their targets.
    fn read(inputs: &Inputs, args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>>;

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
            left_out: LeftOut::default(),
            weights: None,
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

    /// Sets names of classes, and bins.
    fn set_up<'a>(
        builder: ReportBuilder<'a, Self>,
        _names: &[String],
        _bins: &BinArgs,
    ) -> ReportBuilder<'a, Self> {
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

/// A score of each prediction.
pub type ScoresOf<P> = fn(&P, &Tensor<2>) -> error::Result<Vec<f64>>;

/// Predictions of real numbers, from the rows of a file.
pub trait Vectors:
    Geometry + Predictive<Unconditional = Self> + AbsoluteMoments + Scored + 'static
{
    /// Whether the columns are locations and then scales.
    const HALVES: bool = false;
    /// Whether the columns are draws, each as likely as the others.
    const DRAWS: bool = false;

    /// The log score, where there is a density.
    const LOG_SCORE: Option<ScoresOf<Self>> = None;

    /// The fair CRPS, where the columns are draws.
    const FAIR_CRPS: Option<ScoresOf<Self>> = None;

    /// Predictions for targets of some dimension.
    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self>;
}

impl Kind for Categorical {
    const OUTCOMES: fn(usize) -> Outcomes = Outcomes::Classes;

    fn read(inputs: &Inputs, args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>> {
        read_classes(inputs, args, wanted)
    }

    fn view(self, targets: Tensor<1, Int>, class: Option<usize>, names: &[String]) -> View<Self> {
        View {
            class,
            event: Event::of(&self),
            bins: BinArgs::default(),
            of: words(&self, class, names),
            predictions: self,
            targets,
        }
    }

    fn views(
        self,
        labels: Tensor<1, Int>,
        (lens, names): (Lens, &[String]),
    ) -> Result<Vec<View<Self>>> {
        let is_confidence = self.subject() == Subject::Correctness;
        Ok(match lens {
            Lens::ClassWise if is_confidence => {
                bail!("--lens class-wise: there are no classes beside confidences and correctness")
            }
            Lens::TopLabel if !is_confidence => {
                let (right, labels) = self.top_label(&labels)?;
                vec![right.view(labels, None, names)]
            }
            Lens::ClassWise => (0..self.classes())
                .map(|class| {
                    let (against_rest, labels) = self.class_wise(class, &labels)?;
                    Ok(against_rest.view(labels, Some(class), names))
                })
                .collect::<Result<_>>()?,
            _ => vec![self.view(labels, None, names)],
        })
    }

    fn kernel(args: &Evaluate, view: &View<Self>, rng: &mut StdRng) -> Result<Kernel> {
        fixed(&args.kernel, &view.predictions, rng)
    }

    fn exact(skce: Skce<Kernel>, replicates: usize) -> Box<dyn CalibrationTest<Self>> {
        Box::new(ExactTest::new(skce).with_replicates(replicates))
    }

    fn given(
        given: &Given<Self>,
        targets: &Tensor<1, Int>,
        redraws: usize,
        rng: &mut StdRng,
    ) -> error::Result<OmnibusOutcome> {
        let test = GivenTest::new().with_redraws(redraws);
        test.outcome(given, targets, rng)
    }

    fn on_predictions(kernel: &Kernel) -> Kernel {
        *kernel
    }

    fn summary(&self, labels: &Tensor<1, Int>) -> Named<f64> {
        let (plain, weights) = self.parted();
        let Ok(outcomes) = Event::of(self).outcomes(&plain, labels) else {
            return Named(Vec::new());
        };
        let occurred: Vec<f64> = outcomes.pairs().map(|(_, c)| c).collect();
        let mean = |values: &[f64]| MeanEstimate::weighted(values, &weights).estimate;
        let shares = [mean(&occurred), mean(&outcomes.probability)];
        let names = match self.subject() {
            Subject::Event => [names::EVENT_FREQUENCY, Name::new("mean_risk", "mean risk")],
            _ => [
                names::ACCURACY,
                Name::new("mean_confidence", "mean confidence"),
            ],
        };
        Named(names.into_iter().zip(shares).collect())
    }

    fn predicted(&self) -> Subject {
        self.subject()
    }

    fn estimates(view: &View<Self>) -> Estimates {
        estimates_of_classes(view)
    }

    fn tests() -> Vec<Test<Self>> {
        tests_of_classes()
    }

    fn set_up<'a>(
        builder: ReportBuilder<'a, Self>,
        names: &[String],
        bins: &BinArgs,
    ) -> ReportBuilder<'a, Self> {
        let builder = (builder.with_binning(bins.binning())).with_order(bins.norm.order());
        match names {
            [] => builder,
            names => builder.with_class_names(names),
        }
    }

    fn sizes(sizing: &Sizing<Self>) -> Vec<(Name, Size)> {
        let View { event, of, .. } = sizing.view;
        let (event, of) = (*event, &of.event);
        let excess = Overconfidence { event };
        let mut sizes = match sizing.view.predictions.subject() {
            Subject::Event => vec![
                sizing.ratio(),
                sizing.in_points(names::OVERPREDICTION.of(of), &excess),
            ],
            _ => vec![sizing.in_points(names::OVERCONFIDENCE.of(of), &excess)],
        };
        let ece = Tce::default().with_event(event);
        sizes.push(sizing.in_points(names::ECE_DEBIASED.of(of), &ece));
        if let Some(order) = sizing.args.lp_error {
            sizes.extend(lp_errors(sizing, event, order));
        }
        sizes
    }
}

/// What numbers of predictions are of, in words.
fn words(predictions: &Categorical, class: Option<usize>, names: &[String]) -> Words {
    let of_class = |class: usize| match names.get(class) {
        Some(name) => format!("of class {name}"),
        None => format!("of class {class}"),
    };
    let classes = predictions.classes();
    let top = "of the top label".to_owned();
    let same = |words: String| [words.clone(), words.clone(), words];
    let [whole, event, one] = match (predictions.subject(), class) {
        (Subject::Classes, _) if classes == 2 => ["of both classes".into(), top, of_class(1)],
        (Subject::Classes, _) => ["of the whole vector".into(), top.clone(), top],
        (Subject::Event, None) => same("of the event".into()),
        (Subject::Event, Some(class)) => same(of_class(class)),
        _ => same("of the confidence".into()),
    };
    let both = if classes == 2 {
        ", summed over both outcomes"
    } else {
        ""
    };
    Words {
        sum: format!("{whole}{both}"),
        whole,
        event,
        one,
    }
}

/// The bounds of the error of an event, of its parts, and of the whole vector where that is another.
fn lp_errors(sizing: &Sizing<Categorical>, event: Event, order: f64) -> Vec<(Name, Size)> {
    let error = LpCalibrationError::new(order);
    let bound = |aspect| {
        let error = error.clone().with_aspect(aspect);
        error.bound(&sizing.view.predictions, &sizing.view.targets)
    };
    let entry = |(name, size): (Name, error::Result<ErrorSize>)| {
        let name = name.with(format!("order {order}, at least, points"));
        (name, sizing.known(Unit::Points, size))
    };
    let of_event = bound(Aspect::Event(event));
    let part = |part: usize| {
        of_event
            .clone()
            .map(|bound| bound.parts().expect("of an event")[part].clone())
    };
    let mut sizes = vec![
        (names::LP_ERROR, of_event.clone().map(|bound| bound.size())),
        (names::LP_OVER, part(0)),
        (names::LP_UNDER, part(1)),
    ];
    if event == Event::TopLabel {
        let of_vector = bound(Aspect::Vector).map(|bound| bound.size());
        sizes.push((names::LP_VECTOR, of_vector));
    }
    sizes.into_iter().map(entry).collect()
}
