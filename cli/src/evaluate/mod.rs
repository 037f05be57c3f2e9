//! `calibration evaluate`.

mod gate;
mod words;

use burn_calibration::{
    hypothesis::{OmnibusOutcome, benjamini_hochberg, holm},
    names::{self, Name},
};
use burn_calibration_report::{Answer, Distances as _, Estimate, Tested, View};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

#[cfg(feature = "files")]
pub use gate::reasons;

use crate::{
    answer::{omnibus_test, sizing, verdict_level},
    args::{BinArgs, EvaluateArgs, FamilyName, LensName},
    coverage::Coverage,
    error::{Result, ensure, wrong},
    files::Inputs,
    given::{self, Column, GivenAnswer, Redraws},
    kind::{Kind, LazyViews, Test, with_family},
    limits::{QUADRATIC_LIMIT, redraws},
    multilabel, program,
    progress::Progress,
    quantities::{Pairs, tests},
    rows::PredictionForm,
    words::{Computed, DataWords, KernelWords, Missing, Named, TargetWords, check_finite, key},
};

#[derive(Serialize)]
pub struct EvaluationAnswer {
    #[serde(flatten)]
    pub data: DataWords,
    pub family: FamilyName,
    pub lens: LensName,
    /// The bins that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binned: Option<BinArgs>,
    #[serde(flatten)]
    pub summary: Named<Estimate>,
    #[serde(flatten)]
    pub found: Aspects,
    /// Whether all is printed, and not the answer alone.
    #[serde(skip)]
    pub is_verbose: bool,
}

/// The answer about the whole prediction, or about each class.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Aspects {
    Whole(Box<AspectAnswer>),
    Classes {
        /// The headline over all classes.
        verdict: String,
        classes: Vec<AspectAnswer>,
        adjusted: Named<Adjusted>,
        /// The means of estimates over the classes.
        mean: Named<f64>,
    },
}

#[derive(Serialize)]
pub struct AspectAnswer {
    #[serde(flatten)]
    pub class: Option<Class>,
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelWords>,
    /// The kernel on targets, if there is a choice.
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    pub on_targets: Option<TargetWords>,
    /// Given the columns of a file, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<Computed<GivenAnswer>>,
    /// Names of classes, where these are not numbers from 0.
    #[serde(skip)]
    pub class_names: Vec<String>,
    #[serde(flatten)]
    pub answer: Answer,
    /// The coverage of quantiles.
    #[serde(flatten)]
    pub coverage: Option<Coverage>,
}

/// A class against the rest.
#[derive(Serialize)]
pub struct Class {
    /// The number, from 0.
    pub index: usize,
    pub name: String,
}

/// P-values across classes, adjusted.
#[derive(Serialize)]
pub struct Adjusted {
    pub holm: Vec<f64>,
    pub benjamini_hochberg: Vec<f64>,
}

pub fn run(args: &EvaluateArgs) -> Result<EvaluationAnswer> {
    let inputs = Inputs {
        given: args.given.as_deref(),
        ..Inputs::of(&args.input.predictions)
    };
    match args.input.family {
        FamilyName::Multilabel => evaluate(args, multilabel::read(&inputs, args)?),
        family => with_family!(family, P => evaluate(args, read::<P>(&inputs, args)?)),
    }
}

/// The parts that views of the same samples have in common.
pub struct Views {
    pub data: DataWords,
    pub summary: Named<Estimate>,
    pub lens: LensName,
    pub given: Vec<Column>,
    /// The redraws, and the most.
    pub redraws: (u32, usize),
}

/// Reads predictions, and takes the views of them that a lens asks for.
fn read<P: Kind>(inputs: &Inputs, args: &EvaluateArgs) -> Result<(Views, LazyViews<P>)> {
    let mut loaded = P::read(inputs, &args.source, PredictionForm::Probabilities)?;
    let (predictions, targets) = (loaded.sets.remove(0), loaded.targets);
    let outcomes = match args.lens {
        LensName::Canonical => predictions.dimensions(),
        LensName::TopLabel | LensName::ClassWise => 2,
    };
    let views = Views {
        redraws: redraws("--redraws", args.redraws, outcomes)?,
        summary: Named(predictions.summary(&targets)),
        lens: args.lens,
        data: loaded.data,
        given: loaded.given,
    };
    let list = predictions.views(targets, (args.lens, &views.data.class_names))?;
    Ok((views, list))
}

