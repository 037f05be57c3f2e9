use super::estimators;
use crate::prelude::*;

/// Four predictions of a second class at 1/4, 1/4, 3/4, 1, of which it occurs in the last two.
#[test]
fn binary_by_hand() {
    let (p, y) = (binary(&[0.25, 0.25, 0.75, 1.0]), labels(&[0, 0, 1, 1]));
    // top label: confidences 3/4, 3/4, 3/4, 1, all right; gaps 1/4 × 3, 0
    for (bins, largest) in [(2, 0.1875), (15, 0.25)] {
        let ece = Ece::top_label(bins);
        assert_eq!(ece.on(&p, &y), 0.1875);
        assert_eq!(Mce::new(ece).on(&p, &y), largest);
    }
    assert_eq!(KolmogorovSmirnov::default().on(&p, &y), 0.1875);
    // the second class: gaps p − y of 1/4, 1/4, −1/4, 0
    assert_eq!(KolmogorovSmirnov::new(SECOND).on(&p, &y), 0.125);
    let ece = |binning, discrepancy| {
        let ece = Ece::new(Aspect::Event(SECOND), binning).with_discrepancy(discrepancy);
        ece.on(&p, &y)
    };
    let halves = Binning::Uniform { bins: 2 }; // {1/4, 1/4} and {3/4, 1}: gaps 1/4 and −1/8
    assert_eq!(ece(halves, Discrepancy::TotalVariation), 0.1875);
    assert_eq!(ece(halves, Discrepancy::L1), 0.375);
    let expected = (2.0 / 16.0 + 2.0 / 64.0) / 2.0;
    assert_eq!(ece(halves, Discrepancy::SquaredEuclidean), expected);
    // one bin for each class: the whole prediction in a single bin, (7/16, 9/16) against (½, ½)
    assert_eq!(Ece::uniform(1).on(&p, &y), 0.0625);
    // equal mass: ties stay together, {1/4, 1/4}, {3/4}, {1}
    let mass = ece(Binning::EqualMass { bins: 4 }, Discrepancy::TotalVariation);
    assert_eq!(mass, 0.1875);
    let tce = Tce::default().with_event(SECOND).with_binning(halves);
    let plug_in = tce.with_form(TceForm::PlugIn { order: 2.0 });
    let power = plug_in.power(&p, &y).unwrap();
    assert_eq!(power, 0.5 / 16.0 + 0.5 / 64.0);
    // the pairs of gaps: 1/4 · 1/4 and −1/4 · 0
    assert_relative(tce.power(&p, &y).unwrap(), 1.0 / 32.0, 1e-14);
    // every bin is pure: ȳ(1 − ȳ) = 0, nothing to subtract
    let debiased = tce.with_form(TceForm::Debiased);
    assert_eq!(debiased.power(&p, &y).unwrap(), power);
    // all in one bin: gap 1/16, ȳ = ½, 1/256 − (1/4)/3 < 0
    let one = |tce: Tce| tce.with_binning(Binning::Uniform { bins: 1 });
    let expected = 1.0 / 256.0 - 1.0 / 12.0;
    assert_relative(one(debiased).power(&p, &y).unwrap(), expected, 1e-14);
    assert_eq!(one(debiased).on(&p, &y), 0.0);
    // pairs of 1/4, 1/4, −1/4, 0: one of 1/16 and two of −1/16, out of six
    assert_relative(one(tce).power(&p, &y).unwrap(), -1.0 / 96.0, 1e-14);
    // two classes mirror each other; the edge ½ and its mirror image are in different bins, 1/4 is not
    let cwce = Cwce::new(2.0).with_binning(halves);
    assert_relative(cwce.power(&p, &y).unwrap(), power, 1e-14);
    let sum = cwce.with_weight(ClassWeight::Sum);
    assert_relative(sum.on(&p, &y), (2.0 * power).sqrt(), 1e-14);
}

