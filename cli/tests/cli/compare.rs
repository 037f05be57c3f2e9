use crate::*;

/// Above the limit of quadratic cost: by blocks.
#[test]
fn many_samples_are_compared_by_blocks() {
    let folder = folder("compare-many");
    let p = "0.9,0.1\n0.1,0.9\n".repeat(10_001);
    let q = "0.6,0.4\n0.4,0.6\n".repeat(10_001);
    // 70 % are right
    let y = lines(20_002, |i| {
        ((i + usize::from(i / 2 % 10 > 6)) % 2).to_string()
    });
    write(&folder, &[("p.csv", p), ("q.csv", q), ("y.csv", y)]);
    let base = "compare --before p.csv --after q.csv --labels y.csv";
    let found = json(&folder, base);
    assert!(found["changes"]["skce_unbiased"].is_null());
    assert!(number(&found["changes"]["skce_block"]["interval"][1]) < 0.0);
    assert_eq!(number(&found["omnibus"]["before"]["p_value"]), 1e-3);
    let refused = complaint(&folder, &format!("{base} --bandwidth median-with-diagonal"));
    contains(&refused, "takes too long");
}

/// The same file before and after: the redraws are the same, and those of `evaluate`.
#[test]
fn equal_predictions_have_equal_p_values() {
    let folder = folder("compare-equal");
    let p = lines(60, |i| format!("{}", (i * 37 % 60) as f64 / 61.0 + 0.01));
    let y = lines(60, |i| {
        u8::from((i * i * 3 + i * 11 + 2) % 61 < i * 37 % 60).to_string()
    });
    write(&folder, &[("p.csv", p), ("y.csv", y)]);
    let found = json(
        &folder,
        "compare --positive --before p.csv --after p.csv --labels y.csv",
    );
    let alone = json(
        &folder,
        "evaluate --positive --predictions p.csv --labels y.csv",
    );
    let omnibus = &found["omnibus"];
    assert_eq!(omnibus["before"]["aspects"], omnibus["after"]["aspects"]);
    assert_eq!(omnibus["before"]["p_value"], alone["omnibus"]["p_value"]);
    assert!(number(&alone["omnibus"]["p_value"]) > 0.002);
}

/// Two networks on CIFAR-10: the estimates are those of `evaluate`.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn real_predictions() {
    let folder = data_folder().join("cifar10-predictions");
    let (before, after) = ("resnet18.csv.gz", "googlenet.csv.gz");
    let compare = format!("compare --before {before} --after {after} --bandwidth");
    let labels = "--labels labels.csv --one-based";
    let found = json(&folder, &format!("{compare} median-with-diagonal {labels}"));
    let bandwidth = number(&found["kernel"]["bandwidth"]);
    assert_relative_eq!(bandwidth, 0.9986237963, max_relative = 1e-6); // with the diagonal
    for (file, when) in [(before, "before"), (after, "after")] {
        let evaluate = format!("evaluate --predictions {file} {labels} --bandwidth {bandwidth}");
        let evaluate = evaluate + " --test skce_unbiased_asymptotic";
        let alone = json(&folder, &evaluate)["estimates"].take();
        for name in ["brier", "log", "skce_unbiased"] {
            same_number(&found["changes"][name][when], &alone[name], 1e-10);
        }
        assert_eq!(found["ece_top_label"][when], alone["ece_top_label"]);
    }
    // published for the first, see the reference
    let skce = &found["changes"]["skce_unbiased"];
    assert_relative_eq!(number(&skce["before"]), 2.625240399e-4, max_relative = 1e-6);
    for when in ["before", "after"] {
        assert!(number(&found["accuracy"][when]) > 0.9);
    }
}
