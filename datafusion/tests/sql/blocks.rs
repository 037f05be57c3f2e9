//! The SKCE in blocks: values of the library where the order is known.

use burn_calibration::kernel::{Bandwidth, Kernel};
use burn_calibration_accumulator::{Accumulator, BlockSkceAccumulator};

use super::*;

const KERNEL: Kernel = Kernel {
    profile: burn_calibration::kernel::Profile::Exponential,
    distance: burn_calibration::kernel::Distance::TotalVariation,
    bandwidth: Bandwidth::Fixed(0.37),
};

fn skce(data: &Data, size: usize, weighted: bool) -> BlockSkceAccumulator {
    let mut skce = BlockSkceAccumulator::new(KERNEL, size, CLASSES).unwrap();
    skce.update_rows(&data.rows(weighted)).unwrap();
    skce
}

const SKCE: &str = "SELECT model, block_skce(p, y, 0.37, 10), block_skce_standard_error(p, y, 0.37, 10), \
                    block_skce_p_value(p, y, 0.37, 10) FROM predictions GROUP BY model ORDER BY model";

/// In the order of the rows the value of the library; else of other blocks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn block_skce() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let ordered = SKCE.replace(", 10)", ", 10 ORDER BY id)");
    let found = numbers(&query(&context(folder.path(), 1).await, &ordered).await, 1);
    for ((_, data), found) in models().iter().zip(&found) {
        let skce = skce(data, 10, false);
        let (mean, outcome) = (skce.mean().unwrap(), skce.outcome().unwrap());
        let expected = [mean.estimate, mean.standard_error, outcome.p_value];
        assert_eq!(found, &expected.map(Some));
    }
    let weighted = "SELECT model, block_skce(p, y, 0.37, 10, w ORDER BY id), \
                    block_skce_standard_error(p, y, 0.37, 10, w ORDER BY id) \
                    FROM predictions GROUP BY model ORDER BY model";
    let found = numbers(&query(&context(folder.path(), 1).await, weighted).await, 1);
    for ((_, data), found) in models().iter().zip(&found) {
        let mean = skce(data, 10, true).mean().unwrap();
        assert_eq!(found, &[mean.estimate, mean.standard_error].map(Some));
    }
    let found = numbers(&query(&context(folder.path(), 4).await, SKCE).await, 1);
    for (k, ((_, data), found)) in models().iter().zip(&found).enumerate() {
        let [estimate, error, p_value] = [0, 1, 2].map(|column| found[column].unwrap());
        let expected = skce(data, 10, false).mean().unwrap();
        // two estimates of the same error
        let spread = (error.powi(2) + expected.standard_error.powi(2)).sqrt();
        assert!((estimate - expected.estimate).abs() < 4.0 * spread);
        assert!((error / expected.standard_error - 1.0).abs() < 0.5);
        assert!(
            if k == 0 {
                p_value > 1e-3
            } else {
                p_value == 1e-3 // the least that an asymptotic test reports
            },
            "{k} {p_value}"
        );
    }
}

/// Whole blocks in each batch of a table in memory, of which every partition has some.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merged_blocks_are_exact() {
    let data = Data::new(3, 240, 2.0);
    let batches = |k: usize| data.slice(k * 60..(k + 1) * 60).batch("only", k * 60);
    let table = datafusion::datasource::MemTable::try_new(
        batches(0).schema(),
        (0..4).map(|k| vec![batches(3 - k)]).collect(),
    );
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_batch_size(60);
    let context = SessionContext::new_with_config(config);
    register_all(&context);
    context
        .register_table("predictions", Arc::new(table.unwrap()))
        .unwrap();
    let sql =
        "SELECT block_skce(p, y, 0.37, 20), block_skce_p_value(p, y, 0.37, 20) FROM predictions";
    let found = numbers(&query(&context, sql).await, 0);
    let expected = skce(&data, 20, false).outcome().unwrap();
    assert_eq!(found, [[Some(expected.estimate), Some(expected.p_value)]]);
}
