//! Medians of the distances between pairs of points. The distances of up to [`LARGEST`] points are compared exactly;
//! of more, those of a fixed random subsample of so many are, which is the same on every backend and for any number
//! of threads. So memory does not grow with the number of pairs.

mod composed;

use std::ops::Range;

use burn::tensor::{DType, Tensor};
use rand::{SeedableRng, rngs::StdRng, seq::index};

pub(crate) use composed::median_of_pairs;

use super::{
    backends::is_on_host,
    simd::{
        arch::Arch,
        real::{Real, with_real},
    },
};
use crate::{
    error::scales_of,
    host::{Memory, int_tensor},
    parallel::{map, threads_for},
    radial::{CoordinateSum, Distance},
    tiles::{SIDE, upper_tiles},
};

/// The most points whose distances are all compared. The median of a subsample of so many has a relative standard
/// error of a few thousandths.
pub(crate) const LARGEST: usize = 4096;

/// The blocks, and the points of each, whose distances are compared.
struct Subsample {
    blocks: Vec<usize>,
    points: Vec<usize>,
}

impl Subsample {
    /// As many whole blocks as have no more pairs than [`LARGEST`] points in one block; of a larger block, so many
    /// points. None if all are compared.
    fn new(blocks: usize, size: usize) -> Option<Self> {
        let pairs = |points: usize| points * points.saturating_sub(1) / 2;
        let most = pairs(LARGEST) / pairs(size.min(LARGEST)).max(1);
        (size > LARGEST || blocks > most).then(|| Self {
            blocks: drawn(blocks, most),
            points: drawn(size, LARGEST),
        })
    }
}

/// At most so many of the numbers `0..n` in increasing order: the same ones on every call.
fn drawn(n: usize, most: usize) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    let mut drawn = index::sample(&mut StdRng::seed_from_u64(0), n, most).into_vec();
    drawn.sort_unstable();
    drawn
}

/// The rows that stand for `n` points in a median over all pairs. None if all of them do.
pub(crate) fn subsample(n: usize) -> Option<Vec<usize>> {
    (n > LARGEST).then(|| drawn(n, LARGEST))
}

/// The median of the distances between the pairs within blocks of `size` points, `[1]` and detached: the
/// mean of the two middle ones, and 1 where that is 0 or not finite or some point is not. Exact on the
/// host, otherwise up to rounding, and nothing is read back. Of many points a subsample is taken.
#[doc(hidden)]
pub fn median_of_blocks(points: Tensor<2>, distance: Distance, size: usize) -> Tensor<1> {
    let ([n, d], dtype) = (points.dims(), points.dtype());
    let (mut blocks, mut size, mut points) = (n / size, size, points.detach());
    if let Some(some) = Subsample::new(blocks, size) {
        let rows = |block: usize| some.points.iter().map(move |point| block * size + point);
        let rows: Vec<usize> = some.blocks.iter().flat_map(|&block| rows(block)).collect();
        points = points.clone().select(0, int_tensor(rows, &points.device()));
        (blocks, size) = (some.blocks.len(), some.points.len());
    }
    if !is_on_host(&points) {
        let points = points.slice(0..blocks * size).reshape([blocks, size, d]);
        return median_of_pairs(distance.between(points.clone(), points), None);
    }
    let ranks = middle_ranks((blocks * (size * (size - 1) / 2)) as u64);
    // distances may overflow where points do not
    let largest = dtype.finfo().expect("a float tensor").max;
    let median = within_blocks(&points, distance, size, &ranks)
        .map(|middle| mean_or_one(&middle, dtype))
        .filter(|&median| median <= largest);
    Tensor::from_data([median.unwrap_or(1.0)], (&points.device(), dtype))
}

/// The ranks of the two middle ones of so many numbers, or of the middle one twice.
pub(crate) fn middle_ranks(count: u64) -> [u64; 2] {
    [(count - 1) / 2, count / 2]
}

/// The mean of two middle distances, 1 if it is 0 or so small that it is no scale of a kernel in this dtype.
pub(crate) fn mean_or_one(middle: &[f64], dtype: DType) -> f64 {
    match middle.iter().map(|distance| 0.5 * distance).sum::<f64>() {
        median if median < *scales_of(dtype).0.start() => 1.0,
        median => median,
    }
}

/// For each rank (0-based) the distance of that rank among all pairs `i < j`, computed on the host in
/// f32 or f64, wherever the points are.
///
/// # Panics
///
/// If a rank is not below the number of pairs `n(n−1)/2`, or a point is not finite.
pub(crate) fn order_statistics(points: &Tensor<2>, distance: Distance, ranks: &[u64]) -> Vec<f64> {
    if ranks.is_empty() {
        return Vec::new();
    }
    let n = points.dims()[0];
    let points = match points.dtype() {
        DType::F64 => points.clone(),
        _ => points.clone().cast(DType::F32),
    };
    let pairs = (n * n.saturating_sub(1) / 2) as u64;
    for &rank in ranks {
        assert!(rank < pairs, "rank {rank} of {pairs} distances");
    }
    let found = within_blocks(&points, distance, n, ranks);
    found.unwrap_or_else(|| panic!("distances between points that are not finite"))
}

/// For each rank the distance of that rank among the pairs within blocks of so many points, `[n, d]` in f32 or f64.
/// None if some point is not finite.
fn within_blocks(
    points: &Tensor<2>,
    distance: Distance,
    size: usize,
    ranks: &[u64],
) -> Option<Vec<f64>> {
    let (d, memory) = (points.dims()[1], Memory::of(points.clone()));
    with_real!(points.dtype(), T => {
        let points = memory.slice::<T>();
        let is_finite = points.iter().all(|x| x.to_f64().is_finite());
        is_finite.then(|| {
            let mut sums = sums_of_pairs(points, d, distance, size);
            let found = selected(&mut sums, ranks).into_iter();
            found.map(|sum| distance.of_sum(sum.to_f64())).collect()
        })
    })
}

