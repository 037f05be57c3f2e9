//! What the data say of spread and correlation beside a wrong location: bounds of p-values, which need no redraws.

use super::{
    studentised::{Pair, PredictedError, Studentised, correlation, log_ratio, residuals},
    transforms::{CorrelationNumbers, Transforms},
};

impl Transforms {
    /// Whether one error of a coordinate is more than half of their sum of squares.
    pub fn has_one_error(&self, c: usize, targets: &[f64]) -> bool {
        let square = |at: usize| {
            let row = self.predicted.row(&*self.marginals, at, targets[at]);
            self.weight(at) * row.error.error * row.error.error
        };
        let squares = (c..targets.len()).step_by(self.dimensions).map(square);
        let (largest, sum) = squares.fold((0.0, 0.0), |(largest, sum): (f64, f64), square| {
            (largest.max(square), sum + square)
        });
        largest > 0.5 * sum
    }

    /// Numbers of a coordinate that are errors `z` in predicted deviations `s`, without what a common shift of the targets
    /// adds to them: the residuals of their regression on a constant, a shift in deviations, and on `1/s`, a shift in the
    /// unit of the targets.
    fn unshifted(&self, c: usize, z: &dyn Fn(usize) -> f64) -> Vec<Pair> {
        let places = || (c..self.predicted.len()).step_by(self.dimensions);
        let deviation = |at: usize| self.predicted.deviation(at);
        let positive = places().map(deviation).filter(|s| *s > 0.0);
        let least = positive.fold(f64::INFINITY, f64::min);
        // at most 1, so that squares are finite
        let inverse = |s: f64| if s > 0.0 { least / s } else { 0.0 };
        let row = |at: usize| Pair {
            weight: self.weight(at),
            x: inverse(deviation(at)),
            y: z(at),
        };
        let rows: Vec<Pair> = places().map(row).collect();
        let unshifted = residuals(&rows);
        let of = |(row, y): (Pair, f64)| Pair { y, ..row };
        rows.into_iter().zip(unshifted).map(of).collect()
    }

    /// The spread of a coordinate after a shift of any of both kinds. `None` of draws: their deviations vary by chance, and
    /// a shift in the unit of the targets makes their spread smaller.
    pub fn unshifted_spread(&self, c: usize, targets: &[f64]) -> Option<Studentised> {
        if self.predicted.draws().is_some() {
            return None;
        }
        let z = |at: usize| {
            self.predicted
                .row(&*self.marginals, at, targets[at])
                .error
                .error
        };
        let error = |row: Pair| PredictedError {
            error: row.y,
            deviation: 1.0,
        };
        let rows = self.unshifted(c, &z).into_iter();
        Some(log_ratio(
            &rows.map(|row| (row.weight, error(row))).collect::<Vec<_>>(),
            None,
        ))
    }

    /// The p-value of the correlation of a pair of coordinates after shifts of both kinds, times the number of pairs.
    pub fn unshifted_correlation(&self, found: &CorrelationNumbers, targets: &[f64]) -> f64 {
        let steps = self.steps(targets);
        let score = |at: usize| steps[at].scores().mean;
        let [a, b] = found.pair.map(|c| self.unshifted(c, &score));
        let rows = a.iter().zip(&b).map(|(a, b)| Pair {
            weight: a.weight,
            x: a.y,
            y: b.y,
        });
        let unshifted = correlation(rows);
        let excess = Studentised {
            estimate: unshifted.estimate - (found.found - found.excess.estimate),
            ..unshifted
        };
        self.pairs.len() as f64 * excess.p_value(self.freedom())
    }

    /// Degrees of freedom that two coefficients leave.
    pub fn freedom(&self) -> f64 {
        self.effective() - 2.0
    }
}
