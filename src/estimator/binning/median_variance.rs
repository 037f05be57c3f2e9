use crate::parallel;

/// Points in row-major order, and their dimension.
type Points<'a> = (&'a [f64], usize);

/// Parts of at least `minimum` samples, split at medians for as long as that is possible.
///
/// - rounding: relative difference up to which a number is equal to a median
pub(super) fn partition(points: Points, minimum: usize, rounding: f64) -> Vec<Vec<usize>> {
    let n = points.0.len() / points.1;
    parts(points, minimum, rounding, (0..n).collect())
}

fn parts(points: Points, minimum: usize, rounding: f64, rows: Vec<usize>) -> Vec<Vec<usize>> {
    let (below, rest) = split(points, rounding, &rows);
    if below.len() < minimum || rest.len() < minimum {
        return vec![rows];
    }
    drop(rows);
    let parts = |rows| parts(points, minimum, rounding, rows);
    let (mut below, rest) = rayon::join(|| parts(below), || parts(rest));
    below.extend(rest);
    below
}

/// The rows below the median of the coordinate of largest variance, and the others. The median of
/// an even number of values is the upper one of the middle two: nothing lies between them. Values that differ from it
/// by rounding alone are not below it.
fn split((points, dimension): Points, rounding: f64, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let spread = sums_of_squares(points, dimension, rows);
    // two classes vary alike: rounding, hence the order of the samples, must not decide
    let largest = spread.iter().copied().fold(0.0, f64::max) * (1.0 - 1e-10);
    let coordinate = spread.iter().position(|&s| s >= largest).expect("finite");
    let values = rows.iter().map(|&row| points[row * dimension + coordinate]);
    let mut sorted: Vec<f64> = values.collect();
    let middle = rows.len() / 2;
    let median = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
    let least = median - rounding * median.abs();
    rows.iter()
        .partition(|&&row| points[row * dimension + coordinate] < least)
}

/// `Σ_i (x_ic − x̄_c)²` of each coordinate `c`.
fn sums_of_squares(points: &[f64], dimension: usize, rows: &[usize]) -> Vec<f64> {
    let point = |i: usize| &points[rows[i] * dimension..][..dimension];
    let [mut mean] = parallel::sums(rows.len(), dimension, |i, [sums]| {
        sums.iter_mut().zip(point(i)).for_each(|(sum, x)| *sum += x);
    });
    mean.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
    let [squares] = parallel::sums(rows.len(), dimension, |i, [sums]| {
        let pairs = sums.iter_mut().zip(point(i)).zip(&mean);
        pairs.for_each(|((sum, x), mean)| *sum += (x - mean) * (x - mean));
    });
    squares
}
