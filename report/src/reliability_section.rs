mod estimates;

pub use estimates::{BinnedError, binned_errors};
use estimates::{MEAN_CONFIDENCE, MEAN_RISK};

use burn::tensor::{Int, Tensor};
use serde::Serialize;

use super::{
    Assessed, InTheLarge, Plan, Report, Reportable, Section, Size, Sizing,
    drawn::{Draw, Drawn},
    estimate::NamedEstimates,
    number::{decimals, percent, points, whole},
    page::{bandwidth, profile},
    section::{NamedScore, Parts},
    view::{Bins, SubjectWords, View},
};
use burn_calibration::{
    diagram::{CorpDiagram, CorpReliability, Reliability, ReliabilityDiagram},
    distribution::{Categorical, Subject, Weighted as _},
    error::{Result, checks::check_parameter},
    estimator::{Binning, Estimator, Event, JointKernel, Tce},
    kernel::Kernel,
    names::{self, Name},
    score::{Brier, LogScore, Spherical},
};

/// The diagrams of one set of class probabilities.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReliabilitySection {
    /// The subject of the predictions. For an event, numbers of the top label are numbers of the event.
    #[serde(skip)]
    pub subject: Subject,
    /// The diagram of the top label.
    pub top_label: ReliabilityDiagram,
    /// The isotonic diagram: of class 1 of two classes, otherwise of the top label.
    pub isotonic: CorpDiagram,
    /// The diagrams of the classes in [`Classes::shown`].
    pub class_wise: Vec<ReliabilityDiagram>,
}

/// The classes that a page is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Classes {
    /// The names of the `m` classes.
    pub names: Vec<String>,
    /// The classes that have a diagram of their own: those with the largest debiased error
    /// in bins of equal width.
    pub shown: Vec<usize>,
    /// The bins of all diagrams.
    pub binning: Binning,
    /// The order of the error in these bins that is shown beside the ECE.
    #[serde(skip)]
    pub order: f64,
    /// Whether the classes have an order, that of their numbers.
    #[serde(skip)]
    pub are_ordered: bool,
}

impl Classes {
    fn bins(&self) -> Bins {
        Bins {
            binning: self.binning,
            order: self.order,
        }
    }
}

/// Settings of the diagrams of classes, which a [`ReportBuilder`](super::ReportBuilder) holds.
#[derive(Debug, Clone)]
pub struct ReliabilityOptions {
    pub(super) names: Option<Vec<String>>,
    pub(super) most_classes: usize,
    pub(super) binning: Option<Binning>,
    pub(super) order: f64,
    pub(super) are_ordered: bool,
}

impl Default for ReliabilityOptions {
    fn default() -> Self {
        Self {
            names: None,
            most_classes: 10,
            binning: None,
            order: 1.0,
            are_ordered: false,
        }
    }
}

impl Reportable for Categorical {
    type Section = ReliabilitySection;
    type Subject = Classes;
    type Kernel = Kernel;
    type Options = ReliabilityOptions;

    fn fixed_kernel(&self, _labels: &Tensor<1, Int>, kernel: Option<Kernel>) -> Result<Kernel> {
        JointKernel::fixed(&kernel.unwrap_or(Kernel::exponential()), self)
    }

    fn subject(&self, labels: &Tensor<1, Int>, options: ReliabilityOptions) -> Result<Classes> {
        let m = self.classes();
        let names = match options.names {
            Some(names) => {
                let (name, count) = ("the number of class names", names.len());
                check_parameter(count == m, name, count as f64, "one for each class")?;
                names
            }
            None => (0..m).map(|class| class.to_string()).collect(),
        };
        self.parted().0.check_labels(labels)?;
        Ok(Classes {
            names,
            shown: self.worst(labels, options.most_classes),
            binning: options.binning.unwrap_or(self.usual_binning()),
            order: options.order,
            are_ordered: options.are_ordered,
        })
    }

    fn sizes(&self, labels: &Tensor<1, Int>, sizing: &Sizing) -> Vec<(Name, Size)> {
        sizing.of_event(self, labels)
    }

    fn in_the_large(&self, labels: &Tensor<1, Int>, sizing: &Sizing) -> Option<InTheLarge> {
        sizing.event_in_the_large(self, labels)
    }

    fn words(&self, class: Option<usize>, names: &[String]) -> SubjectWords {
        let of_class = |class: usize| match names.get(class) {
            Some(name) => format!("of class {name}"),
            None => format!("of class {class}"),
        };
        let classes = self.classes();
        let top = "of the top label".to_owned();
        let same = |words: String| [words.clone(), words.clone(), words];
        let words = match (self.subject(), class) {
            (Subject::Classes, _) if classes == 2 => ["of both classes".into(), top, of_class(1)],
            (Subject::Classes, _) => ["of the whole vector".into(), top.clone(), top],
            (Subject::Event, None) => same("of the event".into()),
            (Subject::Event, Some(class)) => same(of_class(class)),
            (Subject::Correctness, _) => same("of the confidence".into()),
        };
        SubjectWords::new(words, classes)
    }

    fn summary(&self, labels: &Tensor<1, Int>) -> NamedEstimates {
        estimates::summary(self, labels)
    }

    fn estimates(view: &View<Self>, seed: u64) -> NamedEstimates {
        estimates::estimates(view, seed)
    }

    fn view(&self, plan: &Plan<Self>) -> View<Self> {
        let subject = plan.subject;
        View::new(self.clone(), plan.targets.clone(), None, &subject.names)
            .with_bins(subject.bins())
            .with_order(subject.are_ordered)
    }