/// Three classes: bins of the whole prediction are tuples.
#[test]
fn vectors_by_hand() {
    let p = categorical(&[
        [0.5, 0.25, 0.25],
        [0.25, 0.5, 0.25],
        [0.5, 0.25, 0.25],
        [0.0, 0.25, 0.75],
    ]);
    let y = labels(&[0, 0, 2, 2]);
    // at two bins a class the first three share (0, 0, 0), since ½ is in the first half
    let bins = Ece::uniform(2).bins(&p, &y).unwrap();
    assert_eq!(bins.iter().map(|bin| bin.size).collect::<Vec<_>>(), [3, 1]);
    let third = 1.0 / 3.0;
    for (bin, expected) in bins.iter().zip([[1.25, 1.0, 0.75], [0.0, 0.75, 2.25]]) {
        all_relative(&bin.prediction, expected.map(|x| x * third), 1e-15);
    }
    assert_relative_eq!(bins[0].frequency[0], 2.0 * third);
    assert_eq!(bins[1].frequency, [0.0, 0.0, 1.0]);
    // Σ|n_b (p̄ − ȳ)| = 0.75 + 1 + 0.25 and 0 + 0.25 + 0.25, halved, over four samples
    assert_relative(Ece::uniform(2).on(&p, &y), 2.5 / 8.0, 1e-15);
    // at four bins: rows 0 and 2; row 1; row 3
    let expected = (0.5 * (0.0 + 0.5 + 0.5) + 0.5 * (0.75 + 0.5 + 0.25) + 0.25) / 4.0;
    assert_relative(Ece::uniform(4).on(&p, &y), expected, 1e-15);
}

#[test]
fn partitions_by_hand() {
    let column = |values: &[f64]| column(values);
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
    let points = tensor(&[[0.1, 0.1], [0.1, 0.3], [0.9, 0.4], [0.9, 0.5]]);
    let pairs = of(Binning::MedianVariance { minimum: 2 }, &points);
    assert_eq!(pairs, [vec![0, 1], vec![2, 3]]);
    let singles = of(Binning::MedianVariance { minimum: 1 }, &points);
    assert_eq!(singles, [vec![0], vec![1], vec![2], vec![3]]);
    // more than half at the least value: nothing is below the median
    let least = column(&[0.0, 0.0, 0.0, 1.0]);
    let stuck = of(Binning::MedianVariance { minimum: 1 }, &least);
    assert_eq!(stuck, [vec![0, 1, 2, 3]]);
}

/// A number that is NaN is in no bin.
#[test]
fn partitions_name_a_point_that_is_not_finite() {
    let points = column([0.7, f64::NAN, 0.2]);
    for binning in [
        Binning::Uniform { bins: 2 },
        Binning::EqualMass { bins: 2 },
        Binning::MedianVariance { minimum: 1 },
    ] {
        let error = binning.partition(&points).unwrap_err().to_string();
        assert!(error.starts_with("row 1"), "{error}");
    }
}

/// One sample, all right and sure, all wrong and sure, all predictions equal.
#[test]
fn degenerate_cases() {
    let sure = categorical(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]);
    for (name, estimate) in estimators() {
        let right = estimate(&sure, &labels(&[0, 1, 0])).unwrap();
        assert!(right.abs() < 1e-15, "{name}: {right}");
        let wrong = estimate(&sure, &labels(&[1, 2, 1])).unwrap();
        let is_class_wise = name.starts_with("cwce");
        let least = if is_class_wise { 0.5 } else { 1.0 - 1e-9 };
        assert!((least..=1.0).contains(&wrong), "{name}: {wrong}");
        let one = estimate(&categorical(&[[0.25, 0.75]]), &labels(&[1])).unwrap();
        let is_debiased = name == "tce" || name == "cwce debiased";
        let expected = if is_debiased { 0.0 } else { 0.25 };
        assert!((one - expected).abs() < 1e-9, "{name}: {one}");
        let equal = estimate(&binary(&[0.75; 4]), &labels(&[1, 0, 1, 0])).unwrap();
        // debiased: (1/4)² − (1/4)/3 < 0
        assert!((equal - expected).abs() < 1e-9, "{name}: {equal}");
    }
}

