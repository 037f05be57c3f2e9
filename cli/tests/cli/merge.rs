use crate::*;

/// Rows and labels of a file in pieces of given sizes, as `p0.csv`, `y0.csv` and so on.
fn split(folder: &Path, rows: &str, labels: &str, sizes: &[usize]) {
    let mut lines = rows.lines().zip(labels.lines());
    for (part, &size) in sizes.iter().enumerate() {
        let (rows, labels): (Vec<_>, Vec<_>) = lines.by_ref().take(size).unzip();
        fs::write(folder.join(format!("p{part}.csv")), rows.join("\n")).unwrap();
        fs::write(folder.join(format!("y{part}.csv")), labels.join("\n")).unwrap();
    }
    assert_eq!(lines.count(), 0);
}

/// Three parts in any order are one file, bit for bit, and `evaluate` agrees.
#[test]
fn parts_are_the_whole() {
    let folder = folder("merge");
    let (rows, labels) = (ROWS.repeat(15), LABELS.repeat(15));
    fs::write(folder.join("p.csv"), &rows).unwrap();
    fs::write(folder.join("y.csv"), &labels).unwrap();
    split(&folder, &rows, &labels, &[4, 30, 26]);
    let options = "--bandwidth 0.3 --block 2";
    let printed = quiet(
        &folder,
        &format!("summarise --predictions p.csv --labels y.csv {options} -o all.json"),
    );
    assert_eq!(printed, "all.json\n");
    for part in 0..3 {
        let files = format!("--predictions p{part}.csv --labels y{part}.csv");
        quiet(
            &folder,
            &format!("summarise {files} {options} -o part{part}.json"),
        );
    }
    let mut found = json(
        &folder,
        "merge part2.json part0.json part1.json -o merged.json",
    );
    let expected = json(&folder, "merge all.json");
    let sums = |name: &str| -> Value {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        let mut sums: Value = serde_json::from_str(&text).unwrap();
        for own in ["/crc", "/payload/pieces"] {
            assert!(!sums.pointer_mut(own).unwrap().take().is_null());
        }
        sums
    };
    assert_eq!(sums("merged.json"), sums("all.json"));
    assert_eq!(
        (&found["parts"], &expected["parts"]),
        (&3.into(), &1.into())
    );
    found["parts"] = 1.into();
    assert_eq!(found, expected);

    let arguments =
        "evaluate --predictions p.csv --labels y.csv --bandwidth 0.3 --test skce_linear_asymptotic";
    let evaluated = json(&folder, arguments);
    let (estimates, skce) = (&found["estimates"], &found["skce"]);
    for (name, value) in [
        ("brier", &estimates["brier"]["estimate"]),
        ("log", &estimates["log"]["estimate"]),
        ("ece_top_label", &estimates["ece_top_label"]),
        ("skce_linear", &estimates["skce_block"]["estimate"]),
    ] {
        let expected = number(&evaluated["estimates"][name]);
        assert_relative_eq!(number(value), expected, max_relative = 1e-12);
    }
    let test = &evaluated["tests"]["skce_linear_asymptotic"];
    for name in ["statistic", "p_value"] {
        let found = number(&skce["test"][name]);
        assert_relative_eq!(found, number(&test[name]), max_relative = 1e-9);
    }
    assert_eq!(
        (&skce["blocks"], &skce["left_out"]),
        (&30.into(), &0.into())
    );
    assert_eq!(
        (&found["n"], &found["class_count"]),
        (&60.into(), &3.into())
    );
    // right: rows 0, 1 of four
    assert_relative_eq!(number(&estimates["accuracy"]), 0.5);

    let table = quiet(&folder, "merge part0.json part1.json part2.json");
    // right and wrong in turn: far below 0
    let statistic = number(&skce["test"]["statistic"]);
    assert!(statistic < -5.8); // below −6 with the divisor N
    for line in [
        "60 predictions of 3 classes in 3 parts",
        "ECE, top label, 15 equal-width bins",
        "kernel: exponential over tv, bandwidth 0.3000000000",
        "30 blocks of 2 samples, 0 samples left out",
        &format!("statistic {statistic:.6}, p-value 1.0000000"),
    ] {
        assert!(table.contains(line), "{line} in {table}");
    }
}

