//! The classical estimators: published numbers, hand-solved cases, brute force, properties.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use approx::assert_relative_eq;
use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    error::{Error, Result},
    estimator::*,
    score::ProperScore,
};
use flate2::read::GzDecoder;
use proptest::{collection::vec, prelude::*};
use rand::RngExt;

use crate::data::*;

type Estimator = Box<dyn Fn(&Categorical, &Tensor<1, Int>) -> Result<f64>>;

/// Every estimator under a name.
fn estimators() -> Vec<(&'static str, Estimator)> {
    let (width, mass) = (Binning::Uniform { bins: 3 }, Binning::EqualMass { bins: 3 });
    vec![
        ("ece", Box::new(|p, y| Ece::default().estimate(p, y))),
        ("mass", Box::new(|p, y| Ece::equal_mass(4).estimate(p, y))),
        ("uniform", Box::new(|p, y| Ece::uniform(4).estimate(p, y))),
        (
            "median",
            Box::new(|p, y| Ece::median_variance(1).estimate(p, y)),
        ),
        ("mce", Box::new(|p, y| Mce::default().estimate(p, y))),
        ("tce", Box::new(|p, y| Tce::default().estimate(p, y))),
        ("cwce1", Box::new(|p, y| Cwce::default().estimate(p, y))),
        (
            "cwce2",
            Box::new(move |p, y| Cwce::new(2.0).with_binning(width).estimate(p, y)),
        ),
        (
            "cwce debiased",
            Box::new(move |p, y| {
                let cwce = Cwce::default().with_form(TceForm::Debiased);
                cwce.with_binning(mass).estimate(p, y)
            }),
        ),
        (
            "ks",
            Box::new(|p, y| KolmogorovSmirnov::default().estimate(p, y)),
        ),
        ("kde", Box::new(|p, y| KdeTce::default().estimate(p, y))),
        ("kde2", Box::new(|p, y| KdeTce::new(2.0).estimate(p, y))),
        (
            "smooth",
            Box::new(|p, y| SmoothEce::default().estimate(p, y)),
        ),
    ]
}

/// A model of two classes, from the probability of the second.
fn binary(r: &[f64]) -> Categorical {
    categorical(&r.iter().map(|r| vec![1.0 - r, *r]).collect::<Vec<_>>())
}

const SECOND: Event = Event::Class(1);

// ---- published numbers ----

/// The folder of the CIFAR-10 predictions, named by the variable `BURN_CALIBRATION_DATA`.
fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("BURN_CALIBRATION_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: BURN_CALIBRATION_DATA does not name the data folder");
    }
    Some(folder?.join("cifar10-predictions"))
}

fn rows(reader: impl Read) -> Vec<Vec<f64>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(reader);
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn network(folder: &Path, name: &str) -> (Categorical, Tensor<1, Int>) {
    let file = File::open(folder.join(format!("{name}.csv.gz"))).unwrap();
    let classes = rows(File::open(folder.join("labels.csv")).unwrap());
    let classes: Vec<usize> = classes.iter().map(|row| row[0] as usize - 1).collect();
    (categorical(&rows(GzDecoder::new(file))), labels(&classes))
}

/// The columns `ECE_uniform` and `ECE_dynamic` of the authors of Widmann et al. 2019.
#[test]
fn published_estimates() {
    let Some(folder) = folder() else { return };
    let mut reader = csv::Reader::from_path(folder.join("published_estimates.csv")).unwrap();
    let mut networks = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let published = |column: usize| record[column].parse::<f64>().unwrap();
        let (predictions, labels) = network(&folder, &record[0]);
        let estimate = |ece: Ece| ece.estimate(&predictions, &labels).unwrap();
        for (ece, column) in [(Ece::uniform(10), 1), (Ece::median_variance(100), 2)] {
            println!(
                "{}: {:e} published {:e}",
                &record[0],
                estimate(ece),
                published(column)
            );
            assert_relative_eq!(estimate(ece), published(column), max_relative = 1e-12);
        }
        networks += 1;
    }
    assert_eq!(networks, 4);
}

