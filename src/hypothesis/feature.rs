use burn::tensor::{DType, Int, Tensor};
use nalgebra::DMatrix;
use rand::{Rng, seq::index};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{
    CalibrationTest, TestOutcome, p_value::discrete_p_value, quadratic_form::QuadraticForm,
    sums::add,
};
use crate::{
    distribution::{Categorical, Predictive, most_likely},
    error::{Result, check_count},
    host::{int_tensor, to_vec, widened},
    kernel::Kernel,
};

/// A test with the power of a quadratic one at linear cost: the residuals `δ_i = e_{y_i} − p_i`
/// along `r` features of the prediction, against their exact covariance.
///
/// For features `φ_j: Δ^m → ℝ^m` let `z_j = Σ_i φ_j(p_i)·δ_i`. If the model is calibrated, then given
/// the predictions `z` has mean 0 and the covariance
///
/// `C_jk = Σ_i [ Σ_c p_ic φ_jc(p_i) φ_kc(p_i) − (φ_j(p_i)·p_i)(φ_k(p_i)·p_i) ]`,
///
/// which no label enters. So `zᵀ C⁻¹ z` is asymptotically `χ²_r`: it is Rao's score test of
/// `θ = 0` in the recalibrations `q_c ∝ p_c exp(Σ_j θ_j φ_jc(p))`. The features are
///
/// - `φ_1(p) = p`, along which over- and underconfidence show;
/// - `φ_j(p) = k(t_j, p) v_j` for `j = 2, …, r`, with the locations `t_j` drawn from the predictions
///   and standard normal directions `v_j`: any miscalibration shows along one of them, with a
///   probability that grows with `r`.
///
/// The first feature is tested apart from the others, as one `χ²` of all features would have less power
/// against overconfidence: `Q₁ = z_1²/C_11 ∼ χ²_1` and `Q₂ = zᵀC⁻¹z − Q₁ ∼ χ²_{r−1}`. The two are
/// asymptotically independent. Fisher's method combines their p-values: the statistic is
/// `−2 ln(p_1 p_2) ∼ χ²_4`. The estimate is `r⁻¹ Σ_j (z_j/n)²`. It is at least 0 and biased upward, as that
/// of the UCME.
///
/// Locations and directions depend on the predictions and the generator, never on the labels, so
/// the level holds given them. Measured at `n = 250` (`docs/levels.md`), level
/// 5 %, 2,000 data sets: it rejects 5.4 % of the calibrated ones of M1 and all of M2 and M3, of which
/// the linear test of the SKCE misses 81 %.
///
/// **Few expected errors.** The `χ²` distribution needs many samples whose label is uncertain. Where
/// fewer than [`FEWEST_EXPECTED_ERRORS`](Self::FEWEST_EXPECTED_ERRORS) errors are expected, the p-value
/// is that of 999 redraws of the labels from the predictions with the same features, exact at every
/// sample size, and the outcome has [`replicates`](TestOutcome::replicates).
///
/// Sums and covariance are computed on the host in f64, from predictions that are read once, with
/// each row divided by its sum. A direction without variance is dropped.
///
/// Cost: `n·m·r²` operations, memory `O(n·(m + r))`; redraws cost `999·n` draws of a label. A median
/// bandwidth is that of at most 256 of the predictions, drawn, so that the cost stays linear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureTest {
    /// The kernel on predictions.
    pub kernel: Kernel,
    /// The number `r ≥ 1` of features, 8 by default.
    pub features: usize,
}

impl FeatureTest {
    /// The number of expected errors, `Σ_i (1 − max_c p_ic)`, below which the p-value comes from redrawn
    /// labels and not from the `χ²` distribution.
    ///
    /// With 2.5 expected errors `χ²` rejects 9.2 % of calibrated data sets at level 5 % and 2.4 % at 0.1 %,
    /// with 500 it rejects 5.1 % and 0.12 % (`docs/levels.md`).
    pub const FEWEST_EXPECTED_ERRORS: f64 = 500.0;

    /// Creates the test with 8 features.
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            features: 8,
        }
    }

    /// Returns the same with another number of features.
    pub fn with_features(self, features: usize) -> Self {
        Self { features, ..self }
    }
}

