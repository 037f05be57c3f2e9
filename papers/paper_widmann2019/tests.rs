//! The tests of figure 2, whose estimates are those of figure 1.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    estimator::{Ece, Skce},
    hypothesis::{
        AsymptoticBlockSkceTest, AsymptoticSkceTest, CalibrationTest, ConsistencyTest,
        DistributionFreeSkceTest, ExactTest, TestOutcome,
    },
    kernel::{Bandwidth, Distance, Kernel, median_distance_with_diagonal},
};
use burn_calibration_testing::bootstrap::Bootstrap;
use rand::{SeedableRng, rngs::StdRng};

use crate::Result;

pub struct Test {
    pub name: &'static str,
    /// The row of figure 2.
    pub row: &'static str,
    /// The row of figure 1, of a test whose estimates are shown there.
    pub estimates: Option<Estimates>,
    /// Errors in the published figure, of the models M1, M2 and M3: at level 1 %, at level 5 %.
    pub published: Option<[[f64; 3]; 2]>,
    /// The column of the published p-values of networks.
    pub column: Option<&'static str>,
    pub test: fn(&Settings) -> Box<dyn CalibrationTest>,
}

pub struct Estimates {
    pub name: &'static str,
    pub of: Quantity,
    /// Their mean in the published figure, of the models M1, M2 and M3.
    pub published: [f64; 3],
    /// The column of the published estimates of networks.
    pub column: &'static str,
}

/// What is estimated.
#[derive(PartialEq)]
pub enum Quantity {
    Ece,
    Skce,
}

/// What the tests of a data set share.
pub struct Settings {
    pub kernel: Kernel,
    /// The smallest number of samples of a median-variance bin.
    pub bin_size: usize,
    pub replicates: usize,
}

/// C, D and A as in the paper: consistency resampling, distribution-free bounds, asymptotic
/// approximations. The others are this library's own.
///
/// The published numbers are those behind the figures in <https://github.com/devmotion/CalibrationPaper>,
/// version 0.2.0, which mended the uniform bins: `paper/figures/errors_comparison.tex` and
/// `pvalues_comparison.tex`, for the median-variance bins `errors/` and `pvalues/ECE_dynamic_*.tex`.
pub const TESTS: [Test; 9] = [
    Test {
        name: "C, uniform bins",
        row: "ECE",
        estimates: Some(Estimates {
            name: "ECE, uniform bins",
            of: Quantity::Ece,
            published: [0.43952, 0.66331, 0.89178],
            column: "ECE_uniform",
        }),
        published: Some([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
        column: Some("ECE_uniform"),
        test: |s| Box::new(ConsistencyTest::new(Ece::uniform(10)).with_replicates(s.replicates)),
    },
    Test {
        name: "C, median-variance bins",
        row: "ECE",
        estimates: Some(Estimates {
            name: "ECE, median-variance bins",
            of: Quantity::Ece,
            published: [0.25243, 0.52670, 0.63007],
            column: "ECE_dynamic",
        }),
        published: Some([[0.0537, 0.0, 0.0], [0.2018, 0.0, 0.0]]),
        column: Some("ECE_dynamic"),
        test: |s| {
            let ece = Ece::median_variance(s.bin_size);
            Box::new(ConsistencyTest::new(ece).with_replicates(s.replicates))
        },
    },
    Test {
        name: "exact, uniform bins",
        row: "ECE",
        estimates: None,
        published: None,
        column: None,
        test: |s| Box::new(ExactTest::new(Ece::uniform(10)).with_replicates(s.replicates)),
    },
    Test {
        name: "D, biased SKCE",
        row: "SKCE, bounds",
        estimates: Some(Estimates {
            name: "SKCE, biased",
            of: Quantity::Skce,
            published: [0.0017911, 0.099766, 0.020511],
            column: "SKCEb_median",
        }),
        published: Some([[0.0, 0.9843, 1.0], [0.0, 0.3706, 1.0]]),
        column: Some("SKCEb_median_distribution_free"),
        test: |s| Box::new(DistributionFreeSkceTest::new(Skce::biased(s.kernel))),
    },
    Test {
        name: "D, unbiased SKCE",
        row: "SKCE, bounds",
        estimates: Some(Estimates {
            name: "SKCE, unbiased",
            of: Quantity::Skce,
            published: [-0.0000086, 0.096551, 0.015170],
            column: "SKCEuq_median",
        }),
        published: Some([[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]),
        column: Some("SKCEuq_median_distribution_free"),
        test: |s| Box::new(DistributionFreeSkceTest::new(Skce::unbiased(s.kernel))),
    },
    Test {
        name: "D, linear SKCE",
        row: "SKCE, bounds",
        estimates: Some(Estimates {
            name: "SKCE, linear",
            of: Quantity::Skce,
            published: [0.00016041, 0.096556, 0.015051],
            column: "SKCEul_median",
        }),
        published: Some([[0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]),
        column: Some("SKCEul_median_distribution_free"),
        test: |s| Box::new(DistributionFreeSkceTest::new(Skce::linear(s.kernel))),
    },
    Test {
        name: "A, bootstrap",
        row: "SKCE, quadratic cost",
        estimates: None,
        published: Some([[0.0048, 0.0, 0.0], [0.0347, 0.0, 0.0]]),
        column: Some("SKCEuq_median_asymptotic"),
        test: |s| {
            Box::new(Bootstrap {
                kernel: s.kernel,
                replicates: s.replicates,
            })
        },
    },
    Test {
        name: "A, gamma",
        row: "SKCE, quadratic cost",
        estimates: None,
        published: None,
        column: None,
        test: |s| Box::new(AsymptoticSkceTest::new(s.kernel)),
    },
    Test {
        name: "A, linear SKCE",
        row: "linear cost",
        estimates: None,
        published: Some([[0.0077, 0.0004, 0.9519], [0.0455, 0.0, 0.8141]]),
        column: Some("SKCEul_median_asymptotic"),
        test: |s| Box::new(AsymptoticBlockSkceTest::linear(s.kernel)),
    },
];

/// The tests whose estimates are shown, with their place among all.
pub fn estimates() -> impl Iterator<Item = (usize, &'static Estimates)> {
    let shown = |(place, test): (usize, &'static Test)| Some((place, test.estimates.as_ref()?));
    TESTS.iter().enumerate().filter_map(shown)
}

/// What each test finds on a data set.
pub fn outcomes(
    predictions: &Categorical,
    labels: &Tensor<1, Int>,
    bin_size: usize,
    replicates: usize,
    seed: u64,
) -> Result<Vec<TestOutcome>> {
    // The kernel of the paper: exponential over total variation. Its bandwidth is the median of the
    // distances of all pairs of predictions, those of each with itself included.
    let points = predictions.probabilities();
    let median = median_distance_with_diagonal(&points, Distance::TotalVariation);
    let settings = Settings {
        kernel: Kernel::exponential().with_bandwidth(Bandwidth::Fixed(median)),
        bin_size,
        replicates,
    };
    let outcome = |test: &Test| {
        let mut rng = StdRng::seed_from_u64(seed); // no test depends on what another drew
        Ok((test.test)(&settings).outcome(predictions, labels, &mut rng)?)
    };
    TESTS.iter().map(outcome).collect()
}
