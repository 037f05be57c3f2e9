//! On rows the maps were not fitted to.

use burn::tensor::activation::log_softmax;

use super::*;
use crate::cifar10::{folder, predictions, true_classes};

#[test]
fn the_log_loss_of_overconfident_logits_falls() {
    for m in [2, 4] {
        let (rows, classes) = overconfident(6000, m, 50);
        let (fit, test) = rows.split_at(3000);
        let before = log_loss(test.concat(), &classes[3000..]);
        let best: Vec<f64> = test.concat().iter().map(|z| z / 2.5).collect();
        let best = log_loss(best, &classes[3000..]);
        for map in every_of(fit, &classes[..3000]) {
            let after = log_loss(vector(map.forward(tensor(test))), &classes[3000..]);
            println!(
                "m = {m}, {}: {before:.4} to {after:.4}, best {best:.4}",
                map.kind()
            );
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
    let before = log_loss(vector(log_softmax(test.clone(), 1)), &classes[5000..]);
    for (i, map) in every_of(&logits[..5000], &classes[..5000])
        .iter()
        .enumerate()
    {
        let after = log_loss(vector(map.forward(test.clone())), &classes[5000..]);
        let report = map.report().unwrap();
        println!("{}: {before:.4} to {after:.4}; {report}", map.kind());
        assert_eq!(report.status, FitStatus::Converged);
        // Platt, beta, isotonic, and the spline on Platt
        if i < 4 {
            assert!(after < before - 0.04, "{}", map.kind());
        }
    }
}
