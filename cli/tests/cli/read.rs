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
    let words = options.split_whitespace();
    let words = words.map(|word| {
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
    let file = safetensors_of(safetensors::Dtype::F64, &[3, 2], &bytes);
    fs::write(folder.join("z.safetensors"), file).unwrap();
    let text = "--predictions all.csv --logits --label-column label";
    for options in [
        text,
        "--predictions z.npy --logits --labels y.csv",
        "--predictions z.safetensors:p --logits --labels y.csv",
    ] {
        let found = numbers(&read(&folder, options).unwrap());
        assert_eq!(found, (LOGITS.to_vec(), vec![0, 1, 1]), "{options}");
    }
    let named = read(&folder, text).unwrap();
    assert_eq!(named.class_names, ["cat", "dog"]);
    // what the command says of the same file
    let said = json(&folder, &format!("evaluate {text}"));
    let (logits, labels) = numbers(&named);
    let rows = logits.chunks(2).zip(labels);
    let right = rows.filter(|(row, label)| i64::from(row[1] > row[0]) == *label);
    assert_eq!(right.count() as f64 / 3.0, number(&said["accuracy"]));
}

/// Probabilities have their logarithms as logits, and an event is class 1 of two.
#[test]
fn probabilities() {
    let folder = folder("read_probabilities");
    let zero = "a,b,y\n1,0,a\n0.5,0.5,b\n";
    let files = [("p.csv", "p,y\n0.25,0\n0.75,1\n"), ("zero.csv", zero)];
    write(&folder, &files);
    let event = read(&folder, "--predictions p.csv --positive --label-column y").unwrap();
    let (logits, labels) = numbers(&event);
    assert_eq!(labels, [0, 1]);
    for (found, expected) in logits.iter().zip([0.75f64, 0.25, 0.25, 0.75]) {
        assert_relative_eq!(*found, expected.ln(), max_relative = 1e-12);
    }
    let options = "--predictions zero.csv --label-column y";
    let error = read(&folder, options).unwrap().logits().unwrap_err();
    contains(&error.to_string(), "row 0, column b: the probability is 0");
    let clipped = read(&folder, &format!("{options} --clip 1e-6")).unwrap();
    assert!(clipped.logits().is_ok());
}

#[test]
fn what_is_wrong() {
    let folder = folder("read_errors");
    let p = ("p.csv", "0.5,0.5\n0.4,0.6\n");
    write(&folder, &[p, ("y.csv", "0\n2\n"), ("short.csv", "0\n")]);
    let unknown = "unexpected argument '--replicates' found, expected options of";
    for (options, expected) in [
        ("--predictions p.csv", "no labels: expected --labels FILE"),
        (
            "--predictions p.csv --labels y.csv",
            "y.csv: row 1 (line 2)",
        ),
        (
            "--predictions p.csv --labels short.csv",
            "1 row, expected 2",
        ),
        ("--predictions none.csv --labels y.csv", "none.csv: "),
        ("--predictions p.csv --replicates 9", unknown),
        ("--labels y.csv", "--predictions <FILE>"),
    ] {
        contains(&read(&folder, options).unwrap_err(), expected);
    }
}
