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
        layout::{Aligned, PaddedVectors, strip},
        real::{Real, with_real},
        similarity::similarities,
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
    let median: f64 = middle.iter().map(|distance| 0.5 * distance).sum();
    if median < *scales_of(dtype).0.start() {
        1.0
    } else {
        median
    }
}

/// Order statistics of the distances between all pairs `i < j` of points: for each rank `k`
/// (0-based) the `k`-th smallest distance, exactly. It is computed on the host, wherever the points are.
///
/// # Shapes
///
/// - points: `[n, d]`, f32 or f64; distances are computed in this dtype
///
/// Cost: `n²·d/2` operations, memory for all `n²/2` distances.
///
/// # Panics
///
/// If a rank is not below the number of pairs `n(n−1)/2`, or a point is not finite.
pub fn distance_order_statistics(
    points: &Tensor<2>,
    distance: Distance,
    ranks: &[u64],
) -> Vec<f64> {
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
            let mut sums = sums_of_pairs(points, d, distance.sum(), size);
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

/// Blocks of fewer points are done pair by pair.
const SMALL_BLOCK: usize = 32;

/// The sums over coordinates that distances are functions of, for all pairs `i < j` within the first `⌊n/size⌋`
/// blocks of consecutive points.
///
/// - points: `[n, d]`, finite; a sum that overflows is infinite
fn sums_of_pairs<T: Real>(points: &[T], d: usize, sum: CoordinateSum, size: usize) -> Vec<T> {
    let mut sums = Vec::with_capacity(points.len() / d / size * (size * (size - 1) / 2));
    for block in points.chunks_exact(size * d) {
        if size < SMALL_BLOCK {
            let point = |i: usize| block[i * d..][..d].iter();
            for (i, j) in (1..size).flat_map(|j| (0..j).map(move |i| (i, j))) {
                let differences = point(i).zip(point(j)).map(|(x, y)| x.to_f64() - y.to_f64());
                sums.push(T::new(sum.of(differences)));
            }
        } else {
            add_block(block, d, sum, &mut sums);
        }
    }
    sums
}

/// Adds the sums of the pairs of a block, strip by strip.
fn add_block<T: Real>(block: &[T], d: usize, sum: CoordinateSum, sums: &mut Vec<T>) {
    let (n, width) = (block.len() / d, strip::<T>());
    let vectors = &PaddedVectors::new(block, d);
    let strips = n.div_ceil(width);
    let of_rows = |strip: usize| {
        let mut scratch = Aligned::zeros(width * width);
        let mut pairs = Vec::with_capacity(width * (n - strip * width));
        for column in strip..strips {
            let rows = strip * width..(strip + 1) * width;
            similarities(
                sum.into(),
                (vectors, rows.clone()),
                (vectors, column),
                &mut scratch,
            );
            let columns = column * width..n.min((column + 1) * width);
            for (i, line) in rows.zip(scratch.chunks_exact(width)) {
                let first = (i + 1).max(columns.start).min(columns.end);
                pairs.extend_from_slice(&line[first - columns.start..columns.len()]);
            }
        }
        pairs
    };
    if threads_for(n, d, strips) == 1 {
        (0..strips).for_each(|strip| sums.extend(of_rows(strip)));
    } else {
        let all = map(strips, &of_rows);
        all.iter().for_each(|pairs| sums.extend_from_slice(pairs));
    }
}
