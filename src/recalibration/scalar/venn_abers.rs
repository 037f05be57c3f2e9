use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor},
};

use super::{
    closed_form_by_event,
    event::EventOutcomes,
    odds, recalibrated,
    table::{check_knots, knots_below},
};
use crate::{
    error::Result,
    estimator::Block,
    host::to_vec,
    recalibration::{
        FitTask, LogitFit,
        fitted::{Form, expect_classes, fitted_map},
        parameter::{Parameter, check_shape, parameter},
        task::NoDescent,
    },
};

/// Configuration of [`VennAbers`], which it fits.
#[derive(Config, Debug)]
#[must_use]
pub struct VennAbersConfig {}

fitted_map! {
    /// Inductive Venn–Abers predictor: two isotonic regressions of each prediction, one with it as a sample
    /// where the event occurs and one where not (Vovk, Petej, Fedorova: *Large-scale probabilistic predictors
    /// with and without guarantees of validity*, 2015).
    ///
    /// The [interval](Self::interval) has the probabilities `p₀ < p₁` of the two. One of them is perfectly
    /// calibrated if samples are exchangeable, whatever the distribution and the sample size: the one of what
    /// will occur. The recalibrated probability is `p₁/(1−p₀+p₁)`, which has the smallest regret of the log
    /// loss.
    ///
    /// A sample with a weight stands for so many in both regressions; the prediction itself has the mean weight of the
    /// samples of the fit. The guarantee is that of equal weights: else it holds for a prediction of the mean weight alone.
    ///
    /// For more than two classes each is an event against the others, and the probabilities are normalised.
    /// Fitted for every log-odds at once, `O(n log n)` except for blocks that are merged again. Another
    /// criterion than the log loss is an error. Nothing is kept, as for
    /// [`IsotonicRegression`](super::IsotonicRegression).
    VennAbers: VennAbersTable, "Venn-Abers predictor", VennAbersTable::template, logits
}

/// The parameters of [`VennAbers`], of `k` events with `l` knots, a power of two.
#[derive(Module, Debug)]
pub struct VennAbersTable {
    /// The log-odds of the fit, increasing, then numbers of at least 3·10³⁸: `[k, l]`.
    knots: Parameter<2>,
    /// `p₀` below each knot and at it: `[k, 2l]`.
    lower: Parameter<2>,
    /// `p₁` below each knot and at it: `[k, 2l]`.
    upper: Parameter<2>,
}

/// The probabilities of each event if it does not occur and if it does: `[n, k]` each, of class 1 for two
/// classes.
#[derive(Debug, Clone)]
pub struct VennAbersInterval {
    /// `p₀`.
    pub lower: Tensor<2>,
    /// `p₁`.
    pub upper: Tensor<2>,
}

/// Pooled neighbours, at one end of the groups.
#[derive(Debug, Clone, Copy)]
struct PooledGroups {
    samples: f64,
    hits: f64,
    /// The group at whose block the next one begins.
    next: Option<usize>,
}

impl PooledGroups {
    /// Whether the mean is at least that of another, in products that are exact of counts.
    fn reaches(&self, other: &Self) -> bool {
        self.hits * other.samples >= other.hits * self.samples
    }

    fn absorb(&mut self, other: Self) -> Option<usize> {
        self.samples += other.samples;
        self.hits += other.hits;
        other.next
    }
}

/// The isotonic regressions of all beginnings, or of all ends, of the groups: of each its last block, or its
/// first, from which the others follow.
fn regressions(groups: &[Block], of_ends: bool) -> Vec<PooledGroups> {
    let block = |group: &Block| PooledGroups {
        samples: group.weight,
        hits: group.hits,
        next: None,
    };
    let mut blocks: Vec<PooledGroups> = groups.iter().map(block).collect();
    let mut order: Vec<usize> = (0..groups.len()).collect();
    if of_ends {
        order.reverse();
    }
    for pair in order.windows(2) {
        let (mut block, mut next) = (blocks[pair[1]], Some(pair[0]));
        while let Some(beside) = next.map(|at| blocks[at]) {
            let pooled = if of_ends {
                block.reaches(&beside)
            } else {
                beside.reaches(&block)
            };
            if !pooled {
                break;
            }
            next = block.absorb(beside);
        }
        blocks[pair[1]] = PooledGroups { next, ..block };
    }
    blocks
}

/// The isotonic regressions of an event with one sample more.
struct Augmented<'a> {
    groups: &'a [Block],
    /// The weight of that sample.
    own: f64,
    beginnings: Vec<PooledGroups>,
    ends: Vec<PooledGroups>,
}

impl<'a> Augmented<'a> {
    fn new(event: &'a EventOutcomes, own: f64) -> Self {
        let groups = &event.groups;
        Self {
            groups,
            own,
            beginnings: regressions(groups, false),
            ends: regressions(groups, true),
        }
    }

