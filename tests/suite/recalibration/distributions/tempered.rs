//! Densities `f^{1/T}`, normalised.

use super::*;

fn temperature(t: f64) -> Tensor<1> {
    Tensor::from_data([t], (&device(), DType::F64))
}

/// The logarithms of the densities before and after, with respect to the reference measure, whose log
/// density is `reference`: `ln f_T − ln(f)/T` does not depend on the target.
fn proportional<P: ScaleFamily>(p: &P, y: &Tensor<2>, t: f64, reference: &[f64]) {
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
        let n = y.len();
        let targets = column(y.clone());
        proportional(&normal(n), &targets, t, &lebesgue);
        proportional(&laplace(n), &targets, t, &lebesgue);
        let sum = integral(|n| normal(n).tempered(temperature(t)), -60.0, 60.0);
        close(sum, 1.0, 1e-9);
        let sum = integral(|n| laplace(n).tempered(temperature(t)), -60.0, 60.0);
        close(sum, 1.0, 1e-4);
        // means and the scales of Definition F.1
        let tempered = normal(1).tempered(temperature(t));
        close(vector(tempered.variances())[0], t * 1.69, 1e-14);
        assert_eq!(vector(tempered.mean()), [0.4]);
        let tempered = laplace(1).tempered(temperature(t));
        close(vector(tempered.scale())[0], t * 1.3, 1e-14);
        assert_eq!(vector(tempered.location()), [0.4]);
    }
}

#[test]
fn of_the_plane() {
    let mut rng = rng(4);
    let y = random_rows(30, 2, 3.0, &mut rng);
    let (mu, scale) = (repeated(&[0.1, -0.2], 30), repeated(&[0.7, 2.0], 30));
    for t in TEMPERATURES {
        let laplace = Laplace::new(mu.clone(), scale.clone());
        proportional(&laplace, &tensor(&y), t, &[0.0; 30]);
        let normal = Normal::new(mu.clone(), scale.clone());
        proportional(&normal, &tensor(&y), t, &[0.0; 30]);
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
    let slope = vector(t.grad(&gradients).unwrap())[0];
    close(slope, (9.0 / 2.0 - 1.0) / 4.0, 1e-14);
}