fn evaluate<P: Kind>(
    args: &EvaluateArgs,
    (views, list): (Views, LazyViews<P>),
) -> Result<EvaluationAnswer> {
    let tests = chosen::<P>(args)?;
    ensure!(
        !args.order.ordered || views.lens == LensName::Canonical,
        "--ordered: only with --lens canonical, of which all classes are looked at together"
    );
    let steps = 4 + tests.len() + usize::from(!views.given.is_empty());
    let progress = Progress::watched(steps * list.len(), &args.source.watcher);
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let (mut aspects, count) = (Vec::new(), list.len());
    for view in list {
        let view = view?
            .with_bins(args.bins.into())
            .with_order(args.order.ordered);
        let aspect = aspect(args, (&views, count), &view, &tests, &progress, &mut rng)?;
        check_finite(&aspect)?;
        aspects.push(aspect);
    }
    let are_several = views.lens == LensName::ClassWise || !views.given.is_empty();
    conclude(&mut aspects, verdict_level(&args.sizes), are_several);
    Ok(EvaluationAnswer {
        data: views.data,
        summary: views.summary,
        family: args.input.family,
        lens: views.lens,
        binned: args.bins.asked(),
        is_verbose: args.verbose,
        found: match views.lens {
            LensName::ClassWise => Aspects::Classes {
                verdict: words::headline(args.input.family, &aspects),
                adjusted: adjust(&aspects),
                mean: mean(&aspects),
                classes: aspects,
            },
            _ => Aspects::Whole(Box::new(aspects.remove(0))),
        },
    })
}

/// Sets the level of all omnibus tests, those given columns too, and adjusts several for the number of all of them.
fn conclude(views: &mut [AspectAnswer], level: f64, are_several: bool) {
    let mut known: Vec<&mut OmnibusOutcome> = (views.iter_mut())
        .flat_map(AspectAnswer::outcomes_mut)
        .collect();
    let mut outcomes: Vec<_> = known.iter().map(|outcome| (**outcome).clone()).collect();
    if are_several {
        outcomes = OmnibusOutcome::together(outcomes);
    }
    let tests = outcomes.len();
    for (outcome, adjusted) in known.iter_mut().zip(outcomes) {
        **outcome = adjusted.at_level(level);
    }
    for view in views {
        if let Some(Computed(Ok(given))) = &mut view.given {
            given.conclude(tests);
        }
    }
}

/// The mean over the classes of each estimate that all of them have.
fn mean(classes: &[AspectAnswer]) -> Named<f64> {
    let estimates = |class: &'_ AspectAnswer| class.answer.estimates.0.0.clone();
    let first = classes.first().map_or_else(Vec::new, estimates);
    let mean = |(k, (name, _)): (usize, (Name, Estimate))| {
        let value = |class: &AspectAnswer| {
            let (_, estimate) = &class.answer.estimates.0.0[k];
            Some(estimate.value.0.as_ref().ok()?.number())
        };
        let values: Vec<f64> = classes.iter().map(value).collect::<Option<_>>()?;
        Some((name, values.iter().sum::<f64>() / values.len() as f64))
    };
    Named(first.into_iter().enumerate().filter_map(mean).collect())
}

/// Returns the answer about a view, with calibration given columns and with other tests.
fn aspect<P: Kind>(
    args: &EvaluateArgs,
    (views, count): (&Views, usize),
    view: &View<P>,
    tests: &[Test<P>],
    progress: &Progress,
    rng: &mut StdRng,
) -> Result<AspectAnswer> {
    let replicates = views.redraws.0 as usize;
    progress.step("bandwidth");
    let kernel = P::kernel(args, view)?;
    let (predictions, targets) = (&view.predictions, &view.targets);
    let between = kernel.on_predictions();
    let tests_in_all = count * (1 + given::count(&views.given, between));
    let given = (!views.given.is_empty()).then(|| {
        progress.step("given");
        let redraws = Redraws {
            asked: replicates,
            tests: tests_in_all,
        };
        let answer = given::test((&views.given, &args.sizes), view, between, redraws, rng);
        let answer = answer.map(|given| given.at_rows(&views.data.rows));
        Computed(answer.map_err(|error| Missing::Error(error.to_string())))
    });
    progress.step("omnibus test");
    let test = omnibus_test(between, views.redraws);
    let test = match tests_in_all {
        1 => test,
        tests => test.as_one_of(tests),
    };
    let omnibus = view.omnibus(test, rng);
    progress.step("confidence intervals");
    let sizes = view.sizes(&sizing(&args.sizes, view), Some(kernel));
    let answer = Answer::new(omnibus, sizes);
    progress.step("estimates");
    let skce = answer.intervals.get(names::SKCE.key);
    let unbiased = skce.and_then(|size| Some(size.interval.0.as_ref().ok()?.estimate));
    let unbiased = unbiased.filter(|_| predictions.len() <= QUADRATIC_LIMIT);
    let mut estimates = kernel.quadratic(view, unbiased);
    estimates.extend(kernel.linear_skce(view));
    estimates.extend(P::estimates(view, args.source.seed));
    let test = |test: &Test<P>| {
        progress.step(&test.name.title);
        let build = (test.build)(kernel, view, replicates);
        let outcome = build.outcome(predictions, targets, rng);
        let tested = Tested {
            of: (test.of)(&view.of).into(),
            value: Computed::of(outcome),
        };
        (test.name.clone(), tested)
    };
    let tests = tests.iter().map(test).collect();
    Ok(AspectAnswer {
        class: view.class.map(|index| Class {
            index,
            name: view.class_names[1].clone(),
        }),
        kernel: between.as_ref().map(KernelWords::from),
        on_targets: P::on_targets(&kernel),
        given,
        class_names: view.class_names.clone(),
        answer: (answer.with_estimates(estimates).with_tests(tests)).at_rows(&views.data.rows),
        coverage: P::coverage(view, args.sizes.level)?,
    })
}

