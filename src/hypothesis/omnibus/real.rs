use rand::Rng;

use super::{
    aspect::{
        Aspect, BANDWIDTHS, BY_LANDMARKS, Deviation, LANDMARKS, Observed, Omnibus, OmnibusPlan,
        TestedAspect, of_kernel, short,
    },
    combine::Family,
    step::PARTS,
    studentised::Studentised,
    transforms::{Numbers, Transforms},
};
use crate::{
    distribution::{Geometry, Marginals},
    error::Result,
    hypothesis::engine::{low_rank_of_targets, with_bandwidth_of_some},
    kernel::{Kernel, RealKernel, TargetKernel},
};

impl<P: Marginals + Geometry> Omnibus for P
where
    RealKernel: TargetKernel<P::Unconditional>,
{
    fn aspects<'a>(
        &'a self,
        weight: f64,
        kernel: Kernel,
        _exact: usize,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, Vec<Vec<f64>>>> {
        let (plain, _) = self.parted();
        let mut plan = OmnibusPlan::new();
        plan.push(
            Transforms::new(self, weight, rng),
            tested(self.dimensions()),
        );
        if self.len() > 1 {
            let kernel = with_bandwidth_of_some(kernel, &plain, rng)?;
            let skce = low_rank_of_targets((self, weight), kernel, &BANDWIDTHS, LANDMARKS, rng)?;
            plan.push(skce, of_kernel(kernel, BY_LANDMARKS, self.compared()));
        } else {
            kernel.validate()?; // there are no pairs
        }
        Ok(plan)
    }
}

/// An aspect of real targets; of a coordinate where it has one.
///
/// `u` are the transforms, `z = Φ⁻¹(u)` the normal scores. A sentence names the quantity that the test is about, so
/// that it is true whatever else is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum RealAspect {
    Location(usize),
    Spread(usize),
    Coverage(usize),
    LocationTrend(Moment, usize),
    SpreadTrend(Moment, usize),
    Correlation,
    Tails,
    Furthest,
    Transforms,
}

/// A moment of predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    Mean,
    Deviation,
}

/// The aspects of `d` coordinates, each at its place among the numbers of [`Transforms`].
fn tested(d: usize) -> Vec<TestedAspect> {
    let mut at = 0;
    let mut tested = Vec::new();
    for aspect in RealAspect::all(d) {
        tested.push(TestedAspect {
            width: aspect.width(),
            deviation: aspect.deviation(),
            family: aspect.family(),
            ..TestedAspect::new(
                Aspect::Real {
                    aspect,
                    dimensions: d,
                },
                at,
            )
        });
        at += aspect.width();
    }
    tested
}

impl RealAspect {
    /// Those of `d` coordinates.
    pub fn all(d: usize) -> Vec<Self> {
        let of_coordinate = |c: usize| {
            [
                Self::Location(c),
                Self::Spread(c),
                Self::Coverage(c),
                Self::LocationTrend(Moment::Mean, c),
                Self::LocationTrend(Moment::Deviation, c),
                Self::SpreadTrend(Moment::Mean, c),
                Self::SpreadTrend(Moment::Deviation, c),
            ]
        };
        let mut aspects: Vec<Self> = (0..d).flat_map(of_coordinate).collect();
        if d > 1 {
            aspects.push(Self::Correlation);
        }
        aspects.extend([Self::Tails, Self::Furthest, Self::Transforms]);
        aspects
    }

    /// The numbers of the aspect, the estimate first.
    pub fn numbers(self, of: &Numbers) -> Vec<f64> {
        let both = |Studentised {
                        estimate,
                        deviation,
                    }| vec![estimate, deviation];
        match self {
            Self::Location(c) => both(of.coordinates[c].location),
            Self::Spread(c) => {
                let Studentised {
                    estimate,
                    deviation,
                } = of.coordinates[c].spread;
                vec![estimate, deviation, of.coordinates[c].factor]
            }
            Self::Coverage(c) => vec![of.coordinates[c].coverage],
            Self::LocationTrend(by, c) => both(of.coordinates[c].location_trends[by as usize]),
            Self::SpreadTrend(by, c) => both(of.coordinates[c].spread_trends[by as usize]),
            Self::Correlation => {
                let numbers = of.correlation.as_ref().expect("several coordinates");
                let Studentised {
                    estimate,
                    deviation,
                } = numbers.excess;
                let [a, b] = numbers.pair.map(|coordinate| coordinate as f64);
                vec![estimate, deviation, numbers.found, a, b]
            }
            Self::Tails => vec![of.tails],
            Self::Furthest => {
                let furthest = &of.furthest;
                vec![furthest.statistic, furthest.at as f64, furthest.probability]
            }
            Self::Transforms => {
                let shares = &of.shares;
                vec![shares.statistic, shares.part as f64, shares.share]
            }
        }
    }

    /// The number of [`numbers`](Self::numbers).
    pub fn width(self) -> usize {
        match self {
            Self::Coverage(_) | Self::Tails => 1,
            Self::Spread(_) | Self::Furthest | Self::Transforms => 3,
            Self::Correlation => 5,
            _ => 2,
        }
    }

