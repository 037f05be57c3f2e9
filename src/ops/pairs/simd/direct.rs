//! Small blocks of samples, pair by pair: linear in the number of samples.

use super::{PairKernel, PairSamples, Radial, Real, Totals};
use crate::radial::CoordinateSum;

/// The sums over the pairs of some samples; adds to the gradient of points and residuals, if there is one.
pub(super) fn all_pairs<T: Real>(
    samples: PairSamples<T>,
    kernel: PairKernel,
    bandwidth: f64,
    mut gradient: Option<&mut [&mut [T]; 2]>,
) -> Totals {
    let (d, m) = (samples.d, samples.m);
    let radial = Radial::new(kernel, bandwidth);
    let mut totals = Totals::default();
    let add = |x: &mut T, y: f64| *x += T::new(y);
    // ∂δ/∂p = −1 where residuals are of labels
    let sign = if samples.labels.is_some() { -1.0 } else { 1.0 };
    for (i, j) in (1..samples.count()).flat_map(|j| (0..j).map(move |i| (i, j))) {
        let differences = samples.point(i).iter().zip(samples.point(j));
        let differences = differences.map(|(p, q)| p.to_f64() - q.to_f64());
        let separation = radial.sum.of(differences.clone());
        let residuals = samples.residual(i).iter().zip(samples.residual(j));
        let residuals = residuals.map(|(a, b)| (a.to_f64(), b.to_f64()));
        let product: f64 = residuals.clone().map(|(a, b)| a * b).sum();
        let [kernel, slope] = radial.value_of_pair(separation);
        totals.value += kernel * product;
        totals.stretch -= product * slope * separation;
        let Some([points, of_rows]) = &mut gradient else {
            continue;
        };
        for (c, difference) in differences.enumerate() {
            let direction = match radial.sum {
                CoordinateSum::Magnitudes if difference == 0.0 => 0.0,
                CoordinateSum::Magnitudes => difference.signum(),
                CoordinateSum::Squares => difference,
            };
            let through_kernel = product * slope * direction;
            add(&mut points[i * d + c], through_kernel);
            add(&mut points[j * d + c], -through_kernel);
        }
        let of_residuals = if samples.labels.is_some() {
            points
        } else {
            of_rows
        };
        for (c, (a, b)) in residuals.enumerate() {
            add(&mut of_residuals[i * m + c], sign * kernel * b);
            add(&mut of_residuals[j * m + c], sign * kernel * a);
        }
    }
    totals
}