/// A network on CIFAR-10 in three parts: the published numbers that `evaluate` gives.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn real_predictions() {
    let data = data_folder().join("cifar10-predictions");
    let folder = folder("merge-cifar10");
    let mut rows = String::new();
    let file = fs::File::open(data.join("resnet18.csv.gz")).unwrap();
    let mut reader = flate2::read::MultiGzDecoder::new(file);
    std::io::Read::read_to_string(&mut reader, &mut rows).unwrap();
    let labels = fs::read_to_string(data.join("labels.csv")).unwrap();
    split(&folder, &rows, &labels, &[4000, 2, 5998]);
    let evaluated = json(
        &data,
        "evaluate --predictions resnet18.csv.gz --labels labels.csv --one-based --bandwidth median-with-diagonal \
         --test skce_linear_asymptotic",
    );
    let bandwidth = number(&evaluated["kernel"]["bandwidth"]);
    for part in 0..3 {
        let files = format!("--predictions p{part}.csv --labels y{part}.csv --one-based");
        let options = format!("--bandwidth {bandwidth:?} --block 2");
        quiet(
            &folder,
            &format!("summarise {files} {options} -o {part}.json"),
        );
    }
    let found = json(&folder, "merge 0.json 1.json 2.json");
    assert_eq!(
        (&found["n"], &found["skce"]["blocks"]),
        (&10_000.into(), &5000.into())
    );
    let expected = &evaluated["tests"]["skce_linear_asymptotic"];
    for (value, name) in [
        (&found["skce"]["test"]["p_value"], "p_value"),
        (&found["estimates"]["skce_block"]["estimate"], "estimate"),
    ] {
        assert_relative_eq!(number(value), number(&expected[name]), max_relative = 1e-9);
    }
    for name in ["brier", "log"] {
        let value = number(&found["estimates"][name]["estimate"]);
        let expected = number(&evaluated["estimates"][name]);
        assert_relative_eq!(value, expected, max_relative = 1e-12);
    }
    let ece = number(&found["estimates"]["ece_top_label"]);
    let expected = number(&evaluated["estimates"]["ece_top_label"]);
    assert_relative_eq!(ece, expected, max_relative = 1e-12);
}

/// Means and standard deviations with targets, as pieces in any order and as one file.
#[test]
fn regressions_in_pieces() {
    let folder = folder("merge-normal");
    let uniform = |k: u32| f64::from(k.wrapping_mul(2_654_435_769) >> 8) / f64::from(1u32 << 24);
    let rows: String = (0..60)
        .map(|k| format!("{},{}\n", uniform(3 * k), 0.2 + uniform(3 * k + 1)))
        .collect();
    let targets: String = (0..60)
        .map(|k| format!("{}\n", 2.0 * uniform(3 * k + 2)))
        .collect();
    fs::write(folder.join("p.csv"), &rows).unwrap();
    fs::write(folder.join("y.csv"), &targets).unwrap();
    split(&folder, &rows, &targets, &[4, 30, 26]);
    let options = "--family normal --bandwidth 0.3 --length-scale 0.7 --block 2";
    for (part, name) in ["0", "1", "2", ""]
        .iter()
        .zip(["part0", "part1", "part2", "all"])
    {
        let files = format!("--predictions p{part}.csv --targets y{part}.csv");
        quiet(
            &folder,
            &format!("summarise {files} {options} -o {name}.json"),
        );
    }
    let mut found = json(&folder, "merge part2.json part0.json part1.json");
    let expected = json(&folder, "merge all.json");
    found["parts"] = 1.into();
    assert_eq!(found, expected);

    let evaluated = json(
        &folder,
        "evaluate --family normal --predictions p.csv --targets y.csv --bandwidth 0.3 --length-scale 0.7 \
         --test skce_linear_asymptotic",
    );
    let estimates = &found["estimates"];
    for (name, key) in [
        ("crps", "crps"),
        ("log", "log"),
        ("coverage_50", "coverage_50"),
        ("coverage_90", "coverage_90"),
        ("skce_block", "skce_linear"),
    ] {
        let expected = number(&evaluated["estimates"][key]);
        assert_relative_eq!(
            number(&estimates[name]["estimate"]),
            expected,
            max_relative = 1e-12
        );
    }
    let test = &evaluated["tests"]["skce_linear_asymptotic"];
    for name in ["statistic", "p_value"] {
        let found = number(&found["skce"]["test"][name]);
        assert_relative_eq!(found, number(&test[name]), max_relative = 1e-9);
    }
    assert_eq!(found["family"], "normal");
    assert_eq!(found["skce"]["kernel"], evaluated["kernel"]);
    assert_eq!(found["skce"]["target_kernel"], evaluated["target_kernel"]);
    let table = quiet(&folder, "merge part0.json part1.json part2.json");
    for line in [
        "60 predictions of the family normal, targets of dimension 1, in 3 parts",
        "coverage of 90 % intervals",
        "30 blocks of 2 samples, 0 samples left out",
    ] {
        assert!(table.contains(line), "{line} in {table}");
    }
}

