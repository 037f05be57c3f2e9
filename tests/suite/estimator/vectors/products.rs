//! Mixtures, draws and predictions given another variable as losses and estimates take them, by features
//! where there are some, against the composition from expectations: values and all gradients.

use proptest::prelude::*;

use super::data::{gaussian, laplacian};
use crate::prelude::*;

/// What is predicted from the outputs of a network.
#[derive(Debug, Clone, Copy)]
enum Family {
    Normals,
    Laplaces,
    Draws,
    Given,
}

const FAMILIES: [Family; 4] = [
    Family::Normals,
    Family::Laplaces,
    Family::Draws,
    Family::Given,
];

/// `K` components or draws of `d` coordinates each: locations and logarithms of scales, `[n, 2·K·d]`, and
/// logits of the weights, `[n, K]`.
struct Outputs {
    parameters: Tensor<2>,
    logits: Tensor<2>,
    targets: Tensor<2>,
    k: usize,
}

impl Outputs {
    fn locations_and_scales(&self) -> [Tensor<2>; 2] {
        let [n, width] = self.parameters.dims();
        let [rows, d] = [n * self.k, width / 2 / self.k];
        let part = |first: usize| {
            let part = self
                .parameters
                .clone()
                .slice([0..n, first..first + width / 2]);
            part.reshape([rows, d])
        };
        [part(0), part(width / 2).exp()]
    }

    fn value(&self, family: Family, skce: Skce<TensorKernel<RealKernel>>) -> Tensor<1> {
        let [locations, scales] = self.locations_and_scales();
        let (logits, y) = (self.logits.clone(), &self.targets);
        let [n, d] = y.dims();
        match family {
            Family::Normals => {
                let components = Normal::new(locations, scales);
                skce.value(&Mixture::from_logits(logits, components), y)
            }
            Family::Laplaces => {
                let components = Laplace::new(locations, scales);
                skce.value(&Mixture::from_logits(logits, components), y)
            }
            Family::Draws => {
                let spread = scales.reshape([n, self.k, d]);
                let draws = locations.reshape([n, self.k, d]) * spread;
                skce.value(&Samples::new(draws), y)
            }
            Family::Given => {
                let first = |x: Tensor<2>| x.reshape([n, self.k, d]).slice([0..n, 0..1, 0..d]);
                let [m, s] = [locations, scales].map(|x| first(x).reshape([n, d]));
                skce.value(&Given::new(Normal::new(m, s), logits), y)
            }
        }
    }
}

type Rows = Vec<Vec<f64>>;

/// Value, and gradients with respect to parameters and logits.
fn run(
    family: Family,
    skce: Skce<TensorKernel<RealKernel>>,
    ([parameters, logits, targets], k): ([&Rows; 3], usize),
    dtype: DType,
) -> [Vec<f64>; 3] {
    let device = device().autodiff();
    let [parameters, logits] =
        [parameters, logits].map(|x| tensor_on(x, &device, dtype).require_grad());
    let targets = tensor_on(targets, &device, dtype);
    let outputs = Outputs {
        parameters,
        logits,
        targets,
        k,
    };
    let value = outputs.value(family, skce);
    assert_eq!((value.dtype(), value.dims()), (dtype, [1]));
    let gradients = value.backward();
    let of = |x: &Tensor<2>| x.grad(&gradients).map_or_else(Vec::new, vector);
    [
        vec![scalar(value)],
        of(&outputs.parameters),
        of(&outputs.logits),
    ]
}

