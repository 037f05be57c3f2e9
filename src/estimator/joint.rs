use std::fmt::Debug;

use burn::tensor::{Bool, Int, Tensor};
use rand::Rng;

use super::{
    SkceForm,
    feature_pairs::FeaturePairs,
    fused_pass::{FusedPass, residuals},
    null_skewness, null_variance,
    pair::{self, ClassPairs},
    pair_matrix::PairMatrix,
    skce::mean,
    tensor_pairs::TensorPairs,
};
use crate::{
    distribution::{Categorical, Geometry, Given, Predictive, in_batches},
    error::{Result, check_parameter},
    kernel::{ClassKernel, TargetKernel, TensorKernel},
    ops::Computation,
};

/// A kernel on pairs of predictions and targets, `(P, y)`: what the SKCE, the UCME and their tests
/// need of it, the pair statistic
///
/// `h_ij = k((P_i, y_i), (P_j, y_j)) − E_Z k((P_i, Z), (P_j, y_j)) − E_Z' k((P_i, y_i), (P_j, Z'))
/// + E_{Z, Z'} k((P_i, Z), (P_j, Z'))`
///
/// with independent `Z ∼ P_i` and `Z' ∼ P_j` (Widmann et al. 2021, section 3). On classes, every
/// [`ClassKernel`] is one, with `h_ij = k(p_i, p_j) δ_iᵀ M δ_j`; on any predictions,
/// [`TensorKernel`]s are.
pub trait JointKernel<P: Predictive>: Clone + Debug {
    /// `h` of data.
    type Pairs: PairMatrix;

    /// `h` of data, with the bandwidth fixed.
    ///
    /// # Errors
    ///
    /// Predictions, targets or parameters of the kernel that are not valid.
    fn pairs(&self, predictions: &P, targets: &P::Targets) -> Result<Self::Pairs>;

    /// Reads `h` of data, of mean 0 over the pairs `i ≠ j` if the model is calibrated, where predictions are
    /// draws from distributions that are not known too: then the one half of the draws of each tells
    /// samples apart, and the expectations are over the other ([`Predictive::halves`]), so that the target,
    /// one more draw, is not known from either. By default, and for draws of several dimensions,
    /// [`pairs`](Self::pairs), which take draws for the whole distribution.
    ///
    /// # Errors
    ///
    /// As [`pairs`](Self::pairs); one draw, which has no halves.
    fn with_fair_pairs<R>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        read: impl FnOnce(&dyn PairMatrix) -> R,
    ) -> Result<R> {
        Ok(read(&self.pairs(predictions, targets)?))
    }

    /// `h` within batches of consecutive samples, `[batches, n, n]`, differentiable with respect to
    /// the predictions; nothing is checked or read back.
    fn h(&self, predictions: &P, targets: &P::Targets, batches: usize) -> Tensor<3>;

    /// The value of the SKCE by a fused pass over checked shapes, differentiable. None where there is no
    /// fused pass and none is asked for.
    ///
    /// # Panics
    ///
    /// If a fused pass is asked for that does not exist.
    fn fused_value(
        &self,
        _predictions: &P,
        _targets: &P::Targets,
        _form: SkceForm,
        computation: Computation,
    ) -> Option<Tensor<1>> {
        match computation {
            Computation::Fused => panic!("{self:?} has no fused path"),
            _ => None,
        }
    }

    /// The residuals at test locations, `[J, n]`, differentiable:
    /// `z_ji = k((T_j, τ_j), (P_i, y_i)) − E_Z k((T_j, τ_j), (P_i, Z))`.
    fn embeddings(&self, locations: (&P, &P::Targets), data: (&P, &P::Targets)) -> Tensor<2>;

    /// The same kernel with its bandwidth fixed.
    ///
    /// # Errors
    ///
    /// Parameters of the kernel that are not valid for such predictions.
    fn fixed(&self, predictions: &P) -> Result<Self>;

    /// The same kernel for training: a median bandwidth has a floor, see
    /// [`TRAINING_FLOOR`](crate::kernel::TRAINING_FLOOR).
    fn for_training(&self) -> Self {
        self.clone()
    }

    /// The same kernel with its bandwidth fixed at that of the pairs of a batch, where it is on the host:
    /// for those that need it twice.
    fn fixed_on_host(&self, _predictions: &P) -> Self {
        self.clone()
    }

    /// The standard deviation of the unbiased SKCE if the model is calibrated, given the predictions:
    /// `[1]`, detached, nothing is read back from a device. `σ = √(2 Σ_{i≠j} E h_ij²)/(n(n−1))`, at least
    /// what one pair makes that has the largest `h`, `σ ≥ 2·half_bound/(n(n−1))`: the predictions of a
    /// confident model may have no variance.
    ///
    /// The expectation `E h_ij²` is exact for classes. By default it is that of the data, `h_ij²`, of the same
    /// mean if the model is calibrated.
    ///
    /// - kept: whether a sample counts, `[n]`; all where there is none
    ///
    /// Cost: some `n × n` matrices.
    fn null_deviation(
        &self,
        predictions: &P,
        targets: &P::Targets,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1> {
        let h = self.h(&predictions.detach(), targets, 1);
        null_variance::deviation(h.squeeze_dim::<2>(0).square(), kept, self.half_bound())
    }

    /// Half of a bound of `|h|`, which the distribution-free tests need: `|h| ≤ 2·half_bound`.
    fn half_bound(&self) -> f64;

    /// Whether the kernel is known to be positive definite on such predictions, which the biased SKCE
    /// needs to be at least 0: then `h` is an inner product `⟨Φ_i, Φ_j⟩` in a Hilbert space.
    fn is_positive_definite_on(&self, predictions: &P) -> bool;

    /// The variance of `n·SKCE_uq` if the model is calibrated, given the predictions; the bandwidth
    /// must be fixed. By default an unbiased estimate from redrawn targets.
    ///
    /// # Errors
    ///
    /// As [`pairs`](Self::pairs).
    fn null_variance(&self, predictions: &P, rng: &mut dyn Rng) -> Result<f64> {
        null_variance::by_redrawing(self, predictions, rng)
    }

    /// The skewness of `n·SKCE_uq` if the model is calibrated, given the predictions,
    /// `E[T³]/E[T²]^{3/2}`; the bandwidth must be fixed. It may be negative, and is 0 where there is no
    /// variance. By default both moments are unbiased estimates from redrawn targets, of a random
    /// subset of 512 samples where there are more.
    ///
    /// # Errors
    ///
    /// As [`pairs`](Self::pairs).
    fn null_skewness(&self, predictions: &P, rng: &mut dyn Rng) -> Result<f64> {
        let sample = null_skewness::Sample::of_equals(predictions.len(), rng);
        null_skewness::by_redrawing(self, predictions, &sample, rng)
    }
}

