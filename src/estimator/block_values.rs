use crate::{
    error::{Error, Result, check_parameter, checks::check_classes},
    kernel::{Bandwidth, Kernel},
    ops::block_sums,
};

/// The U-statistics `u_b = 2/(B(B−1)) Σ_{i<j} h_ij` of the SKCE over blocks of `size` consecutive rows on the
/// host, each to the last bit a function of the rows of its block alone; rows after the last whole block are in
/// none. For sums that merge exactly.
///
/// # Shapes
///
/// - probabilities: `n × m`, row by row
/// - labels: `[n]`, each less than `m`
///
/// Cost: `(B − 1)/2` pairs of `m` operations and an exponential for each row, on all threads.
///
/// # Errors
///
/// A bandwidth that is the median ([`Error::Unsupported`]) or not positive, a profile that is not valid, fewer
/// than two rows in a block or than two classes.
///
/// # Panics
///
/// If the numbers do not fill rows, or labels are not as many.
pub fn block_values(
    kernel: &Kernel,
    size: usize,
    classes: usize,
    probabilities: &[f64],
    labels: &[u32],
) -> Result<Vec<f64>> {
    kernel.validate()?;
    let name = "the number of samples of a block";
    check_parameter(size >= 2, name, size as f64, "at least 2")?;
    check_classes(classes)?;
    let Bandwidth::Fixed(bandwidth) = kernel.bandwidth else {
        return Err(Error::Unsupported {
            what: "the median bandwidth is not known from pieces of the predictions".into(),
            expected: "a fixed one, such as the median of some thousand predictions",
        });
    };
    assert_eq!(
        probabilities.len(),
        labels.len() * classes,
        "the numbers fill rows"
    );
    let pairs = (size * (size - 1) / 2) as f64;
    let sums = block_sums(
        (probabilities, classes),
        labels,
        size,
        kernel.fused(),
        bandwidth,
    );
    Ok(sums.into_iter().map(|sum| sum / pairs).collect())
}
