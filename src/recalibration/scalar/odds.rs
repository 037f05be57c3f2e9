//! Between logits and the log-odds of events, as tensors.

use burn::tensor::{Int, Tensor, activation::log_softmax};

use crate::distribution::most_likely_on_device;

/// The number of events of `m` classes: 1 for two, otherwise `m`.
pub(super) fn events(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// The log-odds of each event: `[n, m] → [n, k]`.
///
/// `z₁ − z₀` for two classes, otherwise `z_c − log Σ_{d≠c} exp(z_d)`. With logits `z ≤ 0` less the largest
/// of their row, the sum over the others is `Σ_d exp(z_d) − exp(z_c)`, which does not cancel but where `c`
/// is the largest: there it is taken over the others alone.
pub(super) fn log_odds(logits: Tensor<2>) -> Tensor<2> {
    let [n, m] = logits.dims();
    if m == 2 {
        let [first, second] = [0, 1].map(|c| logits.clone().slice([0..n, c..c + 1]));
        return second - first;
    }
    if n == 0 {
        return logits;
    }
    let fixed = logits.clone().detach();
    let top = most_likely_on_device(fixed.clone()).expand([n, m]);
    let classes = Tensor::<1, Int>::arange(0..m as i64, &logits.device());
    let is_top = classes.reshape([1, m]).expand([n, m]).equal(top);
    let z = logits - fixed.max_dim(1);
    let second = z
        .clone()
        .detach()
        .mask_fill(is_top.clone(), f64::NEG_INFINITY);
    let second = second.max_dim(1);
    let weights = z.clone().exp();
    let others = (weights.clone().sum_dim(1) - weights).mask_fill(is_top.clone(), 1.0);
    let below = (z.clone() - second.clone())
        .mask_fill(is_top.clone(), 0.0)
        .exp();
    let below = below.mask_fill(is_top.clone(), 0.0).sum_dim(1).log() + second;
    (z.clone() - others.log()).mask_where(is_top, z - below)
}

/// `log σ(t) = (t − |t|)/2 − log(1 + exp(−|t|))`.
pub(super) fn log_sigmoid(t: Tensor<2>) -> Tensor<2> {
    let size = t.clone().abs();
    (t - size.clone()) * 0.5 - (-size).exp().log1p()
}

/// The logits of `log g` and `log(1−g)` of each event: `[n, k]` twice, to `[n, m]`.
pub(super) fn logits(log_g: Tensor<2>, log_rest: Tensor<2>) -> Tensor<2> {
    match log_g.dims()[1] {
        1 => Tensor::cat(vec![log_rest, log_g], 1),
        _ => log_softmax(log_g, 1),
    }
}

/// Returns what is wrong with the number of events of a map.
pub(super) fn check_events(events: usize) -> Result<(), String> {
    match events {
        0 | 2 => Err(format!("no map has {events} events")),
        _ => Ok(()),
    }
}

/// The number of classes of a map of `k` events.
pub(super) fn classes(events: usize) -> usize {
    if events == 1 { 2 } else { events }
}
