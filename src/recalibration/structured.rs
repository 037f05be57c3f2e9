use super::{
    affine::{Affine, SMOOTHED},
    common::*,
};

regularised_map! {
    /// Configuration of [`StructuredVectorScaling`], which it fits.
    StructuredVectorScalingConfig for Affine<1, SMOOTHED>,
    "structured-vector", "Vector scaling after a temperature, shrunk towards it (SVS)";
    /// What the penalties are multiplied by. Default: 1.
    regularisation = "Regularisation::Fixed(1.0)",
    convex
}

regularised_map! {
    /// Configuration of [`StructuredMatrixScaling`], which it fits.
    StructuredMatrixScalingConfig for Affine<2, SMOOTHED>,
    "structured-matrix", "Matrix scaling after a temperature, shrunk towards it (SMS)";
    /// What the penalties are multiplied by. Default: 1.
    regularisation = "Regularisation::Fixed(1.0)",
    convex
}

/// Structured vector scaling: `a_c x_c + b_c` of log-probabilities `x` after a temperature (Berta,
/// Holzmüller, Jordan, Bach: *Structured matrix scaling for multi-class calibration*, 2025).
///
/// `x = log((1−ε) softmax(z/T) + ε/m)` with the temperature of the log loss and `ε = 1/(n+1)` of `n` samples,
/// so that no probability is 0 where all predictions of the fit are right. The criterion is the mean log
/// loss with `m/n · (Σ (a_c−1)² + Σ b_c²)`: strictly convex, with weights that fall with the sample size and
/// need no cross-validation. From few samples the map is nearly the temperature.
///
/// May change the accuracy. Injective if all `a_c` have the same sign.
pub type StructuredVectorScaling = Fitted<Affine<1, SMOOTHED>>;

/// Structured matrix scaling: `Wx + b` of log-probabilities `x` after a temperature, as for
/// [`StructuredVectorScaling`] (Berta, Holzmüller, Jordan, Bach 2025).
///
/// The criterion is the mean log loss with
/// `m/n · (Σ (W_cc−1)² + Σ b_c²) + m(m−1)/n · Σ_{c≠d} W_cd²`.
///
/// May change the accuracy. Injective as a [`MatrixScaling`](super::MatrixScaling) of log-probabilities.
pub type StructuredMatrixScaling = Fitted<Affine<2, SMOOTHED>>;

impl<const D: usize> Fitted<Affine<D, SMOOTHED>> {
    /// Gives the temperature `T`.
    pub fn temperature(&self) -> f64 {
        self.form.base()[0].recip()
    }

    /// Gives the part `ε` of the uniform prediction.
    pub fn smoothing(&self) -> f64 {
        self.form.base()[1]
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{NamedParameter, file},
        *,
    };

    /// An earlier version saved weights and intercepts one level deeper.
    #[test]
    fn files_of_earlier_versions() {
        let device = Device::flex();
        let (weight, bias) = (vec![0.5, 2.0, 1.5], vec![0.1, -0.3, 0.2]);
        let map = StructuredVectorScaling::from_parameters(weight, bias, &device).unwrap();
        let path = std::env::temp_dir().join(format!("structured-{}.map", std::process::id()));
        let before = |parameter: NamedParameter| {
            let within = if parameter.name == "base" {
                ""
            } else {
                "affine."
            };
            let name = format!("form.{within}{}", parameter.name);
            file::saved(NamedParameter { name, ..parameter })
        };
        let tensors = map.named_parameters().into_iter().map(before).collect();
        file::write(&map, tensors, &path).unwrap();
        let loaded = StructuredVectorScaling::load(&path, &device).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!(loaded.named_parameters(), map.named_parameters());
    }
}
