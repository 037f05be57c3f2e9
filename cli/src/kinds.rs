//! The kinds of predictions: classes, and the families over real vectors.

use std::path::Path;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Given, Predictive, Subject},
    error,
    estimator::{Aspect, Event, Skce, Tce},
    hypothesis::{CalibrationTest, ExactTest, GivenTest, OmnibusOutcome},
    kernel::Kernel,
    names::{self, Name},
    recalibration::LpCalibrationError,
    score::{ErrorSize, ObservedExpected, Overconfidence},
};
use burn_calibration_report::ReportBuilder;
use rand::rngs::StdRng;

use crate::{
    answer::{Size, Sizing, Unit},
    args::{Evaluate, Lens, SourceArgs},
    error::{Result, bail},
    kernel::fixed,
    kind::{Estimates, Kind, Loaded, Test, View, Words},
    quantities::{estimates_of_classes, tests_of_classes},
    rows::{Wanted, read_classes},
    words::{Named, Outcomes},
};

impl Kind for Categorical {
    const OUTCOMES: fn(usize) -> Outcomes = Outcomes::Classes;

    fn read(paths: &[&Path], args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>> {
        read_classes(paths, args, wanted)
    }

    fn view(self, targets: Tensor<1, Int>, class: Option<usize>, names: &[String]) -> View<Self> {
        View {
            class,
            event: Event::of(&self),
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
        let Ok(counts) = ObservedExpected::of(Event::of(self), self, labels) else {
            return Named(Vec::new());
        };
        let names = match self.subject() {
            Subject::Event => [names::EVENT_FREQUENCY, Name::new("mean_risk", "mean risk")],
            _ => [
                names::ACCURACY,
                Name::new("mean_confidence", "mean confidence"),
            ],
        };
        let n = self.len() as f64;
        let shares = [counts.observed as f64 / n, counts.expected / n];
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

    fn named<'a>(builder: ReportBuilder<'a, Self>, names: &[String]) -> ReportBuilder<'a, Self> {
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
    let name = |class: usize| {
        names
            .get(class)
            .cloned()
            .unwrap_or_else(|| class.to_string())
    };
    let classes = predictions.classes();
    let top = || "of the top label".to_owned();
    let same = |words: String| [words.clone(), words.clone(), words];
    let [whole, event, one] = match (predictions.subject(), class) {
        (Subject::Classes, _) if classes == 2 => [
            "of both classes".into(),
            top(),
            format!("of class {}", name(1)),
        ],
        (Subject::Classes, _) => ["of the whole vector".into(), top(), top()],
        (Subject::Event, None) => same("of the event".into()),
        (Subject::Event, Some(class)) => same(format!("of class {}", name(class))),
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
