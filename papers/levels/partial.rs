//! Partial nulls: models that are wrong in one way, and how often what is right is accused. And powers against
//! faults that an earlier omnibus test saw less often than a single test.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Given, Normal},
    estimator::Event,
    hypothesis::{
        ExactTest, GivenTest, Group, GroupTest, HosmerLemeshow, Omnibus, OmnibusOutcome,
        OmnibusTest,
    },
};
use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};

use crate::{
    faults::{Biased, OtherErrors, Partial, Wrong, exponential, heavy, outliers},
    models::Real,
    rejections::{Setting, Settings, Study, table},
    tests::{Test, test},
};

/// The least adjusted p-value of the aspects that are right, that of the others, and the p-value of the test.
pub fn accusations<P: Omnibus>(redraws: usize, is_right: fn(&str) -> bool) -> Test<P> {
    Test {
        columns: vec!["a right aspect", "another aspect", "omnibus"],
        p_values: Box::new(move |predictions, targets, rng| {
            let test = OmnibusTest::new().with_redraws(redraws);
            let outcome = test.outcome(predictions, targets, rng)?;
            let [right, others] =
                [true, false].map(|right| least(&outcome, |name| is_right(name) == right));
            Ok(vec![vec![right], vec![others], vec![outcome.p_value]])
        }),
    }
}

fn least(outcome: &OmnibusOutcome, of: impl Fn(&str) -> bool) -> f64 {
    let aspects = outcome.aspects.iter().filter(|aspect| of(&aspect.name));
    aspects
        .map(|aspect| aspect.adjusted_p_value)
        .fold(1.0, f64::min)
}

/// The omnibus test, and of its aspects that of the first class: adjusted, so that the class is named, and alone; and
/// the least adjusted p-value of another class.
pub fn wrong_class(redraws: usize) -> Test<Categorical> {
    Test {
        columns: vec![
            "omnibus",
            "named",
            "that class alone",
            "another class named",
        ],
        p_values: Box::new(move |predictions, labels, rng| {
            let test = OmnibusTest::new().with_redraws(redraws);
            let outcome = test.outcome(predictions, labels, rng)?;
            let first = outcome
                .aspects
                .iter()
                .find(|aspect| aspect.name == "class_0");
            let alone = first.map_or(1.0, |aspect| aspect.p_value);
            let named = least(&outcome, |name| name == "class_0");
            let other = least(&outcome, |name| {
                name.starts_with("class_") && name != "class_0"
            });
            let columns = [outcome.p_value, named, alone, other];
            Ok(columns.map(|p_value| vec![p_value]).to_vec())
        }),
    }
}

/// Four groups of equal size, the first of which is wrong: the least adjusted p-value of the others, that of
/// the first, and the least of a class in any group.
fn groups(redraws: usize) -> Test<Categorical> {
    Test {
        columns: vec!["a right group", "the wrong group", "a right class"],
        p_values: Box::new(move |predictions, labels, rng| {
            use burn_calibration::distribution::Predictive;
            let n = predictions.len();
            let names: Vec<String> = (0..n).map(|i| (4 * i / n).to_string()).collect();
            let groups = Group::by_value("quarter", &names);
            let test = GroupTest::new().with_redraws(4 * redraws);
            let outcome = test.outcome(predictions, labels, &groups, rng)?;
            let p_values = outcome.groups.iter().map(|group| group.adjusted_p_value());
            let p_values: Vec<f64> = p_values.collect();
            let is_class = |name: &str| name.starts_with("class_");
            let of_class = outcome
                .groups
                .iter()
                .map(|group| least(&group.outcome, is_class));
            Ok(vec![
                p_values[1..].to_vec(),
                vec![p_values[0]],
                vec![of_class.fold(1.0, f64::min)],
            ])
        }),
    }
}

/// The test given a normal variable that has nothing to do with the predictions.
fn given(redraws: usize) -> Test<Categorical> {
    Test {
        columns: vec!["given a variable of no effect"],
        p_values: Box::new(move |predictions, labels, rng| {
            use burn_calibration::distribution::Predictive;
            let n = predictions.len();
            let z: Vec<f64> = (0..n).map(|_| StandardNormal.sample(rng)).collect();
            let options = (&Device::default(), DType::F64);
            let z = Tensor::<2>::from_data(TensorData::new(z, [n, 1]), options);
            let test = GivenTest::new().with_redraws(redraws);
            let outcome = test.outcome(&Given::new(predictions.clone(), z), labels, rng)?;
            Ok(vec![vec![outcome.p_value]])
        }),
    }
}

