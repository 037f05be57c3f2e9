//! The instruction set of the fused passes: the best that the processor has, and in tests any of them.

#[cfg(not(test))]
pub(in crate::ops) use pulp::Arch;
#[cfg(test)]
pub(in crate::ops) use tests::Arch;

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use burn::tensor::{DType, Device, Int, Tensor, TensorData};
    use pulp::WithSimd;

    use crate::{
        ops::{
            NormalKernel, NormalSamples, PairKernel, Pairing, block_values, kernel_matrix,
            laplace_gaussian_at, normal_blocks, normal_diagonal, normal_matrix, normal_statistic,
            order_statistics, pair_statistic,
        },
        radial::{Distance, Profile},
    };

    thread_local!(static CHOSEN: Cell<Option<pulp::Arch>> = const { Cell::new(None) });

    /// The instruction set chosen for a thread, or the best.
    #[derive(Clone, Copy)]
    pub(in crate::ops) struct Arch(pulp::Arch);

    impl Arch {
        pub(in crate::ops) fn new() -> Self {
            Self(CHOSEN.get().unwrap_or_default())
        }

        pub(in crate::ops) fn dispatch<Op: WithSimd>(self, op: Op) -> Op::Output {
            self.0.dispatch(op)
        }
    }

    /// What threads with this instruction set compute.
    fn on<T: Send>(arch: pulp::Arch, compute: impl Fn() -> T + Sync + Send) -> T {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(move |_| CHOSEN.set(Some(arch)))
            .build()
            .unwrap();
        pool.install(compute)
    }

    fn numbers(tensor: Tensor<1>) -> Vec<f64> {
        tensor.into_data().iter::<f64>().collect()
    }

    /// Value and gradients of a statistic of points that are tracked, and of a bandwidth.
    fn with_gradients<const K: usize>(
        rows: [Tensor<2>; K],
        bandwidth: f64,
        statistic: impl Fn([Tensor<2>; K], Tensor<1>) -> Tensor<1>,
    ) -> Vec<Vec<f64>> {
        let (device, dtype) = (rows[0].device().autodiff(), rows[0].dtype());
        let rows = rows.map(|x| Tensor::from_data(x.into_data(), (&device, dtype)).require_grad());
        let bandwidth = Tensor::<1>::from_data([bandwidth], (&device, dtype)).require_grad();
        let value = statistic(rows.clone(), bandwidth.clone());
        let gradients = value.clone().backward();
        let of_rows = rows.map(|x| numbers(x.grad(&gradients).unwrap().flatten(0, 1)));
        let of_bandwidth = numbers(bandwidth.grad(&gradients).unwrap());
        let others = [numbers(value), of_bandwidth];
        others.into_iter().chain(of_rows).collect()
    }

    /// Numbers in (0, 1), uneven.
    fn uneven(n: usize, d: usize, dtype: DType) -> Tensor<2> {
        let number = |k: usize| ((k * k) as f64 * 0.37).sin() * 0.49 + 0.5;
        let data = TensorData::new((0..n * d).map(number).collect(), [n, d]);
        Tensor::from_data(data, (&Device::flex(), dtype))
    }

    /// What was computed, and its numbers.
    type Found = Vec<(String, Vec<f64>)>;

    /// Values and gradients of both passes: of short and long vectors, by every way to sum them.
    fn passes(dtype: DType) -> Found {
        let mut all = Vec::new();
        let mut add = |what: String, found: Vec<Vec<f64>>| {
            all.extend(found.into_iter().map(|numbers| (what.clone(), numbers)));
        };
        for profile in Profile::all() {
            for (n, d, size, bandwidth) in [
                (150, 3, 150, 0.7),
                (150, 3, 150, 0.04),
                (70, 70, 70, 0.7),
                (70, 70, 70, 0.04),
                (64, 5, 4, 0.7),
            ] {
                let pairing = Pairing::Blocks { size };
                let x = uneven(n, d, dtype);
                let p = x.clone() / x.clone().sum_dim(1);
                let y = x.clone().sin().into_data();
                for distance in Distance::ALL {
                    let kernel = PairKernel::new(distance, profile);
                    let found = with_gradients([p.clone()], bandwidth, |[p], bandwidth| {
                        let labels = labels(n, d, &p.device());
                        pair_statistic(p, labels, bandwidth, kernel, pairing)
                    });
                    add(format!("{n} × {d} {kernel:?} {bandwidth}"), found);
                }
                let kernel = normal_kernel(profile);
                let rows = [x.clone(), p.clone() + 0.5];
                let found = with_gradients(rows, bandwidth, |[locations, scales], bandwidth| {
                    let samples = NormalSamples {
                        targets: Tensor::from_data(y.clone(), (&locations.device(), dtype)),
                        locations,
                        scales,
                    };
                    normal_statistic(samples, bandwidth, kernel, pairing)
                });
                add(format!("{n} × {d} {kernel:?} {bandwidth}"), found);
            }
        }
        all
    }

    /// Expectations at points and their derivatives, and sorted distances.
    fn others(dtype: DType) -> Found {
        let mut all = Vec::new();
        for length_scale in [0.8, 0.05, 3.0] {
            let [x, y] = [uneven(60, 1, dtype), uneven(37, 1, dtype).sin()];
            let found = laplace_gaussian_at(x.clone(), x + 0.01, y, length_scale);
            let what = format!("{length_scale} at points");
            all.extend(found.map(|x| (what.clone(), numbers(x.flatten(0, 1)))));
        }
        for distance in Distance::ALL {
            for (n, d) in [(150, 3), (70, 60), (5, 2)] {
                let ranks: Vec<u64> = (0..n as u64 * (n as u64 - 1) / 2).step_by(7).collect();
                let found = order_statistics(&uneven(n, d, dtype), distance, &ranks);
                all.push((format!("distances of {n} × {d}, {distance:?}"), found));
            }
        }
        all
    }

    /// Matrices and sums with a number of row 5, and of row 3 of columns, in the place of theirs: `[n, k]`
    /// with `k`, the lost row and the lost column. For normal samples and of points at which expectations
    /// are taken only the part of this number is lost.
    fn with_bad_rows(
        dtype: DType,
        bad: Option<f64>,
        part: usize,
    ) -> Vec<(String, Vec<f64>, [usize; 3])> {
        const NONE: usize = usize::MAX;
        let (n, m, size) = (21, 18, 4);
        let spoiled = |x: Tensor<2>, row: usize| match bad {
            None => x,
            Some(bad) => x.slice_fill([row..row + 1, 1..2], bad),
        };
        let matrix = |x: Tensor<2>| numbers(x.flatten(0, 1));
        let mut all = Vec::new();
        let x = uneven(n, 3, dtype);
        let (p, q) = (x.clone() / x.sum_dim(1), uneven(m, 3, dtype).sin());
        let (p, q) = (spoiled(p, 5), spoiled(q, 3));
        let samples = |n: usize, row: usize| {
            let x = uneven(n, 2, dtype);
            let mut rows = [x.clone(), x.clone() + 0.5, x.sin()];
            rows[part] = spoiled(rows[part].clone(), row);
            let [locations, scales, targets] = rows;
            NormalSamples {
                locations,
                scales,
                targets,
            }
        };
        let (rows, columns) = (samples(n, 5), samples(m, 3));
        for profile in Profile::all() {
            for distance in Distance::ALL {
                let kernel = PairKernel::new(distance, profile);
                let found = matrix(kernel_matrix(p.clone(), q.clone(), kernel, 0.3));
                all.push((format!("{kernel:?}"), found, [m, 5, 3]));
                for size in [size, n] {
                    let labels = labels(n, 3, &p.device());
                    let blocks = block_values(p.clone(), labels, kernel, 0.3, size);
                    all.push((format!("blocks, {kernel:?}"), blocks, [1, 5 / size, NONE]));
                }
            }
            let kernel = normal_kernel(profile);
            let found = matrix(normal_matrix(&rows, &columns, 0.3, kernel));
            all.push((format!("{kernel:?}"), found, [m, 5, 3]));
            let diagonal = numbers(normal_diagonal(&rows, kernel));
            all.push((format!("diagonal, {kernel:?}"), diagonal, [1, 5, NONE]));
            for size in [size, n] {
                let blocks = normal_blocks(&rows, 0.3, kernel, size);
                all.push((format!("blocks, {kernel:?}"), blocks, [1, 5 / size, NONE]));
            }
        }
        let column = |x: &Tensor<2>| x.clone().slice([0..n, 1..2]);
        if part < 2 {
            let points = uneven(m, 1, dtype);
            let (locations, scales) = (column(&rows.locations), column(&rows.scales));
            for found in laplace_gaussian_at(locations, scales, points, 0.8) {
                all.push(("at points".into(), matrix(found), [m, 5, NONE]));
            }
        }
        all
    }

    /// Whatever the instruction set, what is not finite makes its own row and column NaN, and nothing else.
    #[test]
    fn rows_that_are_not_finite() {
        let archs = others_than_the_best().into_iter();
        for arch in archs.chain([pulp::Arch::new()]) {
            for (dtype, part) in [DType::F32, DType::F64]
                .into_iter()
                .flat_map(|dtype| (0..3).map(move |part| (dtype, part)))
            {
                let expected = on(arch, || with_bad_rows(dtype, None, part));
                for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let found = on(arch, || with_bad_rows(dtype, Some(bad), part));
                    for ((what, expected, [k, row, column]), (_, found, _)) in
                        expected.iter().zip(&found)
                    {
                        for (at, (e, f)) in expected.iter().zip(found).enumerate() {
                            let is_lost = at / k == *row || at % k == *column;
                            let holds = if is_lost { f.is_nan() } else { f == e };
                            assert!(
                                holds,
                                "{what}, {bad} in {part}, {dtype:?} on {arch:?}, at {at}: {f}, {e}"
                            );
                        }
                    }
                }
            }
        }
    }

    fn labels(n: usize, classes: usize, device: &Device) -> Tensor<1, Int> {
        let labels: Vec<i64> = (0..n).map(|i| (i * i % classes) as i64).collect();
        Tensor::from_data(TensorData::new(labels, [n]), device)
    }

    fn normal_kernel(profile: Profile) -> NormalKernel {
        NormalKernel {
            profile,
            length_scale: 0.8,
        }
    }

    fn others_than_the_best() -> Vec<pulp::Arch> {
        let mut others = vec![pulp::Arch::Scalar];
        #[cfg(target_arch = "x86_64")]
        others.extend(pulp::x86::V3::try_new().map(pulp::Arch::V3));
        others
    }

    #[test]
    fn instruction_sets_agree() {
        let compute = |dtype| [passes(dtype), others(dtype)].concat();
        for (dtype, tolerance) in [(DType::F64, 1e-11), (DType::F32, 1e-4)] {
            let expected = on(pulp::Arch::new(), || compute(dtype));
            for arch in others_than_the_best() {
                let all = on(arch, || compute(dtype));
                for ((what, expected), (_, found)) in expected.iter().zip(all) {
                    let largest = expected.iter().fold(0f64, |most, x| most.max(x.abs()));
                    for (e, f) in expected.iter().zip(&found) {
                        assert!(
                            (e - f).abs() <= tolerance * largest,
                            "{what} {dtype:?} on {arch:?}: {f}, not {e}"
                        );
                    }
                }
            }
        }
    }
}
