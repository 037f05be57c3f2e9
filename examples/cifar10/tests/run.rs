//! The program on a few small images: what it writes, goes on with, and refuses.

use std::{fs, path::Path, process::Command};

use image::RgbImage;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::Value;
use tempfile::TempDir;

/// Two classes, dark and bright noise, of so many images each to train on and to test.
fn data(training: usize, test: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut rng = StdRng::seed_from_u64(1);
    for (part, images) in [("train", training), ("test", test)] {
        for (class, level) in [("bright", 130), ("dark", 100)] {
            let folder = folder.path().join(part).join(class);
            fs::create_dir_all(&folder).unwrap();
            for i in 0..images {
                let bytes = (0..32 * 32 * 3)
                    .map(|_| level + rng.random_range(0..100u8))
                    .collect();
                let image = RgbImage::from_raw(32, 32, bytes).unwrap();
                image.save(folder.join(format!("{i:03}.png"))).unwrap();
            }
        }
    }
    folder
}

/// Standard output, or standard error of a failure.
fn cifar10(
    data: &Path,
    out: &Path,
    validation: &str,
    arguments: &[&str],
) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_cifar10"))
        .args(["--data".as_ref(), data, "--out".as_ref(), out])
        .args([
            "--batch",
            "8",
            "--device",
            "flex",
            "--validation",
            validation,
        ])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match output.status.success() {
        true => Ok(text(output.stdout)),
        false => Err(text(output.stderr)),
    }
}

fn results(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("results.json")).unwrap()).unwrap()
}

#[test]
fn trains_recalibrates_tests_and_goes_on() {
    let (data, out) = (data(16, 10), TempDir::new().unwrap());
    let arguments = [
        "--loss",
        "cross-entropy",
        "skce",
        "--epochs",
        "2",
        "--seeds",
        "2",
        "--learning-rate",
        "0.01",
    ];
    let table = cifar10(data.path(), out.path(), "12", &arguments).unwrap();
    assert_eq!(table.lines().count(), 2 + 2 * 2, "{table}");
    assert!(table.contains("lenet5-ce+4skce, temperature scaling"));
    let folder = out.path().join("lenet5-ce+4skce-seed1");
    let first = results(&folder);
    for (measure, range) in [
        ("accuracy", 0.0..1.1),
        ("brier", 0.0..2.0),
        ("p_value", 0.0..1.1),
    ] {
        for when in ["before", "after"] {
            assert!(
                range.contains(&first[when][measure].as_f64().unwrap()),
                "{first}"
            );
        }
    }
    assert_eq!(first["parameters"], 61_326); // LeNet-5 of 10 classes has 62,006, 85 fewer a class
    assert!(
        fs::read_to_string(folder.join("report.html"))
            .unwrap()
            .contains("bright")
    );
    assert!(folder.join("temperature.map").is_file());

    // finished runs are read, not repeated: the table says what their files say
    let path = folder.join("results.json");
    let text = fs::read_to_string(&path).unwrap();
    let seconds = first["training_seconds"].to_string();
    fs::write(&path, text.replace(&seconds, "123.5")).unwrap();
    assert_eq!(
        cifar10(data.path(), out.path(), "12", &arguments).unwrap(),
        table
    );
    assert_eq!(results(&folder)["training_seconds"], 123.5);

    let error = cifar10(data.path(), out.path(), "12", &["--epochs", "3"]).unwrap_err();
    assert!(error.contains("results of other settings"), "{error}");
}

/// Stopped after half of the epochs and resumed: the penalty's weight goes on, not from the start.
#[test]
fn resumes() {
    let (data, out) = (data(16, 10), TempDir::new().unwrap());
    let arguments = [
        "--loss",
        "skce",
        "--schedule",
        "warm-up",
        "--schedule-epochs",
        "4",
        "--epochs",
    ];
    cifar10(
        data.path(),
        out.path(),
        "12",
        &[&arguments[..], &["2"]].concat(),
    )
    .unwrap();
    let folder = out.path().join("lenet5-ce+4skce-seed0");
    fs::remove_file(folder.join("results.json")).unwrap();
    cifar10(
        data.path(),
        out.path(),
        "12",
        &[&arguments[..], &["4", "--resume", "2"]].concat(),
    )
    .unwrap();
    assert_eq!(results(&folder)["epochs_trained"], 4);
    assert_eq!(results(&folder)["steps"], 12); // 20 images in batches of 8, 4 epochs
}

