//! The classical estimators: published numbers, hand-solved cases, brute force, properties.

mod brute_force;
mod by_hand;
mod properties;
mod published;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    error::{Error, Result},
    estimator::*,
};

use crate::data::*;

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

/// A model of two classes, from the probability of the second.
pub fn binary(r: &[f64]) -> Categorical {
    categorical(&r.iter().map(|r| vec![1.0 - r, *r]).collect::<Vec<_>>())
}

pub const SECOND: Event = Event::Class(1);

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
    }
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