impl<K: ClassKernel> JointKernel<Categorical> for K {
    type Pairs = ClassPairs;

    fn pairs(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<ClassPairs> {
        ClassPairs::new(self, predictions, labels)
    }

    fn h(&self, predictions: &Categorical, labels: &Tensor<1, Int>, batches: usize) -> Tensor<3> {
        let points = predictions.probabilities();
        let residuals = residuals(self, points.clone(), labels.clone());
        pair::within(
            &self.scalar(),
            in_batches(points, batches),
            in_batches(residuals, batches),
        )
    }

    fn fused_value(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        form: SkceForm,
        computation: Computation,
    ) -> Option<Tensor<1>> {
        FusedPass::of(self, predictions, labels, form, computation)
    }

    fn embeddings(
        &self,
        (locations, at): (&Categorical, &Tensor<1, Int>),
        (predictions, labels): (&Categorical, &Tensor<1, Int>),
    ) -> Tensor<2> {
        let points = predictions.probabilities();
        let zeros = locations.probabilities().zeros_like();
        let targets = self.fold(crate::distribution::residuals(zeros, at.clone())); // e_τ, [J, rank]
        let residuals = residuals(self, points.clone(), labels.clone()); // [n, rank]
        let gram = self
            .scalar()
            .at_locations(locations.probabilities().unsqueeze(), points.unsqueeze());
        gram.squeeze_dim::<2>(0) * targets.matmul(residuals.transpose()) // [J, n]
    }

    fn fixed(&self, predictions: &Categorical) -> Result<Self> {
        self.validate_for(predictions.classes())?;
        let scalar = self
            .scalar()
            .with_bandwidth_of(&predictions.probabilities().detach())?;
        Ok(self.with_scalar(scalar))
    }

    fn for_training(&self) -> Self {
        let scalar = self.scalar();
        self.with_scalar(scalar.with_bandwidth(scalar.bandwidth.for_training()))
    }

    fn fixed_on_host(&self, predictions: &Categorical) -> Self {
        let points = predictions.probabilities();
        let scalar = self.scalar().fixed_on_host(points, || None);
        self.with_scalar(scalar)
    }

    fn null_deviation(
        &self,
        predictions: &Categorical,
        _labels: &Tensor<1, Int>,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1> {
        null_variance::deviation_of_classes(self, predictions, predictions.probabilities(), kept)
    }

    fn half_bound(&self) -> f64 {
        ClassKernel::half_bound(self)
    }

    /// Whether its scalar kernel is: `M` always is.
    fn is_positive_definite_on(&self, predictions: &Categorical) -> bool {
        self.scalar().is_positive_definite_on(predictions)
    }

    /// Exactly, see [`AsymptoticSkceTest`](crate::hypothesis::AsymptoticSkceTest).
    fn null_variance(&self, predictions: &Categorical, _rng: &mut dyn Rng) -> Result<f64> {
        let points = predictions.probabilities();
        Ok(null_variance::of_classes(self, predictions, points))
    }

    /// Exactly for `M = I`, where there are not too many samples, see
    /// [`AsymptoticSkceTest`](crate::hypothesis::AsymptoticSkceTest).
    fn null_skewness(&self, predictions: &Categorical, rng: &mut dyn Rng) -> Result<f64> {
        match self.matrix() {
            None => {
                let points = predictions.probabilities();
                Ok(null_skewness::of_classes(
                    &self.scalar(),
                    predictions,
                    points,
                    rng,
                ))
            }
            Some(_) => {
                let sample = null_skewness::Sample::of_classes(predictions, 512, rng);
                null_skewness::by_redrawing(self, predictions, &sample, rng)
            }
        }
    }
}

impl<P: Geometry, T: TargetKernel<P>> JointKernel<P> for TensorKernel<T> {
    type Pairs = TensorPairs<P, T>;

    fn pairs(&self, predictions: &P, targets: &P::Targets) -> Result<TensorPairs<P, T>> {
        TensorPairs::new(self, predictions, targets)
    }

    fn with_fair_pairs<R>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        read: impl FnOnce(&dyn PairMatrix) -> R,
    ) -> Result<R> {
        predictions.check()?;
        predictions.check_targets(targets)?;
        let halves = predictions.halves();
        let has_one_draw = halves.is_none() && predictions.pooled(targets).is_some();
        let (name, expected) = ("the number of draws of each prediction", "at least 2");
        check_parameter(!has_one_draw, name, 1.0, expected)?;
        let given = halves.and_then(|(features, expected)| {
            let points = features.coordinates()?;
            Some(Given::new(expected, points))
        });
        match given {
            None => Ok(read(&self.pairs(predictions, targets)?)),
            Some(given) => {
                let kernel = TensorKernel::fixed(self.clone(), predictions)?;
                let pairs = TensorPairs::<Given<P>, T>::new(&kernel, &given, targets)?;
                Ok(read(&pairs))
            }
        }
    }

    fn h(&self, predictions: &P, targets: &P::Targets, batches: usize) -> Tensor<3> {
        self.assert_valid_for(predictions);
        self.h_within(predictions, targets, batches)
    }

    /// Takes features of the residuals where there are some; else
    /// [`normal_statistic`](crate::ops::normal_statistic) for normal predictions on the host.
    fn fused_value(
        &self,
        predictions: &P,
        targets: &P::Targets,
        form: SkceForm,
        computation: Computation,
    ) -> Option<Tensor<1>> {
        let n = predictions.len();
        if n < 2 {
            return None;
        }
        self.assert_valid_for(predictions);
        let features = FeaturePairs::new(self, predictions, targets);
        let fused = match &features {
            Some(features) => features.fused_value(form, computation),
            None => self.fused_mean(predictions, targets, form.pairing(n)),
        };
        if computation == Computation::Fused {
            return Some(fused.unwrap_or_else(|| panic!("{self:?} has no fused path")));
        }
        fused.or_else(|| {
            let size = form.block_size(n)?;
            Some(mean(features?.within_blocks(0..n / size, size), form))
        })
    }

    fn embeddings(&self, locations: (&P, &P::Targets), data: (&P, &P::Targets)) -> Tensor<2> {
        self.assert_valid_for(data.0);
        TensorKernel::embeddings(self, locations, data)
    }

    fn fixed(&self, predictions: &P) -> Result<Self> {
        TensorKernel::fixed(self.clone(), predictions)
    }

    fn for_training(&self) -> Self {
        let bandwidth = self.predictions.bandwidth.for_training();
        self.clone().with_bandwidth(bandwidth)
    }

    fn fixed_on_host(&self, predictions: &P) -> Self {
        let fixed = predictions.coordinates().map(|points| {
            let kernel = self.predictions;
            let kernel = kernel.fixed_on_host(points, || predictions.spread());
            self.clone().with_bandwidth(kernel.bandwidth)
        });
        fixed.unwrap_or_else(|| self.clone())
    }

    fn null_deviation(
        &self,
        predictions: &P,
        targets: &P::Targets,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1> {
        let h = self.h_of_batch(&predictions.detach(), targets);
        null_variance::deviation(h.square(), kept, JointKernel::<P>::half_bound(self))
    }

    /// The bound of `k_P` times that of `k_Y`: `h = k_P ⟨φ(y) − μ_P, φ(y') − μ_P'⟩` in the Hilbert space of
    /// `k_Y`, and for `k_Y ≥ 0`, `‖φ(y) − μ_P‖² = k_Y(y, y) − 2 E k_Y(y, Z) + E k_Y(Z, Z') ≤ 2 sup k_Y`.
    /// It holds also where `k_P` is not positive definite.
    fn half_bound(&self) -> f64 {
        self.predictions.supremum() * self.targets.half_bound()
    }

    /// Whether `k_P` is: kernels on targets always are, and a product with the Gram matrix of the residuals
    /// stays so (Schur).
    fn is_positive_definite_on(&self, predictions: &P) -> bool {
        self.predictions.is_positive_definite_on(predictions)
    }
}
