use burn::tensor::{IndexingUpdateOp, Int, Tensor};

use super::{Categorical, Subject, Weighted as _, most_likely_on_device};
use crate::{
    distribution::Predictive,
    error::{Error, Result, check_parameter},
    host::{int_tensor, tensor_like, to_vec},
};

impl Categorical {
    /// The top-label lens: predicts whether the most likely class is the right one.
    ///
    /// The new predictions are `(1 − r_i, r_i)` with the confidence `r_i = max_c p_ic`, the new
    /// labels `c_i = 1[argmax p_i = y_i]` (ties go to the first of the most likely classes). They are about
    /// [`Subject::Correctness`].
    ///
    /// # Shapes
    ///
    /// - labels: `[n]`
    /// - output: predictions of `n × 2`, labels `[n]`
    ///
    /// # Errors
    ///
    /// A label that is not a class, or another number of labels than of predictions.
    pub fn top_label(&self, labels: &Tensor<1, Int>) -> Result<(Self, Tensor<1, Int>)> {
        self.parted().0.check_labels(labels)?;
        Ok(self.top_label_unchecked(labels))
    }

    /// Does what [`top_label`](Self::top_label) does, for training: differentiable, and nothing is read back.
    pub(crate) fn top_label_unchecked(&self, labels: &Tensor<1, Int>) -> (Self, Tensor<1, Int>) {
        let p = self.probabilities();
        let class = most_likely_on_device(p.clone()); // [n, 1]
        let confidence = p.gather(1, class.clone());
        let class = class.reshape([self.len()]).cast(labels.dtype());
        let confidence = self.binary(confidence, Subject::Correctness);
        (confidence, class.equal(labels.clone()).int())
    }

    /// The class-wise lens: predicts whether `class` is the right one.
    ///
    /// The new predictions are `(1 − p_i[class], p_i[class])`, the new labels `1[y_i = class]`. They are about
    /// [`Subject::Event`].
    ///
    /// # Shapes
    ///
    /// - labels: `[n]`
    /// - output: predictions of `n × 2`, labels `[n]`
    ///
    /// # Errors
    ///
    /// As [`top_label`](Self::top_label), and if there is no such class.
    pub fn class_wise(
        &self,
        class: usize,
        labels: &Tensor<1, Int>,
    ) -> Result<(Self, Tensor<1, Int>)> {
        self.parted().0.check_labels(labels)?;
        check_column("the class of a class-wise lens", class, self.classes())?;
        Ok(self.class_wise_unchecked(class, labels))
    }

    /// Does what [`class_wise`](Self::class_wise) does, for training: differentiable, and nothing is read
    /// back.
    pub(crate) fn class_wise_unchecked(
        &self,
        class: usize,
        labels: &Tensor<1, Int>,
    ) -> (Self, Tensor<1, Int>) {
        let rows = 0..self.len();
        let probability = self.probabilities().slice([rows, class..class + 1]);
        let is_class = labels.clone().equal_scalar(class as i64).int();
        (self.binary(probability, Subject::Event), is_class)
    }

    /// The top-k lens: predicts at which rank of the prediction the right class is.
    ///
    /// The new predictions are the `k` largest probabilities in descending order (ties in the order of
    /// their classes) and the sum of all others; the new labels are the rank of the right class, counted
    /// from 0, or `k` if it is none of these. With `k = m − 1` only the names of the classes are lost.
    ///
    /// # Shapes
    ///
    /// - labels: `[n]`
    /// - output: predictions of `n × (k + 1)`, labels `[n]`
    ///
    /// # Errors
    ///
    /// As [`top_label`](Self::top_label), and if `k` is not in `1..m`.
    pub fn top_k(&self, k: usize, labels: &Tensor<1, Int>) -> Result<(Self, Tensor<1, Int>)> {
        let right = self.parted().0.check_labels(labels)?;
        let (n, m) = (self.len(), self.classes());
        check_ranks(k, m)?;
        let mut rows = Vec::with_capacity(n * (k + 1));
        let mut ranks = Vec::with_capacity(n);
        for (p, right) in to_vec(self.probabilities()).chunks(m).zip(right) {
            let mut order: Vec<usize> = (0..m).collect();
            order.sort_by(|&a, &b| p[b].total_cmp(&p[a])); // stable
            let (top, others) = order.split_at(k);
            rows.extend(top.iter().map(|&class| p[class]));
            rows.push(others.iter().map(|&class| p[class]).sum::<f64>());
            let rank = top.iter().position(|&class| class == right);
            ranks.push(rank.unwrap_or(k));
        }
        let rows = tensor_like(rows, [n, k + 1], &self.probabilities());
        let ranks = int_tensor(ranks, &rows.device());
        Ok((self.lens(rows), ranks))
    }