fn agree(
    family: Family,
    skce: Skce<TensorKernel<RealKernel>>,
    data: ([&Rows; 3], usize),
    unit: f64,
) -> Result<(), TestCaseError> {
    let composed = skce.with_computation(Computation::Composed);
    let n = data.0[0].len() as f64;
    for (dtype, tolerance) in [(DType::F64, 1e-11), (DType::F32, 2e-5)] {
        let rounded = data
            .0
            .map(|rows| rows_of(tensor_on(rows, &device(), dtype)));
        let data = ([&rounded[0], &rounded[1], &rounded[2]], data.1);
        let exact = run(family, composed, data, DType::F64);
        let found = run(family, skce, data, dtype);
        for (part, (exact, found)) in exact.iter().zip(&found).enumerate() {
            prop_assert_eq!(exact.len(), found.len());
            let scale = largest(exact) + if part == 0 { 1.0 } else { unit / n };
            for (e, f) in exact.iter().zip(found) {
                let near = (e - f).abs() <= tolerance * scale;
                prop_assert!(
                    near,
                    "{family:?}, {skce:?}, {dtype:?}, {part}: {f}, not {e}"
                );
            }
        }
    }
    Ok(())
}

fn rows(n: usize, width: usize, low: f64, high: f64) -> impl Strategy<Value = Rows> {
    prop::collection::vec(prop::collection::vec(low..high, width), n)
}

/// Parameters, logits and targets, and the number of components.
fn data() -> impl Strategy<Value = ([Rows; 3], usize)> {
    let sizes = (1usize..24, 1usize..6, 1usize..4);
    sizes.prop_flat_map(|(n, k, d)| {
        let parameters = (rows(n, k * d, -2.0, 2.0), rows(n, k * d, -2.0, 0.7));
        let parameters = parameters.prop_map(|(mut locations, scales)| {
            locations
                .iter_mut()
                .zip(scales)
                .for_each(|(all, scales)| all.extend(scales));
            locations
        });
        let others = (rows(n, k, -2.0, 2.0), rows(n, d, -2.0, 2.0));
        (parameters, others)
            .prop_map(move |(parameters, (logits, targets))| ([parameters, logits, targets], k))
    })
}

fn skce(which: usize, length: f64, n: usize) -> Skce<TensorKernel<RealKernel>> {
    let kernel = match which % 2 {
        0 => gaussian(0.9, length),
        _ => laplacian(0.9, length),
    };
    let block = SkceForm::Block(n.div_ceil(3).max(2));
    let forms = [SkceForm::Biased, SkceForm::Unbiased, block];
    Skce::new(kernel, forms[which / 2 % 3])
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn they_are_the_composition(
        (data, k) in data(),
        which in 0usize..6,
        length in 0.3..3.0f64,
        family in prop::sample::select(FAMILIES.to_vec()),
    ) {
        let skce = skce(which, length, data[0].len());
        agree(family, skce, (data.each_ref(), k), 1.0)?;
    }

    /// Units are of no consequence, within what the dtypes hold.
    #[test]
    fn units(
        (mut data, k) in data(),
        which in 0usize..2,
        unit in prop::sample::select(vec![1e-6, 1e6f64]),
        family in prop::sample::select(vec![Family::Normals, Family::Draws]),
    ) {
        let [parameters, _, targets] = &mut data;
        for row in parameters.iter_mut() {
            let half = row.len() / 2;
            let (locations, scales) = row.split_at_mut(half);
            locations.iter_mut().for_each(|x| *x *= unit);
            let is_scale = !matches!(family, Family::Draws);
            scales.iter_mut().for_each(|x| *x += if is_scale { unit.ln() } else { 0.0 });
        }
        targets.iter_mut().flatten().for_each(|y| *y *= unit);
        let kernel = match which {
            0 => gaussian(unit, 0.9 * unit),
            _ => laplacian(unit, 0.9 * unit),
        };
        agree(family, Skce::unbiased(kernel), (data.each_ref(), k), unit.recip().max(1.0))?;
    }
}

