//! Tables of asymptotic tests of confident models, and of the labels that are not the most likely one.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    hypothesis::{
        AsymptoticBlockSkceTest, AsymptoticSkceTest, CalibrationTest, OmnibusTest, TestOutcome,
    },
    kernel::Kernel,
};
use rand::rngs::StdRng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::{
    classes,
    models::{Labels, Source, networks},
    rejections::{Settings, Study, table},
    tests::{Test, test},
};

pub fn tables(study: &Study) -> crate::Result<()> {
    let options = &study.options;
    let form = (options.datasets, 3, false);
    let binary = Source::Dirichlet(2, 1.0);
    if let Some(folder) = &options.data {
        let data = networks(folder)?;
        let tests = [test(
            "SKCE, gamma",
            AsymptoticSkceTest::new(Kernel::exponential()),
        )];
        let mut settings: Settings<_> = vec![];
        for (power, said) in [(3.0, "cubed"), (1.0, "as they are")] {
            for n in [50, 200, 1000] {
                for (network, name) in data.iter().zip(NETWORKS) {
                    let source = Source::Networks(vec![network.clone()], power);
                    let errors = n as f64 * source.expected_errors();
                    let name = format!("{errors:.1} expected errors: {name}, {said}, n = {n}");
                    settings.push(classes(name, &source, Labels::Calibrated, n));
                }
            }
        }
        table(
            "asymptotic: expected errors",
            &tests,
            &settings,
            form,
            study,
        )?;
        let source = Source::Networks(data, 1.0);
        few_blocks("networks", &source, study)?;
    }
    few_blocks("two classes", &binary, study)?;
    which_class(study)
}

/// The order of [`networks`].
const NETWORKS: [&str; 4] = ["densenet121", "googlenet", "mobilenet_v2", "resnet18"];

/// The block test with so many blocks, by the normal and by Student's distribution.
fn few_blocks(name: &str, source: &Source, study: &Study) -> crate::Result<()> {
    let n = 250;
    for blocks in [5, 10, 15, 31, 50] {
        let test = AsymptoticBlockSkceTest::new(Kernel::exponential(), n / blocks);
        let p_values =
            move |predictions: &Categorical, labels: &Tensor<1, Int>, rng: &mut StdRng| {
                let outcome: TestOutcome = test.outcome(predictions, labels, rng)?;
                let student =
                    StudentsT::new(0.0, 1.0, (blocks - 1) as f64).expect("two blocks or more");
                let z = outcome.statistic;
                Ok(vec![vec![Normal::standard().sf(z)], vec![student.sf(z)]])
            };
        let tests = [Test {
            columns: vec!["normal", "Student"],
            p_values: Box::new(p_values),
        }];
        let setting = classes(format!("{blocks} blocks"), source, Labels::Calibrated, n);
        let title = format!("asymptotic: few blocks, {name}, n = {n}");
        table(
            &title,
            &tests,
            &[setting],
            (study.options.datasets, 3, false),
            study,
        )?;
    }
    Ok(())
}

/// The omnibus test, and its aspects of the other labels alone.
fn which_class(study: &Study) -> crate::Result<()> {
    let omnibus = OmnibusTest::new().with_redraws(study.options.redraws);
    let p_values = move |predictions: &Categorical, labels: &Tensor<1, Int>, rng: &mut StdRng| {
        let outcome = omnibus.outcome(predictions, labels, rng)?;
        let aspects = outcome.aspects.iter();
        let alone = aspects.filter(|aspect| aspect.name == "other_labels");
        let alone = alone.map(|aspect| aspect.p_value).collect();
        Ok(vec![vec![outcome.p_value], alone])
    };
    let tests = [Test {
        columns: vec!["omnibus", "other labels alone"],
        p_values: Box::new(p_values),
    }];
    let sources = [
        ("three classes from Dir(1)", Source::Dirichlet(3, 1.0), 120),
        ("four classes from Dir(1)", Source::Dirichlet(4, 1.0), 200),
        ("ten classes from Dir(0.3)", Source::Dirichlet(10, 0.3), 300),
    ];
    let mut settings: Settings<_> = vec![];
    for (name, source, n) in &sources {
        for share in [0.2, 0.3, 0.5] {
            let name = format!("{name}, share {share}, n = {n}");
            settings.push(classes(name, source, Labels::NextClass(share), *n));
        }
    }
    let form = (study.options.datasets / 8, 1, false);
    table(
        "powers: which class a wrong label is",
        &tests,
        &settings,
        form,
        study,
    )
}