impl CalibrationTest for FeatureTest {
    /// The outcome; the generator draws the features, and the labels where few errors are expected. The
    /// statistic is infinite if an observed label has probability 0.
    /// The errors are those of [`CalibrationTest::evaluate`]; no features.
    fn evaluate(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        check_count("the number of features", self.features)?;
        let labels = predictions.check_labels(labels)?;
        let n = predictions.len();
        let features = Features::draw(self, predictions, rng)?;
        let null = Null::of(&features);
        let z = features.sums(&labels);
        let estimate = z.iter().map(|z| (z / n as f64).powi(2)).sum::<f64>() / z.len() as f64;
        let statistic = match features.impossible(&labels) {
            true => f64::INFINITY,
            false => null.statistic(&z),
        };
        let errors = predictions.expected_errors();
        let outcome = match errors.is_some_and(|errors| errors < Self::FEWEST_EXPECTED_ERRORS) {
            true => {
                let sampler = predictions.sampler();
                let rows: Vec<usize> = (0..n).collect();
                let reference = Reference::of(&features);
                let mut draw = || reference.sums(&features, &sampler(&rows, rng));
                let drawn: Vec<f64> = (0..REPLICATES).map(|_| null.statistic(&draw())).collect();
                // the sums of the data in the same order of additions
                let again = match statistic.is_finite() {
                    true => null.statistic(&reference.sums(&features, &labels)),
                    false => statistic,
                };
                let p_value = discrete_p_value(again, &drawn, DType::F64);
                TestOutcome::resampled(NAME, n, estimate, statistic, p_value, &drawn)
            }
            false => {
                let freedom = null.freedom() as f64;
                TestOutcome::asymptotic(NAME, n, estimate, statistic, null.tail(statistic))
                    .with_standardised((statistic - freedom) / (2.0 * freedom).sqrt())
            }
        };
        Ok(outcome.with_expected_errors(errors))
    }
}

const NAME: &str = "feature test";

/// Redraws of the labels.
const REPLICATES: usize = 999;

/// `φ_1(p) = p` and `φ_j(p) = k(t_j, p) v_j` of predictions, on the host in f64.
struct Features {
    /// `r`.
    number: usize,
    classes: usize,
    /// Each row divided by its sum, as labels are drawn: `[n, m]`.
    p: Vec<f64>,
    /// `k(t_j, p_i)` for `j ≥ 2`, `[n, r − 1]`.
    kernel: Vec<f64>,
    /// `v_j` for `j ≥ 2`, `[m, r − 1]`.
    directions: Vec<f64>,
    /// `p_i·p_i`, and `p_i·v_j` for `j ≥ 2`: `[n, r]`.
    means: Vec<f64>,
}

/// Predictions whose median distance is taken.
const MEDIAN_OF: usize = 256;

/// Numbers that are held at once on a device.
const BATCH: usize = 1 << 20;

/// Samples whose sums are computed on one thread.
const CHUNK: usize = 1 << 12;

impl Features {
    fn draw(test: &FeatureTest, predictions: &Categorical, rng: &mut dyn Rng) -> Result<Self> {
        let points = widened(predictions.probabilities().detach());
        let [n, m] = points.dims();
        let drawn = test.features - 1;
        let rows = index::sample(rng, n, n.min(MEDIAN_OF.max(drawn))).into_vec();
        let chosen = |rows: &[usize]| {
            let rows = int_tensor(rows.iter().copied(), &points.device());
            points.clone().select(0, rows)
        };
        let kernel = test.kernel.with_bandwidth_of(&chosen(&rows))?;
        let locations: Vec<usize> = rows.iter().copied().cycle().take(drawn).collect();
        let directions: Vec<f64> = (0..m * drawn).map(|_| StandardNormal.sample(rng)).collect();
        let kernel = match drawn {
            0 => Vec::new(),
            _ => {
                let locations: Tensor<3> = chosen(&locations).unsqueeze(); // [1, r − 1, m]
                let batch = (BATCH / (m * drawn)).max(1);
                let values = |start: usize| {
                    let rows = points.clone().slice(start..(start + batch).min(n));
                    to_vec(kernel.between(rows.unsqueeze(), locations.clone())) // [1, b, r − 1]
                };
                (0..n).step_by(batch).flat_map(values).collect()
            }
        };
        let mut p = to_vec(points);
        for row in p.chunks_mut(m) {
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        }
        let mut means = Vec::with_capacity(n * test.features);
        for row in p.chunks(m) {
            means.push(row.iter().map(|p| p * p).sum());
            means.extend((0..drawn).map(|j| {
                let term = |(c, p): (usize, &f64)| p * directions[c * drawn + j];
                row.iter().enumerate().map(term).sum::<f64>()
            }));
        }
        Ok(Self {
            number: test.features,
            classes: m,
            p,
            kernel,
            directions,
            means,
        })
    }

    fn samples(&self) -> usize {
        self.p.len() / self.classes
    }

    /// `p_i`.
    fn row(&self, i: usize) -> &[f64] {
        &self.p[i * self.classes..][..self.classes]
    }

    /// Calls `f` with `j` and `φ_jc(p_i) − φ_j(p_i)·p_i` for each feature: what the label `c` adds to
    /// `z_j`.
    fn centred(&self, i: usize, c: usize, mut f: impl FnMut(usize, f64)) {
        let means = &self.means[i * self.number..][..self.number];
        f(0, self.row(i)[c] - means[0]);
        let drawn = self.number - 1;
        let kernel = &self.kernel[i * drawn..][..drawn];
        let directions = &self.directions[c * drawn..][..drawn];
        let terms = kernel.iter().zip(directions).zip(&means[1..]);
        for (j, ((kernel, direction), mean)) in terms.enumerate() {
            f(j + 1, kernel * (direction - mean));
        }
    }

    /// `z` of labels.
    fn sums(&self, labels: &[usize]) -> Vec<f64> {
        let mut z = vec![0.0; self.number];
        for (i, &label) in labels.iter().enumerate() {
            self.centred(i, label, |j, term| z[j] += term);
        }
        z
    }

