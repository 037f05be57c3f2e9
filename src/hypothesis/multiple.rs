use burn::tensor::{Int, Tensor};
use rand::Rng;

use super::{CalibrationTest, TestOutcome};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
};

/// Adjusts p-values for several tests by Holm's step-down method: rejecting where the adjusted p-value is
/// at most `α` keeps the probability of any false rejection below `α`, for any dependence between the
/// tests.
///
/// With the p-values in increasing order, `p̃_(i) = max_{j≤i} min(1, (N − j + 1) p_(j))`, in the order
/// of the input. Source: Holm 1979.
///
/// # Errors
///
/// A p-value that is not between 0 and 1.
///
/// ```
/// let adjusted = burn_calibration::hypothesis::holm(&[0.04, 0.01, 0.03]).unwrap();
/// assert_eq!(adjusted, [0.06, 0.03, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>> {
    let order = increasing(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0f64;
    for (i, &at) in order.iter().enumerate() {
        largest = largest.max((order.len() - i) as f64 * p_values[at]);
        adjusted[at] = largest.min(1.0);
    }
    Ok(adjusted)
}

/// Adjusts p-values for several tests by the step-up method of Benjamini and Hochberg: rejecting
/// where the adjusted p-value is at most `α` keeps the expected proportion of false rejections
/// among all rejections below `α`, for tests that are independent or positively dependent.
///
/// With the p-values in increasing order, `p̃_(i) = min_{j≥i} min(1, N/j · p_(j))`, in the order of
/// the input. Source: Benjamini and Hochberg 1995.
///
/// # Errors
///
/// A p-value that is not between 0 and 1.
///
/// ```
/// let adjusted = burn_calibration::hypothesis::benjamini_hochberg(&[0.04, 0.01, 0.03]).unwrap();
/// assert_eq!(adjusted, [0.04, 0.03, 0.04]);
/// ```
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>> {
    let order = increasing(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest = 1.0f64;
    for (i, &at) in order.iter().enumerate().rev() {
        smallest = smallest.min(order.len() as f64 * p_values[at] / (i + 1) as f64);
        adjusted[at] = smallest;
    }
    Ok(adjusted)
}

/// The order that sorts p-values.
fn increasing(p_values: &[f64]) -> Result<Vec<usize>> {
    for &p in p_values {
        check_parameter(
            (0.0..=1.0).contains(&p),
            "a p-value",
            p,
            "a number in [0, 1]",
        )?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}

/// Runs a test on each class against the rest ([`Categorical::class_wise`]): the outcomes are not adjusted for the
/// number of classes.
///
/// Of the p-values that [`holm`] adjusts, those of at most `α` are of miscalibrated classes, with a probability of
/// at most `α` that any of them is not. [`benjamini_hochberg`] has no such guarantee: tests of different classes may
/// be negatively dependent.
///
/// # Shapes
///
/// - predictions: `n × m`
/// - labels: `[n]`
///
/// # Errors
///
/// The errors of the test, on any class.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, estimator::Skce, hypothesis::{ExactTest, TestOutcome, class_wise, holm},
///     kernel::Kernel,
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // the first class is right half of the time, as predicted; the others are swapped
/// let rows = Tensor::from_floats([[0.5, 0.4, 0.1]; 100], &device);
/// let labels: Vec<i32> = (0..100).map(|i| [0, 2, 0, 2, 0, 2, 0, 2, 0, 1][i % 10]).collect();
/// let labels = Tensor::<1, Int>::from_ints(labels.as_slice(), &device);
/// let test = ExactTest::new(Skce::biased(Kernel::exponential()));
/// let predictions = Categorical::from_probabilities(rows)?;
/// let classes = class_wise(&test, &predictions, &labels, &mut StdRng::seed_from_u64(0))?;
/// let p = holm(&classes.iter().map(|outcome| outcome.p_value).collect::<Vec<_>>())?;
/// assert!(p[0] > 0.05 && p[1] < 0.01 && p[2] < 0.01);
/// # Ok(())
/// # }
/// ```
pub fn class_wise(
    test: &dyn CalibrationTest,
    predictions: &Categorical,
    labels: &Tensor<1, Int>,
    rng: &mut dyn Rng,
) -> Result<Vec<TestOutcome>> {
    let of_class = |class| {
        let (binary, labels) = predictions.class_wise(class, labels)?;
        test.outcome(&binary, &labels, rng)
    };
    (0..predictions.classes()).map(of_class).collect()
}
