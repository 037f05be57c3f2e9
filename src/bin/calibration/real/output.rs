//! What the evaluation of predictions over real vectors prints.

use std::fmt;

use burn_calibration::kernel::{RealKernel, RealProfile, TensorKernel};
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    args::Family,
    kernel::bandwidth,
    output::{
        Estimate, Test, describe, estimates_json, kernel_json, key, tests_json, write_estimates,
        write_left_out, write_tests,
    },
};

pub struct Evaluation {
    pub family: Family,
    pub n: usize,
    /// Of the targets.
    pub dimensions: usize,
    pub kernel: TensorKernel<RealKernel>,
    /// Whether quantities of quadratic cost were left out.
    pub left_out: bool,
    pub answer: Answer,
    pub estimates: Vec<Estimate>,
    pub tests: Vec<Test>,
}

fn profile(kernel: &RealKernel) -> &'static str {
    match kernel.profile {
        RealProfile::Gaussian => "gaussian",
        RealProfile::Laplacian => "laplacian",
    }
}

impl Evaluation {
    /// One object; an estimate or a test that is not defined on the data has a null or an error.
    pub fn json(&self) -> Value {
        let predictions = &self.kernel.predictions;
        json!({
            "n": self.n,
            "family": key(self.family),
            "dimensions": self.dimensions,
            "kernel": kernel_json(predictions, Some(bandwidth(predictions))),
            "target_kernel": {
                "profile": profile(&self.kernel.targets),
                "length_scale": self.kernel.targets.length_scale,
            },
            "omnibus": self.answer.omnibus_json(),
            "intervals": self.answer.intervals_json(),
            "estimates": estimates_json(&self.estimates),
            "tests": tests_json(&self.tests),
        })
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} predictions of the family {}, targets of dimension {}\n",
            self.n,
            key(self.family),
            self.dimensions
        )?;
        writeln!(f, "{}", self.answer)?;
        let predictions = &self.kernel.predictions;
        writeln!(f, "{}", describe(predictions, bandwidth(predictions)))?;
        let targets = &self.kernel.targets;
        writeln!(
            f,
            "kernel on targets: {}, length scale {:.10}",
            profile(targets),
            targets.length_scale
        )?;
        write_estimates(f, &self.estimates)?;
        write_tests(f, &self.tests)?;
        match self.left_out {
            true => write_left_out(f),
            false => Ok(()),
        }
    }
}