/// Against Gruber and Buettner 2022, Theorem 3.1: the class-wise error is 0 and that of the top label is
/// not. All permutations of three predictions, each with labels in the proportions of the truth.
#[test]
fn the_class_wise_error_can_be_less_than_that_of_the_top_label() {
    let triples = [
        ([0.5, 0.4, 0.1], [10, 6, 4]), // labels of 20: (.5, .3, .2)
        ([0.4, 0.3, 0.3], [10, 5, 5]),
        ([0.6, 0.3, 0.1], [12, 8, 0]),
    ];
    let permutations = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let (mut rows, mut classes) = (Vec::new(), Vec::new());
    for (prediction, counts) in triples {
        for order in permutations {
            for (class, from) in order.into_iter().enumerate() {
                let row = order.map(|from| prediction[from]).to_vec();
                rows.extend(vec![row; counts[from]]);
                classes.extend(vec![class; counts[from]]);
            }
        }
    }
    let (p, y) = (categorical(&rows), labels(&classes));
    // a bin for each probability
    let exact = Binning::Uniform { bins: 20 };
    for order in [1.0, 2.0] {
        let cwce = Cwce::new(order).with_binning(exact);
        let cwce = cwce.with_weight(ClassWeight::Sum);
        assert!(cwce.on(&p, &y) < 1e-12);
        let form = TceForm::PlugIn { order };
        let tce = Tce::default().with_binning(exact).with_form(form);
        // the confidence 0.4, a third of all, is right half of the time
        let expected = (0.1f64.powf(order) / 3.0).powf(order.recip());
        assert_relative(tce.on(&p, &y), expected, 1e-12);
    }
    // (.4, .3, .3), a third of all, off by (.1, −.05, −.05), and (.5, .4, .1) and (.6, .3, .1) by
    // (0, .1, −.1) and (0, −.1, .1)
    let whole = Ece::new(Aspect::Vector, exact).with_discrepancy(Discrepancy::SquaredEuclidean);
    let expected = (0.015 + 0.02 + 0.02) / 3.0;
    assert_relative(whole.on(&p, &y), expected, 1e-12);
}

/// The isotonic regression of 0, 1, 0, 1, 1 is 0, ½, ½, 1, 1: distances of 0.1, 0.3, 0.1, 0.4, 0.2. The value with weights
/// is that of repeated samples, of one sample its distance from what happened, and certain right predictions have 0.
#[test]
fn distances_from_the_isotonic_regression() {
    let risks = [0.1, 0.2, 0.4, 0.6, 0.8];
    let (p, y) = (binary(&risks), labels(&[0, 1, 0, 1, 1]));
    let ici = Ici::new(Event::Class(1));
    let all = |errors: IciErrors| [errors.mean, errors.median, errors.ninetieth, errors.largest];
    let errors = all(ici.errors(&p, &y).unwrap());
    all_relative(errors, [0.22, 0.2, 0.4, 0.4], 1e-13);
    assert_eq!(ici.estimate(&p, &y).unwrap(), errors[0]);
    // six times the last one: 0.1, 0.1, six times 0.2, 0.3, 0.4
    let weights = crate::weights::weight_tensor(&[1.0, 1.0, 1.0, 1.0, 6.0]);
    let (heavy, y) = p.weighted(&weights, &y).unwrap();
    let expected = [0.21, 0.2, 0.3, 0.4];
    all_relative(all(ici.errors(&heavy, &y).unwrap()), expected, 1e-13);
    let repeated = [&risks[..], &[0.8; 5]].concat();
    let occurred = labels(&[&[0, 1, 0, 1, 1][..], &[1; 5]].concat());
    let errors = ici.errors(&binary(&repeated), &occurred).unwrap();
    all_relative(all(errors), expected, 1e-13);
    let one = ici.errors(&binary(&[0.3]), &labels(&[1])).unwrap();
    all_relative(all(one), [0.7; 4], 1e-13);
    let certain = ici.errors(&binary(&[0.0, 1.0]), &labels(&[0, 1])).unwrap();
    assert_eq!(all(certain), [0.0; 4]);
}
