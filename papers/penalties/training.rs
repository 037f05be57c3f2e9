use std::time::Instant;

use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig, decay::WeightDecayConfig},
    tensor::{Device, Tensor},
};
use burn_calibration::distribution::Normal;
use burn_calibration::{loss::WeightSchedule, prelude::*};
use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use crate::{
    Result,
    data::{Kind, Rows, Split, Table},
    losses::{BASE, Penalised, Penalty},
    network::Network,
    setting::{Numbers, On, Optimiser, Row, Samples, Setting},
    task::Task,
};

const BATCH: usize = 128;

/// Trains and evaluates a network.
pub fn run(table: &Table, setting: &Setting, device: &Device) -> Result<Row> {
    match table.kind {
        Kind::Classes(_) => run_as::<Categorical>(table, setting, device),
        Kind::Real => run_as::<Normal>(table, setting, device),
    }
}

fn run_as<P: Penalised>(table: &Table, setting: &Setting, device: &Device) -> Result<Row> {
    let penalty = P::penalty(&setting.loss, setting.width);
    if penalty.is_none() && setting.loss != BASE {
        return Err(format!("there is no loss {} of {}", setting.loss, setting.data).into());
    }
    let split = table.split(setting.seed);
    let widths = [table.width(), P::outputs(table.kind)];
    let recording = device.clone().autodiff();
    let network = Network::new(widths, setting.start, setting.seed, &recording);
    let (optimiser, rate) = match setting.optimiser {
        Optimiser::Adam => {
            let decay = Some(WeightDecayConfig::new(setting.decay as f32));
            let decay = decay.filter(|_| setting.decay > 0.0);
            (AdamConfig::new().with_weight_decay(decay).init(), 1e-3)
        }
        Optimiser::Sgd => (SgdConfig::new().init(), 0.1),
    };
    let optimiser = (optimiser, rate);
    let trained = train(network, optimiser, penalty, &split, setting, &recording);
    let evaluated = (trained.as_ref())
        .and_then(|(network, _)| evaluate::<P>(network, &split, setting, device).ok());
    Ok(Row {
        setting: setting.clone(),
        before: evaluated.map(|(before, ..)| before),
        after: evaluated.map(|(_, after, _)| after),
        temperature: evaluated.map(|(.., temperature)| temperature),
        step: trained.map(|(_, step)| step),
    })
}

/// The network, which computes without gradients then, and the median microseconds of a step; nothing if
/// the loss is not finite any more.
fn train<P: Penalised>(
    mut network: Network,
    (mut optimiser, rate): (ModuleOptimizer, f64),
    penalty: Option<Penalty<P>>,
    split: &Split,
    setting: &Setting,
    device: &Device,
) -> Option<(Network, f64)> {
    let mut rng = StdRng::seed_from_u64(setting.seed);
    let mut training = split.training.clone();
    training.rows.shuffle(&mut rng);
    let all = training.rows.len();
    let steps = setting.epochs * base_rows(all, setting.samples).div_ceil(BATCH);
    let schedule = WeightSchedule::WarmUp {
        weight: setting.weight,
        steps: (setting.warm_up * steps as f64) as usize,
    };
    let (mut step, mut times) = (0, Vec::with_capacity(steps));
    for _ in 0..setting.epochs {
        let (base, held_out) = deal(&mut training, setting.samples, &mut rng);
        let held_out: Vec<Rows> = held_out.chunks(BATCH).collect();
        for rows in base.chunks(BATCH) {
            let start = Instant::now();
            let batch = predict::<P>(&network, &rows, device);
            let mut loss = batch.predictions.base(&batch.targets);
            if !loss.clone().into_scalar::<f32>().is_finite() {
                return None;
            }
            if let Some(penalty) = &penalty {
                let seen = match held_out.get(step % held_out.len().max(1)) {
                    Some(rows) => predict::<P>(&network, rows, device),
                    None => batch,
                };
                let penalty = penalty(&seen.predictions, &seen.targets, &seen.inputs);
                loss = loss + penalty * schedule.at(step);
            }
            let gradients = GradientsParams::from_grads(loss.backward(), &network);
            network = optimiser.step(rate, network, gradients);
            times.push(start.elapsed().as_secs_f64() * 1e6);
            step += 1;
        }
    }
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied();
    Some((network.valid(), median.unwrap_or(0.0)))
}

/// Rows of an epoch that the base loss sees.
fn base_rows(all: usize, samples: Samples) -> usize {
    all - match samples {
        Samples::Training => 0,
        Samples::Rotating => all / 5,
        Samples::HeldOut => all / 10,
    }
}

/// The rows of an epoch, for the base loss and for the penalty alone.
fn deal<'a>(training: &mut Rows<'a>, samples: Samples, rng: &mut StdRng) -> (Rows<'a>, Rows<'a>) {
    let base = base_rows(training.rows.len(), samples);
    if samples == Samples::HeldOut {
        training.rows[..base].shuffle(rng); // the last tenth stays where it is
    } else {
        training.rows.shuffle(rng);
    }
    let mut dealt = training.clone();
    let mut held_out = training.clone();
    held_out.rows.drain(..base);
    dealt.rows.truncate(base);
    (dealt, held_out)
}

/// Rows and what the network predicts of them.
struct Batch<P: Task> {
    inputs: Tensor<2>,
    predictions: P,
    targets: P::Targets,
}

fn predict<P: Task>(network: &Network, rows: &Rows, device: &Device) -> Batch<P> {
    let inputs = rows.inputs(device);
    Batch {
        predictions: P::of(network.forward(inputs.clone())),
        targets: P::targets(rows, device),
        inputs,
    }
}

/// Before and after the recalibration that the validation rows ask for, with its temperature.
fn evaluate<P: Task>(
    network: &Network,
    split: &Split,
    setting: &Setting,
    device: &Device,
) -> burn_calibration::error::Result<(Numbers, Numbers, f64)> {
    let validation = predict::<P>(network, &split.validation, device);
    let (validation, targets) = (validation.predictions, validation.targets);
    validation.check()?;
    let (evaluated, on) = match setting.on {
        On::Validation => (validation.clone(), targets.clone()),
        On::Test => {
            let test = predict::<P>(network, &split.test, device);
            (test.predictions, test.targets)
        }
    };
    let (recalibrated, temperature) = evaluated.clone().recalibrated(validation, targets)?;
    let numbers = |predictions: &P| {
        let mut numbers = predictions.numbers(&on)?;
        if setting.on == On::Test {
            numbers.p_value = Some(predictions.p_value(&on)?);
        }
        Ok::<_, burn_calibration::error::Error>(numbers)
    };
    Ok((numbers(&evaluated)?, numbers(&recalibrated)?, temperature))
}