/// Pieces with weights are `evaluate` of all samples, of classes and of numbers.
#[test]
fn weights_in_pieces() {
    let folder = folder("merge-weights");
    let uniform = |k: u32| f64::from(k.wrapping_mul(2_654_435_769) >> 8) / f64::from(1u32 << 24);
    let weight = |k: u32| [0.25, 0.5, 1.0, 7.25][(uniform(5 * k) * 4.0) as usize] + uniform(k);
    let lines = |line: &dyn Fn(u32) -> String| (0..60).map(line).collect::<String>();
    let classes = lines(&|k| {
        let p = uniform(3 * k);
        format!("{p},{},{}\n", 1.0 - p, u8::from(uniform(7 * k + 1) > p))
    });
    let numbers = lines(&|k| {
        let [x, y] = [uniform(3 * k), 2.0 * uniform(3 * k + 2)];
        format!("{x},{},{y}\n", 0.2 + uniform(3 * k + 1))
    });
    let weights = lines(&|k| format!("{}\n", weight(k)));
    let options = "--label-column 2 --bandwidth 0.3";
    for (rows, family, options, names) in [
        (
            &classes,
            "categorical",
            options.to_owned(),
            &["brier", "log"][..],
        ),
        (
            &numbers,
            "normal",
            format!("{options} --length-scale 0.7"),
            &["crps", "log", "coverage_90"],
        ),
    ] {
        split(&folder, rows, &weights, &[4, 30, 26]);
        fs::write(folder.join("p.csv"), rows).unwrap();
        fs::write(folder.join("w.csv"), &weights).unwrap();
        let options = format!("--family {family} {options}");
        for part in 0..3 {
            let files = format!("--predictions p{part}.csv --weights y{part}.csv");
            quiet(
                &folder,
                &format!("summarise {files} {options} --block 2 -o part{part}.json"),
            );
        }
        let found = json(&folder, "merge part2.json part0.json part1.json");
        let evaluated = json(
            &folder,
            &format!("evaluate --predictions p.csv --weights w.csv {options} --redraws 19"),
        );
        for name in ["sum", "effective_n"] {
            let (found, expected) = (&found["weights"][name], &evaluated["weights"][name]);
            assert_relative_eq!(number(found), number(expected), max_relative = 1e-12);
        }
        let expected = &evaluated["estimates"];
        for name in names {
            let found = number(&found["estimates"][name]["estimate"]);
            assert_relative_eq!(found, number(&expected[name]), max_relative = 1e-12);
        }
        let skce = number(&found["estimates"]["skce_block"]["estimate"]);
        assert_relative_eq!(skce, number(&expected["skce_linear"]), max_relative = 1e-9);
    }
}

/// Counts do not wrap: a piece is merged with itself again and again.
#[test]
fn counts_end_with_an_error() {
    let folder = example("merge-counts");
    let normal = [("n.csv", "0,1\n0.5,1.5\n1,2\n"), ("t.csv", "0\n1\n2\n")];
    write(&folder, &normal);
    let options = "--bandwidth 0.3 --block 2";
    let normal = "summarise --family normal --header no --predictions n.csv --targets t.csv";
    for arguments in [
        format!("summarise --predictions p.csv --labels y.csv {options} -o part0.json"),
        format!("{normal} {options} --length-scale 1 -o part0.json"),
    ] {
        quiet(&folder, &arguments);
        let merge = |k: usize| {
            let arguments = format!(
                "merge part{k}.json part{k}.json --allow-duplicates -o part{}.json",
                k + 1
            );
            calibration(&folder, &arguments)
        };
        let last = (0..64).map(merge).find(|output| !output.status.success());
        let last = last.expect("64 doublings are more than any count");
        assert_eq!(last.status.code(), Some(2));
        let said = String::from_utf8(last.stderr).unwrap();
        contains(&said, "samples, expected at most 2^53 together");
    }
}
