use std::fmt;

use burn::tensor::{Int, Tensor};
use rand::{Rng, seq::SliceRandom};

use super::{MeanEstimate, Score, cross_fitted};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter},
    host::checked_labels,
};

/// A mean score in two parts, which a recalibration cannot mend and can:
/// `score = refinement + calibration`.
///
/// In the population the refinement error is the least expected score of a function of the prediction,
/// `min_h E[S(h(f(X)), Y)] = E[g_S(P(Y | f(X)))]`, the entropy minus the sharpness of
/// [`Decomposition`](super::Decomposition), and the rest is the proper calibration error. Here `h` is a
/// family of maps, fitted to other samples than those that it is scored on. Hence in expectation the
/// refinement is an upper bound, and the calibration a lower bound of the calibration error: by what the
/// family cannot express, and by the noise of a fit to a share `1 − 1/K` of the samples. Neither has
/// the bias of groups or bins, and any number of distinct predictions will do.
///
/// The standard errors are of means over samples and take the fitted maps as given. The maps share most
/// of their samples, so that they leave out some dependence; it is of smaller order for a map with few
/// parameters at its optimum.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Refinement {
    /// The mean score of the predictions as they are.
    pub score: MeanEstimate,
    /// The mean score of held-out samples once recalibrated.
    pub refinement: MeanEstimate,
    /// The paired difference score − refinement; negative where a fit does harm.
    pub calibration: MeanEstimate,
    /// The number `K` of folds.
    pub folds: usize,
}

impl fmt::Display for Refinement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "score        {}", self.score)?;
        writeln!(
            f,
            "refinement   {}  ({} folds)",
            self.refinement, self.folds
        )?;
        write!(f, "calibration  {}", self.calibration)
    }
}

impl Refinement {
    /// Splits the mean score into refinement and calibration by cross-fitting: `K` folds of samples in
    /// random order, sizes equal within 1, each recalibrated by a map that is fitted to the others.
    ///
    /// ```
    /// use burn::tensor::{Device, Distribution, Int, Tensor};
    /// use burn_calibration::{recalibration::{Fit, Recalibration, TemperatureScalingConfig}, score::{LogScore, Refinement}};
    /// use rand::{SeedableRng, rngs::StdRng};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let logits = Tensor::<2>::from_floats([[4.0, 0.0], [0.0, 4.0]], &device).repeat_dim(0, 50);
    /// let labels = Tensor::<1, Int>::arange(0..100, &device).remainder_scalar(5).lower_elem(1).int();
    /// let rng = &mut StdRng::seed_from_u64(0);
    /// let split = Refinement::of(&LogScore, &logits, &labels, 5, rng, |logits, labels| {
    ///     let map = TemperatureScalingConfig::new().fit(logits, labels)?;
    ///     Ok(move |logits| map.forward(logits))
    /// })?;
    /// let sum = split.refinement.estimate + split.calibration.estimate;
    /// assert!((split.score.estimate - sum).abs() < 1e-6);
    /// assert!(split.calibration.estimate > 0.5); // far too confident, at logits of 4
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`, held out from training
    /// - labels: `[n]`
    /// - `fit`: logits `[a, m]` and labels `[a]` to a map of logits, `[b, m] → [b, m]`
    ///
    /// Cost: `K` fits to `n(1 − 1/K)` samples each.
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of logits, a number of folds outside
    /// `2..=n`, logits that are not finite, before or after a map, a map that changes the number of rows
    /// or classes; whatever `fit` returns.
    ///
    /// Source: Berta et al. 2025; the decomposition is that of Gruber and Buettner 2022, Lemma 4.1.
    pub fn of<M: Fn(Tensor<2>) -> Tensor<2>>(
        score: &(impl Score<Categorical> + ?Sized),
        logits: &Tensor<2>,
        labels: &Tensor<1, Int>,
        folds: usize,
        rng: &mut dyn Rng,
        fit: impl FnMut(Tensor<2>, Tensor<1, Int>) -> Result<M>,
    ) -> Result<Self> {
        let logits = logits.clone().detach();
        let [n, m] = logits.dims();
        let original = Categorical::from_logits(logits.clone())?;
        checked_labels(labels, n, m)?;
        let expected = "at least 2, and at most the number of samples";
        let is_valid = (2..=n).contains(&folds);
        check_parameter(is_valid, "the number of folds", folds as f64, expected)?;
        let mut order: Vec<usize> = (0..n).collect();
        order.shuffle(rng);
        let bound = |fold: usize| fold * n / folds;
        let of_folds: Vec<_> = (0..folds)
            .map(|fold| order[bound(fold)..bound(fold + 1)].to_vec())
            .collect();
        let recalibrated = cross_fitted((&logits, labels), &of_folds, fit)?;
        let each = |predictions| score.each(predictions, labels);
        let [refinement, score, calibration] =
            MeanEstimate::paired(&each(&recalibrated)?, &each(&original)?);
        Ok(Self {
            score,
            refinement,
            calibration,
            folds,
        })
    }
}