/// Of the top label, on the same networks: `uncertainty-calibration` 0.1.4 by the authors of Kumar et
/// al. 2019 (15 bins of equal width; 10 of equal mass, plug-in and debiased; the marginal one,
/// debiased), and a direct evaluation of the definitions in NumPy (Kolmogorov–Smirnov, smooth ECE
/// by bisection over a sum of Gaussians with images, KDE of order 1 and 2 with its reference rule).
#[test]
fn other_implementations() {
    let Some(folder) = folder() else { return };
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
                0.031362577005173586,
                0.06585738671918842,
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
                0.016438306877339284,
                0.026331275167355287,
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
                0.039417186542681046,
                0.07065984872042744,
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
                0.04406290575279427,
                0.08007211592751165,
            ],
        ),
    ];
    let mass = Binning::EqualMass { bins: 10 };
    let debiased = Tce::default().with_binning(mass);
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
            KdeTce::default().estimate(&p, &y),
            KdeTce::new(2.0).estimate(&p, &y),
        ];
        // ties at the edges of bins are cut differently there; two of the last are quadratures
        let tolerance = [1e-9, 1e-9, 1e-9, 1e-9, 1e-6, 1e-6, 1e-4, 1e-4];
        for ((estimate, expected), tolerance) in estimates.into_iter().zip(expected).zip(tolerance)
        {
            println!(
                "{name}: {:.12} expected {expected:.12}",
                estimate.clone().unwrap()
            );
            assert_relative_eq!(estimate.unwrap(), expected, max_relative = tolerance);
        }
    }
}

// ---- by hand ----

/// Four predictions of a second class at 1/4, 1/4, 3/4, 1, of which it occurs in the last two.
#[test]
fn binary_by_hand() {
    let (p, y) = (binary(&[0.25, 0.25, 0.75, 1.0]), labels(&[0, 0, 1, 1]));
    // top label: confidences 3/4, 3/4, 3/4, 1, all right; gaps 1/4 × 3, 0
    for (bins, largest) in [(2, 0.1875), (15, 0.25)] {
        let ece = Ece::top_label(bins);
        assert_eq!(ece.estimate(&p, &y).unwrap(), 0.1875);
        assert_eq!(Mce::new(ece).estimate(&p, &y).unwrap(), largest);
    }
    assert_eq!(
        KolmogorovSmirnov::default().estimate(&p, &y).unwrap(),
        0.1875
    );
    // the second class: gaps p − y of 1/4, 1/4, −1/4, 0
    assert_eq!(
        KolmogorovSmirnov::new(SECOND).estimate(&p, &y).unwrap(),
        0.125
    );
    let ece = |binning, discrepancy| {
        let ece = Ece::new(Aspect::Event(SECOND), binning).with_discrepancy(discrepancy);
        ece.estimate(&p, &y).unwrap()
    };
    let halves = Binning::Uniform { bins: 2 }; // {1/4, 1/4} and {3/4, 1}: gaps 1/4 and −1/8
    assert_eq!(ece(halves, Discrepancy::TotalVariation), 0.1875);
    assert_eq!(ece(halves, Discrepancy::L1), 0.375);
    assert_eq!(
        ece(halves, Discrepancy::SquaredEuclidean),
        (2.0 / 16.0 + 2.0 / 64.0) / 2.0
    );
    // one bin for each class: the whole prediction in a single bin, (7/16, 9/16) against (½, ½)
    assert_eq!(Ece::uniform(1).estimate(&p, &y).unwrap(), 0.0625);
    // equal mass: ties stay together, {1/4, 1/4}, {3/4}, {1}
    assert_eq!(
        ece(Binning::EqualMass { bins: 4 }, Discrepancy::TotalVariation),
        0.1875
    );
    let tce = Tce::default().with_event(SECOND).with_binning(halves);
    let power = tce
        .with_form(TceForm::PlugIn { order: 2.0 })
        .power(&p, &y)
        .unwrap();
    assert_eq!(power, 0.5 / 16.0 + 0.5 / 64.0);
    // every bin is pure: ȳ(1 − ȳ) = 0, nothing to subtract
    assert_eq!(tce.power(&p, &y).unwrap(), power);
    // all in one bin: gap 1/16, ȳ = ½, 1/256 − (1/4)/3 < 0
    let one = tce.with_binning(Binning::Uniform { bins: 1 });
    assert_relative_eq!(
        one.power(&p, &y).unwrap(),
        1.0 / 256.0 - 1.0 / 12.0,
        max_relative = 1e-14
    );
    assert_eq!(one.estimate(&p, &y).unwrap(), 0.0);
    // two classes mirror each other; the edge ½ and its mirror image are in different bins, 1/4 is not
    let cwce = Cwce::new(2.0).with_binning(halves);
    assert_relative_eq!(cwce.power(&p, &y).unwrap(), power, max_relative = 1e-14);
    let sum = cwce.with_weight(ClassWeight::Sum);
    assert_relative_eq!(
        sum.estimate(&p, &y).unwrap(),
        (2.0 * power).sqrt(),
        max_relative = 1e-14
    );
}