    fn section(&self, plan: &Plan<Self>) -> Result<ReliabilitySection> {
        let (labels, level) = (plan.targets, plan.level);
        let diagram = |event| {
            let reliability = Reliability::new(event).with_binning(plan.subject.binning);
            reliability.with_level(level).diagram(self, labels)
        };
        let isotonic = CorpReliability::new(Event::one_of(self));
        let isotonic = isotonic.with_level(level).with_seed(plan.seed);
        let classes = plan.subject.shown.iter();
        Ok(ReliabilitySection {
            subject: self.subject(),
            top_label: diagram(Event::of(self))?,
            isotonic: isotonic.diagram(self, labels)?,
            class_wise: classes
                .map(|&class| diagram(Event::Class(class)))
                .collect::<Result<_>>()?,
        })
    }

    fn scores() -> Vec<NamedScore<Self>> {
        vec![
            (names::BRIER, &Brier),
            (names::LOG, &LogScore),
            (names::SPHERICAL, &Spherical),
        ]
    }
}

/// The choices of diagrams on a page that depend on the predictions.
trait Pages {
    /// The classes with the largest calibration errors, in their order; of equal ones those with the smaller numbers.
    fn worst(&self, labels: &Tensor<1, Int>, most: usize) -> Vec<usize>;

    /// Bins of equal width; of equal mass of an event whose probabilities are all below a half, most of which would be in
    /// one bin.
    fn usual_binning(&self) -> Binning;
}

impl Pages for Categorical {
    fn worst(&self, labels: &Tensor<1, Int>, most: usize) -> Vec<usize> {
        let error = |class| {
            let error = Tce::default().with_event(Event::Class(class));
            let error = error.with_binning(Binning::Uniform { bins: 15 });
            (class, error.estimate(self, labels).unwrap_or(0.0)) // too few samples
        };
        let mut errors: Vec<(usize, f64)> = (0..self.classes()).map(error).collect();
        errors.sort_by(|(_, a), (_, b)| b.total_cmp(a)); // stable
        let mut classes: Vec<usize> = errors.into_iter().map(|(class, _)| class).collect();
        classes.truncate(most);
        classes.sort_unstable();
        classes
    }

    fn usual_binning(&self) -> Binning {
        let bins = 15;
        let of_event = || self.probabilities().slice_dim(1, 1..2).max();
        if self.subject() == Subject::Event && of_event().into_scalar::<f64>() < 0.5 {
            Binning::EqualMass { bins }
        } else {
            Binning::Uniform { bins }
        }
    }
}

impl Section for ReliabilitySection {
    type Subject = Classes;
    type Kernel = Kernel;

    fn drawings(&self, classes: &Classes) -> Vec<(String, Drawn)> {
        let name = |diagram: &ReliabilityDiagram| match diagram.event {
            Event::TopLabel => "top-label".into(),
            Event::Class(class) => format!("class-{}", classes.names[class]),
        };
        let first = match self.subject {
            Subject::Classes => name(&self.top_label),
            Subject::Event => "event".into(),
            Subject::Correctness => "confidence".into(),
        };
        let mut drawings = vec![
            (first, self.top_label.drawn()),
            ("isotonic".into(), self.isotonic.drawn()),
        ];
        if self.subject == Subject::Classes {
            drawings.extend(self.class_wise.iter().map(|d| (name(d), d.drawn())));
        }
        drawings
    }

    fn sentence(set: &Assessed<Self>) -> String {
        let subject = set.page.subject;
        if subject == Subject::Event {
            let [said, was] = [MEAN_RISK, names::EVENT_FREQUENCY].map(|name| set.number(name.key));
            return format!(
                "on average the event has a probability of {}, and its frequency is {}",
                percent(said),
                percent(was)
            );
        }
        let [said, was] = [MEAN_CONFIDENCE, names::ACCURACY].map(|name| set.number(name.key));
        format!(
            "on average the model is {} sure{}, and right {} of the time{}",
            percent(said),
            match subject {
                Subject::Classes => " of its most likely class",
                _ => "",
            },
            percent(was),
            direction(said - was)
        )
    }

    fn page(report: &Report<Self>) -> Parts {
        let bins = report.subject.bins().words();
        let distance = report.kernel.distance.words();
        let mut of_bins = report.before.page.top_label.bins.iter();
        let bands = if of_bins.any(|bin| bin.weight.is_some()) {
            "about"
        } else {
            "exact"
        };
        let of = match report.before.page.subject {
            Subject::Classes => format!("over {} classes", whole(report.classes())),
            Subject::Event => "of one event".into(),
            Subject::Correctness => "of whether the model is right".into(),
        };
        Parts {
            of,
            diagrams: [report.top_label(), report.isotonic()]
                .into_iter()
                .chain(report.class_wise())
                .collect(),
            method: format!(
                "for the debiased ECE (Kumar et al. 2019) and the SKCE they are approximate. Diagrams and ECE: \
                 {bins}. Bands: {bands} {} % intervals of the frequency in each bin, given the predictions \
                 (Poisson binomial; the idea is that of Bröcker and Smith 2007). They hold for each bin \
                 separately: of many bins of a calibrated model some lie outside their band. Isotonic diagram \
                 and decomposition: CORP (Dimitriadis, Gneiting, Jordan 2021), with a band by 399 redraws of \
                 the outcomes, at one probability at a time. SKCE (Widmann et al. 2019):",
                decimals(100.0 * report.level, 2)
            ),
            kernel: format!(
                "{} kernel over {distance} with bandwidth {}",
                profile(&report.kernel),
                bandwidth(&report.kernel)
            ),
        }
    }
}

fn direction(excess: f64) -> String {
    let points = points(excess.abs());
    match excess {
        0.0 => String::new(),
        e if e > 0.0 => format!(": overconfident by {points} percentage points"),
        _ => format!(": underconfident by {points} percentage points"),
    }
}
