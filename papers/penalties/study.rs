//! The protocol: what is trained, and how weights are chosen. See docs/penalties.md.

use std::ops::Range;

use burn::tensor::Device;
use indicatif::ProgressBar;

use crate::{
    Result,
    arguments::Arguments,
    data::Table,
    losses::{BASE, LOSSES, Loss, NONE},
    parallel,
    rows::Rows,
    setting::{Numbers, On, Optimiser, Row, Samples, Setting},
    training,
};

/// What is tried, of each loss.
pub struct Plan {
    losses: Vec<&'static Loss>,
    decays: &'static [f64],
    epochs: &'static [usize],
    /// The first so many of the weights of a loss.
    weights: usize,
    pub choosing: Range<u64>,
    pub reported: Range<u64>,
    /// Networks are trained; else what is not among the results is left out.
    train: bool,
}

/// What a setting is chosen by: the log loss on validation rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// After recalibration.
    Recalibrated,
    /// As trained, without a temperature.
    AsTrained,
}

impl Rule {
    pub fn name(self) -> &'static str {
        match self {
            Self::Recalibrated => "with recalibration",
            Self::AsTrained => "as trained",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Recalibrated => "Chosen by the log loss on validation rows after recalibration",
            Self::AsTrained => "Chosen by the log loss on validation rows as trained",
        }
    }
}

pub const RULES: [Rule; 2] = [Rule::Recalibrated, Rule::AsTrained];

/// A loss with what was chosen for it, and its networks, one a seed.
#[derive(Clone)]
pub struct Outcome {
    pub loss: &'static str,
    pub rule: Rule,
    /// With the weight decay and the epochs that are best for the base loss, rather than none and all.
    pub tuned: bool,
    pub setting: Setting,
    pub rows: Vec<Row>,
    /// On validation rows, the means over the seeds that choose.
    pub curve: Vec<Point>,
}

/// The means of networks of one weight.
#[derive(Clone, Copy)]
pub struct Point {
    pub weight: f64,
    pub before: Numbers,
    pub after: Numbers,
}

impl Plan {
    pub fn new(arguments: &Arguments) -> Result<Self> {
        let named = |name: &String| {
            let loss = LOSSES.iter().find(|loss| loss.name == name);
            loss.ok_or_else(|| {
                let known: Vec<_> = LOSSES.iter().map(|loss| loss.name).collect();
                format!("no loss {name}; there are {}", known.join("; ")).into()
            })
        };
        let losses = match arguments.losses.is_empty() {
            true => LOSSES.iter().collect(),
            false => arguments.losses.iter().map(named).collect::<Result<_>>()?,
        };
        let full = Self {
            losses,
            decays: &[0.0, 1e-3, 1e-2, 3e-2, 1e-1],
            epochs: &[15, 30, 60],
            weights: 5,
            choosing: 100..102,
            reported: 0..arguments.seeds,
            train: !arguments.table,
        };
        Ok(match arguments.smoke {
            false => full,
            true => Self {
                decays: &[0.0, 1e-2],
                epochs: &[2],
                weights: 2,
                choosing: 100..101,
                reported: 0..2,
                ..full
            },
        })
    }

    fn losses<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = &'static Loss> + 'a {
        let of = |loss: &&'static Loss| loss.is_of(table.kind);
        self.losses.iter().copied().filter(of)
    }

    /// How many trainings a table takes.
    pub fn trainings(&self, table: &Table) -> u64 {
        let of_loss = |loss: &Loss| self.weights * (loss.widths.len() + 1);
        let chosen =
            self.decays.len() * self.epochs.len() + self.losses(table).map(of_loss).sum::<usize>();
        let reported = 2 * (1 + self.losses(table).count()) as u64;
        let seeds = |range: &Range<u64>| range.end - range.start;
        RULES.len() as u64
            * (chosen as u64 * seeds(&self.choosing) + reported * seeds(&self.reported))
    }
}

/// What trains, and where the results are.
pub struct Study<'a> {
    pub plan: &'a Plan,
    pub results: &'a Rows<Row>,
    pub progress: &'a ProgressBar,
    pub device: &'a Device,
    pub rows: usize,
}

