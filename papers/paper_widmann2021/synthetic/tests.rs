//! The tests, whose estimates are those of the study of estimators.

use burn_calibration::{
    distribution::Normal,
    estimator::Skce,
    hypothesis::{
        AsymptoticBlockSkceTest, AsymptoticSkceTest, CalibrationTest, CmeNull, CmeTest,
        DistributionFreeSkceTest, ExactTest,
    },
};
use burn_calibration_testing::bootstrap::Bootstrap;
use rand::rngs::StdRng;

use super::models;
use crate::kernel::kernel;

/// The number of test locations of the CME.
const LOCATIONS: usize = 10;

pub struct Test {
    pub name: &'static str,
    /// The estimator of the SKCE, of a test whose estimates are shown.
    pub estimator: Option<&'static str>,
    /// For data sets of this size, where there is one.
    pub test: fn(&mut Settings) -> Option<Box<dyn CalibrationTest<Normal>>>,
}

pub struct Settings<'a> {
    /// Samples, and their dimension.
    pub n: usize,
    pub d: usize,
    /// The largest data set of the exact test.
    pub exact: usize,
    pub rng: &'a mut StdRng,
}

impl Settings<'_> {
    /// Test locations are drawn for each data set.
    fn cme(&mut self, null: CmeNull) -> Option<Box<dyn CalibrationTest<Normal>>> {
        let (predictions, targets) = models::locations(LOCATIONS, self.d, self.rng);
        let test = CmeTest::at(kernel(), predictions, targets).with_null(null);
        (self.n > LOCATIONS).then(|| Box::new(test) as _)
    }
}

/// Those of the paper, and this library's own, which are not published there.
pub const TESTS: [Test; 8] = [
    Test {
        name: "blocks of 2",
        estimator: Some("blocks of 2"),
        test: |_| Some(Box::new(AsymptoticBlockSkceTest::linear(kernel()))),
    },
    Test {
        name: "blocks of √n",
        estimator: Some("blocks of √n"),
        test: |s| {
            Some(Box::new(AsymptoticBlockSkceTest::new(
                kernel(),
                s.n.isqrt(),
            )))
        },
    },
    Test {
        name: "bootstrap",
        estimator: Some("unbiased"),
        test: |_| {
            Some(Box::new(Bootstrap {
                kernel: kernel(),
                replicates: 1000,
            }))
        },
    },
    Test {
        name: "CME, χ²",
        estimator: None,
        test: |s| s.cme(CmeNull::ChiSquared),
    },
    Test {
        name: "CME, F",
        estimator: None,
        test: |s| s.cme(CmeNull::Hotelling),
    },
    Test {
        name: "gamma",
        estimator: None,
        test: |_| Some(Box::new(AsymptoticSkceTest::new(kernel()))),
    },
    Test {
        name: "exact",
        estimator: None,
        test: |s| {
            let test = ExactTest::new(Skce::biased(kernel())).with_replicates(REDRAWN);
            (s.n <= s.exact).then(|| Box::new(test) as _)
        },
    },
    Test {
        name: "bound",
        estimator: Some("biased"),
        test: |_| {
            let test = DistributionFreeSkceTest::new(Skce::biased(kernel()));
            Some(Box::new(test))
        },
    },
];

/// Replicates of the exact test, each of which costs an estimate.
const REDRAWN: usize = 199;