    /// Does what [`top_k`](Self::top_k) does, for training: differentiable, and nothing is read back.
    ///
    /// Cost: `n·m·k` operations.
    pub(crate) fn top_k_unchecked(
        &self,
        k: usize,
        labels: &Tensor<1, Int>,
    ) -> (Self, Tensor<1, Int>) {
        let n = self.len();
        let mut left = self.probabilities(); // [n, m], taken ones are −1
        let mut columns = Vec::with_capacity(k + 1);
        let mut ranks = labels.zeros_like() + k as i64;
        for rank in 0..k {
            let class = most_likely_on_device(left.clone()); // [n, 1]
            let largest = left.clone().gather(1, class.clone());
            let is_right = class
                .clone()
                .reshape([n])
                .cast(labels.dtype())
                .equal(labels.clone());
            ranks = ranks.mask_fill(is_right, rank as i64);
            left = left.scatter(1, class, largest.clone().neg() - 1.0, IndexingUpdateOp::Add);
            columns.push(largest);
        }
        columns.push(left.clamp_min(0.0).sum_dim(1));
        (self.lens(Tensor::cat(columns, 1)), ranks)
    }

    /// The lens of groups of classes: predicts the group of the right class.
    ///
    /// The new predictions are the sums of the probabilities over each group, the new labels the number of
    /// the group that holds the right class. It is the matrix-valued kernel with `M = Σ_g 1_g 1_gᵀ`, except
    /// for the distance of predictions, which is that of the groups here.
    ///
    /// # Shapes
    ///
    /// - groups: lists of classes, each class in exactly one
    /// - labels: `[n]`
    /// - output: predictions of `n × groups`, labels `[n]`
    ///
    /// # Errors
    ///
    /// As [`top_label`](Self::top_label), fewer than two groups, an empty one, one that holds
    /// something that is not a class, or a class that is not in exactly one group.
    pub fn grouped(
        &self,
        groups: &[impl AsRef<[usize]>],
        labels: &Tensor<1, Int>,
    ) -> Result<(Self, Tensor<1, Int>)> {
        self.parted().0.check_labels(labels)?;
        let m = self.classes();
        let group_of = partition_of_classes(groups, m)?;
        let mut membership = vec![0.0; m * groups.len()];
        for (class, group) in group_of.iter().enumerate() {
            membership[class * groups.len() + group] = 1.0;
        }
        let probabilities = self.probabilities();
        let membership = tensor_like(membership, [m, groups.len()], &probabilities);
        let group_of = int_tensor(group_of, &probabilities.device());
        // [n, m] · [m, g] → [n, g]; a sum can round to a little more than 1
        let sums = probabilities.matmul(membership).clamp_max(1.0);
        Ok((self.lens(sums), group_of.select(0, labels.clone())))
    }

    /// `(1 − p, p)` for each row of `[n, 1]`.
    fn binary(&self, p: Tensor<2>, subject: Subject) -> Self {
        let complement = p.ones_like() - p.clone();
        self.lens(Tensor::cat(vec![complement, p], 1))
            .about_unchecked(subject)
    }

    /// Probabilities of the same samples, with their weights.
    fn lens(&self, probabilities: Tensor<2>) -> Self {
        let lens = Self::valid(probabilities);
        let weighted = lens.with_sample_weights(self.sample_weights());
        weighted.expect("classes carry weights")
    }
}

/// Checks the number of ranks of a top-k lens, of so many classes.
pub(crate) fn check_ranks(k: usize, classes: usize) -> Result<()> {
    check_parameter(
        (1..classes).contains(&k),
        "the number of ranks of a top-k lens",
        k as f64,
        "at least 1 and less than the number of classes",
    )
}

/// Checks that a class is one of the predictions.
pub(crate) fn check_column(name: &'static str, class: usize, classes: usize) -> Result<()> {
    let is_valid = class < classes;
    check_parameter(is_valid, name, class as f64, "a column of the predictions")
}

/// The group of each class in `0..classes`.
fn partition_of_classes(groups: &[impl AsRef<[usize]>], classes: usize) -> Result<Vec<usize>> {
    if groups.len() < 2 {
        return Err(Error::TooFewClasses { got: groups.len() });
    }
    let mut times = vec![0; classes];
    let mut group_of = vec![0; classes];
    for (number, group) in groups.iter().enumerate() {
        let group = group.as_ref();
        if group.is_empty() {
            return Err(Error::Groups {
                reason: format!("group {number} holds no class"),
            });
        }
        for &class in group {
            check_column("a class of a group", class, classes)?;
            times[class] += 1;
            group_of[class] = number;
        }
    }
    match times.iter().position(|&times| times != 1) {
        Some(class) => Err(Error::Groups {
            reason: format!(
                "class {class} is in {} groups, expected it in exactly one",
                times[class]
            ),
        }),
        None => Ok(group_of),
    }
}