pub fn settings(
    wrong: &[(&str, Wrong)],
    classes: &[usize],
    sizes: &[usize],
) -> Settings<Categorical> {
    let mut settings: Settings<Categorical> = Vec::new();
    for &(name, wrong) in wrong {
        for &classes in classes {
            for &samples in sizes {
                let model = Partial {
                    wrong,
                    classes,
                    samples,
                };
                let name = format!("{name}, {classes} classes, n = {samples}");
                settings.push((name, Box::new(model)));
            }
        }
    }
    settings
}

/// A table of up to 1,000 samples, and one of 10,000, of fewer data sets.
fn tables(
    title: &str,
    tests: &[Test<Categorical>],
    (wrong, classes): (&[(&str, Wrong)], &[usize]),
    study: &Study,
) -> crate::Result<()> {
    let form = |datasets| (datasets, 2, false);
    let small = settings(wrong, classes, &[50, 200, 1000]);
    table(title, tests, &small, form(study.options.datasets), study)?;
    let title = format!("{title}, n = 10,000");
    let large = settings(wrong, classes, &[10_000]);
    table(&title, tests, &large, form(study.options.large), study)
}

pub const OVERCONFIDENT: [(&str, Wrong); 3] = [
    ("says 0.90, right 0.70", Wrong::Confidence(0.9, 0.7)),
    ("says 0.97, right 0.80", Wrong::Confidence(0.97, 0.8)),
    ("says 0.99, right 0.90", Wrong::Confidence(0.99, 0.9)),
];

pub fn partial_nulls(study: &Study) -> crate::Result<()> {
    let redraws = study.options.redraws;
    tables(
        "partial nulls: overconfident, frequencies of classes right",
        &[accusations(redraws, |name| name.starts_with("class_"))],
        (&OVERCONFIDENT, &[2, 10, 100]),
        study,
    )?;
    tables(
        "partial nulls: half of class 0 is called class 1, other classes right",
        &[accusations(redraws, |name| {
            name.starts_with("class_") && !["class_0", "class_1"].contains(&name)
        })],
        (&[("confusion", Wrong::Confusion)], &[3, 10, 100]),
        study,
    )?;
    let is_of_confidence = |name: &str| {
        [
            "confidence",
            "brier_score",
            "log_score",
            "cumulative_confidence",
        ]
        .contains(&name)
    };
    tables(
        "partial nulls: frequencies of classes wrong, confidence and scores right",
        &[accusations(redraws, is_of_confidence)],
        (&[("says 0.80, right 0.65 and 0.95", Wrong::Sides)], &[2]),
        study,
    )?;
    tables(
        "partial nulls: one of four groups wrong",
        &[groups(redraws)],
        (&[("says 0.90, right 0.70", Wrong::Quarter)], &[2, 10]),
        study,
    )?;
    tables(
        "partial nulls: overconfident, given a variable of no effect",
        &[given(redraws)],
        (&OVERCONFIDENT, &[2]),
        study,
    )?;
    real(study)
}

