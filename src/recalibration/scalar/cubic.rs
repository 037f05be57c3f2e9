//! Natural cubic splines on `[0, 1]`, fitted by least squares.

use nalgebra::{DMatrix, DVector};

/// Singular values below this times the largest are 0: of splines that the data do not see.
const RANK: f64 = 1e-10;

/// The natural cubic spline with the values `v_j` at `K` evenly spaced knots: of shape `[K]` each.
#[derive(Debug)]
pub(super) struct NaturalSpline {
    values: DVector<f64>,
    /// The second derivatives there, 0 at the ends.
    bends: DVector<f64>,
}

/// Where a point lies: in the interval that starts with a knot, at `u ∈ [0, 1]` of its width `h`.
struct KnotInterval {
    knot: usize,
    u: f64,
    h: f64,
}

impl KnotInterval {
    fn new(t: f64, knots: usize) -> Self {
        let h = 1.0 / (knots as f64 - 1.0);
        let knot = ((t / h) as usize).min(knots - 2);
        let u = t / h - knot as f64;
        Self { knot, u, h }
    }

    /// The weights of the two bends in the value.
    fn bend(&self) -> [f64; 2] {
        [1.0 - self.u, self.u].map(|x| self.h * self.h / 6.0 * (x * x * x - x))
    }
}

impl NaturalSpline {
    /// The spline of least weighted squared distance to points `(t, y, weight)`, the one of least
    /// values at its knots where several are: `O(nK + K³)` and `O(nK²)` for `n` points.
    pub fn least_squares(points: &[(f64, f64, f64)], knots: usize) -> Self {
        let bends = bends(knots);
        let mut gram = DMatrix::zeros(knots, knots);
        let mut moment = DVector::zeros(knots);
        for &(t, y, weight) in points {
            let at = KnotInterval::new(t, knots);
            let [left, right] = at.bend();
            let mut basis: DVector<f64> =
                (bends.row(at.knot) * left + bends.row(at.knot + 1) * right).transpose();
            basis[at.knot] += 1.0 - at.u;
            basis[at.knot + 1] += at.u;
            gram.ger(weight, &basis, &basis, 1.0);
            moment.axpy(weight * y, &basis, 1.0);
        }
        let svd = gram.svd(true, true);
        let rank = RANK * svd.singular_values.max();
        let values = (svd.solve(&moment, rank)).expect("both sides of the decomposition are there");
        Self {
            bends: bends * &values,
            values,
        }
    }

    /// `S'(t)`.
    pub fn derivative(&self, t: f64) -> f64 {
        let KnotInterval { knot, u, h } = KnotInterval::new(t, self.values.len());
        let rise = (self.values[knot + 1] - self.values[knot]) / h;
        let [left, right] = [1.0 - u, u].map(|x| h / 6.0 * (3.0 * x * x - 1.0));
        rise + right * self.bends[knot + 1] - left * self.bends[knot]
    }
}

/// The second derivatives at the knots as a linear function of the values, `[K, K]`:
/// `b_{j−1} + 4b_j + b_{j+1} = 6(v_{j−1} − 2v_j + v_{j+1})/h²`, and 0 at the ends.
fn bends(knots: usize) -> DMatrix<f64> {
    let scale = 6.0 * (knots as f64 - 1.0).powi(2);
    let mut system = DMatrix::identity(knots, knots);
    let mut differences = DMatrix::zeros(knots, knots);
    for j in 1..knots - 1 {
        for (column, (left, right)) in [(1.0, 1.0), (4.0, -2.0), (1.0, 1.0)]
            .into_iter()
            .enumerate()
        {
            system[(j, j + column - 1)] = left;
            differences[(j, j + column - 1)] = right * scale;
        }
    }
    (system.lu().solve(&differences)).expect("a diagonally dominant matrix has an inverse")
}