/// More than a tile, and enough for several threads; a weight that is almost 0, two predictions that coincide
/// and one of components that coincide.
#[test]
fn many_and_equal() {
    let (n, k) = (60, 4);
    for d in [1, 2] {
        let mut parameters = random_rows(n, 2 * k * d, 1.0, &mut rng(81));
        let mut logits = random_rows(n, k, 1.0, &mut rng(82));
        let targets = random_rows(n, d, 2.0, &mut rng(83));
        logits[3][1] = -60.0;
        for rows in [&mut parameters, &mut logits] {
            rows[7] = rows[6].clone();
        }
        let first = parameters[9].clone();
        for (at, x) in parameters[9].iter_mut().enumerate() {
            *x = first[at / (k * d) * (k * d) + at % d];
        }
        for family in [Family::Normals, Family::Draws] {
            for which in 2..4 {
                let data = ([&parameters, &logits, &targets], k);
                // where predictions coincide the two ways to their distance differ by the root of rounding
                let skce = skce(which, 0.8, n);
                let composed = skce.with_computation(Computation::Composed);
                let exact = run(family, composed, data, DType::F64);
                let found = run(family, skce, data, DType::F64);
                for (e, f) in exact.iter().flatten().zip(found.iter().flatten()) {
                    assert!((e - f).abs() < 1e-9, "{family:?}, {d}: {f}, not {e}");
                }
            }
        }
    }
}

/// What is not finite makes the pairs of its own prediction NaN alone, infinite numbers too.
#[test]
fn not_finite() {
    let device = device();
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for dtype in [DType::F32, DType::F64] {
            let mut locations = random_rows(40, 2, 1.0, &mut rng(89));
            locations[5][1] = bad;
            let locations = tensor_on(&locations, &device, dtype);
            let components = Normal::new(locations.clone(), locations.ones_like());
            let weights = Tensor::full([20, 2], 0.5, (&device, dtype));
            let targets = tensor_on(&random_rows(20, 2, 1.0, &mut rng(90)), &device, dtype);
            let mixture = Mixture::new(weights, components);
            for kernel in [gaussian(1.0, 1.0), laplacian(1.0, 1.0)] {
                let pairs = PairMatrix::unchecked(&kernel, Computation::Auto, &mixture, &targets);
                let h = pairs.within_blocks(0..1, 20);
                for (at, x) in vector(h).iter().enumerate() {
                    assert_eq!(x.is_nan(), at / 20 == 2 || at % 20 == 2, "{at}: {x}");
                }
                let value = Skce::unbiased(kernel).value(&mixture, &targets);
                assert!(scalar(value).is_nan());
            }
        }
    }
}

/// Estimates take tiles; the deviation of the z-score is the same with gradients about.
#[test]
fn of_tiles() {
    let (n, k, d) = (70, 3, 2);
    let random = |n, d, seed| tensor(&random_rows(n, d, 1.0, &mut rng(seed)));
    let (m, s) = (random(n * k, d, 91), random(n * k, d, 92).exp());
    let (logits, targets) = (random(n, k, 93), random(n, d, 94));
    let normals = Mixture::from_logits(logits.clone(), Normal::new(m.clone(), s.clone()));
    let laplaces = Mixture::from_logits(logits.clone(), Laplace::new(m.clone(), s.clone()));
    let first = |x: &Tensor<2>| x.clone().slice([0..n, 0..d]);
    let given = Given::new(Normal::new(first(&m), first(&s)), logits);
    for kernel in [gaussian(0.9, 0.8), laplacian(0.9, 0.8)] {
        tiles_agree(kernel, &normals, &targets);
        tiles_agree(kernel, &laplaces, &targets);
        tiles_agree(kernel, &given, &targets);
    }
}

fn tiles_agree<P>(kernel: TensorKernel<RealKernel>, predictions: &P, targets: &Tensor<2>)
where
    P: Geometry<Targets = Tensor<2>>,
    RealKernel: TargetKernel<P::Unconditional>,
{
    let skce = Skce::unbiased(kernel);
    let composed = skce.with_computation(Computation::Composed);
    assert_relative(
        skce.on(predictions, targets),
        composed.on(predictions, targets),
        1e-9,
    );
    let deviation = |predictions: &P, targets: &Tensor<2>| {
        let deviation = JointKernel::null_deviation(&kernel, predictions, targets, None);
        scalar(deviation)
    };
    let on_graph = predictions.map(&|x| x.autodiff().require_grad());
    let found = deviation(&on_graph, &targets.clone().autodiff());
    assert_relative(found, deviation(predictions, targets), 1e-12);
}
