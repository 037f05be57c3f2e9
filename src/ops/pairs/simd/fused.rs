//! A pass for a kernel: over short or long vectors, with or without a gradient.

use super::{
    gradient::{Gradient, ValueOnly},
    layout::LONG,
    long::{Exponents, Long, LongPass, LongSlopes, Separations},
    pass::Pass,
    radial::Radial,
    real::Real,
    samples::{Gradients, Residuals, Samples},
    short::Short,
    similarity::Coordinate,
    slope::Slopes,
    sorted::Sorted,
    weigh::Totals,
};

#[derive(Clone, Copy)]
pub(super) struct Fused<C> {
    pub radial: Radial,
    /// The coordinates' part of the separation.
    pub coordinate: C,
    /// How the gradient is summed.
    pub slopes: Slopes,
    /// Whether long vectors may take exponents from the inner products of residuals.
    pub from_residuals: bool,
}

impl<C> Fused<C> {
    pub fn new(radial: Radial, coordinate: C, slopes: Slopes) -> Self {
        Self {
            radial,
            coordinate,
            slopes,
            from_residuals: false,
        }
    }

    /// The sums over all pairs; writes the gradient if there is one.
    pub fn run<T: Real>(self, samples: Samples<T>, gradient: Option<Gradients<&mut [T]>>) -> Totals
    where
        C: Coordinate<T>,
    {
        let by_label = self.slopes == Slopes::Merged && gradient.is_some();
        let sorted = &Sorted::new(samples, by_label);
        if samples.d.max(samples.residual_size()) > LONG {
            self.long(sorted, gradient)
        } else {
            self.short(sorted, gradient)
        }
    }

    fn short<T: Real>(self, sorted: &Sorted<T>, gradient: Option<Gradients<&mut [T]>>) -> Totals
    where
        C: Coordinate<T>,
    {
        let samples = &sorted.samples;
        let points = &sorted.points(1.0, true).with_halves();
        let residuals = &sorted.residuals(true);
        let pass = Pass {
            n: samples.count(),
            points,
            residuals,
            radial: self.radial,
            coordinate: self.coordinate,
        };
        let Some(gradient) = gradient else {
            return pass.run(|| ValueOnly).0;
        };
        let signs;
        let summed = match self.slopes {
            Slopes::Signs => {
                signs = sorted.points(sign_scale(samples), true);
                &signs
            }
            _ => points,
        };
        let labels = sorted.labels();
        let apart = is_apart(samples);
        let (totals, sums) =
            pass.run(|| Short::new(self.slopes, &labels, summed, residuals, apart));
        sorted.write(gradient.points, samples.d, |place, row| {
            sums.write(place, sorted.point(place), row);
        });
        sorted.write(gradient.residuals, samples.residual_size(), |place, row| {
            sums.write_residual(place, row);
        });
        totals
    }

    fn long<T: Real>(self, sorted: &Sorted<T>, gradient: Option<Gradients<&mut [T]>>) -> Totals
    where
        C: Coordinate<T>,
    {
        let samples = &sorted.samples;
        let labels = &sorted.labels();
        let residuals = &sorted.residuals(false);
        let points = (!self.from_residuals).then(|| sorted.points(1.0, !C::PRODUCT).with_halves());
        let separations = match &points {
            Some(points) => Separations::Points(points, self.coordinate),
            None => Separations::Exponents(Exponents {
                labels,
                halves: sorted.halves(),
            }),
        };
        let pass = LongPass {
            n: samples.count(),
            residuals,
            radial: self.radial,
            separations,
        };
        let Some(gradient) = gradient else {
            return pass.run(None).0;
        };
        let summed;
        let slopes = match (self.slopes, &points) {
            (Slopes::Merged, _) => LongSlopes::Merged(labels),
            (Slopes::Differences, Some(points)) => LongSlopes::Differences(points),
            (Slopes::Differences, None) => {
                summed = sorted.points(1.0, false);
                LongSlopes::Differences(&summed)
            }
            (Slopes::Signs, _) => {
                summed = sorted.points(sign_scale(samples), false);
                LongSlopes::Signs(&summed)
            }
        };
        let (totals, sums) = pass.run(Some(&Long {
            slopes,
            residuals,
            apart: is_apart(samples),
        }));
        let sums = sums.expect("asked for");
        sorted.write(gradient.points, samples.d, |place, row| {
            sums.write(place, sorted.point(place), row);
        });
        sorted.write(gradient.residuals, samples.residual_size(), |place, row| {
            sums.write_residual(place, row);
        });
        totals
    }
}

/// What makes points so great that their differences exceed 1.
fn sign_scale<T: Real>(samples: &Samples<T>) -> f64 {
    T::HUGE / samples.largest().max(1.0)
}

/// Whether the gradient of the residuals is apart from that of the points.
fn is_apart<T>(samples: &Samples<T>) -> bool {
    matches!(samples.residuals, Residuals::Rows { .. })
}
