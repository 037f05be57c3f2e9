//! Whether weights depend on the outcome beyond the predictions.

use std::ops::Range;

/// Standard errors from which the correlation of one class is clear: a chance of 10⁻³.
const CLEAR: f64 = 3.3;
/// A correlation that is large.
const LARGE: f64 = 0.3;
/// The least number of samples with similar predictions that are compared with each other.
const SIMILAR: usize = 4;

/// Predictions of classes with what occurred, and the logarithms of the weights.
pub struct WeightedOutcomes<'a> {
    /// The probabilities of a row, one row after another.
    pub probabilities: &'a [f64],
    /// The number of classes.
    pub classes: usize,
    /// The class that occurred, of each row.
    pub labels: &'a [i64],
    /// The logarithm of the weight of each row.
    pub log_weights: &'a [f64],
}

/// Sums over samples, of deviations from the means of samples with similar predictions.
#[derive(Default)]
struct Sums {
    /// Of the products of both deviations.
    products: f64,
    /// Of the squares of these products.
    squares: f64,
    /// Of the variances of the products where outcomes are permuted among samples with similar predictions.
    variance: f64,
    /// Of the squared deviations of the logarithms of weights.
    of_weights: f64,
    /// Of the squared deviations of outcomes.
    of_outcomes: f64,
}

impl WeightedOutcomes<'_> {
    /// The largest correlation over the classes of `ln w` with what the predictions do not say of the outcome, where it is
    /// clear and large.
    ///
    /// A model may be wrong, and weights may be functions of its predictions: both `ln w` and `d = 1[y = c] − p_c` depend
    /// on the predictions then. So both are taken about their means among samples with similar predictions, of which
    /// ties are never separated: at least [`SIMILAR`] neighbours by `p_c`, and of several classes neighbours by the largest
    /// probability among those that are near by `p_c`. Given the predictions, outcomes of these can be permuted. The
    /// correlation is clear if the sum of products is far above the larger of its standard deviation by permutations and
    /// the root of the sum of squares, which bounds it for heavy weights and rare outcomes.
    pub fn correlation(&self) -> Option<f64> {
        let m = self.classes;
        let occurring = |class: &usize| self.labels.contains(&(*class as i64));
        let classes = if m == 2 { 1..2 } else { 0..m };
        // a chance that is the same for all classes together
        let clear = CLEAR.powi(2) + 2.0 * (classes.len() as f64).ln();
        let correlation = |class: usize| {
            let sums = self.sums(class);
            let is_clear = sums.products.powi(2) > clear * sums.variance.max(sums.squares);
            let correlation = sums.products / (sums.of_weights * sums.of_outcomes).sqrt();
            (is_clear && correlation.abs() >= LARGE).then_some(correlation)
        };
        let found = classes.filter(occurring).filter_map(correlation);
        found.max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }

    fn sums(&self, class: usize) -> Sums {
        let mut sums = Sums::default();
        let outcome = |row: usize| {
            f64::from(u8::from(self.labels[row] == class as i64)) - self.probability(row, class)
        };
        for group in self.similar(class) {
            let n = group.len() as f64;
            let mean =
                |of: &dyn Fn(usize) -> f64| group.iter().map(|&row| of(row)).sum::<f64>() / n;
            let means = (mean(&|row| self.log_weights[row]), mean(&outcome));
            let mut own = Sums::default();
            for &row in &group {
                let (a, d) = (self.log_weights[row] - means.0, outcome(row) - means.1);
                own.products += a * d;
                own.squares += (a * d).powi(2);
                own.of_weights += a * a;
                own.of_outcomes += d * d;
            }
            sums.products += own.products;
            sums.squares += own.squares;
            sums.variance += own.of_weights * own.of_outcomes / (n - 1.0).max(1.0);
            sums.of_weights += own.of_weights;
            sums.of_outcomes += own.of_outcomes;
        }
        sums
    }

    fn probability(&self, row: usize, class: usize) -> f64 {
        self.probabilities[row * self.classes + class]
    }

    /// Groups of samples with similar predictions.
    fn similar(&self, class: usize) -> Vec<Vec<usize>> {
        let (n, m) = (self.labels.len(), self.classes);
        let of_class = |row: &usize| self.probability(*row, class);
        let mut rows: Vec<usize> = (0..n).collect();
        rows.sort_by(|a, b| of_class(a).total_cmp(&of_class(b))); // stable
        if m == 2 {
            let groups = parts(&rows, SIMILAR, |a, b| of_class(a) == of_class(b));
            return groups.map(|part| rows[part].to_vec()).collect();
        }
        let row = |row: &usize| &self.probabilities[row * m..(row + 1) * m];
        let confidence: Vec<f64> = (0..n)
            .map(|k| row(&k).iter().copied().fold(0.0, f64::max))
            .collect();
        let near = ((n * SIMILAR) as f64).sqrt() as usize;
        let strips = parts(&rows, near.max(SIMILAR), |a, b| of_class(a) == of_class(b));
        let in_strip = |strip: Range<usize>| {
            let mut rows = rows[strip].to_vec();
            let both = |row: &usize| (confidence[*row], of_class(row));
            rows.sort_by(|a, b| {
                let (a, b) = (both(a), both(b));
                a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)) // stable
            });
            let groups = parts(&rows, SIMILAR, |a, b| both(a) == both(b));
            groups.map(|part| rows[part].to_vec()).collect::<Vec<_>>()
        };
        strips.flat_map(in_strip).collect()
    }
}