impl Study<'_> {
    pub fn of(&self, table: &Table) -> Result<Vec<Outcome>> {
        let outcomes = RULES.map(|rule| self.by(rule, table));
        Ok(outcomes.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    fn by(&self, rule: Rule, table: &Table) -> Result<Vec<Outcome>> {
        let plan = self.plan;
        let base = self.base(table);
        let of_epochs = |&epochs| {
            let base = base.clone();
            (plan.decays.iter()).map(move |&decay| Setting {
                decay,
                epochs,
                ..base.clone()
            })
        };
        let decayed = plan.epochs.iter().flat_map(of_epochs);
        let tuned = self.best(rule, table, decayed.collect())?;

        let mut chosen = vec![(BASE, false, base.clone()), (BASE, true, tuned.clone())];
        let mut plain = vec![];
        for loss in plan.losses(table) {
            let candidates = candidates(plan, loss, loss.widths, &base);
            plain.push((loss, self.best(rule, table, candidates)?));
        }
        for (loss, setting) in plain {
            let candidates = candidates(plan, loss, &[setting.width], &tuned);
            let on_top = self.best(rule, table, candidates)?;
            chosen.push((loss.name, false, setting));
            chosen.push((loss.name, true, on_top));
        }
        self.report(rule, table, chosen)
    }

    /// The base loss without weight decay and with all epochs, on validation rows.
    pub fn base(&self, table: &Table) -> Setting {
        Setting {
            data: table.name.clone(),
            rows: self.rows,
            loss: BASE.into(),
            weight: 0.0,
            width: NONE,
            samples: Samples::Training,
            warm_up: 0.25,
            optimiser: Optimiser::Adam,
            decay: 0.0,
            epochs: self.plan.epochs.iter().copied().max().unwrap_or(0),
            start: 1.0,
            seed: 0,
            on: On::Validation,
        }
    }

    /// The candidate of the least mean log loss on validation rows.
    fn best(&self, rule: Rule, table: &Table, candidates: Vec<Setting>) -> Result<Setting> {
        self.train(table, &candidates, &self.plan.choosing)?;
        let score = |candidate: &Setting| {
            let [as_trained, recalibrated] = self.log_losses(candidate);
            match rule {
                Rule::Recalibrated => recalibrated,
                Rule::AsTrained => as_trained,
            }
        };
        let best = (candidates.into_iter()).min_by(|a, b| score(a).total_cmp(&score(b)));
        best.ok_or_else(|| "nothing to choose from".into())
    }

    /// The means over the seeds that choose, before and after recalibration; ∞ where a network failed or is
    /// missing.
    pub fn log_losses(&self, setting: &Setting) -> [f64; 2] {
        let rows = self.rows(setting, &self.plan.choosing);
        [|row: &Row| row.before, |row: &Row| row.after].map(|numbers| {
            let losses = rows
                .iter()
                .map(|row| numbers(row).map_or(f64::INFINITY, |n| n.log_loss));
            match rows.is_empty() {
                true => f64::INFINITY,
                false => losses.sum::<f64>() / rows.len() as f64,
            }
        })
    }

    fn report(
        &self,
        rule: Rule,
        table: &Table,
        chosen: Vec<(&'static str, bool, Setting)>,
    ) -> Result<Vec<Outcome>> {
        let on_test = |(loss, tuned, setting): (_, _, Setting)| {
            let on = On::Test;
            (loss, tuned, Setting { on, ..setting })
        };
        let chosen: Vec<_> = chosen.into_iter().map(on_test).collect();
        let settings: Vec<_> = chosen.iter().map(|(.., setting)| setting.clone()).collect();
        self.train(table, &settings, &self.plan.reported)?;
        let outcome = |(loss, tuned, setting): (_, _, Setting)| Outcome {
            loss,
            rule,
            tuned,
            rows: self.rows(&setting, &self.plan.reported),
            curve: self.curve(&setting),
            setting,
        };
        Ok(chosen.into_iter().map(outcome).collect())
    }

    /// What a setting gives at each weight, on validation rows; without those where a training diverged.
    fn curve(&self, setting: &Setting) -> Vec<Point> {
        let grid = LOSSES.iter().find(|loss| loss.name == setting.loss);
        let weights = grid.map_or(vec![0.0], |loss| loss.weights.to_vec());
        let point = |weight| {
            let on = On::Validation;
            let rows = self.rows(
                &Setting {
                    weight,
                    on,
                    ..setting.clone()
                },
                &self.plan.choosing,
            );
            let mean = |numbers: fn(&Row) -> Option<Numbers>| {
                let all: Option<Vec<Numbers>> = rows.iter().map(numbers).collect();
                Numbers::mean(&all?)
            };
            let (before, after) = (mean(|row| row.before)?, mean(|row| row.after)?);
            Some(Point {
                weight,
                before,
                after,
            })
        };
        weights.into_iter().filter_map(point).collect()
    }

    fn row(&self, setting: &Setting) -> Option<Row> {
        self.results.find(|row| row.setting == *setting)
    }

    /// Those of a setting that are there.
    pub fn rows(&self, setting: &Setting, seeds: &Range<u64>) -> Vec<Row> {
        let of = |seed| self.row(&with_seed(setting, seed));
        seeds.clone().filter_map(of).collect()
    }

    /// Trains what is not among the results.
    pub fn train(&self, table: &Table, settings: &[Setting], seeds: &Range<u64>) -> Result<()> {
        let each = |setting: &Setting| {
            let setting = setting.clone();
            seeds.clone().map(move |seed| with_seed(&setting, seed))
        };
        let all: Vec<Setting> = settings.iter().flat_map(each).collect();
        let mut missing: Vec<&Setting> = vec![];
        for setting in &all {
            if self.row(setting).is_none() && !missing.contains(&setting) {
                missing.push(setting);
            }
        }
        self.progress.inc((all.len() - missing.len()) as u64);
        if !self.plan.train {
            return Ok(());
        }
        parallel::for_each(&missing, |setting| {
            let row = training::run(table, setting, self.device)?;
            self.results.add(row)?;
            self.progress.inc(1);
            Ok(())
        })
    }
}

fn with_seed(setting: &Setting, seed: u64) -> Setting {
    Setting {
        seed,
        ..setting.clone()
    }
}

/// A loss with each of its weights and bandwidths.
fn candidates(
    plan: &Plan,
    loss: &Loss,
    widths: &[crate::setting::Width],
    like: &Setting,
) -> Vec<Setting> {
    let of_width = |&width| {
        loss.weights[..plan.weights]
            .iter()
            .map(move |&weight| Setting {
                loss: loss.name.into(),
                samples: loss.samples,
                weight,
                width,
                ..like.clone()
            })
    };
    widths.iter().flat_map(of_width).collect()
}
