use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    error::Result,
    estimator::{Binning, ClassWeight, Cwce, Ece, Estimator as _, KolmogorovSmirnov, Tce, TceForm},
    score::{Brier, Score},
};

use crate::kde::KdeTce;

/// An estimator of the paper, all on the scale of a distance of probabilities.
pub struct Estimator {
    pub name: &'static str,
    pub estimate: fn(&Categorical, &Tensor<1, Int>) -> Result<f64>,
}

/// Those of section 5, in its order.
pub const ESTIMATORS: [Estimator; 8] = [
    Estimator {
        name: "RBS",
        estimate: |p, y| Ok(Brier.upper_bound(p, y)?.estimate.sqrt()),
    },
    Estimator {
        name: "CWCE2, 100 bins",
        estimate: |p, y| class_wise(100).estimate(p, y),
    },
    Estimator {
        name: "CWCE2, 15 bins",
        estimate: |p, y| class_wise(15).estimate(p, y),
    },
    Estimator {
        name: "TCE2, 100 bins",
        estimate: |p, y| {
            let tce = Tce::default().with_form(TceForm::PlugIn { order: 2.0 });
            tce.with_binning(Binning::Uniform { bins: 100 })
                .estimate(p, y)
        },
    },
    Estimator {
        name: "TCE2, 15 mass bins, debiased",
        estimate: |p, y| {
            let tce = Tce::default().with_form(TceForm::Debiased);
            tce.with_binning(Binning::EqualMass { bins: 15 })
                .estimate(p, y)
        },
    },
    Estimator {
        name: "TCE2, kernel density",
        estimate: |p, y| KdeTce { order: 2.0 }.estimate(p, y),
    },
    Estimator {
        name: "ECE, 15 bins",
        estimate: |p, y| Ece::default().estimate(p, y),
    },
    Estimator {
        name: "KS",
        estimate: |p, y| KolmogorovSmirnov::default().estimate(p, y),
    },
];

fn class_wise(bins: usize) -> Cwce {
    Cwce::new(2.0)
        .with_binning(Binning::Uniform { bins })
        .with_weight(ClassWeight::Sum)
}
