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

fn uniform(k: usize) -> f64 {
    f64::from((k as u32).wrapping_mul(2_654_435_769) >> 8) / f64::from(1u32 << 24)
}

/// Numbers of two objects, each at its path.
#[track_caller]
fn agree(found: &Value, expected: &Value, paths: &[(&str, &str)], tolerance: f64) {
    for (path, other) in paths {
        let of = |value: &Value, path: &str| value.pointer(path).expect(path).clone();
        same_number(&of(found, path), &of(expected, other), tolerance);
    }
}

/// Three parts in any order are one file, and `evaluate` agrees.
#[test]
fn parts_are_the_whole() {
    let folder = folder("merge");
    let (rows, labels) = (ROWS.repeat(15), LABELS.repeat(15));
    write(&folder, &[("p.csv", &rows), ("y.csv", &labels)]);
    split(&folder, &rows, &labels, &[4, 30, 26]);
    let summarise = "summarise --bandwidth 0.3 --block 2 --predictions";
    let all = format!("{summarise} p.csv --labels y.csv -o all.json");
    assert_eq!(quiet(&folder, &all), "all.json\n");
    for part in 0..3 {
        let files = format!("p{part}.csv --labels y{part}.csv -o part{part}.json");
        quiet(&folder, &format!("{summarise} {files}"));
    }
    let merge = "merge part2.json part0.json part1.json -o merged.json";
    let mut found = json(&folder, merge);
    let expected = json(&folder, "merge all.json");
    assert_eq!(
        (&found["parts"], &expected["parts"]),
        (&3.into(), &1.into())
    );
    found["parts"] = 1.into();
    assert_eq!(found, expected);

    let arguments =
        "evaluate --predictions p.csv --labels y.csv --bandwidth 0.3 --test skce_linear_asymptotic";
    let evaluated = json(&folder, arguments);
    let estimates = &found["estimates"];
    let names = [
        ("/brier/estimate", "/brier"),
        ("/log/estimate", "/log"),
        ("/ece_top_label", "/ece_top_label"),
        ("/skce_block/estimate", "/skce_linear"),
    ];
    agree(estimates, &evaluated["estimates"], &names, 1e-12);
    agree(&found["skce"], &evaluated["tests"], &TESTS, 1e-9);
    let skce = &found["skce"];
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
        "kernel: exponential over tv, bandwidth 0.3000",
        "30 blocks of 2 samples, 0 samples left out",
        &format!("statistic {statistic:.6}, p-value 1.0000"),
    ] {
        contains(&table, line);
    }
}

/// The test of `merge`, and that of `evaluate`.
const TESTS: [(&str, &str); 2] = [
    ("/test/statistic", "/skce_linear_asymptotic/statistic"),
    ("/test/p_value", "/skce_linear_asymptotic/p_value"),
];

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
    let evaluate = "evaluate --predictions resnet18.csv.gz --labels labels.csv --one-based --bandwidth \
         median-with-diagonal --test skce_linear_asymptotic";
    let evaluated = json(&data, evaluate);
    let bandwidth = number(&evaluated["kernel"]["bandwidth"]);
    for part in 0..3 {
        let files = format!("--predictions p{part}.csv --labels y{part}.csv --one-based");
        let options = format!("--bandwidth {bandwidth:?} --block 2 -o {part}.json");
        quiet(&folder, &format!("summarise {files} {options}"));
    }
    let found = json(&folder, "merge 0.json 1.json 2.json");
    let counts = (&found["n"], &found["skce"]["blocks"]);
    assert_eq!(counts, (&10_000.into(), &5000.into()));
    let expected = &evaluated["tests"]["skce_linear_asymptotic"];
    let names = [
        ("/skce/test/p_value", "/p_value"),
        ("/estimates/skce_block/estimate", "/estimate"),
    ];
    agree(&found, expected, &names, 1e-9);
    let names = [
        ("/brier/estimate", "/brier"),
        ("/log/estimate", "/log"),
        ("/ece_top_label", "/ece_top_label"),
    ];
    agree(&found["estimates"], &evaluated["estimates"], &names, 1e-12);
}

