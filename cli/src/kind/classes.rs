//! Predictions over classes as a [`Kind`].

use std::iter;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    error,
    estimator::{Accuracy, Estimator, Skce, Tce},
    kernel::Kernel,
    names::{self, Name},
    score::RankedProbabilityScore,
};
use burn_calibration_reader::names::{Names, OPTION};
use burn_calibration_report::{
    BinnedError, NamedScore, ReportBuilder, Reportable as _, View, binned_errors,
};

use super::{Kind, LazyViews, Loaded, Test, WithKernel};
use crate::{
    args::{CompareArgs, EvaluateArgs, LensName, ReportArgs, SourceArgs},
    compare::{Biased, Change, Others, change},
    error::{Result, bail, wrong},
    files::{File, Inputs},
    kernel::fixed,
    limits::{BLOCK, QUADRATIC_LIMIT},
    quantities::tests_of_classes,
    rows::{PredictionForm, columns, names_by_option, read_classes, rows_of},
    words::{Named, OutcomeSpace},
};

impl WithKernel for Categorical {}

impl Kind for Categorical {
    const OUTCOMES: fn(usize) -> OutcomeSpace = OutcomeSpace::Classes;

    fn read(inputs: &Inputs, args: &SourceArgs, form: PredictionForm) -> Result<Loaded<Self>> {
        read_classes(inputs, args, form)
    }

    fn without_targets(file: &mut File, args: &SourceArgs) -> Result<(Self, Vec<String>)> {
        let by_option = names_by_option(args);
        let like = Names {
            names: &by_option,
            of: OPTION,
        };
        let rows = rows_of(file, &args.options(), PredictionForm::Probabilities, like)?;
        let event = rows.event_name().map(|name| vec![name]);
        let columns = event.unwrap_or_else(|| columns(&rows, &by_option));
        Ok((rows.predictions, columns))
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
                    Ok(View::new(against_rest, labels, Some(class), &names))
                };
                return Ok(Box::new((0..classes).map(against_rest)));
            }
            LensName::TopLabel => {
                let (right, labels) = if is_confidence {
                    (self, labels)
                } else {
                    self.top_label(&labels)?
                };
                View::new(right, labels, None, &["wrong", "right"].map(str::to_owned))
            }
            LensName::Canonical => View::new(self, labels, None, names),
        };
        Ok(Box::new(iter::once(Ok(view))))
    }

    fn kernel(args: &EvaluateArgs, view: &View<Self>) -> Result<Kernel> {
        fixed(&args.kernel, &view.predictions)
    }

    fn on_classes(kernel: Option<Kernel>) -> Option<Kernel> {
        kernel
    }

    fn predicted(&self) -> Subject {
        self.subject()
    }

    fn tests() -> Vec<Test<Self>> {
        tests_of_classes()
    }

    fn set_up<'a>(
        builder: ReportBuilder<'a, Self>,
        names: &[String],
        args: &ReportArgs,
    ) -> ReportBuilder<'a, Self> {
        let builder = builder.with_order(args.bins.norm.order());
        let builder = builder.with_ordered_classes(args.order.ordered);
        let builder = match args.bins.asked() {
            Some(bins) => builder.with_binning(bins.binning()),
            None => builder,
        };
        match names {
            [] => builder,
            names => builder.with_class_names(names),
        }
    }

    fn ordered_score() -> Option<NamedScore<Self>> {
        Some((names::RANKED_PROBABILITY, &RankedProbabilityScore))
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
            let view = view.clone().with_bins(args.bins.into());
            let errors = binned_errors(&view).into_iter();
            let estimate = |error: Tce| error.estimate(&view.predictions, &view.targets);
            errors
                .map(|BinnedError { name, error, .. }| (name, estimate(error)))
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
                let frequency = before.summary(labels)[0].1.value.0.clone();
                let frequency = frequency.map_err(|reason| wrong!("{reason}"))?.number();
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
