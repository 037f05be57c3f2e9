//! Samples in another order, as the passes read them.

use super::{
    aligned::Aligned,
    layout::{Vectors, squared_length, strip},
    real::Real,
    samples::{Residuals, Samples},
};
use crate::parallel::for_each_chunk;

pub(super) struct Sorted<'a, T> {
    pub samples: Samples<'a, T>,
    /// The sample that comes to each place.
    order: Vec<usize>,
}

impl<'a, T: Real> Sorted<'a, T> {
    /// Sorts by label, so that sums by label are sums over neighbours, or leaves samples as they are.
    pub fn new(samples: Samples<'a, T>, by_label: bool) -> Self {
        let order = match samples.residuals {
            Residuals::Labels(labels) if by_label => in_order(labels, samples.d),
            _ => (0..samples.count()).collect(),
        };
        Self { samples, order }
    }

    pub fn point(&self, place: usize) -> &'a [T] {
        let Samples { points, d, .. } = self.samples;
        &points[self.order[place] * d..][..d]
    }

    /// The points times a factor, in strips too if wanted.
    pub fn points(&self, factor: f64, in_strips: bool) -> Vectors<T> {
        let factor = T::new(factor);
        let (n, d) = (self.order.len(), self.samples.d);
        Vectors::new(n, d, in_strips, |place, row: &mut [T]| {
            let numbers = row.iter_mut().zip(self.point(place));
            numbers.for_each(|(x, p)| *x = p.times(factor));
        })
    }

    /// `−½|x|²` of the points, padded.
    pub fn halves(&self) -> Aligned<T> {
        let (n, d) = (self.order.len(), self.samples.d);
        let mut halves = Aligned::zeros(n.next_multiple_of(strip::<T>()));
        for_each_chunk(&mut halves[..n], 1, d, |(place, half)| {
            half[0] = T::new(-0.5 * squared_length(self.point(place)));
        });
        halves
    }

    /// The residuals, in strips too if wanted.
    pub fn residuals(&self, in_strips: bool) -> Vectors<T> {
        let (n, m) = (self.order.len(), self.samples.residual_size());
        Vectors::new(n, m, in_strips, |place, row: &mut [T]| {
            match self.samples.residuals {
                Residuals::Labels(labels) => {
                    let numbers = row.iter_mut().zip(self.point(place));
                    numbers.for_each(|(r, &p)| *r = T::new(0.0).minus(p));
                    let of_label = &mut row[labels[self.order[place]] as usize];
                    *of_label = of_label.plus(T::new(1.0));
                }
                Residuals::Rows { rows, m } => {
                    row.copy_from_slice(&rows[self.order[place] * m..][..m]);
                }
            }
        })
    }

    /// The labels, padded with the last; zeros where residuals are rows.
    pub fn labels(&self) -> Vec<u32> {
        let label = |&i: &usize| match self.samples.residuals {
            Residuals::Labels(labels) => labels[i],
            Residuals::Rows { .. } => 0,
        };
        let mut labels: Vec<u32> = self.order.iter().map(label).collect();
        let padded = labels.len().next_multiple_of(strip::<T>());
        labels.resize(padded, labels.last().copied().unwrap_or(0));
        labels
    }

    /// Writes rows of `d` numbers in the order of the samples; `write(place, row)` writes one.
    pub fn write(&self, rows: &mut [T], d: usize, write: impl Fn(usize, &mut [T]) + Sync + Send) {
        let mut places = vec![0; self.order.len()];
        for (place, &i) in self.order.iter().enumerate() {
            places[i] = place;
        }
        for_each_chunk(rows, d, 1, |(i, row)| write(places[i], row));
    }
}

/// The samples by their labels, each below `classes`, and by their numbers.
fn in_order(labels: &[u32], classes: usize) -> Vec<usize> {
    let mut next = vec![0; classes + 1];
    labels
        .iter()
        .for_each(|&label| next[label as usize + 1] += 1);
    for class in 0..classes {
        next[class + 1] += next[class];
    }
    let mut order = vec![0; labels.len()];
    for (i, &label) in labels.iter().enumerate() {
        let place = &mut next[label as usize];
        order[*place] = i;
        *place += 1;
    }
    order
}