    /// Tells whether a label has probability 0.
    fn impossible(&self, labels: &[usize]) -> bool {
        let mut labels = labels.iter().enumerate();
        labels.any(|(i, &label)| self.row(i)[label] == 0.0)
    }

    /// `C_jk`, and for each feature `Σ_ic p_ic φ_jc(p_i)²`, which it is to be compared with.
    fn covariance(&self) -> (DMatrix<f64>, Vec<f64>) {
        let r = self.number;
        let starts: Vec<usize> = (0..self.samples()).step_by(CHUNK).collect();
        let of_chunk = |start: &usize| {
            let mut sums = vec![0.0; r * r + r];
            let mut terms = vec![0.0; r];
            for i in *start..(start + CHUNK).min(self.samples()) {
                for (c, &p) in self.row(i).iter().enumerate().filter(|(_, p)| **p > 0.0) {
                    let means = &self.means[i * r..][..r];
                    self.centred(i, c, |j, term| terms[j] = term);
                    for (j, (term, mean)) in terms.iter().zip(means).enumerate() {
                        let row = sums[j * r..][..=j].iter_mut();
                        row.zip(&terms)
                            .for_each(|(sum, other)| *sum += p * term * other);
                        let mean = match j {
                            0 => *mean,
                            j => self.kernel[i * (r - 1) + j - 1] * mean,
                        };
                        sums[r * r + j] += p * (term + mean).powi(2);
                    }
                }
            }
            sums
        };
        let chunks: Vec<Vec<f64>> = starts.par_iter().map(of_chunk).collect();
        let mut sums = vec![0.0; r * r + r];
        for chunk in chunks {
            add(&mut sums, 1.0, &chunk);
        }
        let covariance = DMatrix::from_fn(r, r, |j, k| sums[j.max(k) * r + j.min(k)]);
        (covariance, sums[r * r..].to_vec())
    }
}

/// Sums of redrawn labels from those of the most probable labels, of which few redraws differ much.
struct Reference {
    labels: Vec<usize>,
    sums: Vec<f64>,
}

impl Reference {
    fn of(features: &Features) -> Self {
        let rows = 0..features.samples();
        let labels: Vec<usize> = rows.map(|i| most_likely(features.row(i))).collect();
        Self {
            sums: features.sums(&labels),
            labels,
        }
    }

    fn sums(&self, features: &Features, labels: &[usize]) -> Vec<f64> {
        let mut z = self.sums.clone();
        let pairs = labels.iter().zip(&self.labels).enumerate();
        for (i, (&label, &reference)) in pairs.filter(|(_, (label, reference))| label != reference)
        {
            features.centred(i, label, |j, term| z[j] += term);
            features.centred(i, reference, |j, term| z[j] -= term);
        }
        z
    }
}

/// The null distribution: the covariance of `z`, as two quadratic forms.
struct Null {
    first: QuadraticForm,
    all: QuadraticForm,
}

/// Variances over their scale and eigenvalues of correlation matrices that are rounding errors. The
/// terms of a variance are centred before they are squared: its rounding errors are squares.
const TOLERANCES: [f64; 2] = [1e-24, 1e-10];

impl Null {
    fn of(features: &Features) -> Self {
        let (covariance, scale) = features.covariance();
        let first = covariance.view((0, 0), (1, 1)).into_owned();
        Self {
            first: QuadraticForm::new(&first, &scale[..1], TOLERANCES),
            all: QuadraticForm::new(&covariance, &scale, TOLERANCES),
        }
    }

    /// The ranks of `Q₁` and `Q₂`.
    fn ranks(&self) -> [usize; 2] {
        let first = self.first.rank();
        [first, self.all.rank() - first]
    }

    /// The degrees of freedom of the statistic: two for each form that is not 0.
    fn freedom(&self) -> usize {
        2 * self.ranks().into_iter().filter(|rank| *rank > 0).count()
    }

    /// Fisher's `−2 ln(p_1 p_2)`; a form without variance says nothing.
    fn statistic(&self, z: &[f64]) -> f64 {
        let first = self.first.value(&z[..1]);
        let values = [first, (self.all.value(z) - first).max(0.0)];
        let logarithm = |(value, rank): (f64, usize)| match rank {
            0 => 0.0,
            // a p-value that underflows counts as the least positive number
            rank => chi_squared_tail(value, rank).max(f64::MIN_POSITIVE).ln(),
        };
        let pairs = values.into_iter().zip(self.ranks());
        -2.0 * pairs.map(logarithm).sum::<f64>()
    }

    /// The upper tail of the statistic.
    fn tail(&self, statistic: f64) -> f64 {
        match (self.freedom(), statistic.is_finite()) {
            (_, false) => 0.0,
            (0, true) => 1.0,
            (freedom, true) => chi_squared_tail(statistic, freedom),
        }
    }
}

fn chi_squared_tail(value: f64, freedom: usize) -> f64 {
    ChiSquared::new(freedom as f64)
        .expect("positive degrees of freedom")
        .sf(value)
}
