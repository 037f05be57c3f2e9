//! On rows the maps were not fitted to.

use burn::tensor::activation::log_softmax;

use super::*;
use crate::cifar10::{folder, predictions, true_classes};

#[test]
fn the_log_loss_of_overconfident_logits_falls() {
    for m in [2, 4] {
        let (rows, classes) = overconfident(6000, m, 50);
        let (fit, test) = rows.split_at(3000);
        let before = log_loss(test, &classes[3000..]);
        let best = log_loss(&mapped(test, |z| z / 2.5), &classes[3000..]);
        for map in every_of(fit, &classes[..3000]) {
            let after = log_loss(&rows_of(map.forward(tensor(test))), &classes[3000..]);
            assert!(after > best - 0.01 && after - best < 0.25 * (before - best));
        }
    }
}

/// resnet18 on the CIFAR-10 test set, class-wise: fitted to its first half, on the second.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn the_log_loss_of_resnet18_falls() {
    let folder = folder();
    let rows = predictions(&folder, "resnet18");
    let logits: Vec<Vec<f64>> = mapped(&rows, |p| p.ln());
    let classes = true_classes(&folder);
    let test = tensor(&logits[5000..]);
    let loss = |logits| log_loss(&rows_of(logits), &classes[5000..]);
    let before = loss(log_softmax(test.clone(), 1));
    let maps = every_of(&logits[..5000], &classes[..5000]);
    for (i, map) in maps.iter().enumerate() {
        let after = loss(map.forward(test.clone()));
        converged(&**map);
        // Platt, beta, isotonic, and the spline on Platt
        if i < 4 {
            assert!(after < before - 0.04, "{}", map.kind());
        }
    }
}