/// Parts of sorted rows of at least so many each; ties are in one part.
fn parts(
    rows: &[usize],
    least: usize,
    are_tied: impl Fn(&usize, &usize) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let n = rows.len();
    let mut ends = Vec::new();
    let mut end = 0;
    while end < n {
        end = (end + least).min(n);
        while end < n && are_tied(&rows[end], &rows[end - 1]) {
            end += 1;
        }
        if n - end < least {
            end = n;
        }
        ends.push(end);
    }
    let starts = std::iter::once(0).chain(ends.clone());
    starts.zip(ends).map(|(start, end)| start..end)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    /// A set of data: probabilities, labels and weights.
    type Set = (Vec<Vec<f64>>, Vec<i64>, Vec<f64>);

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    fn normal(rng: &mut StdRng) -> f64 {
        let [u, v] = [rng.random::<f64>(), rng.random::<f64>()];
        (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn softmax(z: &[f64], sharpness: f64) -> Vec<f64> {
        let powers: Vec<f64> = z.iter().map(|z| (sharpness * z).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|power| power / sum).collect()
    }

    fn label(p: &[f64], rng: &mut StdRng) -> i64 {
        let mut left = rng.random::<f64>();
        let occurs = |p: &f64| {
            left -= p;
            left < 0.0
        };
        p.iter().position(occurs).unwrap_or(p.len() - 1) as i64
    }

    /// How many of 200 sets are called weighted by the outcome.
    fn found(mut set: impl FnMut(&mut StdRng) -> Set) -> usize {
        let is_found = |seed: &u64| {
            let (p, labels, weights) = set(&mut StdRng::seed_from_u64(*seed));
            let log_weights: Vec<f64> = weights.iter().map(|w| w.ln()).collect();
            let outcomes = WeightedOutcomes {
                probabilities: &p.concat(),
                classes: p[0].len(),
                labels: &labels,
                log_weights: &log_weights,
            };
            outcomes.correlation().is_some()
        };
        (0..200).filter(is_found).count()
    }

    /// An event whose true log-odds are `slope` times those of the model, `N(0, deviation²)`.
    fn event(
        n: usize,
        deviation: f64,
        slope: f64,
        weight: fn(f64) -> f64,
        rng: &mut StdRng,
    ) -> Set {
        let z: Vec<f64> = (0..n).map(|_| deviation * normal(rng)).collect();
        let p = z.iter().map(|&z| vec![sigmoid(-z), sigmoid(z)]).collect();
        let labels = z
            .iter()
            .map(|&z| (rng.random::<f64>() < sigmoid(slope * z)).into());
        (p, labels.collect(), z.iter().map(|&z| weight(z)).collect())
    }

    /// Of weights that are functions of the predictions, whatever the model. With the predictions in both, without groups
    /// of similar ones, 197 and 196 of 200 sets of the first two cases with n = 300 were found.
    #[test]
    fn weights_by_predictions_are_not_by_outcomes() {
        for n in [12, 30, 100, 300, 1000] {
            let inverse = |z: f64| 1.0 / sigmoid(z).max(0.02);
            let power = |z: f64| (-z / 2.0).exp();
            assert!(found(|rng| event(n, 1.5, 0.1, inverse, rng)) <= 10, "{n}");
            assert!(found(|rng| event(n, 3.0, 0.2, power, rng)) <= 10, "{n}");
            assert!(found(|rng| event(n, 3.0, -1.0, power, rng)) <= 10, "{n}");
        }
        for m in [3, 10] {
            let set = |rng: &mut StdRng| {
                let z: Vec<Vec<f64>> = (0..300)
                    .map(|_| (0..m).map(|_| 2.0 * normal(rng)).collect())
                    .collect();
                let labels = z.iter().map(|z| label(&softmax(z, 0.2), rng)).collect();
                let p: Vec<Vec<f64>> = z.iter().map(|z| softmax(z, 1.0)).collect();
                let weights = p.iter().map(|p| 1.0 / p[0].max(0.02)).collect();
                (p, labels, weights)
            };
            assert!(found(set) <= 10, "{m}");
        }
    }

    /// Of weights that depend on nothing, of calibrated models: heavy ones, two-valued ones, rare and tied predictions.
    #[test]
    fn independent_weights_are_not_by_outcomes() {
        let log_normal = |rng: &mut StdRng| (1.5 * normal(rng)).exp();
        let pareto = |rng: &mut StdRng| 1.0 / (1.0 - rng.random::<f64>());
        let two = |rng: &mut StdRng| if rng.random::<f64>() < 0.1 { 20.0 } else { 1.0 };
        let weights: [fn(&mut StdRng) -> f64; 3] = [log_normal, pareto, two];
        for (w, weight) in weights.into_iter().enumerate() {
            for (n, m, deviation) in [(12, 3, 2.0), (60, 100, 2.0), (100, 50, 2.0), (1000, 2, 0.0)]
            {
                let set = |rng: &mut StdRng| {
                    let of_row = |rng: &mut StdRng| {
                        let mut z: Vec<f64> = (0..m).map(|_| deviation * normal(rng)).collect();
                        z[0] += f64::from(u8::from(m == 2)) * 3.0; // a rare event of constant probability
                        softmax(&z, 1.0)
                    };
                    let p: Vec<Vec<f64>> = (0..n).map(|_| of_row(rng)).collect();
                    let labels = p.iter().map(|p| label(p, rng)).collect();
                    (p, labels, (0..n).map(|_| weight(rng)).collect())
                };
                let found = found(set);
                assert!(found <= 10, "{w}, n = {n}, {m} classes: {found}");
            }
        }
    }

    /// All samples with the event are kept, and a tenth of those without it, with other weights as well.
    #[test]
    fn case_control_weights_are_by_outcomes() {
        for (n, least) in [(60, 120), (100, 180), (300, 198), (1000, 200)] {
            let set = |rng: &mut StdRng| {
                let (mut p, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
                while labels.len() < n {
                    let of_event = sigmoid(1.5 * normal(rng) - 1.0);
                    let occurs = rng.random::<f64>() < of_event;
                    if occurs || rng.random::<f64>() < 0.1 {
                        p.push(vec![1.0 - of_event, of_event]);
                        labels.push(occurs.into());
                        let own = (0.3 * normal(rng)).exp();
                        weights.push(own * if occurs { 1.0 } else { 10.0 });
                    }
                }
                (p, labels, weights)
            };
            let found = found(set);
            assert!(found >= least, "{n}: {found}");
        }
    }
}