/// Three classes: bins of the whole prediction are tuples.
#[test]
fn vectors_by_hand() {
    let p = categorical(&[
        vec![0.5, 0.25, 0.25],
        vec![0.25, 0.5, 0.25],
        vec![0.5, 0.25, 0.25],
        vec![0.0, 0.25, 0.75],
    ]);
    let y = labels(&[0, 0, 2, 2]);
    // at two bins a class the first three share (0, 0, 0), since ½ is in the first half
    let bins = Ece::uniform(2).bins(&p, &y).unwrap();
    assert_eq!(bins.iter().map(|bin| bin.size).collect::<Vec<_>>(), [3, 1]);
    let third = 1.0 / 3.0;
    for (bin, expected) in bins.iter().zip([[1.25, 1.0, 0.75], [0.0, 0.75, 2.25]]) {
        for (p, expected) in bin.prediction.iter().zip(expected) {
            assert_relative_eq!(*p, expected * third, max_relative = 1e-15);
        }
    }
    assert_relative_eq!(bins[0].frequency[0], 2.0 * third);
    assert_eq!(bins[1].frequency, [0.0, 0.0, 1.0]);
    // Σ|n_b (p̄ − ȳ)| = 0.75 + 1 + 0.25 and 0 + 0.25 + 0.25, halved, over four samples
    assert_relative_eq!(
        Ece::uniform(2).estimate(&p, &y).unwrap(),
        2.5 / 8.0,
        max_relative = 1e-15
    );
    // at four bins: rows 0 and 2; row 1; row 3
    let expected = (0.5 * (0.0 + 0.5 + 0.5) + 0.5 * (0.75 + 0.5 + 0.25) + 0.25) / 4.0;
    assert_relative_eq!(
        Ece::uniform(4).estimate(&p, &y).unwrap(),
        expected,
        max_relative = 1e-15
    );
}

#[test]
fn partitions_by_hand() {
    let column = |values: &[f64]| tensor(&values.iter().map(|v| vec![*v]).collect::<Vec<_>>());
    let of = |binning: Binning, points: &Tensor<2>| binning.partition(points).unwrap();
    // right-closed, with 0 in the first
    let edges = column(&[0.0, 0.2, 0.20000001, 0.4, 1.0, 0.9]);
    let fifths = of(Binning::Uniform { bins: 5 }, &edges);
    assert_eq!(fifths, [vec![0, 1], vec![2, 3], vec![4, 5]]);
    // equal mass: ends at the ranks ⌈7/3⌉, ⌈14/3⌉, 7; ties with the last of a bin join it,
    // here all of the second bin
    let points = column(&[0.7, 0.1, 0.2, 0.3, 0.3, 0.3, 0.9]);
    let thirds = of(Binning::EqualMass { bins: 3 }, &points);
    assert_eq!(thirds, [vec![1, 2, 3, 4, 5], vec![0, 6]]);
    let many = of(Binning::EqualMass { bins: 100 }, &points);
    assert_eq!(many, [vec![1], vec![2], vec![3, 4, 5], vec![0], vec![6]]);
    // median-variance: the first coordinate varies most; then within each half the second
    let points = tensor(&[
        vec![0.1, 0.1],
        vec![0.1, 0.3],
        vec![0.9, 0.4],
        vec![0.9, 0.5],
    ]);
    let pairs = of(Binning::MedianVariance { minimum: 2 }, &points);
    assert_eq!(pairs, [vec![0, 1], vec![2, 3]]);
    let singles = of(Binning::MedianVariance { minimum: 1 }, &points);
    assert_eq!(singles, [vec![0], vec![1], vec![2], vec![3]]);
    // more than half at the least value: nothing is below the median
    let stuck = of(
        Binning::MedianVariance { minimum: 1 },
        &column(&[0.0, 0.0, 0.0, 1.0]),
    );
    assert_eq!(stuck, [vec![0, 1, 2, 3]]);
}