    fn deviation(self) -> Deviation {
        match self {
            // a constant factor
            Self::Coverage(_) => Deviation::Known(1.0),
            Self::Tails | Self::Furthest | Self::Transforms => Deviation::None,
            _ => Deviation::OfSet,
        }
    }

    /// Those of all coordinates count as one.
    fn family(self) -> Option<Family> {
        match self {
            Self::Location(_) => Some(Family::Location),
            Self::Spread(_) => Some(Family::Spread),
            Self::Coverage(_) => Some(Family::Coverage),
            Self::LocationTrend(..) => Some(Family::LocationTrend),
            Self::SpreadTrend(..) => Some(Family::SpreadTrend),
            _ => None,
        }
    }

    /// The name, with the number of the coordinate where there are several.
    pub fn name(self, d: usize) -> String {
        let (name, coordinate) = match self {
            Self::Location(c) => ("location", Some(c)),
            Self::Spread(c) => ("spread", Some(c)),
            Self::Coverage(c) => ("coverage", Some(c)),
            Self::LocationTrend(Moment::Mean, c) => ("location_by_mean", Some(c)),
            Self::LocationTrend(Moment::Deviation, c) => ("location_by_deviation", Some(c)),
            Self::SpreadTrend(Moment::Mean, c) => ("spread_by_mean", Some(c)),
            Self::SpreadTrend(Moment::Deviation, c) => ("spread_by_deviation", Some(c)),
            Self::Correlation => ("correlation", None),
            Self::Tails => ("tails", None),
            Self::Furthest => ("furthest_target", None),
            Self::Transforms => ("transforms", None),
        };
        match coordinate {
            Some(c) if d > 1 => format!("{name}_{c}"),
            _ => name.into(),
        }
    }

    /// The finding.
    pub fn finding(self, d: usize, data: &Observed) -> String {
        let estimate = data.estimate();
        match self {
            Self::Location(c) => format!(
                "targets{} are too {}: on average at level {:.3} of their predictions, 0.5 if calibrated",
                of(c, d),
                data.either("high", "low"),
                0.5 + estimate,
            ),
            Self::Spread(c) => format!(
                "predictions{} are too {}: after a common shift, errors are {} times as large as their \
                 standard deviations say",
                of(c, d),
                data.either("narrow", "wide"),
                short(data.numbers[2]),
            ),
            Self::Coverage(c) => format!(
                "central 50 % intervals{} cover {} of the targets",
                of(c, d),
                percent(0.5 + estimate),
            ),
            Self::LocationTrend(by, c) => format!(
                "targets{} are higher in their predictions where {}: the levels have a correlation of {:.2} \
                 with the ranks of the predicted {}, 0 if calibrated",
                of(c, d),
                by.either(data),
                estimate,
                by.plural(),
            ),
            Self::SpreadTrend(by, c) => format!(
                "targets{} are further outside where {}: the squared normal scores have a correlation of \
                 {:.2} with the ranks of the predicted {}, 0 if calibrated",
                of(c, d),
                by.either(data),
                estimate,
                by.plural(),
            ),
            Self::Correlation => {
                let (found, pair) = (data.numbers[2], [data.numbers[3], data.numbers[4]]);
                format!(
                    "errors of coordinates {} and {} are correlated otherwise than predicted: their normal \
                     scores have a correlation of {found:.2}, {:.2} if calibrated",
                    pair[0],
                    pair[1],
                    // no minus before 0.00
                    (100.0 * (found - estimate)).round() / 100.0 + 0.0,
                )
            }
            Self::Tails => format!(
                "targets are far outside more often than predicted: the mean squared normal score is {}, \
                 1 if calibrated",
                short(1.0 + estimate),
            ),
            Self::Furthest => {
                let (at, probability) = (data.numbers[1] as usize, data.numbers[2]);
                let row = data
                    .row
                    .map_or(String::new(), |row| format!(" of row {row}"));
                // the least number of the transform is a floor
                let probability = if probability < 1e-300 {
                    "less than 1e-300".into()
                } else {
                    format!("{probability:.1e}")
                };
                format!(
                    "the target{}{row} is too far outside: its prediction gives a probability of {probability} \
                     to targets as far out",
                    of(at % d, d),
                )
            }
            Self::Transforms => {
                let (part, share) = (data.numbers[1], data.numbers[2]);
                let edge = |part: f64| part / PARTS as f64;
                format!(
                    "shares of targets between levels of the predictions differ from those predicted: \
                     most between {:.2} and {:.2}, with {} instead of {}",
                    edge(part),
                    edge(part + 1.0),
                    percent(share),
                    percent(edge(1.0)),
                )
            }
        }
    }
}

impl Moment {
    /// Where a positive, or a negative, trend has the larger values.
    fn either(self, data: &Observed) -> &'static str {
        match self {
            Self::Mean => data.either("predictions are high", "predictions are low"),
            Self::Deviation => data.either("predictions are wide", "predictions are narrow"),
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Mean => "means",
            Self::Deviation => "deviations",
        }
    }
}

/// Which coordinate, where there are several.
fn of(c: usize, d: usize) -> String {
    if d > 1 {
        format!(" of coordinate {c}")
    } else {
        String::new()
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
