//! Four networks on CIFAR-10: what others computed.

use std::path::Path;

use crate::prelude::*;

fn network(folder: &Path, name: &str) -> (Categorical, Tensor<1, Int>) {
    let predictions = categorical(&cifar10::predictions(folder, name));
    (predictions, labels(&cifar10::true_classes(folder)))
}

/// The columns `ECE_uniform` and `ECE_dynamic` of the authors of Widmann et al. 2019.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn published_estimates() {
    let folder = cifar10::folder();
    let mut reader = csv::Reader::from_path(folder.join("published_estimates.csv")).unwrap();
    let mut networks = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let published = |column: usize| record[column].parse::<f64>().unwrap();
        let (predictions, labels) = network(&folder, &record[0]);
        let estimate = |ece: Ece| ece.on(&predictions, &labels);
        for (ece, column) in [(Ece::uniform(10), 1), (Ece::median_variance(100), 2)] {
            assert_relative(estimate(ece), published(column), 1e-12);
        }
        networks += 1;
    }
    assert_eq!(networks, 4);
}

/// Of the top label, on the same networks: `uncertainty-calibration` 0.1.4 by the authors of Kumar et
/// al. 2019 (15 bins of equal width; 10 of equal mass, plug-in and debiased; the marginal one,
/// debiased), and a direct evaluation of the definitions in NumPy (Kolmogorov–Smirnov; smooth ECE by
/// bisection, its last value confirmed by a sum of Gaussians with images; KDE of order 1 and 2 with
/// its reference rule, which the code of Zhang et al. 2020 with the same bandwidth confirms to 0.3 %).
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn other_implementations() {
    let folder = cifar10::folder();
    let expected = [
        (
            "densenet121",
            [
                0.04100074557800006,
                0.040454701241999985,
                0.07311139750546312,
                0.017936497417776063,
                0.040490993058000115,
                0.040454692453145966,
            ],
        ),
        (
            "googlenet",
            [
                0.013693259368000112,
                0.013855681301999991,
                0.02048375064826279,
                0.003575676933657076,
                0.005032054417000005,
                0.013940223917365074,
            ],
        ),
        (
            "mobilenet_v2",
            [
                0.051304010110999845,
                0.05124426573300002,
                0.07925930882207999,
                0.021641881697024724,
                0.05124441450900003,
                0.05124437281489372,
            ],
        ),
        (
            "resnet18",
            [
                0.05348647105799991,
                0.052459393273999975,
                0.08972856416221307,
                0.022599377384351145,
                0.05246029678100033,
                0.05313300751149655,
            ],
        ),
    ];
    let mass = Binning::EqualMass { bins: 10 };
    let debiased = Tce::default().with_binning(mass);
    let debiased = debiased.with_form(TceForm::Debiased);
    for (name, expected) in expected {
        let (p, y) = network(&folder, name);
        // clamped class by class there
        let class = |c| debiased.with_event(Event::Class(c)).power(&p, &y).unwrap();
        let marginal: f64 = (0..10).map(|c| class(c).max(0.0)).sum();
        let estimates = [
            Ece::default().estimate(&p, &y),
            Ece::equal_mass(10).estimate(&p, &y),
            debiased.estimate(&p, &y),
            Ok((marginal / 10.0).sqrt()),
            KolmogorovSmirnov::default().estimate(&p, &y),
            SmoothEce::default().estimate(&p, &y),
        ];
        // ties at the edges of bins are cut differently there; one of the last is a quadrature
        let tolerance = [1e-9, 1e-9, 1e-9, 1e-9, 1e-6, 1e-6];
        for ((estimate, expected), tolerance) in estimates.into_iter().zip(expected).zip(tolerance)
        {
            assert_relative(estimate.unwrap(), expected, tolerance);
        }
    }
}