fn real(study: &Study) -> crate::Result<()> {
    let (redraws, all, large) = (
        study.options.redraws,
        study.options.datasets,
        study.options.large,
    );
    let of = |name: &str, samples, shift, spread| -> Setting<Normal> {
        let model = Real {
            samples,
            shift,
            spread,
        };
        (format!("{name}, n = {samples}"), Box::new(model))
    };
    let spreads = |sizes: &[usize]| -> Settings<Normal> {
        let of_factor = |factor: f64| {
            let name = format!("errors {factor} times as wide");
            sizes
                .iter()
                .map(move |&n| of(&name, n, 0.0, factor))
                .collect::<Vec<_>>()
        };
        [0.5, 1.5, 2.0].into_iter().flat_map(of_factor).collect()
    };
    let shifts = |sizes: &[usize]| -> Settings<Normal> {
        let shift = |&n: &usize| of("targets one deviation high", n, 1.0, 1.0);
        sizes.iter().map(shift).collect()
    };
    let errors = |law: fn(&mut StdRng) -> f64, name: &str, sizes: &[usize]| -> Settings<Normal> {
        let setting = |&samples: &usize| -> Setting<Normal> {
            let model = OtherErrors { law, samples };
            (format!("{name}, n = {samples}"), Box::new(model))
        };
        sizes.iter().map(setting).collect()
    };
    let skewed = |sizes: &[usize]| errors(exponential, "exponential errors", sizes);
    let tails = |sizes: &[usize]| {
        let mut settings = errors(heavy, "t with 3 degrees of freedom", sizes);
        settings.extend(errors(outliers, "1 % of errors at ±9.5", sizes));
        settings
    };
    let biased = |sizes: &[usize]| -> Settings<Normal> {
        let setting = |&samples: &usize| -> Setting<Normal> {
            let name = format!("targets 1 high, deviations 0.2 and 2, n = {samples}");
            (name, Box::new(Biased { samples }))
        };
        sizes.iter().map(setting).collect()
    };
    let is_right: [fn(&str) -> bool; 5] = [
        |name| name == "location" || name.contains("_by_"),
        |name| name == "spread" || name.contains("_by_"),
        |name| name == "spread" || name.contains("_by_"),
        |name| name == "location" || name == "spread" || name.contains("_by_"),
        |name| name == "spread",
    ];
    let titles = [
        "partial nulls: spread wrong, location and trends right",
        "partial nulls: location wrong, spread and trends right",
        "partial nulls: errors skewed, spread and trends right",
        "partial nulls: tails heavy, location, spread and trends right",
        "partial nulls: a bias in the unit of the targets, spread right",
    ];
    type OfSizes<'a> = &'a dyn Fn(&[usize]) -> Settings<Normal>;
    let settings: [OfSizes; 5] = [&spreads, &shifts, &skewed, &tails, &biased];
    for ((title, is_right), settings) in titles.into_iter().zip(is_right).zip(settings) {
        let tests = [accusations(redraws, is_right)];
        let small = [20, 50, 200, 1000];
        table(title, &tests, &settings(&small), (all, 2, false), study)?;
        let title = format!("{title}, n = 10,000");
        table(
            &title,
            &tests,
            &settings(&[10_000]),
            (large, 2, false),
            study,
        )?;
    }
    Ok(())
}

/// The omnibus test, its aspect of bins, and the rival of one kind of fault.
pub fn powers(study: &Study) -> crate::Result<()> {
    let redraws = study.options.redraws;
    let of_aspects = Test {
        columns: vec![
            "omnibus",
            "binned frequencies alone",
            "least likely label alone",
        ],
        p_values: Box::new(
            move |predictions: &Categorical, labels: &Tensor<1, Int>, rng: &mut StdRng| {
                let test = OmnibusTest::new().with_redraws(redraws);
                let outcome = test.outcome(predictions, labels, rng)?;
                let of = |name: &str| {
                    let aspects = outcome.aspects.iter().filter(|aspect| aspect.name == name);
                    aspects.map(|aspect| aspect.p_value).collect::<Vec<_>>()
                };
                Ok(vec![
                    vec![outcome.p_value],
                    of("binned_frequencies"),
                    of("least_likely_label"),
                ])
            },
        ),
    };
    let hosmer_lemeshow = HosmerLemeshow::new(Event::Class(1));
    let exact = ExactTest::new(hosmer_lemeshow).with_replicates(redraws);
    let tests = [of_aspects, test("exact, Hosmer–Lemeshow", exact)];
    let faults = [
        ("a label of probability 1e-9", Wrong::Excluded, 200),
        (
            "a wave of 12 points along the probability",
            Wrong::Wave,
            500,
        ),
        ("5 points too sure above 0.9", Wrong::Tail, 1000),
        ("30 % at T = 2, the rest at 0.8", Wrong::Subgroup, 1000),
    ];
    let of_fault = |(name, wrong, samples)| settings(&[(name, wrong)], &[2], &[samples]);
    let settings: Settings<_> = faults.into_iter().flat_map(of_fault).collect();
    let title = "powers: faults of two classes";
    table(
        title,
        &tests,
        &settings,
        (study.options.datasets, 1, false),
        study,
    )
}
