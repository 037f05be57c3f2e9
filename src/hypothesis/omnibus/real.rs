use rand::Rng;

use super::{
    aspect::{
        BANDWIDTHS, Deviation, LANDMARKS, Observed, Omnibus, OmnibusPlan, Sentence, TestedAspect,
        of_kernel, short,
    },
    step::PARTS,
    transforms::Transforms,
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
        plan.push(Transforms::new(self), aspects(self.dimensions()));
        if self.len() > 1 {
            let kernel = with_bandwidth_of_some(kernel, &plain, rng)?;
            let skce = low_rank_of_targets((self, weight), kernel, &BANDWIDTHS, LANDMARKS, rng)?;
            plan.push(skce, of_kernel(kernel, self.compared()));
        } else {
            kernel.validate()?; // there are no pairs
        }
        Ok(plan)
    }
}

/// The aspects of `d` coordinates, in the order of the numbers of [`Transforms`]. A coordinate is named where there
/// are several.
///
/// `u` are the transforms, `z = Φ⁻¹(u)` the normal scores, and `r` the errors in standard deviations of the
/// predictions. A sentence names the quantity that the test is about, so that it is true whatever else is wrong.
fn aspects(d: usize) -> Vec<TestedAspect> {
    let mut aspects: Vec<TestedAspect> = (0..d).flat_map(|c| of_coordinate(c, d)).collect();
    // mean z² less 1, to the upper side
    let tails = Sentence::new(|data| {
        format!(
            "targets are far outside more often than predicted: the mean squared normal score is {}, \
             1 if calibrated",
            short(1.0 + data.estimate()),
        )
    });
    aspects.push(TestedAspect::new("tails", 8 * d, tails));
    // −ln(N q) of the least probability q = 2 min(u, 1 − u) of N, its place, and q
    let furthest = Sentence::new(move |data| {
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
            "the target{}{row} is too far outside: its prediction gives a probability of {probability} to \
             targets as far out",
            of(at % d, d),
        )
    });
    // root of the sum of squared differences of the shares of u in equal parts, over those expected; the part with
    // the largest, and its share
    let shares = Sentence::new(|data| {
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
    });
    let named = [("furthest_target", furthest), ("transforms", shares)].into_iter();
    aspects.extend(named.enumerate().map(|(k, (name, sentence))| TestedAspect {
        width: 3,
        ..TestedAspect::new(name, 8 * d + 1 + 3 * k, sentence)
    }));
    aspects
}

/// What an aspect tells of a coordinate, from its numbers and the words for the coordinate.
type CoordinateSentence = fn(&Observed, &str) -> String;

/// The aspects of a coordinate, each a number and its standard deviation.
fn of_coordinate(c: usize, d: usize) -> impl Iterator<Item = TestedAspect> {
    let of = of(c, d);
    let aspects: [(&str, CoordinateSentence); 4] = [
        // mean u less ½
        ("location", |data, of| {
            format!(
                "targets{of} are too {}: on average at level {:.3} of their predictions, 0.5 if calibrated",
                data.either("high", "low"),
                0.5 + data.estimate(),
            )
        }),
        // ½ ln of the variance of r about their mean: a common shift leaves it alone
        ("spread", |data, of| {
            format!(
                "predictions{of} are too {}: after a common shift, errors are {} times as large as their \
                 standard deviations say",
                data.either("narrow", "wide"),
                short(data.estimate().exp()),
            )
        }),
        // mean |2u − 1| less ½
        ("middle", |data, of| {
            format!(
                "targets{of} are {} the middle of the predictions than predicted: on average a central \
                 interval of {} reaches them, 50 % if calibrated",
                data.either("further from", "closer to"),
                percent(0.5 + data.estimate()),
            )
        }),
        // correlation of z² with the ranks of the predicted means
        ("trend", |data, of| {
            format!(
                "targets{of} are further outside where predictions are {}: the squared normal scores have a \
                 correlation of {:.2} with the ranks of the predicted means, 0 if calibrated",
                data.either("high", "low"),
                data.estimate(),
            )
        }),
    ];
    aspects
        .into_iter()
        .enumerate()
        .map(move |(k, (name, sentence))| {
            let name = if d > 1 {
                format!("{name}_{c}")
            } else {
                name.into()
            };
            let of = of.clone();
            TestedAspect {
                width: 2,
                deviation: Deviation::OfSet,
                ..TestedAspect::new(
                    name,
                    8 * c + 2 * k,
                    Sentence::new(move |data| sentence(data, &of)),
                )
            }
        })
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