/// The numbers of some ranks (0-based): among those of a bracket that a sample of the numbers gives, or among all
/// where the bracket misses a rank.
fn selected<T: Real>(numbers: &mut [T], ranks: &[u64]) -> Vec<T> {
    let [first, last] = [ranks[0], ranks[ranks.len() - 1]].map(|rank| rank as usize);
    let step = numbers.len().isqrt() / 8 + 1;
    let mut sample: Vec<T> = numbers.iter().copied().step_by(step).collect();
    sample.sort_unstable_by(T::total_cmp);
    // four standard deviations of the rank of a median to both sides
    let margin = 2 * sample.len().isqrt() + 2;
    let [low, high] = [
        (first / step).saturating_sub(margin),
        (last / step + margin).min(sample.len() - 1),
    ];
    let [low, high] = [low, high].map(|place| sample[place.min(sample.len() - 1)]);
    let below: usize = numbers.iter().map(|&x| usize::from(x < low)).sum();
    let is_inside = |x: &T| *x >= low && *x <= high;
    let mut inside: Vec<T> = numbers.iter().copied().filter(is_inside).collect();
    let has = |rank: &u64| (below..below + inside.len()).contains(&(*rank as usize));
    let (numbers, below) = if ranks.iter().all(has) {
        (&mut inside[..], below)
    } else {
        (numbers, 0)
    };
    let number = |rank: &u64| {
        let place = *rank as usize - below;
        *numbers.select_nth_unstable_by(place, T::total_cmp).1
    };
    ranks.iter().map(number).collect()
}

/// The median of the distances between all pairs `i < j` of `n` points: the mean of the two middle ones where their
/// number is even, and 1 if it is 0 or there are no pairs. A NaN counts as infinity.
///
/// - n: at most [`LARGEST`], see [`subsample`]
/// - dtype: of the points
/// - tile: the distances between consecutive points and others, row by row
pub(crate) fn median_of_tiles(
    n: usize,
    dtype: DType,
    tile: impl Fn(Range<usize>, Range<usize>) -> Vec<f64>,
) -> f64 {
    let mut distances = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    for pairs in upper_tiles(n, SIDE) {
        let (rows, columns) = (pairs.rows, pairs.columns);
        let found = tile(rows.clone(), columns.clone());
        let places = rows.flat_map(|i| columns.clone().map(move |j| (i, j)));
        let counted = found.into_iter().zip(places).filter(|(_, (i, j))| i < j);
        let infinite_if_nan = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        distances.extend(counted.map(|(x, _)| infinite_if_nan(x)));
    }
    median_of(distances, dtype)
}

/// The median of distances as a bandwidth; 1 if there are none.
fn median_of(mut distances: Vec<f64>, dtype: DType) -> f64 {
    if distances.is_empty() {
        return 1.0;
    }
    let ranks = middle_ranks(distances.len() as u64);
    mean_or_one(&selected(&mut distances, &ranks), dtype)
}

/// Rows of pairs that are computed by one thread.
const ROWS: usize = 64;

/// The sums over coordinates that distances are functions of, for all pairs `i < j` within the first `⌊n/size⌋`
/// blocks of consecutive points, row by row.
///
/// - points: `[n, d]`, finite; a sum that overflows is infinite
fn sums_of_pairs<T: Real>(points: &[T], d: usize, distance: Distance, size: usize) -> Vec<T> {
    let n = points.len() / d / size * size;
    // [block, d, size]: the points of a block side by side, for loops that the compiler makes vectors of
    let place = |k: usize| (k / (size * d) * size + k % size) * d + k / size % d;
    let columns: Vec<T> = (0..n * d).map(|k| points[place(k)]).collect();
    let rows = |first: usize| {
        let mut all = Vec::with_capacity(ROWS * (size - first % size));
        for row in first..n.min(first + ROWS) {
            let (block, i) = (&columns[row / size * size * d..][..size * d], row % size);
            let start = all.len();
            all.resize(start + size - i - 1, T::new(0.0));
            add_differences(
                block.chunks_exact(size),
                i,
                distance.sum(),
                &mut all[start..],
            );
        }
        all
    };
    let parts = n.div_ceil(ROWS);
    if threads_for(n.min(size), d, parts) == 1 {
        (0..parts).flat_map(|part| rows(part * ROWS)).collect()
    } else {
        map(parts, &|part| rows(part * ROWS)).concat()
    }
}

/// Adds the magnitudes or the squares of the differences between point `i` and those after it, of each coordinate.
fn add_differences<'a, T: Real>(
    columns: impl Iterator<Item = &'a [T]>,
    i: usize,
    sum: CoordinateSum,
    sums: &mut [T],
) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for column in columns {
                let x = column[i];
                let pairs = sums.iter_mut().zip(&column[i + 1..]);
                match sum {
                    CoordinateSum::Magnitudes => {
                        for (sum, &y) in pairs {
                            let magnitude = if x < y { y.minus(x) } else { x.minus(y) };
                            *sum = sum.plus(magnitude);
                        }
                    }
                    CoordinateSum::Squares => {
                        for (sum, &y) in pairs {
                            let difference = x.minus(y);
                            *sum = sum.plus(difference.times(difference));
                        }
                    }
                }
            }
        },
    );
}
