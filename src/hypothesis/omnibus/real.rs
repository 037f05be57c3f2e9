use rand::Rng;

use super::{
    aspect::{
        Aspect, BANDWIDTHS, BY_LANDMARKS, Deviation, LANDMARKS, Observed, Omnibus, OmnibusPlan,
        TestedAspect, hundredths, kernel_aspects, short,
    },
    combine::Family,
    step::PARTS,
    transforms::{Numbers, Transforms},
};
use crate::{
    distribution::{Geometry, Marginals},
    error::Result,
    hypothesis::engine::{Place, low_rank_of_targets, with_bandwidth_of_some},
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
            tested(self.dimensions(), weight > 0.0),
        );
        if self.len() > 1 {
            let kernel = with_bandwidth_of_some(kernel, &plain, rng)?;
            let skce = low_rank_of_targets((self, weight), kernel, &BANDWIDTHS, LANDMARKS, rng)?;
            let aspects = kernel_aspects(kernel, BY_LANDMARKS, self.compared());
            let one_family = |aspect| TestedAspect {
                family: Some(Family::Kernel),
                ..aspect
            };
            plan.push(skce, aspects.map(one_family));
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
fn tested(d: usize, are_draws: bool) -> Vec<TestedAspect> {
    let mut at = 0;
    let tested = |aspect: RealAspect| {
        let (deviation, family) = aspect.kind();
        at += aspect.width();
        let aspect_of_real = Aspect::Real {
            aspect,
            dimensions: d,
            are_draws,
        };
        TestedAspect {
            deviation,
            family,
            ..TestedAspect::new(aspect_of_real, at - aspect.width())
        }
    };
    RealAspect::all(d).into_iter().map(tested).collect()
}

impl RealAspect {
    /// All aspects of predictions of `d` coordinates.
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

    /// The estimate, then its standard deviation if that is found in the same targets.
    pub fn numbers(self, of: &Numbers) -> Vec<f64> {
        let studentised = match self {
            Self::Location(c) => of.coordinates[c].location,
            Self::Spread(c) => of.coordinates[c].spread,
            Self::LocationTrend(by, c) => of.coordinates[c].location_trends[by as usize],
            Self::SpreadTrend(by, c) => of.coordinates[c].spread_trends[by as usize],
            Self::Correlation => of.correlation.as_ref().expect("several coordinates").excess,
            Self::Coverage(c) => return vec![of.coordinates[c].coverage],
            Self::Tails => return vec![of.tails],
            Self::Furthest => return vec![of.furthest.statistic],
            Self::Transforms => return vec![of.shares.statistic],
        };
        vec![studentised.estimate, studentised.deviation]
    }

    /// The part of the data that the finding names.
    pub fn place(self, of: &Numbers) -> Option<Place> {
        let (furthest, shares) = (&of.furthest, &of.shares);
        Some(match self {
            Self::Spread(c) => Place::Errors {
                factor: of.coordinates[c].factor,
            },
            Self::Correlation => of.correlation.as_ref().map(|of| Place::Coordinates {
                pair: of.pair,
                correlation: of.found,
            })?,
            Self::Furthest => Place::Target {
                coordinate: furthest.at % of.coordinates.len(),
                probability: furthest.probability,
            },
            Self::Transforms => Place::Levels {
                part: shares.part,
                share: shares.share,
            },
            _ => return None,
        })
    }

    /// Whether it is a correlation with what is predicted.
    pub fn is_trend(self) -> bool {
        matches!(self, Self::LocationTrend(..) | Self::SpreadTrend(..))
    }

    /// The number of [`numbers`](Self::numbers).
    pub fn width(self) -> usize {
        1 + usize::from(self.kind().0 == Deviation::OfSet)
    }

    /// The deviation of the estimate, and the family: aspects of all coordinates count as one.
    pub fn kind(self) -> (Deviation, Option<Family>) {
        match self {
            Self::Location(_) => (Deviation::OfSet, Some(Family::Location)),
            Self::Spread(_) => (Deviation::OfSet, Some(Family::Spread)),
            // a constant factor
            Self::Coverage(_) => (Deviation::Known(1.0), Some(Family::Coverage)),
            Self::LocationTrend(..) => (Deviation::OfSet, Some(Family::LocationTrend)),
            Self::SpreadTrend(..) => (Deviation::OfSet, Some(Family::SpreadTrend)),
            Self::Correlation => (Deviation::OfSet, Some(Family::Correlation)),
            Self::Tails | Self::Furthest | Self::Transforms => (Deviation::None, None),
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
        let estimate = data.estimate;
        match (self, data.place) {
            (Self::Location(c), _) => format!(
                "targets{} are too {}: on average at level {:.3} of their predictions, 0.5 if calibrated",
                of(c, d),
                data.either("high", "low"),
                0.5 + estimate,
            ),
            (Self::Spread(c), Some(Place::Errors { factor })) => format!(
                "predictions{} are too {}: after a common shift, errors are {} times as large as their \
                 standard deviations say",
                of(c, d),
                data.either("narrow", "wide"),
                short(factor),
            ),
            (Self::Coverage(c), _) => format!(
                "central 50 % intervals{} cover {} of the targets",
                of(c, d),
                percent(0.5 + estimate),
            ),
            (Self::LocationTrend(by, c), _) => format!(
                "targets{} are higher in their predictions where {}: the levels have a correlation of {:.2} \
                 with the ranks of the predicted {}, {}",
                of(c, d),
                by.either(data),
                estimate,
                by.plural(),
                data.expected(),
            ),
            (Self::SpreadTrend(by, c), _) => format!(
                "targets{} are further outside where {}: the squared normal scores have a correlation of \
                 {:.2} with the ranks of the predicted {}, {}",
                of(c, d),
                by.either(data),
                estimate,
                by.plural(),
                data.expected(),
            ),
            (Self::Correlation, Some(Place::Coordinates { pair, correlation })) => format!(
                "errors of coordinates {} and {} are correlated otherwise than predicted: their normal \
                 scores have a correlation of {correlation:.2}, {:.2} if calibrated",
                pair[0],
                pair[1],
                hundredths(correlation - estimate),
            ),
            (Self::Tails, _) => format!(
                "targets are far outside more often than predicted: the mean squared normal score is {}, \
                 1 if calibrated",
                short(1.0 + estimate),
            ),
            (
                Self::Furthest,
                Some(Place::Target {
                    coordinate,
                    probability,
                }),
            ) => {
                let row = (data.row).map_or(String::new(), |row| format!(" of row {row}"));
                // the least number of the transform is a floor
                let probability = if probability < 1e-300 {
                    "less than 1e-300".into()
                } else {
                    format!("{probability:.1e}")
                };
                format!(
                    "the target{}{row} is too far outside: its prediction gives a probability of {probability} \
                     to targets as far out",
                    of(coordinate, d),
                )
            }
            (Self::Transforms, Some(Place::Levels { part, share })) => {
                let edge = |part: usize| part as f64 / PARTS as f64;
                format!(
                    "shares of targets between levels of the predictions differ from those predicted: \
                     most between {:.2} and {:.2}, with {} instead of {}",
                    edge(part),
                    edge(part + 1),
                    percent(share),
                    percent(edge(1)),
                )
            }
            _ => String::new(), // the evaluator gives each of them its place
        }
    }
}

impl Moment {
    /// The predictions that a trend is towards, by its sign.
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