/// Means and standard deviations with targets, as pieces in any order and as one file.
#[test]
fn regressions_in_pieces() {
    let folder = folder("merge-normal");
    let row = |k| format!("{},{}", uniform(3 * k), 0.2 + uniform(3 * k + 1));
    let target = |k| (2.0 * uniform(3 * k + 2)).to_string();
    let (rows, targets) = (lines(60, row), lines(60, target));
    write(&folder, &[("p.csv", &rows), ("y.csv", &targets)]);
    split(&folder, &rows, &targets, &[4, 30, 26]);
    let options = "--family normal --bandwidth 0.3 --length-scale 0.7";
    for part in ["0", "1", "2", ""] {
        let files = format!("--predictions p{part}.csv --targets y{part}.csv -o part{part}.json");
        quiet(&folder, &format!("summarise {options} --block 2 {files}"));
    }
    let mut found = json(&folder, "merge part2.json part0.json part1.json");
    let expected = json(&folder, "merge part.json");
    found["parts"] = 1.into();
    assert_eq!(found, expected);

    let files = "--predictions p.csv --targets y.csv --test skce_linear_asymptotic";
    let evaluated = json(&folder, &format!("evaluate {options} {files}"));
    let names = [
        ("/crps/estimate", "/crps"),
        ("/log/estimate", "/log"),
        ("/coverage_50/estimate", "/coverage_50"),
        ("/coverage_90/estimate", "/coverage_90"),
        ("/skce_block/estimate", "/skce_linear"),
    ];
    agree(&found["estimates"], &evaluated["estimates"], &names, 1e-12);
    agree(&found["skce"], &evaluated["tests"], &TESTS, 1e-9);
    assert_eq!(found["family"], "normal");
    assert_eq!(found["skce"]["kernel"], evaluated["kernel"]);
    assert_eq!(found["skce"]["target_kernel"], evaluated["target_kernel"]);
    let table = quiet(&folder, "merge part0.json part1.json part2.json");
    for line in [
        "60 predictions of the family normal, targets of dimension 1, in 3 parts",
        "coverage of 90 % intervals",
        "30 blocks of 2 samples, 0 samples left out",
    ] {
        contains(&table, line);
    }
}

/// Pieces with weights are `evaluate` of all samples, of classes and of numbers.
#[test]
fn weights_in_pieces() {
    let folder = folder("merge-weights");
    let weight = |k| [0.25, 0.5, 1.0, 7.25][(uniform(5 * k) * 4.0) as usize] + uniform(k);
    let classes = lines(60, |k| {
        let p = uniform(3 * k);
        format!("{p},{},{}", 1.0 - p, u8::from(uniform(7 * k + 1) > p))
    });
    let numbers = lines(60, |k| {
        let [x, y] = [uniform(3 * k), 2.0 * uniform(3 * k + 2)];
        format!("{x},{},{y}", 0.2 + uniform(3 * k + 1))
    });
    let weights = lines(60, |k| weight(k).to_string());
    let normal = "normal --length-scale 0.7";
    for (rows, family, names) in [
        (&classes, "categorical", &["brier", "log"][..]),
        (&numbers, normal, &["crps", "log", "coverage_90"]),
    ] {
        split(&folder, rows, &weights, &[4, 30, 26]);
        write(&folder, &[("p.csv", rows), ("w.csv", &weights)]);
        let options = format!("--family {family} --label-column 2 --bandwidth 0.3");
        let summarise = format!("summarise {options} --block 2");
        for part in 0..3 {
            let files = format!("--predictions p{part}.csv --weights y{part}.csv");
            quiet(&folder, &format!("{summarise} {files} -o part{part}.json"));
        }
        let found = json(&folder, "merge part2.json part0.json part1.json");
        let evaluate = "evaluate --predictions p.csv --weights w.csv --redraws 19";
        let evaluated = json(&folder, &format!("{evaluate} {options}"));
        for name in ["sum", "effective_n"] {
            let (found, expected) = (&found["weights"][name], &evaluated["weights"][name]);
            same_number(found, expected, 1e-12);
        }
        let (found, expected) = (&found["estimates"], &evaluated["estimates"]);
        for name in names {
            same_number(&found[name]["estimate"], &expected[name], 1e-12);
        }
        let skce = &found["skce_block"]["estimate"];
        same_number(skce, &expected["skce_linear"], 1e-9);
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
            let files = format!("part{k}.json part{k}.json -o part{}.json", k + 1);
            outcome(&folder, &format!("merge --allow-duplicates {files}"))
        };
        let last = (0..64).map(merge).find(|(code, _)| *code != 0);
        let (code, said) = last.expect("64 doublings are more than any count");
        assert_eq!(code, 2);
        contains(&said, "samples, expected at most 2^53 together");
    }
}