/// The penalty on images that the base loss does not see: those are fewer, and so are the steps.
#[test]
fn holds_images_out_for_the_penalty() {
    let (data, out) = (data(14, 10), TempDir::new().unwrap());
    let run = |penalty_on, epochs: &[&str]| {
        let arguments = [
            "--loss",
            "cross-entropy",
            "skce",
            "--penalty-on",
            penalty_on,
        ];
        let arguments = [&arguments[..], epochs].concat();
        cifar10(data.path(), out.path(), "11", &arguments).unwrap()
    };
    for penalty_on in ["held-out", "rotating"] {
        let table = run(penalty_on, &["--epochs", "2"]);
        assert!(table.contains(&format!(
            "lenet5-ce+4skce-{penalty_on}, temperature scaling"
        )));
    }
    // 17 images in batches of 8; 15 of the base loss where 2 are held out, one or two in a fold
    for (name, steps) in [
        ("ce", 2 * 3),
        ("ce+4skce-held-out", 2 * 2),
        ("ce+4skce-rotating", 2 * 2),
    ] {
        let folder = out.path().join(format!("lenet5-{name}-seed0"));
        assert_eq!(results(&folder)["steps"], steps, "{name}");
    }
    // resumed, the third epoch is the third deal
    let folder = out.path().join("lenet5-ce+4skce-rotating-seed0");
    fs::remove_file(folder.join("results.json")).unwrap();
    let arguments = [
        "--loss",
        "skce",
        "--penalty-on",
        "rotating",
        "--epochs",
        "3",
    ];
    let arguments = [&arguments[..], &["--resume", "2"]].concat();
    cifar10(data.path(), out.path(), "11", &arguments).unwrap();
    assert_eq!(results(&folder)["steps"], 6);
}

/// The other forms of the SKCE have names of their own.
#[test]
fn trains_with_each_form_of_the_penalty() {
    let (data, out) = (data(14, 10), TempDir::new().unwrap());
    let losses = ["--loss", "skce-root", "skce-standardised", "mmce"];
    let arguments = [&losses[..], &["--epochs", "1"]].concat();
    let table = cifar10(data.path(), out.path(), "11", &arguments).unwrap();
    for name in ["ce+1root", "ce+0.01z", "ce+1mmce"] {
        assert!(table.contains(&format!("| lenet5-{name} |")), "{table}");
    }
}

/// With steps too small to change a weight the second epoch is no better than the first.
#[test]
fn stops_early() {
    let (data, out) = (data(16, 10), TempDir::new().unwrap());
    let small = [
        "--loss",
        "focal",
        "--epochs",
        "4",
        "--patience",
        "1",
        "--learning-rate",
        "1e-30",
    ];
    cifar10(data.path(), out.path(), "12", &small).unwrap();
    let results = results(&out.path().join("lenet5-focal3-seed0"));
    assert_eq!(results["epochs_trained"], 2);
}

#[test]
fn refuses_what_is_no_data() {
    let (data, out) = (data(4, 2), TempDir::new().unwrap());
    let refused = |validation, arguments: &[&str]| {
        cifar10(data.path(), out.path(), validation, arguments).unwrap_err()
    };
    assert!(refused("12", &[]).contains("12 of 8 images cannot be held out"));
    assert!(refused("2", &["--model", "resnet21"]).contains("no network \"resnet21\""));
    assert!(refused("2", &["--weight=-1"]).contains("at least 0"));

    let image = data.path().join("train/dark/000.png");
    RgbImage::new(16, 32).save(&image).unwrap();
    let error = refused("2", &[]);
    assert!(
        error.contains("000.png: 16 × 32 pixels, expected 32 × 32"),
        "{error}"
    );
    fs::write(&image, b"no image").unwrap();
    assert!(refused("2", &[]).contains("000.png: "));
    fs::remove_dir_all(data.path().join("test/dark")).unwrap();
    fs::remove_file(&image).unwrap();
    assert!(refused("2", &[]).contains("[\"bright\", \"dark\"] to train on, [\"bright\"] to test"));
}
