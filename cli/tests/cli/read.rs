//! The reader of files for other programs.

use burn_calibration_cli::{ClassFiles, read_classes};

use crate::*;

fn numbers(data: &ClassFiles) -> (Vec<f64>, Vec<i64>) {
    let logits = data.logits().unwrap().try_into_vec_as::<f64>().unwrap();
    let labels = data.labels.clone().try_into_vec_as::<i64>().unwrap();
    (logits, labels)
}

/// The options as words, in a folder.
fn read(folder: &Path, options: &str) -> Result<ClassFiles, String> {
    let is_file = |word: &str| word.split(':').next().unwrap().contains('.');
    let words = options.split_whitespace().map(|word| {
        if is_file(word) {
            folder.join(word).into_os_string()
        } else {
            word.into()
        }
    });
    read_classes(words).map_err(|error| error.to_string())
}

const LOGITS: [f64; 6] = [2.0, -1.0, 0.5, 1.5, -0.25, 0.0];

/// Text, NPY and safetensors hold the same numbers, to the last bit.
#[test]
fn formats_of_logits_agree() {
    let folder = folder("read_formats");
    let text = "cat,dog,label\n2.0,-1.0,cat\n0.5,1.5,dog\n-0.25,0,dog\n";
    write(&folder, &[("all.csv", text), ("y.csv", "0\n1\n1\n")]);
    fs::write(folder.join("z.npy"), npy(&LOGITS, &[3, 2], npyz::Order::C)).unwrap();
    let bytes: Vec<u8> = LOGITS.iter().flat_map(|z| z.to_le_bytes()).collect();
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F64, vec![3, 2], &bytes);
    let file = safetensors::serialize([("z", view.unwrap())], None).unwrap();
    fs::write(folder.join("z.safetensors"), file).unwrap();
    for options in [
        "--predictions all.csv --logits --label-column label",
        "--predictions z.npy --logits --labels y.csv",
        "--predictions z.safetensors:z --logits --labels y.csv",
    ] {
        let data = read(&folder, options).unwrap();
        assert_eq!(
            numbers(&data),
            (LOGITS.to_vec(), vec![0, 1, 1]),
            "{options}"
        );
    }
    let named = read(
        &folder,
        "--predictions all.csv --logits --label-column label",
    )
    .unwrap();
    assert_eq!(named.class_names, ["cat", "dog"]);
    // what the command says of the same file
    let said = json(
        &folder,
        "evaluate --predictions all.csv --logits --label-column label",
    );
    let accuracy = said["accuracy"].as_f64().unwrap();
    let (logits, labels) = numbers(&named);
    let is_right = |(row, &label): (&[f64], &i64)| usize::from(row[1] > row[0]) as i64 == label;
    let right = logits
        .chunks(2)
        .zip(&labels)
        .filter(|&row| is_right(row))
        .count();
    assert_eq!(right as f64 / 3.0, accuracy);
}

/// Probabilities have their logarithms as logits, and an event is class 1 of two.
#[test]
fn probabilities() {
    let folder = folder("read_probabilities");
    write(
        &folder,
        &[
            ("p.csv", "p,y\n0.25,0\n0.75,1\n"),
            ("zero.csv", "a,b,y\n1,0,a\n0.5,0.5,b\n"),
        ],
    );
    let event = read(&folder, "--predictions p.csv --positive --label-column y").unwrap();
    let (logits, labels) = numbers(&event);
    assert_eq!(labels, [0, 1]);
    for (found, expected) in logits.iter().zip([0.75f64, 0.25, 0.25, 0.75]) {
        assert_relative_eq!(*found, expected.ln(), max_relative = 1e-12);
    }
    let zero = read(&folder, "--predictions zero.csv --label-column y").unwrap();
    let error = zero.logits().unwrap_err().to_string();
    contains(&error, "row 0, column 1: the probability is 0");
    let clipped = read(
        &folder,
        "--predictions zero.csv --label-column y --clip 1e-6",
    )
    .unwrap();
    assert!(clipped.logits().is_ok());
}

#[test]
fn what_is_wrong() {
    let folder = folder("read_errors");
    write(
        &folder,
        &[
            ("p.csv", "0.5,0.5\n0.4,0.6\n"),
            ("y.csv", "0\n2\n"),
            ("short.csv", "0\n"),
        ],
    );
    let error = |options: &str| read(&folder, options).unwrap_err();
    contains(
        &error("--predictions p.csv"),
        "no labels: expected --labels FILE",
    );
    contains(
        &error("--predictions p.csv --labels y.csv"),
        "y.csv: row 1 (line 2)",
    );
    contains(
        &error("--predictions p.csv --labels short.csv"),
        "1 rows, expected 2",
    );
    contains(
        &error("--predictions none.csv --labels y.csv"),
        "none.csv: ",
    );
    let unknown = error("--predictions p.csv --replicates 9");
    contains(
        &unknown,
        "unexpected argument '--replicates' found, expected options of",
    );
    contains(&error("--labels y.csv"), "--predictions <FILE>");
}
