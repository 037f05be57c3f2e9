//! Predictions over classes as a [`Kind`].

use std::iter;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject, Weighted as _},
    error,
    estimator::{Accuracy, Estimator, Event, Skce, Tce},
    kernel::Kernel,
    names::{self, Name},
    score::MeanEstimate,
};
use burn_calibration_report::ReportBuilder;
use rand::rngs::StdRng;

use super::{Estimates, Kind, LazyViews, Loaded, SubjectWords, Test, View, WithKernel};
use crate::{
    args::{BinArgs, CompareArgs, EvaluateArgs, LensName, SourceArgs},
    compare::{Biased, Change, Others, change},
    error::{Result, bail},
    files::Inputs,
    kernel::fixed,
    limits::{BLOCK, QUADRATIC_LIMIT},
    quantities::{binned_errors, estimates_of_classes, tests_of_classes},
    rows::{Wanted, read_classes},
    words::{Named, OutcomeSpace},
};

impl WithKernel for Categorical {}

impl Kind for Categorical {
    const OUTCOMES: fn(usize) -> OutcomeSpace = OutcomeSpace::Classes;

    fn read(inputs: &Inputs, args: &SourceArgs, wanted: Wanted) -> Result<Loaded<Self>> {
        read_classes(inputs, args, wanted)
    }

    fn words(&self, class: Option<usize>, names: &[String]) -> SubjectWords {
        let of_class = |class: usize| match names.get(class) {
            Some(name) => format!("of class {name}"),
            None => format!("of class {class}"),
        };
        let classes = self.classes();
        let top = "of the top label".to_owned();
        let same = |words: String| [words.clone(), words.clone(), words];
        let [whole, event, one] = match (self.subject(), class) {
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
        SubjectWords {
            sum: format!("{whole}{both}"),
            whole,
            event,
            one,
        }
    }

    fn views(
        self,
        labels: Tensor<1, Int>,
        (lens, names): (LensName, &[String]),
    ) -> Result<LazyViews<Self>> {
        let is_confidence = self.subject() == Subject::Correctness;
        let view = match lens {
            LensName::ClassWise if is_confidence => {
                bail!("--lens class-wise: there are no classes beside confidences and correctness")
            }
            LensName::ClassWise => {
                let (classes, names) = (self.classes(), names.to_vec());
                let against_rest = move |class| {
                    let (against_rest, labels) = self.class_wise(class, &labels)?;
                    Ok(against_rest.view(labels, Some(class), &names))
                };
                return Ok(Box::new((0..classes).map(against_rest)));
            }
            LensName::TopLabel if !is_confidence => {
                let (right, labels) = self.top_label(&labels)?;
                right.view(labels, None, names)
            }
            _ => self.view(labels, None, names),
        };
        Ok(Box::new(iter::once(Ok(view))))
    }

    fn kernel(args: &EvaluateArgs, view: &View<Self>, rng: &mut StdRng) -> Result<Kernel> {
        fixed(&args.kernel, &view.predictions, rng)
    }

    fn on_classes(kernel: Option<Kernel>) -> Option<Kernel> {
        kernel
    }

    fn summary(&self, labels: &Tensor<1, Int>) -> Named<f64> {
        let Ok(shares) = shares(self, Event::of(self), labels) else {
            return Named::default();
        };
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
        let builder = builder.with_order(bins.norm.order());
        let builder = match bins.asked() {
            Some(bins) => builder.with_binning(bins.binning()),
            None => builder,
        };
        match names {
            [] => builder,
            names => builder.with_class_names(names),
        }
    }

    fn change_of_skce(
        args: &CompareArgs,
        before: &View<Self>,
        after: &View<Self>,
        kernel: Option<Kernel>,
    ) -> Option<Change> {
        let (of, labels) = (&before.of.whole, &before.targets);
        let (before, after) = (&before.predictions, &after.predictions);
        let (name, skce) = if before.len() <= QUADRATIC_LIMIT {
            (names::SKCE_UNBIASED, Skce::unbiased(kernel?))
        } else {
            let detail = format_args!("{BLOCK} samples each");
            (names::SKCE_BLOCK.with(detail), Skce::block(kernel?, BLOCK))
        };
        let gain = skce.improvement(before, after, labels);
        Some(change(args, name.of(of), gain))
    }

    fn other_changes(
        args: &CompareArgs,
        before: &View<Self>,
        after: &View<Self>,
    ) -> Result<Others> {
        let errors = |view: &View<Self>| -> Vec<(Name, error::Result<f64>)> {
            let errors = binned_errors(&args.bins, view).into_iter();
            let estimate = |error: Tce| error.estimate(&view.predictions, &view.targets);
            errors
                .map(|(name, error)| (name, estimate(error)))
                .collect()
        };
        let ece = errors(before).into_iter().zip(errors(after));
        let (of, labels) = (&before.of, &before.targets);
        let (before, after) = (&before.predictions, &after.predictions);
        let accuracy = match before.subject() {
            Subject::Classes => {
                let accuracy = |set: &Categorical| Accuracy.estimate(set, labels);
                Some([accuracy(before)?, accuracy(after)?].into())
            }
            // of confidences it is data
            Subject::Correctness => {
                let [frequency, _] = shares(before, Event::one_of(before), labels)?;
                Some([frequency, frequency].into())
            }
            _ => None,
        };
        let biased = |((name, before), (_, after)): ((Name, error::Result<f64>), (Name, _))| {
            let values = [before?, after?].into();
            let name = name.of(&of.event).with("biased");
            Ok((
                name,
                Biased {
                    values,
                    biased: true,
                },
            ))
        };
        Ok(Others {
            accuracy,
            ece: Named(ece.map(biased).collect::<error::Result<_>>()?),
            levels: Vec::new(),
        })
    }
}

impl View<Categorical> {
    /// The event that the quantities of an event look at: the top label, or the one that is asked for.
    pub fn event(&self) -> Event {
        Event::of(&self.predictions)
    }
}

/// How often an event occurs, and how often it is predicted to.
fn shares(
    predictions: &Categorical,
    event: Event,
    labels: &Tensor<1, Int>,
) -> error::Result<[f64; 2]> {
    let (plain, weights) = predictions.parted();
    let outcomes = event.outcomes(&plain, labels)?;
    let occurred: Vec<f64> = outcomes.pairs().map(|(_, c)| c).collect();
    let shares = [&occurred, &outcomes.probability];
    Ok(shares.map(|values| MeanEstimate::weighted(values, &weights).estimate))
}
