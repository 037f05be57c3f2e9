//! Burn finds the values of a metric by its name, and files are named by it.

use std::collections::HashSet;

use burn::train::metric::Metric;
use burn_calibration::{
    estimator::{Cwce, MmceForm},
    hypothesis::AsymptoticSkceTest,
    kernel::MatrixKernel,
    metric::{EpochMetric, PValue, Quantity},
    prelude::*,
    recalibration::RefinementError,
    score::Spherical,
};

#[test]
fn the_usual_ones_are_short() {
    let kernel = Kernel::exponential();
    assert_eq!(Ece::default().name(), "ECE");
    assert_eq!(Cwce::default().name(), "Class-wise ECE");
    assert_eq!(Skce::unbiased(kernel).name(), "SKCE");
    assert_eq!(Mmce::default().name(), "MMCE");
    assert_eq!(RefinementError.name(), "Refinement error");
    assert_eq!(Quantity::name(&LogScore), "Log loss");
    assert_eq!(
        Ece::equal_mass(10).name(),
        "ECE [binning EqualMass bins 10]"
    );
    assert_eq!(PValue::omnibus(0).name(), "Omnibus p-value");
    assert_eq!(PValue::default(), PValue::omnibus(0));
    let test = AsymptoticSkceTest::new(kernel);
    assert_eq!(PValue::new("gamma", test, 3).name(), "gamma");
    // by the names of what differs alone: a parameter that is added later changes no name
    let block = Skce::block(kernel.with_bandwidth(Bandwidth::Fixed(0.5)), 20);
    assert_eq!(
        block.name(),
        "SKCE [form Block 20 kernel bandwidth Fixed 0.5]"
    );
    let renamed = EpochMetric::from_logits(Ece::default()).with_name("calibration");
    assert_eq!(*Metric::name(&renamed), "calibration");
}

#[test]
fn different_parameters_have_different_names() {
    let kernel = Kernel::exponential();
    let fixed = |value| kernel.with_bandwidth(Bandwidth::Fixed(value));
    let matrix = |last: f64| {
        let rows: Vec<Vec<f64>> = (0..8)
            .map(|i| (0..8).map(|j| if i == j { last } else { 0.0 }).collect())
            .collect();
        Skce::unbiased(MatrixKernel::from_rows(kernel, &rows).unwrap()).name()
    };
    let names = [
        Ece::default().name(),
        Ece::top_label(10).name(),
        Ece::equal_mass(15).name(),
        Ece::uniform(15).name(),
        Cwce::default().name(),
        Cwce::new(2.0).name(),
        Mmce::default().name(),
        Mmce::new(MmceForm::Unbiased).name(),
        Skce::unbiased(kernel).name(),
        Skce::biased(kernel).name(),
        Skce::block(kernel, 2).name(),
        Skce::block(kernel, 20).name(),
        Skce::unbiased(fixed(0.25)).name(),
        Skce::unbiased(fixed(0.5)).name(),
        Skce::unbiased(Kernel::gaussian()).name(),
        matrix(1.0),
        matrix(2.0),
        Quantity::name(&Brier),
        Quantity::name(&LogScore),
        Quantity::name(&Spherical),
        PValue::omnibus(0).name(),
    ];
    let distinct: HashSet<&String> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:#?}");
    for name in &names {
        assert!(name.len() <= 125, "too long for a file: {name}");
        let odd = |c: char| !(c.is_ascii_alphanumeric() || " -.[]".contains(c));
        assert!(!name.contains(odd), "not for file names: {name}");
    }
}

/// A name that is too long for a file ends with its hash, which is the same in every version of Rust.
#[test]
fn long_names_end_with_a_stable_hash() {
    let rows: Vec<Vec<f64>> = (0..8)
        .map(|i| (0..8).map(|j| if i == j { 1.0 } else { 0.0 }).collect())
        .collect();
    let kernel = Kernel::exponential();
    let name = Skce::unbiased(MatrixKernel::from_rows(kernel, &rows).unwrap()).name();
    let hash = &name[name.len() - 17..name.len() - 1];
    assert!(u64::from_str_radix(hash, 16).is_ok(), "{name}");
}
