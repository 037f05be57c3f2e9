use std::sync::Arc;

use burn::tensor::{Int, Tensor};

use super::redrawn::Flip;
use crate::host::HostNumbers;

/// Class probabilities on the host, in f64 whatever the dtype, and what redraws of their labels start
/// from.
#[derive(Debug)]
pub(crate) struct ClassRows {
    /// `p_ic`, row by row.
    pub values: HostNumbers,
    /// The number `m` of classes.
    pub classes: usize,
    /// The most likely class of each sample, the first of several.
    pub top: Arc<[u32]>,
    /// The probability that each label is another class, as a sum of theirs: `1 − max_c p_ic` with all
    /// of its digits.
    pub error_probability: Vec<f64>,
}

/// The number of flips whose probabilities are read ahead.
const AHEAD: usize = 32;

/// The place in which `u`, uniform in `[0, 1)`, falls among weights; never one of weight 0.
pub(super) fn choose(weights: &[f64], u: f64) -> usize {
    let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
    let end = (1.0 - u) * total; // in (0, total]
    let mut sum = 0.0;
    let place = weights.iter().position(|weight| {
        sum += weight;
        sum >= end
    });
    place.unwrap_or(weights.len() - 1)
}

/// The most likely class, the first of several.
pub(crate) fn most_likely(p: &[f64]) -> usize {
    let (mut top, mut most) = (0, p[0]);
    // both are selected, without a branch that no processor foresees
    for (class, &p) in p.iter().enumerate() {
        let is_more = p > most;
        top = if is_more { class } else { top };
        most = if is_more { p } else { most };
    }
    top
}

/// The most likely classes, `[n, 1]`, the first of several, and `0..m` where a row is not a number: on the
/// device, whose own largest element of equal ones is any.
pub(crate) fn most_likely_on_device(p: Tensor<2>) -> Tensor<2, Int> {
    let p = p.detach();
    let [n, m] = p.dims();
    let less = p.clone().max_dim(1).equal(p.clone()).bool_not();
    let classes = Tensor::<1, Int>::arange(0..m as i64, &p.device());
    let classes = classes.reshape([1, m]).expand([n, m]);
    classes.mask_fill(less, m as i64 - 1).min_dim(1)
}

impl ClassRows {
    pub(super) fn new(values: HostNumbers, classes: usize) -> Self {
        // both of a row while it is in the nearest cache
        let of_row = |p: &[f64]| {
            let top = most_likely(p);
            let others: f64 = p[..top].iter().chain(&p[top + 1..]).sum();
            (top as u32, others / (others + p[top]))
        };
        let (top, error_probability): (Vec<u32>, Vec<f64>) =
            values.chunks(classes).map(of_row).unzip();
        Self {
            values,
            classes,
            top: top.into(),
            error_probability,
        }
    }

    /// The number `n` of samples.
    pub fn samples(&self) -> usize {
        self.top.len()
    }

    /// `p_i`.
    pub fn row(&self, sample: usize) -> &[f64] {
        &self.values[sample * self.classes..][..self.classes]
    }

    /// `p_i[c]`.
    pub fn probability(&self, sample: usize, class: u32) -> f64 {
        self.values[sample * self.classes + class as usize]
    }

    /// The confidence `r_i = max_c p_ic`.
    pub fn confidence(&self, sample: usize) -> f64 {
        self.probability(sample, self.top[sample])
    }

    /// `‖e_top − p_i‖²`, with the unit vector of the most likely class.
    pub fn residual_square(&self, sample: usize) -> f64 {
        let squares: f64 = self.row(sample).iter().map(|p| p * p).sum();
        1.0 - 2.0 * self.confidence(sample) + squares
    }

    /// Calls `f` with each flip and the probabilities of the most likely class and of the label. They are far
    /// apart in memory, so that some are read before the first is needed.
    #[inline(always)]
    pub fn for_each_flip(&self, flips: &[Flip], mut f: impl FnMut(Flip, [f64; 2])) {
        let (values, classes): (&[f64], _) = (&self.values, self.classes);
        let mut read = [[0.0; 2]; AHEAD];
        for flips in flips.chunks(AHEAD) {
            for (read, &Flip { sample, class }) in read.iter_mut().zip(flips) {
                let row = sample as usize * classes;
                *read = [self.top[sample as usize], class].map(|c| values[row + c as usize]);
            }
            flips.iter().zip(&read).for_each(|(&flip, &p)| f(flip, p));
        }
    }

    /// `Σ_i (1 − max_c p_ic)`: how many of the most likely classes a calibrated model has wrong.
    pub fn expected_errors(&self) -> f64 {
        self.error_probability.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;

    /// The first of equal ones, on the host and on a device; a class where there is no number.
    #[test]
    fn ties_go_to_the_first() {
        let rows = [
            [0.4, 0.4, 0.2],
            [0.2, 0.4, 0.4],
            [0.4, 0.2, 0.4],
            [0.0, 0.0, 0.0],
            [0.1, 0.2, 0.7],
        ];
        let with_nan = [f64::NAN, 0.5, 0.5];
        let numbers: Vec<f64> = rows.iter().flatten().chain(&with_nan).copied().collect();
        let p = Tensor::from_data(TensorData::new(numbers, [6, 3]), &Device::default());
        let found = most_likely_on_device(p).into_data();
        let found: Vec<i64> = found.iter::<i64>().collect();
        let expected = rows.map(|row| most_likely(&row) as i64);
        assert_eq!(expected, [0, 1, 0, 0, 2]);
        assert_eq!(found[..5], expected);
        assert!((0..3).contains(&found[5]));
    }
}
