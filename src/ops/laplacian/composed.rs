use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::Slice,
};

/// Numbers in a tile.
const TILE: usize = 1 << 22;

/// `u_i = Σ_j a_j k_ij`: `[n]`.
pub(super) fn sum<B: Backend>(
    positions: FloatTensor<B>,
    weights: FloatTensor<B>,
    bandwidth: f64,
) -> FloatTensor<B> {
    let sums = tiles::<B>(positions, bandwidth).map(|tile| apply::<B>(tile.kernel, &weights));
    B::float_cat(sums.collect(), 0)
}

/// The gradients with respect to positions, `−(g_i S_i(a) + a_i S_i(g))/ν` with
/// `S_i(w) = Σ_j w_j sign(r_i − r_j) k_ij`, and to weights, `Σ_j g_j k_ij`: `[n]` each.
pub(super) fn gradient<B: Backend>(
    positions: FloatTensor<B>,
    weights: FloatTensor<B>,
    upstream: FloatTensor<B>,
    bandwidth: f64,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let (mut of_weights, mut of_upstream, mut to_weights) = (Vec::new(), Vec::new(), Vec::new());
    for tile in tiles::<B>(positions, bandwidth) {
        let signed = B::float_mul(B::float_sign(tile.difference), tile.kernel.clone());
        of_weights.push(apply::<B>(signed.clone(), &weights));
        of_upstream.push(apply::<B>(signed, &upstream));
        to_weights.push(apply::<B>(tile.kernel, &upstream));
    }
    let [of_weights, of_upstream, to_weights] =
        [of_weights, of_upstream, to_weights].map(|rows| B::float_cat(rows, 0)); // [n] each
    let slope = B::float_add(
        B::float_mul(upstream, of_weights),
        B::float_mul(weights, of_upstream),
    );
    let to_positions = B::float_mul_scalar(slope, (-bandwidth.recip()).into());
    (to_positions, to_weights)
}

/// A few rows of all pairs.
struct Tile<F> {
    /// `r_i − r_j`: `[t, n]`
    difference: F,
    /// `k_ij`: `[t, n]`
    kernel: F,
}

/// All pairs, a few rows at a time.
fn tiles<B: Backend>(
    positions: FloatTensor<B>,
    bandwidth: f64,
) -> impl Iterator<Item = Tile<FloatTensor<B>>> {
    let n = positions.shape()[0];
    let rows = (TILE / n).clamp(1, n);
    let column = B::float_reshape(positions.clone(), [n, 1].into());
    let row = B::float_reshape(positions, [1, n].into());
    (0..n).step_by(rows).map(move |start| {
        let here = [Slice::from(start..n.min(start + rows)), Slice::full()];
        let difference = B::float_sub(B::float_slice(column.clone(), &here), row.clone());
        let exponent = B::float_abs(difference.clone());
        let exponent = B::float_mul_scalar(exponent, (-bandwidth.recip()).into());
        Tile {
            difference,
            kernel: B::float_exp(exponent),
        }
    })
}

/// `Σ_j M_ij w_j`: `[t, n]` and `[n]` to `[t]`.
fn apply<B: Backend>(matrix: FloatTensor<B>, weights: &FloatTensor<B>) -> FloatTensor<B> {
    let [t, n] = matrix.shape().dims();
    let weights = B::float_reshape(weights.clone(), [1, n].into());
    let sums = B::float_sum_dim(B::float_mul(matrix, weights), 1); // [t, 1]
    B::float_reshape(sums, [t].into())
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::{
        backend::{Flex, ops::FloatTensorOps},
        tensor::TensorData,
    };

    use super::{super::host, *};

    /// The composition is what runs without the sweeps: here on the same backend as these, with
    /// ties, for one tile and for several.
    #[test]
    fn composition_and_sweeps_agree() {
        for n in [1, 2, 37, 2501] {
            assert_eq!(n > 37, n * n > TILE);
            let wave = |rate: f64| move |i: usize| (i as f64 * rate).sin();
            let positions = |i: usize| (wave(0.7)(i) * 64.0).round() / 64.0;
            let tensor = |f: &dyn Fn(usize) -> f64| {
                let numbers: Vec<f64> = (0..n).map(f).collect();
                let data = TensorData::new(numbers, [n]);
                <Flex as FloatTensorOps<Flex>>::float_from_data(data, &Default::default())
            };
            let [r, a, g] = [tensor(&positions), tensor(&wave(1.3)), tensor(&wave(2.9))];
            for bandwidth in [0.01, 0.4] {
                let (r, a, g) = (|| r.clone(), || a.clone(), || g.clone());
                let (to_r, to_a) = gradient::<Flex>(r(), a(), g(), bandwidth);
                let found = [sum::<Flex>(r(), a(), bandwidth), to_r, to_a];
                let (to_r, to_a) = host::gradient::<Flex>(r(), a(), g(), bandwidth);
                let expected = [host::sum::<Flex>(r(), a(), bandwidth), to_r, to_a];
                for (found, expected) in found.into_iter().zip(expected) {
                    let numbers =
                        |x: FloatTensor<Flex>| -> Vec<f64> { x.into_data().into_vec().unwrap() };
                    let (found, expected) = (numbers(found), numbers(expected));
                    assert_eq!((found.len(), expected.len()), (n, n));
                    let largest = expected.iter().fold(0.0f64, |a, x| a.max(x.abs()));
                    for (i, (f, e)) in found.iter().zip(&expected).enumerate() {
                        assert!(
                            (f - e).abs() <= 1e-12 * largest,
                            "n = {n}, bandwidth {bandwidth}, entry {i}: {f}, not {e}"
                        );
                    }
                }
            }
        }
    }
}
