//! Predictions and labels as people have them.

use std::process::Stdio;

use super::*;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// The object, whatever is said on standard error.
fn found(folder: &Path, arguments: &str) -> Value {
    let output = calibration(folder, &format!("{arguments} --json"));
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    unnamed(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn one_column_of_two_classes() {
    let folder = folder("positive");
    let p = [0.9, 0.2, 0.7, 0.4, 0.1];
    let two: String = p.iter().map(|p| format!("{:?},{p}\n", 1.0 - p)).collect();
    let one: String = p.iter().map(|p| format!("{p}\n")).collect();
    let odds: String = p
        .iter()
        .map(|p: &f64| format!("{}\n", (p / (1.0 - p)).ln()))
        .collect();
    write(
        &folder,
        &[
            ("two.csv", &two),
            ("one.csv", &one),
            ("odds.csv", &odds),
            ("headed.csv", &format!("prob\n{one}")),
            ("y.csv", "1\n0\n1\n1\n0\n"),
            ("words.csv", "True\nfalse\nYes\ntrue\nNO\n"),
            ("named.csv", "ill\nwell\nill\nill\nwell\n"),
        ],
    );
    let expected = found(&folder, "evaluate --predictions two.csv --labels y.csv");
    for arguments in [
        "--predictions one.csv --positive --labels y.csv",
        "--predictions headed.csv --positive --labels y.csv",
        "--predictions one.csv --positive --labels words.csv",
        "--predictions two.csv --labels words.csv",
        "--predictions one.csv --positive --labels named.csv --classes well,ill",
    ] {
        assert_eq!(
            found(&folder, &format!("evaluate {arguments}")),
            expected,
            "{arguments}"
        );
    }
    let logits = "evaluate --predictions odds.csv --positive --logits --labels y.csv";
    let brier = |value: &Value| value["estimates"]["brier"].as_f64().unwrap();
    assert_relative_eq!(
        brier(&found(&folder, logits)),
        brier(&expected),
        max_relative = 1e-12
    );
    for (arguments, expected) in [
        (
            "two.csv --positive --labels y.csv",
            "two.csv: 2 columns, expected one with --positive",
        ),
        (
            "one.csv --positive --logits --labels y.csv",
            "one.csv: the column holds probabilities",
        ),
        (
            "odds.csv --positive --labels y.csv",
            "odds.csv: row 0 (line 1), class 1: the probability is 2.19",
        ),
        (
            "one.csv --positive --labels named.csv",
            "named.csv: row 0 (line 2): the label is well, expected a class in 0..=1; --classes names",
        ),
    ] {
        let found = complaint(&folder, &format!("evaluate --predictions {arguments}"));
        assert!(found.starts_with(expected), "{found}");
    }
    // the same map, whatever the form of its predictions
    for (name, options) in [("one.csv", "--positive"), ("two.csv", "")] {
        found_map(&folder, &format!("--predictions {name} {options}"), name);
    }
    let [one, two] =
        ["one.csv.out.csv", "two.csv.out.csv"].map(|name| read_csv(&folder.join(name)));
    for (one, two) in one.concat().iter().zip(two.concat()) {
        assert_relative_eq!(*one, two, max_relative = 1e-9);
    }
}

fn found_map(folder: &Path, predictions: &str, name: &str) {
    found(
        folder,
        &format!("fit --method platt {predictions} --labels y.csv -o {name}.map"),
    );
    let apply = format!("apply {name}.map {predictions} --to-probabilities -o {name}.out.csv");
    assert!(calibration(folder, &apply).status.success());
}

/// As published tables have them; the top label as an event of two classes.
#[test]
fn confidence_and_correctness() {
    let folder = folder("confidence");
    let rows = "0.9,1\n0.8,0\n0.6,1\n0.55,0\n";
    write(
        &folder,
        &[
            ("c.csv", &format!("confidence,accuracy\n{rows}")),
            (
                "swapped.csv",
                "correct,confidence\nTrue,0.9\nFalse,0.8\nTrue,0.6\nFalse,0.55\n",
            ),
            ("bare.csv", rows),
            ("two.csv", "0.1,0.9\n0.2,0.8\n0.4,0.6\n0.45,0.55\n"),
            ("y.csv", "1\n0\n1\n0\n"),
        ],
    );
    let values = [0.9, 1.0, 0.8, 0.0, 0.6, 1.0, 0.55, 0.0];
    fs::write(folder.join("c.npy"), npy(&values, &[4, 2], npyz::Order::C)).unwrap();
    let same = |a: &Value, b: &Value, key: &str| {
        let [a, b] = [a, b].map(|object| object["estimates"][key].as_f64().unwrap());
        assert_relative_eq!(a, b, max_relative = 1e-12);
    };
    let expected = found(&folder, "evaluate --predictions two.csv --labels y.csv");
    for arguments in [
        "c.csv",
        "swapped.csv",
        "bare.csv --confidence-correctness",
        "c.npy --confidence-correctness",
    ] {
        let found = found(&folder, &format!("evaluate --predictions {arguments}"));
        for key in ["brier", "log", "skce_unbiased", "ece_top_label"] {
            same(&found, &expected, key);
        }
    }
    let said = calibration(&folder, "evaluate --predictions c.csv");
    assert_eq!(
        String::from_utf8(said.stderr).unwrap(),
        "calibration: c.csv: confidence in a class, and whether it was right (class 1) or not (class 0)\n"
    );
    write(&folder, &[("c.csv", "confidence,accuracy\n0.9,0.7\n")]);
    let found = complaint_of(&folder, "evaluate --predictions c.csv");
    assert!(
        found.contains("row 0 (line 2): the label is 0.7"),
        "{found}"
    );
    let found = complaint(&folder, "evaluate --predictions bare.csv");
    assert!(
        found.contains("expected --labels FILE, or --label-column COLUMN"),
        "{found}"
    );
}

/// The last line of what is said of bad input.
fn complaint_of(folder: &Path, arguments: &str) -> String {
    let output = calibration(folder, arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(output.stderr).unwrap();
    said.lines().last().unwrap().to_owned()
}

#[test]
fn labels_are_names() {
    let folder = folder("names");
    let names = "cat\nsea lion\ncat\nemu\n";
    write(
        &folder,
        &[
            ("p.csv", &format!("cat,sea lion,emu\n{ROWS}")),
            ("bare.csv", ROWS),
            ("y.csv", LABELS),
            ("from1.csv", "1\n2\n1\n3\n"),
            ("names.csv", names),
            ("headed.csv", &format!("animal\n{names}")),
            ("classes.txt", "cat\nsea lion\nemu\n"),
            ("wrong.csv", "cat\ncow\ncat\nemu\n"),
            ("hot.csv", "1,0,0\n0,1,0\n1,0,0\n0,0,1\n"),
            ("soft.csv", "1,0,0\n0,0.5,0.5\n1,0,0\n0,0,1\n"),
            (
                "table.csv",
                "file,animal,split\na.png,cat,1\nb.png,sea lion,1\nc.png,cat,2\nd.png,emu,2\n",
            ),
        ],
    );
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    for arguments in [
        "p.csv --labels names.csv",
        "p.csv --labels headed.csv",
        "bare.csv --labels names.csv --classes classes.txt",
        "p.csv --labels hot.csv",
        "p.csv --labels table.csv --label-column animal",
        "p.csv --labels table.csv --label-column 1",
        "p.csv --labels from1.csv --one-based",
    ] {
        let arguments = format!("evaluate --predictions {arguments}");
        assert_eq!(found(&folder, &arguments), expected, "{arguments}");
    }
    for (arguments, expected) in [
        (
            "--labels wrong.csv",
            "wrong.csv: row 1 (line 2): the label is cow, expected one of cat, sea lion, emu",
        ),
        (
            "--labels from1.csv",
            "from1.csv: row 3 (line 4): the label is 3, expected a class in 0..=2; labels run from 1 to the \
             number of classes: did you mean --one-based?",
        ),
        (
            "--labels soft.csv",
            "soft.csv: row 1 (line 2): 3 columns without a single 1 among zeros, expected one label a row; \
             --soft-labels takes frequencies of several labels",
        ),
        (
            "--labels names.csv --classes a,b",
            "--classes: 2 names, expected 3, the classes of p.csv",
        ),
        (
            "--labels table.csv --label-column plant",
            "table.csv: --label-column: no column \"plant\", expected a number below 3 or one of file, animal, \
             split",
        ),
    ] {
        let arguments = format!("evaluate --predictions p.csv {arguments}");
        assert_eq!(complaint(&folder, &arguments), expected);
    }
}

/// Predictions, labels and more in one file.
#[test]
fn columns_are_chosen() {
    let folder = folder("columns");
    let names = ["cat", "dog", "cat", "emu"];
    let rows = ROWS.lines().zip(names).enumerate();
    let all: String = rows
        .map(|(i, (row, name))| format!("{i},im{i}.png,{row},{name}\n"))
        .collect();
    let few: String = (ROWS.lines().zip(LABELS.lines()))
        .map(|(row, y)| format!("{row},{y}\n"))
        .collect();
    write(
        &folder,
        &[
            ("all.csv", &format!(",file,cat,dog,emu,label\n{all}")),
            ("few.csv", &format!("p0,p1,p2,y\n{few}")),
            ("p.csv", ROWS),
            ("y.csv", LABELS),
        ],
    );
    let values: Vec<f64> = few
        .split([',', '\n'])
        .filter_map(|cell| cell.parse().ok())
        .collect();
    fs::write(
        folder.join("few.npy"),
        npy(&values, &[4, 4], npyz::Order::C),
    )
    .unwrap();
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    for arguments in [
        "all.csv --columns cat,dog,emu --label-column label",
        "all.csv --columns cat..emu --label-column 5",
        "all.csv --columns 2-4 --labels y.csv",
        "few.csv --label-column y",
        "few.csv --columns p0..p2 --label-column y",
        "few.npy --label-column 3",
        "few.npy --columns 0-2 --labels y.csv",
    ] {
        let arguments = format!("evaluate --predictions {arguments}");
        assert_eq!(found(&folder, &arguments), expected, "{arguments}");
    }
    found(
        &folder,
        "fit --method temperature --predictions few.csv --label-column y -o t.map",
    );
    for arguments in ["few.csv --label-column y -o a.csv", "p.csv -o b.csv"] {
        let done = calibration(&folder, &format!("apply t.map --predictions {arguments}"));
        assert!(done.status.success(), "{done:?}");
    }
    let [a, b] = ["a.csv", "b.csv"].map(|name| fs::read(folder.join(name)).unwrap());
    assert_eq!(a, b);
    // the labels of the first file are those of both
    found(
        &folder,
        "compare --before few.csv --after few.csv --label-column y",
    );
    found(
        &folder,
        "compare --before few.csv --after p.csv --label-column y",
    );
    let wrong = complaint(&folder, "evaluate --predictions few.csv");
    assert!(
        wrong.contains("expected --labels FILE, or --label-column COLUMN"),
        "{wrong}"
    );
    let wrong = complaint(
        &folder,
        "evaluate --predictions all.csv --label-column label",
    );
    assert_eq!(
        wrong,
        "all.csv: row 0 (line 2), column 1 (file): \"im0.png\", expected a number"
    );
}

/// Predictions of real vectors, with the targets beside them.
#[test]
fn targets_in_a_column() {
    let folder = folder("target column");
    let row = |i: usize| (i as f64, 1.0 + (i % 3) as f64, i as f64 + (i as f64).sin());
    let rows = || (0..20).map(row);
    let text = |f: &dyn Fn((f64, f64, f64)) -> String| rows().map(f).collect::<String>();
    write(
        &folder,
        &[
            (
                "p.csv",
                &text(&|(mean, deviation, _)| format!("{mean},{deviation}\n")),
            ),
            ("y.csv", &text(&|(_, _, y)| format!("{y}\n"))),
            (
                "all.csv",
                &format!("y,mean,sd\n{}", text(&|(m, s, y)| format!("{y},{m},{s}\n"))),
            ),
        ],
    );
    let of = |arguments: &str| found(&folder, &format!("evaluate --family normal {arguments}"));
    let expected = of("--predictions p.csv --targets y.csv");
    assert_eq!(of("--predictions all.csv --label-column y"), expected);
    assert_eq!(
        of("--predictions p.csv --targets all.csv --label-column y"),
        expected
    );
    assert_eq!(
        of("--predictions all.csv --columns mean,sd --targets y.csv"),
        expected
    );
}

/// Whatever its name, a file is known by what it holds; standard input as well.
#[test]
fn formats_by_content() {
    let folder = folder("content");
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    let packed = |bytes: &[u8]| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let array = npy(&rows(), &[4, 3], npyz::Order::C);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive
        .start_file("p.npy", zip::write::SimpleFileOptions::default())
        .unwrap();
    archive.write_all(&array).unwrap();
    let archive = archive.finish().unwrap().into_inner();
    let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
    let tensor = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![4, 3], &bytes);
    let tensors = safetensors::serialize([("p", tensor.unwrap())], None).unwrap();
    for (what, bytes) in [
        ("text", ROWS.as_bytes().to_vec()),
        ("gzip", packed(ROWS.as_bytes())),
        ("array", array.clone()),
        ("packed array", packed(&array)),
        ("archive", archive),
        ("safetensors", tensors),
    ] {
        fs::write(folder.join("data"), &bytes).unwrap();
        let by_name = found(&folder, "evaluate --predictions data --labels y.csv");
        assert_eq!(by_name, expected, "{what}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_calibration"))
            .args("evaluate --predictions - --labels y.csv --json".split(' '))
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{what}");
        assert_eq!(
            unnamed(serde_json::from_slice(&output.stdout).unwrap()),
            expected,
            "{what}"
        );
    }
    for (bytes, expected) in [
        #[cfg(not(feature = "parquet"))]
        (
            &b"PAR1xxxx"[..],
            "data: holds Parquet: expected a build with --features cli,parquet, or text by pandas.read_parquet(",
        ),
        #[cfg(not(feature = "parquet"))]
        (
            &b"ARROW1xx"[..],
            "data: holds Arrow IPC: expected a build with --features cli,parquet, or text by pandas.read_feather(",
        ),
        (
            &b"\x80\x04\x95xx"[..],
            "data: holds Python's pickle, expected",
        ),
        (b"PK\x03\x04xx", "data: "),
        (
            b"\x93NUMPY\x01\x00\x10\x00{'descr'",
            "data: ends within its header",
        ),
        (
            b"\x93NUMPY\x09\x00\x10\x00{'descr'",
            "data: NPY of version 9",
        ),
        (&packed(&packed(b"1")), "data: gzip within gzip"),
        (&packed(ROWS.as_bytes())[..30], "data: "),
        (b"", "data: holds no rows"),
    ] {
        fs::write(folder.join("data"), bytes).unwrap();
        let found = complaint(&folder, "evaluate --predictions data --labels y.csv");
        assert!(found.starts_with(expected), "{found}");
    }
    let twice = complaint(&folder, "evaluate --predictions - --labels -");
    assert!(twice.contains("standard input can be read once"), "{twice}");
}
