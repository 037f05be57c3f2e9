use burn::tensor::{Int, Tensor};

use crate::{
    distribution::{Categorical, Targets},
    error::{Result, check_length},
    host::int_tensor,
};

/// The rows of all folds but one.
pub(crate) fn all_but(folds: &[Vec<usize>], fold: usize) -> Vec<usize> {
    [&folds[..fold], &folds[fold + 1..]].concat().concat()
}

/// Predictions that were recalibrated by maps of logits that are fitted to all folds but one and applied to
/// the one left out: `[n, m]`, in the order of the rows.
///
/// # Errors
///
/// Errors of a fit, a map that changes the number of rows or classes, logits after it that are not
/// finite.
pub(crate) fn cross_fitted<M: Fn(Tensor<2>) -> Tensor<2>>(
    (logits, labels): (&Tensor<2>, &Tensor<1, Int>),
    folds: &[Vec<usize>],
    mut fit: impl FnMut(Tensor<2>, Tensor<1, Int>) -> Result<M>,
) -> Result<Categorical> {
    let m = logits.dims()[1];
    let select = |rows: &[usize]| {
        let at = int_tensor(rows.iter().copied(), &logits.device());
        logits.clone().select(0, at)
    };
    let recalibrated = (0..folds.len()).map(|fold| {
        let others = all_but(folds, fold);
        let map = fit(select(&others), labels.select_rows(&others))?;
        let after = map(select(&folds[fold])).detach();
        let [rows, classes] = after.dims();
        check_length(rows, folds[fold].len(), "labels")?;
        if classes == m {
            Ok(after)
        } else {
            Err(Tensor::<1, Int>::mismatch(classes, m))
        }
    });
    let recalibrated = Tensor::cat(recalibrated.collect::<Result<Vec<_>>>()?, 0);
    let mut position = vec![0; logits.dims()[0]]; // of each row
    let rows = folds.iter().flatten();
    rows.enumerate().for_each(|(k, &row)| position[row] = k);
    let position = int_tensor(position, &recalibrated.device());
    let recalibrated = Categorical::from_logits(recalibrated.select(0, position));
    recalibrated.map_err(|error| error.of("after"))
}