/// One sample, all right and sure, all wrong and sure, all predictions equal.
#[test]
fn degenerate_cases() {
    let sure = categorical(&[
        vec![1.0, 0.0, 0.0],
        vec![0.0, 1.0, 0.0],
        vec![1.0, 0.0, 0.0],
    ]);
    for (name, estimate) in estimators() {
        let right = estimate(&sure, &labels(&[0, 1, 0])).unwrap();
        assert!(right.abs() < 1e-15, "{name}: {right}");
        let wrong = estimate(&sure, &labels(&[1, 2, 1])).unwrap();
        let least = if name.starts_with("cwce") {
            0.5
        } else {
            1.0 - 1e-9
        };
        assert!((least..=1.0).contains(&wrong), "{name}: {wrong}");
        let one = estimate(&categorical(&[vec![0.25, 0.75]]), &labels(&[1])).unwrap();
        let expected = if name == "tce" || name == "cwce debiased" {
            0.0
        } else {
            0.25
        };
        assert!((one - expected).abs() < 1e-9, "{name}: {one}");
        let equal = estimate(&binary(&[0.75; 4]), &labels(&[1, 0, 1, 0])).unwrap();
        // debiased: (1/4)² − (1/4)/3 < 0
        let expected = if expected == 0.0 { 0.0 } else { 0.25 };
        assert!((equal - expected).abs() < 1e-9, "{name}: {equal}");
    }
}

// ---- against brute force ----

/// `Σ_k φ_σ(t − r + 2k) + φ_σ(t + r + 2k)`.
fn reflected_gaussian(t: f64, r: f64, sigma: f64) -> f64 {
    let density =
        |x: f64| (-0.5 * (x / sigma).powi(2)).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt());
    (-6..=6)
        .map(|k| density(t - r + 2.0 * f64::from(k)) + density(t + r + 2.0 * f64::from(k)))
        .sum()
}

#[test]
fn smooth_ece_agrees_with_its_definition() {
    let mut rng = rng(511);
    let r: Vec<f64> = (0..40).map(|_| rng.random_range(0.0..1.0)).collect();
    let classes: Vec<usize> = r
        .iter()
        .map(|r| usize::from(rng.random_bool(r * r)))
        .collect();
    let (p, y) = (binary(&r), labels(&classes));
    let nodes = 20_000;
    let by_definition = |sigma: f64| {
        let smoothed = |t: f64| {
            let residual =
                |(r, &c): (&f64, &usize)| (c as f64 - r) * reflected_gaussian(t, *r, sigma);
            r.iter().zip(&classes).map(residual).sum::<f64>() / 40.0
        };
        let midpoint = |j: i32| (f64::from(j) + 0.5) / f64::from(nodes);
        (0..nodes).map(|j| smoothed(midpoint(j)).abs()).sum::<f64>() / f64::from(nodes)
    };
    let smooth = SmoothEce::new(SECOND);
    for sigma in [0.02, 0.1, 1.3] {
        let value = smooth.at_bandwidth(sigma, &p, &y).unwrap();
        assert_relative_eq!(value, by_definition(sigma), max_relative = 1e-6);
    }
    let fixed_point = smooth.estimate(&p, &y).unwrap();
    let at = smooth.at_bandwidth(fixed_point, &p, &y).unwrap();
    assert_relative_eq!(at, fixed_point, max_relative = 1e-7);
    assert!(smooth.at_bandwidth(1e-4, &p, &y).is_err());
}