    /// The value at the sample, which is among the samples of a group, or below it, and above all groups
    /// if there is none.
    fn value(&self, group: usize, among: bool, hit: bool) -> f64 {
        let mut block = PooledGroups {
            samples: self.own,
            hits: if hit { self.own } else { 0.0 },
            next: None,
        };
        if among {
            block.samples += self.groups[group].weight;
            block.hits += self.groups[group].hits;
        }
        let mut left = group.checked_sub(1);
        let mut right = Some(group + usize::from(among)).filter(|at| *at < self.groups.len());
        loop {
            let of = |blocks: &[PooledGroups], at: Option<usize>| at.map(|at| blocks[at]);
            if let Some(beside) = of(&self.beginnings, left).filter(|left| left.reaches(&block)) {
                left = block.absorb(beside);
            } else if let Some(beside) = of(&self.ends, right).filter(|right| block.reaches(right))
            {
                right = block.absorb(beside);
            } else {
                return block.hits / block.samples;
            }
        }
    }

    /// The values below each group and at it, then above all.
    fn values(&self, hit: bool) -> Vec<f64> {
        let count = self.groups.len();
        let of_group = |at: usize| [self.value(at, false, hit), self.value(at, true, hit)];
        let mut values: Vec<f64> = (0..count).flat_map(of_group).collect();
        values.push(self.value(count, false, hit));
        values
    }
}

/// The least knot that pads the others, finite in f32; what passes it has the last entries too.
const BEYOND: f64 = 3e38;

impl VennAbersTable {
    fn new(events: &[EventOutcomes], own: f64, device: &Device) -> Self {
        let longest = events.iter().map(|event| event.groups.len()).max();
        let length = (longest.unwrap_or(0) + 1).next_power_of_two();
        let [mut knots, mut lower, mut upper] = [const { Vec::new() }; 3];
        for event in events {
            let augmented = Augmented::new(event, own);
            knots.extend(event.groups.iter().map(|group| group.first));
            let last = knots.last().copied().unwrap_or(BEYOND);
            knots.resize(knots.len().next_multiple_of(length), last.max(BEYOND));
            for (all, hit) in [(&mut lower, false), (&mut upper, true)] {
                let values = augmented.values(hit);
                let last = values[values.len() - 1];
                all.extend(values);
                all.resize(all.len().next_multiple_of(2 * length), last);
            }
        }
        let parameter =
            |values: Vec<f64>, length| parameter(values, [events.len(), length], device);
        Self {
            knots: parameter(knots, length),
            lower: parameter(lower, 2 * length),
            upper: parameter(upper, 2 * length),
        }
    }

    /// The predictor of no samples: every probability is between 0 and 1.
    fn template(width: usize, device: &Device) -> Self {
        let events = odds::events(width);
        let table =
            |value, length| parameter(vec![value; events * length], [events, length], device);
        Self {
            knots: table(BEYOND, 1),
            lower: table(0.0, 2),
            upper: table(1.0, 2),
        }
    }

    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        recalibrated(logits, |scores| {
            let VennAbersInterval { lower, upper } = self.interval(scores);
            let odds = upper.log() - (-lower + 1.0).log();
            [odds::log_sigmoid(odds.clone()), odds::log_sigmoid(-odds)]
        })
    }

    fn interval(&self, scores: Tensor<2>) -> VennAbersInterval {
        let dtype = scores.dtype();
        let knots = self.knots.val().cast(dtype);
        let scores = scores.detach().transpose(); // [k, n]
        // a score beyond the padding has the last entries, as the padding
        let below = knots_below(&knots, &scores).clamp_max(knots.dims()[1] as i64 - 1);
        let at = knots.gather(1, below.clone()).equal(scores).int();
        let entry = below * 2 + at;
        let of = |values: &Parameter<2>| {
            values
                .val()
                .cast(dtype)
                .gather(1, entry.clone())
                .transpose()
        };
        VennAbersInterval {
            lower: of(&self.lower),
            upper: of(&self.upper),
        }
    }
}

impl VennAbers {
    /// Returns the two probabilities of each event.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - output: `[n, 1]` each for two classes, of class 1; otherwise `[n, m]`
    ///
    /// # Panics
    ///
    /// If the map was fitted to another number of classes.
    pub fn interval(&self, logits: Tensor<2>) -> VennAbersInterval {
        expect_classes(&logits, self);
        self.form.interval(odds::log_odds(logits))
    }
}

impl LogitFit for VennAbersConfig {
    type Map = VennAbers;

    fn find(&self, task: &mut FitTask) -> Result<VennAbers> {
        // the weights of the groups sum to the effective number
        let mean_weight = task.data.mass() / task.data.samples() as f64;
        let refusal = NoDescent {
            map: VennAbers::KIND,
            reason: "it has nothing to descend",
        };
        closed_form_by_event(task, refusal, |events, device| {
            VennAbers::new(VennAbersTable::new(events, mean_weight, device), None)
        })
    }
}

impl Form for VennAbersTable {
    fn check(&self) -> Result<(), String> {
        let [k, length] = self.knots.dims();
        odds::check_events(k)?;
        check_shape(&self.lower, "lower", [k, 2 * length])?;
        check_shape(&self.upper, "upper", [k, 2 * length])?;
        check_knots(&self.knots)?;
        let ends = to_vec(self.lower.val())
            .into_iter()
            .zip(to_vec(self.upper.val()));
        let inside = |(lower, upper): (f64, f64)| 0.0 <= lower && lower < upper && upper <= 1.0;
        if ends.into_iter().all(inside) {
            Ok(())
        } else {
            Err("an interval is empty or reaches beyond 0 and 1".into())
        }
    }

    fn width(&self) -> Option<usize> {
        Some(odds::classes(self.knots.dims()[0]))
    }
}