/// The tests that the arguments name.
fn chosen<P: Kind>(args: &EvaluateArgs) -> Result<Vec<Test<P>>> {
    let find = |name: &String| {
        let found = tests::<P>().into_iter().find(|test| test.name.key == name);
        found.ok_or_else(|| {
            let family = key(args.input.family);
            wrong!("--test {name}: only for classes, not for --family {family}")
        })
    };
    args.tests.iter().map(find).collect()
}

/// The p-values of each test across classes, adjusted for their number.
fn adjust(classes: &[AspectAnswer]) -> Named<Adjusted> {
    let adjusted = |name: &Name, p_value: &dyn Fn(&AspectAnswer) -> Option<f64>| {
        let p_values: Vec<f64> = classes.iter().map(p_value).collect::<Option<_>>()?;
        let adjusted = Adjusted {
            holm: holm(&p_values).ok()?,
            benjamini_hochberg: benjamini_hochberg(&p_values).ok()?,
        };
        Some((name.clone(), adjusted))
    };
    let omnibus = |class: &AspectAnswer| Some(class.answer.omnibus.0.as_ref().ok()?.p_value);
    fn tests(class: &AspectAnswer) -> &[(Name, Tested)] {
        class.answer.tests.as_ref().map_or(&[], |tests| &tests.0)
    }
    let of_test = |(k, (name, _)): (usize, &(Name, Tested))| {
        let p_value = |class: &AspectAnswer| Some(tests(class)[k].1.value.0.as_ref().ok()?.p_value);
        adjusted(name, &p_value)
    };
    let tests = classes.first().map_or(&[][..], tests);
    let of_tests = tests.iter().enumerate().filter_map(of_test);
    let mut omnibus = adjusted(&names::OMNIBUS, &omnibus);
    if let Some((_, omnibus)) = &mut omnibus {
        // for the tests given columns as well
        for (p_value, class) in omnibus.holm.iter_mut().zip(classes) {
            let outcome = class.answer.omnibus.0.as_ref().ok();
            *p_value = outcome.and_then(|o| o.adjusted_p_value).unwrap_or(*p_value);
        }
    }
    Named(omnibus.into_iter().chain(of_tests).collect())
}

impl AspectAnswer {
    /// The outcomes of the omnibus test and of those given columns.
    fn outcomes_mut(&mut self) -> impl Iterator<Item = &mut OmnibusOutcome> {
        let given = self.given.as_mut().and_then(|given| given.0.as_mut().ok());
        let omnibus = self.answer.omnibus.0.as_mut().ok();
        let given = given.into_iter().flat_map(GivenAnswer::outcomes_mut);
        omnibus.into_iter().chain(given)
    }

    /// The answer given columns, if there is one.
    fn known_given(&self) -> Option<&GivenAnswer> {
        self.given.as_ref()?.0.as_ref().ok()
    }
}

impl EvaluationAnswer {
    /// The answer about the whole prediction, or those about each class.
    fn aspects(&self) -> &[AspectAnswer] {
        match &self.found {
            Aspects::Whole(whole) => std::slice::from_ref(&**whole),
            Aspects::Classes { classes, .. } => classes,
        }
    }

    /// The omnibus tests, of classes with their names.
    pub fn outcomes(&self) -> program::Outcomes<'_> {
        let name = |aspect: &AspectAnswer| aspect.class.as_ref().map(|class| class.name.clone());
        (self.aspects().iter())
            .map(|aspect| (name(aspect).unwrap_or_default(), &aspect.answer.omnibus))
            .collect()
    }
}