/// One residual keeps its mass at any bandwidth; opposite residuals at 0 and 1 cancel slowly:
/// `smECE_σ = (4/π) Σ_j (−1)^j exp(−(π(2j+1)σ)²/2)/(2j+1)`.
#[test]
fn smooth_ece_by_hand() {
    let smooth = SmoothEce::new(SECOND);
    for sigma in [0.001, 0.01, 1.0] {
        let one = smooth
            .at_bandwidth(sigma, &binary(&[0.3]), &labels(&[1]))
            .unwrap();
        assert_relative_eq!(one, 0.7, max_relative = 1e-10);
    }
    let (p, y) = (binary(&[0.0, 1.0]), labels(&[1, 0]));
    for sigma in [0.05, 0.3, 0.8] {
        let term = |j: i32| {
            let k = f64::from(2 * j + 1);
            f64::from(1 - 2 * (j % 2)) * (-0.5 * (std::f64::consts::PI * k * sigma).powi(2)).exp()
                / k
        };
        let expected = 4.0 / std::f64::consts::PI * (0..60).map(term).sum::<f64>();
        let value = smooth.at_bandwidth(sigma, &p, &y).unwrap();
        assert_relative_eq!(value, expected, max_relative = 1e-10);
    }
    // tiny residuals: below the resolution, but not lost
    let (p, y) = (binary(&[0.9999, 0.9999]), labels(&[1, 1]));
    assert_relative_eq!(smooth.estimate(&p, &y).unwrap(), 1e-4, max_relative = 1e-8);
}

/// Direct sums over a fine grid, reflected as often as the kernel reaches.
#[test]
fn kde_agrees_with_its_definition() {
    let mut rng = rng(512);
    let r: Vec<f64> = (0..30)
        .map(|_| rng.random_range(0.0..1.0f64).sqrt())
        .collect();
    let classes: Vec<usize> = r
        .iter()
        .map(|r| usize::from(rng.random_bool(r * r)))
        .collect();
    let (p, y) = (binary(&r), labels(&classes));
    for (bandwidth, order) in [(0.01, 1.0), (0.1, 2.0), (0.8, 1.0), (0.05, 3.5)] {
        let h = 3.0 * bandwidth;
        let kernel = |z: f64, r: f64| {
            let image = |u: f64| 35.0 / 32.0 * (1.0 - (u / h).powi(2)).max(0.0).powi(3) / h;
            let period = |k| image(z - r + 2.0 * f64::from(k)) + image(z + r + 2.0 * f64::from(k));
            (-3..=3).map(period).sum::<f64>()
        };
        let nodes = 40_000;
        let (mut sum, mut mass) = (0.0, 0.0);
        for j in 0..nodes {
            let z = (f64::from(j) + 0.5) / f64::from(nodes);
            let weights: Vec<f64> = r.iter().map(|r| kernel(z, *r)).collect();
            let density: f64 = weights.iter().sum();
            let occurred: f64 = weights
                .iter()
                .zip(&classes)
                .map(|(w, c)| w * *c as f64)
                .sum();
            mass += density / 30.0 / f64::from(nodes);
            if density > 0.0 {
                let gap: f64 = (z - occurred / density).abs();
                sum += gap.powf(order) * density / 30.0 / f64::from(nodes);
            }
        }
        assert_relative_eq!(mass, 1.0, max_relative = 1e-6); // nothing is lost at the ends
        let kde = KdeTce::new(order)
            .with_event(SECOND)
            .with_bandwidth(bandwidth);
        let estimate = kde.estimate(&p, &y).unwrap();
        assert_relative_eq!(estimate, sum.powf(order.recip()), max_relative = 1e-4);
    }
    // a bandwidth far below the distance of the points: each is its own bin
    let (p, y) = (binary(&[0.25, 0.5, 0.75]), labels(&[0, 1, 1]));
    let kde = KdeTce::default().with_event(SECOND).with_bandwidth(1e-6);
    assert_relative_eq!(
        kde.estimate(&p, &y).unwrap(),
        1.0 / 3.0,
        max_relative = 1e-4
    );
}

