/// Parts of at least `minimum` samples, split at medians for as long as that is possible.
pub(super) fn partition(points: &[f64], dimension: usize, minimum: usize) -> Vec<Vec<usize>> {
    let n = points.len() / dimension;
    let mut partition = Vec::new();
    let mut open = vec![(0..n).collect::<Vec<_>>()];
    while let Some(rows) = open.pop() {
        let (below, rest) = split(points, dimension, &rows);
        if below.len() >= minimum && rest.len() >= minimum {
            open.extend([rest, below]);
        } else {
            partition.push(rows);
        }
    }
    partition
}

/// The rows below the median of the coordinate of largest variance, and the others. The median of
/// an even number of values is the upper one of the middle two: nothing lies between them.
fn split(points: &[f64], dimension: usize, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let values = |c: usize| rows.iter().map(move |&row| points[row * dimension + c]);
    let spread: Vec<f64> = (0..dimension).map(|c| sum_of_squares(values(c))).collect();
    // two classes vary alike: rounding, hence the order of the samples, must not decide
    let largest = spread.iter().copied().fold(0.0, f64::max) * (1.0 - 1e-10);
    let coordinate = spread.iter().position(|&s| s >= largest).expect("finite");
    let mut sorted: Vec<f64> = values(coordinate).collect();
    let middle = rows.len() / 2;
    let median = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
    rows.iter()
        .partition(|&&row| points[row * dimension + coordinate] < median)
}

/// `Σ_i (x_i − x̄)²`.
fn sum_of_squares(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let (count, sum) = values
        .clone()
        .fold((0, 0.0), |(count, sum), x| (count + 1, sum + x));
    let mean = sum / f64::from(count);
    values.map(|x| (x - mean).powi(2)).sum()
}
