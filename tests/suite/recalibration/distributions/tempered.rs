//! Densities `f^{1/T}`, normalised.

use super::*;

fn temperature(t: f64) -> Tensor<1> {
    Tensor::from_data([t], (&device(), DType::F64))
}

/// The logarithms of the densities before and after, with respect to the reference measure, whose log
/// density is `reference`: `ln f_T − ln(f)/T` does not depend on the target.
fn proportional<P: Tempered<Targets = Tensor<2>>>(p: &P, y: &Tensor<2>, t: f64, reference: &[f64]) {
    let before = vector(p.log_density(y));
    let after = vector(p.tempered(temperature(t)).log_density(y));
    let difference = |i: usize| (after[i] - reference[i]) - (before[i] - reference[i]) / t;
    for i in 1..before.len() {
        close(difference(i), difference(0), 1e-11);
    }
}

/// By the midpoint rule on `(low, high)`.
fn integral<P: Density<Targets = Tensor<2>>>(p: impl Fn(usize) -> P, low: f64, high: f64) -> f64 {
    let n = 20_000;
    let h = (high - low) / n as f64;
    let points = column((0..n).map(|k| low + (k as f64 + 0.5) * h));
    vector(p(n).log_density(&points).exp()).iter().sum::<f64>() * h
}

const TEMPERATURES: [f64; 4] = [0.2, 0.9, 1.0, 3.5];

#[test]
fn of_the_line() {
    let y: Vec<f64> = (-20..20).map(|k| 0.3 * k as f64 + 0.01).collect();
    let lebesgue = vec![0.0; y.len()];
    for t in TEMPERATURES {
        let row = |value: f64| move |n: usize| repeated(&[value], n);
        let (mu, scale) = (row(0.4), row(1.3));
        let normal = |n| Normal::new(mu(n), scale(n));
        let laplace = |n| Laplace::new(mu(n), scale(n));
        let power = |n| PowerExponential::new(mu(n), scale(n), 1.6);
        let n = y.len();
        let targets = column(y.clone());
        proportional(&normal(n), &targets, t, &lebesgue);
        proportional(&laplace(n), &targets, t, &lebesgue);
        proportional(&power(n), &targets, t, &lebesgue);
        close(
            integral(|n| normal(n).tempered(temperature(t)), -60.0, 60.0),
            1.0,
            1e-9,
        );
        close(
            integral(|n| laplace(n).tempered(temperature(t)), -60.0, 60.0),
            1.0,
            1e-4,
        );
        close(
            integral(|n| power(n).tempered(temperature(t)), -60.0, 60.0),
            1.0,
            1e-9,
        );
        // means and the scales of Definition F.1
        let tempered = normal(1).tempered(temperature(t));
        close(vector(tempered.variances())[0], t * 1.69, 1e-14);
        assert_eq!(vector(tempered.mean()), [0.4]);
        let tempered = laplace(1).tempered(temperature(t));
        close(vector(tempered.scale())[0], t * 1.3, 1e-14);
        assert_eq!(vector(tempered.location()), [0.4]);
        assert_eq!(vector(power(1).tempered(temperature(t)).location()), [0.4]);
    }
}

#[test]
fn of_the_plane() {
    let mut rng = rng(4);
    let y = random_rows(30, 2, 3.0, &mut rng);
    let (mu, scale) = (repeated(&[0.1, -0.2], 30), repeated(&[0.7, 2.0], 30));
    for t in TEMPERATURES {
        let power = PowerExponential::new(mu.clone(), scale.clone(), 0.8);
        proportional(&power, &tensor(&y), t, &[0.0; 30]);
        let normal = Normal::new(mu.clone(), scale.clone());
        proportional(&normal, &tensor(&y), t, &[0.0; 30]);
    }
}

/// With respect to `dy/(y(1 − y))`.
#[test]
fn of_the_unit_interval() {
    let y: Vec<f64> = (1..40).map(|k| k as f64 / 40.0).collect();
    let reference: Vec<f64> = y.iter().map(|y| -(y * (1.0 - y)).ln()).collect();
    for t in TEMPERATURES {
        let beta = |n| Beta::new(repeated(&[8.0], n), repeated(&[11.0], n));
        proportional(&beta(y.len()), &column(y.clone()), t, &reference);
        close(
            integral(|n| beta(n).tempered(temperature(t)), 0.0, 1.0),
            1.0,
            1e-7,
        );
        let tempered = beta(1).tempered(temperature(t));
        close(vector(tempered.means())[0], 8.0 / 19.0, 1e-15);
    }
}

/// With respect to `dy/Π_c y_c`.
#[test]
fn of_the_simplex() {
    let mut rng = rng(5);
    let y = random_probabilities(30, 3, &mut rng);
    let logarithm = |row: &Vec<f64>| -row.iter().map(|y| y.ln()).sum::<f64>();
    let reference: Vec<f64> = y.iter().map(logarithm).collect();
    for t in TEMPERATURES {
        let p = Dirichlet::new(repeated(&[8.0, 9.0, 10.0], 30));
        proportional(&p, &tensor(&y), t, &reference);
        let means = vector(p.tempered(temperature(t)).mean());
        close(means[1], 1.0 / 3.0, 1e-15);
        // over a grid of the triangle
        let k = 150;
        let at = |i: usize| (i as f64 + 1.0 / 3.0) / k as f64;
        let (mut points, mut n) = (Vec::new(), 0);
        for i in 0..k {
            for j in 0..k - i {
                let rest = 1.0 - at(i) - at(j);
                points.extend([at(i), at(j), rest]);
                n += 1;
                if j + 1 < k - i {
                    let shift = 1.0 / 3.0 / k as f64; // the other half of the square
                    points.extend([at(i) + shift, at(j) + shift, rest - 2.0 * shift]);
                    n += 1;
                }
            }
        }
        let grid = Dirichlet::new(repeated(&[8.0, 9.0, 10.0], n)).tempered(temperature(t));
        let density = vector(grid.log_density(&matrix(&points, 3)).exp());
        close(
            density.iter().sum::<f64>() * 0.5 / (k * k) as f64,
            1.0,
            2e-4,
        );
    }
}

/// The gradient with respect to the temperature, `d ln f/d ln σ = z² − 1` over `2T`.
#[test]
fn is_differentiable_in_the_temperature() {
    let device = device().autodiff();
    let t = Tensor::<1>::from_data([2.0f64], (&device, DType::F64)).require_grad();
    let lift = |x: Tensor<2>| Tensor::<2>::from_data(x.into_data(), (&device, DType::F64));
    let p = Normal::new(lift(column([0.0])), lift(column([1.0])));
    let density = p.tempered(t.clone()).log_density(&lift(column([3.0])));
    let gradients = density.backward();
    close(
        vector(t.grad(&gradients).unwrap())[0],
        (9.0 / 2.0 - 1.0) / 4.0,
        1e-14,
    );
}