/// The mean over data sets of a calibrated model with two levels of confidence: 0 if debiased,
/// `Σ r(1−r)/n` otherwise.
#[test]
fn debiasing_by_simulation() {
    let mut rng = rng(513);
    let sets = 4000;
    let (r, binning) = (
        [0.6, 0.6, 0.6, 0.6, 0.9, 0.9, 0.9],
        Binning::Uniform { bins: 15 },
    );
    let tce = Tce::default().with_event(SECOND).with_binning(binning);
    let plug_in = tce.with_form(TceForm::PlugIn { order: 2.0 });
    let mut values = [Vec::new(), Vec::new()];
    for _ in 0..sets {
        let classes: Vec<usize> = r.iter().map(|&r| usize::from(rng.random_bool(r))).collect();
        let (p, y) = (binary(&r), labels(&classes));
        for (values, tce) in values.iter_mut().zip([tce, plug_in]) {
            values.push(tce.power(&p, &y).unwrap());
        }
    }
    for (values, expected) in values.iter().zip([0.0, (0.24 + 0.09) / 7.0]) {
        let mean = values.iter().sum::<f64>() / f64::from(sets);
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let error = squares.sqrt() / f64::from(sets);
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{mean} ± {error}, expected {expected}"
        );
    }
}

// ---- properties ----

/// Up to thirty predictions over two to five classes, some of them equal, with labels.
fn labelled() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<usize>)> {
    (2usize..6, 1usize..31).prop_flat_map(|(m, n)| {
        let logit = prop_oneof![Just(0.0), Just(40.0), -4.0..4.0f64];
        let row = vec(logit, m).prop_map(|row| softmax(&row));
        (vec(row, n), vec(0..m, n))
    })
}

/// So many bins that only equal predictions share one: the plug-in estimators are then exact for the
/// empirical distribution.
const EXACT: usize = 1 << 40;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn estimates_are_in_the_unit_interval_whatever_the_order((rows, classes) in labelled(), shift in 1usize..9) {
        let n = rows.len();
        let rotated: Vec<_> = (0..n).map(|k| rows[(k + shift) % n].clone()).collect();
        let rotated_classes: Vec<_> = (0..n).map(|k| classes[(k + shift) % n]).collect();
        for (name, estimator) in estimators() {
            let estimate = estimator(&categorical(&rows), &labels(&classes)).unwrap();
            prop_assert!((0.0..=1.0 + 1e-12).contains(&estimate), "{name}: {estimate}");
            let moved = estimator(&categorical(&rotated), &labels(&rotated_classes)).unwrap();
            prop_assert!((estimate - moved).abs() < 1e-7, "{name}: {estimate}, rotated {moved}");
        }
    }

    #[test]
    fn partitions_hold_each_row_once((rows, _) in labelled(), bins in 1usize..6) {
        let points = tensor(&rows);
        let column = points.clone().slice([0..rows.len(), 0..1]);
        let minimum = bins.min(rows.len());
        let partitions = [
            Binning::Uniform { bins }.partition(&points),
            Binning::EqualMass { bins }.partition(&column),
            Binning::MedianVariance { minimum }.partition(&points),
        ];
        for partition in &partitions {
            let partition = partition.as_ref().unwrap();
            let mut members = partition.concat();
            members.sort();
            prop_assert_eq!(members, (0..rows.len()).collect::<Vec<_>>());
            prop_assert!(partition.iter().all(|bin| !bin.is_empty()));
        }
        prop_assert!(partitions[1].as_ref().unwrap().len() <= bins);
        prop_assert!(partitions[2].as_ref().unwrap().iter().all(|bin| bin.len() >= minimum));
    }

    /// Gruber and Buettner 2022, Theorem 3.1, for the empirical distribution.
    #[test]
    fn the_chain_of_calibration_errors((rows, classes) in labelled()) {
        let (p, y) = (categorical(&rows), labels(&classes));
        let exact = Binning::Uniform { bins: EXACT };
        let brier = ProperScore::Brier.upper_bound(&p, &y).unwrap().estimate;
        let full = Ece::new(Aspect::Vector, exact).with_discrepancy(Discrepancy::SquaredEuclidean);
        let class_wise = Cwce::new(2.0).with_binning(exact).with_weight(ClassWeight::Sum);
        let tce = |order| Tce::default().with_binning(exact).with_form(TceForm::PlugIn { order });
        let top: Vec<f64> = [2.0, 1.0].map(|order| tce(order).estimate(&p, &y).unwrap()).into();
        let chain = [
            brier.sqrt(),
            full.estimate(&p, &y).unwrap().sqrt(),
            class_wise.estimate(&p, &y).unwrap(),
            top[0],
            top[1],
        ];
        for pair in chain.windows(2) {
            prop_assert!(pair[0] >= pair[1] - 1e-12, "{chain:?}");
        }
        let below = [
            KolmogorovSmirnov::default().estimate(&p, &y).unwrap(),
            Ece::default().estimate(&p, &y).unwrap(),
            Ece::equal_mass(3).estimate(&p, &y).unwrap(),
            Mmce::default().estimate(&p, &y).unwrap().max(0.0).sqrt(),
            SmoothEce::default().at_bandwidth(0.02, &p, &y).unwrap(),
        ];
        prop_assert!(below.iter().all(|&error| error <= top[1] + 1e-7), "{below:?} above {}", top[1]);
    }

    #[test]
    fn estimators_agree_where_they_coincide((rows, classes) in labelled(), bins in 1usize..9) {
        let (p, y) = (categorical(&rows), labels(&classes));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-13;
        let value = |ece: Ece| ece.estimate(&p, &y).unwrap();
        for ece in [Ece::top_label(bins), Ece::equal_mass(bins), Ece::uniform(bins), Ece::median_variance(1)] {
            prop_assert!(close(value(ece.with_discrepancy(Discrepancy::L1)), 2.0 * value(ece)));
            prop_assert!(Mce::new(ece).estimate(&p, &y).unwrap() >= value(ece) - 1e-15);
        }
        let binning = Binning::Uniform { bins };
        let tce = |order| Tce::default().with_binning(binning).with_form(TceForm::PlugIn { order });
        prop_assert!(close(value(Ece::top_label(bins)), tce(1.0).estimate(&p, &y).unwrap()));
        let squared = Ece::top_label(bins).with_discrepancy(Discrepancy::SquaredEuclidean);
        prop_assert!(close(value(squared), 2.0 * tce(2.0).power(&p, &y).unwrap()));
        // smoothing more never gives more
        let smooth = |sigma| SmoothEce::default().at_bandwidth(sigma, &p, &y).unwrap();
        prop_assert!(smooth(0.05) >= smooth(0.1) - 1e-9 && smooth(0.1) >= smooth(0.4) - 1e-9);
    }
}

