//! The classical estimators: published numbers, hand-solved cases, brute force, properties.

mod brute_force;
mod by_hand;
mod norms;
mod properties;
mod published;

use burn_calibration::error::Result;

use crate::prelude::*;

pub type Boxed = Box<dyn Fn(&Categorical, &Tensor<1, Int>) -> Result<f64>>;

fn boxed(estimator: impl Estimator + 'static) -> Boxed {
    Box::new(move |p, y| estimator.estimate(p, y))
}

/// Every estimator under a name.
pub fn estimators() -> Vec<(&'static str, Boxed)> {
    let (width, mass) = (Binning::Uniform { bins: 3 }, Binning::EqualMass { bins: 3 });
    let debiased = Cwce::default().with_form(TceForm::Debiased);
    vec![
        ("ece", boxed(Ece::default())),
        ("mass", boxed(Ece::equal_mass(4))),
        ("uniform", boxed(Ece::uniform(4))),
        ("median", boxed(Ece::median_variance(1))),
        ("mce", boxed(Mce::default())),
        ("tce", boxed(Tce::default())),
        ("cwce1", boxed(Cwce::default())),
        ("cwce2", boxed(Cwce::new(2.0).with_binning(width))),
        ("cwce debiased", boxed(debiased.with_binning(mass))),
        ("ks", boxed(KolmogorovSmirnov::default())),
        ("smooth", boxed(SmoothEce::default())),
    ]
}

#[test]
fn bad_parameters() {
    let (p, y) = (binary(&[0.25, 0.75]), labels(&[0, 1]));
    let message = |result: Result<f64, Error>| result.unwrap_err().to_string();
    for binning in [
        Binning::Uniform { bins: 0 },
        Binning::EqualMass { bins: 3 },
        Binning::MedianVariance { minimum: 0 },
        Binning::MedianVariance { minimum: 3 },
    ] {
        refuses(Ece::new(Aspect::Vector, binning).estimate(&p, &y));
    }
    for order in [0.5, f64::NAN, f64::INFINITY] {
        refuses(Cwce::new(order).estimate(&p, &y));
    }
    for order in [0.5, f64::NAN] {
        let tce = Tce::default().with_form(TceForm::PlugIn { order });
        refuses(tce.estimate(&p, &y));
    }
    refuses(KolmogorovSmirnov::new(Event::Class(2)).estimate(&p, &y));
    let label = "row 1: the label is 2, expected a class in 0..2";
    let length = "2 predictions but 1 label, expected the same number of both";
    for (_, estimator) in estimators() {
        assert_eq!(message(estimator(&p, &labels(&[0, 2]))), label);
        assert_eq!(message(estimator(&p, &labels(&[0]))), length);
    }
}
