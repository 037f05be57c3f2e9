use std::panic::catch_unwind;

use burn::nn::loss::CrossEntropyLossConfig;

use super::*;

fn losses() -> Vec<(Box<dyn Criterion>, f64)> {
    vec![
        (Box::new(ScoreLoss::new(LogScore)), 1.6483510891059365),
        (Box::new(ScoreLoss::new(Brier)), 0.9189488931129975),
        (
            Box::new(SkceLoss::new(Skce::biased(exponential(0.5)))),
            0.04083544616055213,
        ),
        (
            Box::new(SkceLoss::new(Skce::unbiased(exponential(0.5)))),
            0.016572090816974125,
        ),
        (
            Box::new(SkceLoss::root(exponential(0.5))),
            0.04083544616055213f64.sqrt(),
        ),
        (
            Box::new(MmceLossConfig::new().with_squared(true).init()),
            0.10216733503707832,
        ),
    ]
}

/// The losses of a batch with weights are the weighted estimates, on any scale of the weights.
#[test]
fn numbers_of_other_programs() {
    let (p, y) = plain();
    for factor in [1.0, 1e-3, 40.0] {
        let weights: Vec<f64> = sample_weights().iter().map(|w| w * factor).collect();
        let batch = p.weighted_batch(weight_tensor(&weights));
        for (loss, expected) in losses() {
            assert_relative(scalar(loss.value(&batch, &y)), expected, 1e-9);
        }
    }
}

/// A weight of 0 is a sample that is not there, as padding is.
#[test]
fn weights_of_zero_do_not_count() {
    let (p, y) = plain();
    let mut weights = sample_weights();
    let absent: Vec<usize> = (0..N).filter(|i| i % 3 == 0).collect();
    absent.iter().for_each(|&i| weights[i] = 0.0);
    let (kept, labels) = p.weighted(&weight_tensor(&weights), &y).unwrap();
    let batch = p.weighted_batch(weight_tensor(&weights));
    let standardised = SkceLoss::standardised(exponential(0.5));
    let focal = FocalLossConfig::new().init();
    let more: [Box<dyn Criterion>; 2] = [Box::new(standardised), Box::new(focal)];
    let all = losses().into_iter().map(|(loss, _)| loss).chain(more);
    for loss in all {
        let (found, expected) = (loss.value(&batch, &y), loss.value(&kept, &labels));
        assert_relative(scalar(found), scalar(expected), 1e-9);
    }
    // padding by a class leaves the same samples
    let classes = vector(y.clone().float());
    let by_class: Vec<f64> = (classes.iter().zip(sample_weights()))
        .map(|(class, w)| if *class == 2.0 { 0.0 } else { w })
        .collect();
    let full = p.weighted_batch(weight_tensor(&sample_weights()));
    let part = p.weighted_batch(weight_tensor(&by_class));
    let skce = |pad: &[usize]| {
        SkceLoss::new(Skce::unbiased(exponential(0.5))).with_pad_tokens(pad.to_vec())
    };
    let score = |pad: &[usize]| ScoreLoss::new(LogScore).with_pad_tokens(pad.to_vec());
    let mmce = |pad: &[usize]| {
        MmceLossConfig::new()
            .with_pad_tokens(Some(pad.to_vec()))
            .init()
    };
    let pairs: [[Box<dyn Criterion>; 2]; 3] = [
        [Box::new(skce(&[2])), Box::new(skce(&[]))],
        [Box::new(score(&[2])), Box::new(score(&[]))],
        [Box::new(mmce(&[2])), Box::new(mmce(&[]))],
    ];
    for [padded, weighted] in pairs {
        let (found, expected) = (padded.value(&full, &y), weighted.value(&part, &y));
        assert_relative(scalar(found), scalar(expected), 1e-9);
    }
    // of one sample alone there is no pair
    let mut one = vec![0.0; N];
    one[4] = 2.0;
    let batch = p.weighted_batch(weight_tensor(&one));
    let skce = SkceLoss::new(Skce::unbiased(exponential(0.5)));
    assert_eq!(scalar(skce.value(&batch, &y)), 0.0);
}

/// Equal weights give the z-score without weights, and its gradients are finite.
#[test]
fn standardised() {
    let (p, y) = plain();
    let loss = SkceLoss::standardised(exponential(0.5));
    let equal = p.weighted_batch(weight_tensor(&[3.0; N]));
    let (found, expected) = (loss.value(&equal, &y), loss.value(&p, &y));
    assert_relative(scalar(found), scalar(expected), 1e-9);
}

#[test]
fn gradients_by_finite_differences() {
    let rows = &logit_rows()[..7];
    let y = labels(&classes()[..7]);
    let weights = weight_tensor(&sample_weights()[..7]);
    for (loss, _) in losses() {
        let value = |logits: Tensor<2>| {
            let weights = weights.clone().to_device(&logits.device());
            let batch = of_logits(logits.clone()).weighted_batch(weights);
            let y = Tensor::from_data(y.clone().into_data(), &logits.device());
            loss.value(&batch, &y)
        };
        let logits = tensor_on(rows, &device().autodiff(), DType::F64).require_grad();
        let gradient = vector(logits.grad(&value(logits.clone()).backward()).unwrap());
        for at in [0, 4, 11, 20] {
            let moved = |h: f64| {
                let mut rows = rows.to_vec();
                rows[at / 3][at % 3] += h;
                scalar(value(tensor(&rows)))
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let error = (gradient[at] - difference).abs();
            assert!(error < 1e-8 + 1e-6 * difference.abs(), "{error}");
        }
    }
}

/// A base loss and a penalty both weight; Burn's cross-entropy takes no weights and says so.
#[test]
fn penalised() {
    let (p, y) = plain();
    let batch = p.weighted_batch(weight_tensor(&sample_weights()));
    let penalty = SkceLoss::new(Skce::unbiased(exponential(0.5)));
    let weight = WeightSchedule::Constant(2.0);
    let loss = PenalisedLoss::new(ScoreLoss::new(LogScore), penalty.clone(), weight);
    let found = scalar(loss.forward(&batch, &y, 0));
    assert_relative(found, 1.6483510891059365 + 2.0 * 0.016572090816974125, 1e-9);
    let refusing = catch_unwind(|| {
        let base = CrossEntropyLossConfig::new()
            .with_logits(true)
            .init(&device());
        base.value(&batch, &y)
    });
    let message = *refusing.unwrap_err().downcast::<String>().unwrap();
    contains(&message, "this quantity takes no sample weights");
    let lens = LensLoss::new(Lens::TopLabel, ScoreLoss::new(Brier));
    let (top, right) = p.top_label(&y).unwrap();
    let (top, right) = top
        .weighted(&weight_tensor(&sample_weights()), &right)
        .unwrap();
    let expected = Brier.mean(&top, &right).unwrap().estimate;
    assert_relative(scalar(lens.value(&batch, &y)), expected, 1e-9);
}