// ---- bad input ----

#[test]
fn bad_parameters() {
    let (p, y) = (binary(&[0.25, 0.75]), labels(&[0, 1]));
    let message = |result: Result<f64, Error>| result.unwrap_err().to_string();
    let binned = |binning| message(Ece::new(Aspect::Vector, binning).estimate(&p, &y));
    assert_eq!(
        binned(Binning::Uniform { bins: 0 }),
        "the number of bins is 0, expected at least 1"
    );
    assert_eq!(
        binned(Binning::EqualMass { bins: 3 }),
        "the dimension of points in bins of equal mass is 2, expected 1, the probability of one event"
    );
    assert_eq!(
        binned(Binning::MedianVariance { minimum: 0 }),
        "the minimum size of a bin is 0, expected at least 1"
    );
    assert_eq!(
        binned(Binning::MedianVariance { minimum: 3 }),
        "a bin of the minimum size needs at least 3 samples, got 2"
    );
    for order in [0.5, f64::NAN, f64::INFINITY] {
        let expected = "expected a finite number of at least 1";
        let form = TceForm::PlugIn { order };
        assert!(message(Tce::default().with_form(form).estimate(&p, &y)).ends_with(expected));
        assert!(message(Cwce::new(order).estimate(&p, &y)).ends_with(expected));
        assert!(message(KdeTce::new(order).estimate(&p, &y)).ends_with(expected));
    }
    assert_eq!(
        message(KdeTce::default().with_bandwidth(0.0).estimate(&p, &y)),
        "the kernel bandwidth is 0, expected a positive finite number"
    );
    let outside = KolmogorovSmirnov::new(Event::Class(2)).estimate(&p, &y);
    assert_eq!(
        message(outside),
        "the class of a class-wise lens is 2, expected a column of the predictions"
    );
    for (_, estimator) in estimators() {
        assert_eq!(
            message(estimator(&p, &labels(&[0, 2]))),
            "row 1: the label is 2, expected a class in 0..2"
        );
        assert_eq!(
            message(estimator(&p, &labels(&[0]))),
            "2 predictions but 1 labels, expected as many of one as of the other"
        );
    }
}
