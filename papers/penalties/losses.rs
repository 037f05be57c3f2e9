//! The table of losses: a penalty, the weights to try, and the bandwidths.

use std::fmt::Debug;

use burn::tensor::{Int, Tensor};
use burn_calibration::distribution::Normal;
use burn_calibration::{
    distribution::{Geometry, Given},
    estimator::{JointKernel, MmceForm},
    kernel::{Distance, median_distance},
    prelude::*,
};
use burn_calibration_testing::rivals::{Esd, SoftAvUc, SoftEce};

use crate::{
    data::Kind,
    setting::{Samples, Width},
    task::{LENGTH, Task, real_kernel},
};

/// A name in the table, and what is tried of it.
pub struct Loss {
    pub name: &'static str,
    /// Five over two decades.
    pub weights: [f64; 5],
    pub widths: &'static [Width],
    pub samples: Samples,
    /// Whether there is one of predicted normal distributions too.
    real: bool,
}

/// The base loss alone.
pub const BASE: &str = "base";

/// Of predictions, targets and the inputs that the predictions are of, `[n, width]`.
pub type Penalty<P> = Box<dyn Fn(&P, &<P as Predictive>::Targets, &Tensor<2>) -> Tensor<1>>;

const KERNEL: &[Width] = &[Width::MedianAbove(0.1), Width::Fixed(1.0)];
/// Of penalties that have no bandwidth on predictions, or one of their own.
pub const NONE: Width = Width::Fixed(1.0);
const OWN: &[Width] = &[NONE];

const SQUARES: [f64; 5] = [4.0, 12.0, 40.0, 120.0, 400.0];
const ROOTS: [f64; 5] = [0.3, 1.0, 3.0, 10.0, 30.0];
const SCORES: [f64; 5] = [0.003, 0.01, 0.03, 0.1, 0.3];

const fn loss(name: &'static str, weights: [f64; 5], widths: &'static [Width]) -> Loss {
    Loss {
        name,
        weights,
        widths,
        samples: Samples::Training,
        real: false,
    }
}

impl Loss {
    const fn on(self, samples: Samples) -> Self {
        Self { samples, ..self }
    }

    const fn real(self) -> Self {
        Self { real: true, ..self }
    }

    pub fn is_of(&self, kind: Kind) -> bool {
        self.real || kind != Kind::Real
    }
}

pub const LOSSES: &[Loss] = &[
    loss("skce", SQUARES, KERNEL).real(),
    loss("root", ROOTS, KERNEL).real(),
    loss("standardised", SCORES, KERNEL).real(),
    loss("root, held out", ROOTS, KERNEL)
        .on(Samples::Rotating)
        .real(),
    loss("standardised, held out", SCORES, KERNEL).on(Samples::Rotating),
    loss("root, top label", ROOTS, KERNEL),
    loss("weighted MMCE", ROOTS, OWN),
    loss("MMCE", ROOTS, OWN),
    loss("MMD, inputs", [0.2, 1.0, 4.0, 20.0, 100.0], OWN).real(),
    loss("soft ECE", ROOTS, OWN),
    loss("soft AvUC", ROOTS, OWN),
    loss("ESD, held out", ROOTS, OWN).on(Samples::HeldOut),
];

/// The penalties of a kind of predictions.
pub trait Penalised: Task {
    /// By the name in the table; none of an unknown name, and none for the base loss.
    fn penalty(name: &str, width: Width) -> Option<Penalty<Self>>;
}

impl Penalised for Categorical {
    fn penalty(name: &str, width: Width) -> Option<Penalty<Self>> {
        let kernel = Kernel::exponential().with_bandwidth(width.bandwidth());
        Some(match name {
            "root, top label" => criterion(move |p: &Categorical, y: &Tensor<1, Int>| {
                let (confidences, right) = p.top_label(y).expect("predictions with labels");
                SkceLoss::root(kernel).value(&confidences, &right)
            }),
            "weighted MMCE" => {
                criterion(MmceLossConfig::new().with_form(MmceForm::Weighted).init())
            }
            "MMCE" => criterion(MmceLossConfig::new().with_form(MmceForm::Unweighted).init()),
            "MMD, inputs" => given_inputs(|on_inputs| on_inputs),
            "soft ECE" => criterion(SoftEce::default()),
            "soft AvUC" => criterion(SoftAvUc::default()),
            "ESD, held out" => criterion(Esd),
            _ => return skce(name, kernel),
        })
    }
}

impl Penalised for Normal {
    fn penalty(name: &str, width: Width) -> Option<Penalty<Self>> {
        match name {
            "MMD, inputs" => Some(given_inputs(|on_inputs| {
                TensorKernel::new(on_inputs, RealKernel::gaussian(LENGTH))
            })),
            _ => skce(name, real_kernel(width.bandwidth())),
        }
    }
}

/// The forms of the SKCE.
fn skce<P, K>(name: &str, kernel: K) -> Option<Penalty<P>>
where
    P: Geometry,
    K: JointKernel<P> + Clone + Debug + Send + 'static,
{
    Some(criterion(match name {
        "skce" => SkceLoss::new(Skce::unbiased(kernel)),
        "root" | "root, held out" => SkceLoss::root(kernel),
        "standardised" | "standardised, held out" => SkceLoss::standardised(kernel),
        _ => return None,
    }))
}

fn criterion<P: Predictive>(criterion: impl Criterion<P> + 'static) -> Penalty<P> {
    Box::new(move |p, y, _| criterion.value(p, y))
}

/// The SKCE given the inputs: what the MMD of Marx et al. is, with the expectations in closed form.
fn given_inputs<P, K>(kernel: fn(Kernel) -> K) -> Penalty<P>
where
    P: Predictive,
    K: JointKernel<Given<P>> + 'static,
{
    Box::new(move |p, y, inputs| {
        let median = median_distance(inputs, Distance::Euclidean);
        let on_inputs = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(median));
        let given = Given::new(p.clone(), inputs.clone());
        Skce::unbiased(kernel(on_inputs)).value(&given, y)
    })
}
