//! The classical estimators: published numbers, hand-solved cases, brute force, properties.

mod brute_force;
mod by_hand;
mod norms;
mod properties;
mod published;

use burn_calibration::error::Result;

use crate::prelude::*;

pub type Boxed = Box<dyn Fn(&Categorical, &Tensor<1, Int>) -> Result<f64>>;

/// Every estimator under a name.
pub fn estimators() -> Vec<(&'static str, Boxed)> {
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
        (
            "smooth",
            Box::new(|p, y| SmoothEce::default().estimate(p, y)),
        ),
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
        refuses(
            Tce::default()
                .with_form(TceForm::PlugIn { order })
                .estimate(&p, &y),
        );
    }
    let outside = KolmogorovSmirnov::new(Event::Class(2)).estimate(&p, &y);
    refuses(outside);
    let label = "row 1: the label is 2, expected a class in 0..2";
    let length = "2 predictions but 1 labels, expected the same number of both";
    for (_, estimator) in estimators() {
        assert_eq!(message(estimator(&p, &labels(&[0, 2]))), label);
        assert_eq!(message(estimator(&p, &labels(&[0]))), length);
    }
}
