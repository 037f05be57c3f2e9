//! Accumulators on file: the same to the bit, and nothing else is taken for one.

use std::{fs, path::PathBuf};

use burn_calibration::error::Error;

use super::*;
use burn_calibration_testing::models::{Model, draw};

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("accumulators");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn taken(classes: usize) -> (Vec<Vec<f64>>, Vec<usize>) {
    draw(Model::M3, 41, classes, &mut rng(9))
}

fn binary<A: Accumulator>(accumulator: &A) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(accumulator, &mut bytes).unwrap();
    bytes
}

#[test]
fn round_trips() {
    let (p, y) = taken(3);
    each_kind!(3, |empty| {
        for accumulator in [empty.clone(), having(&empty, &p, &y)] {
            let bytes = binary(&accumulator);
            let mut again = accumulator.clone();
            for loaded in [
                serde_json::from_str(&text(&accumulator)).unwrap(),
                ciborium::from_reader(&*bytes).unwrap(),
            ] {
                assert_eq!(loaded, accumulator);
                assert_eq!(text(&loaded), text(&accumulator));
                again = loaded;
            }
            // of the same configuration, to the last bit of its bandwidth
            again.merge(&having(&empty, &p, &y)).unwrap();
        }
    });
}

#[test]
fn saved_and_loaded() {
    let (p, y) = taken(3);
    let evaluation = having(&evaluation(3, 2), &p, &y);
    let path = file("evaluation.json");
    evaluation.save(&path).unwrap();
    assert_eq!(Evaluation::load(&path).unwrap(), evaluation);
    let bytes = fs::read(&path).unwrap();
    let head = br#"{"kind":"burn-calibration evaluation","version":3,"crc":""#;
    assert!(bytes.starts_with(head));
}

#[test]
fn what_is_not_an_accumulator() {
    let (p, y) = taken(3);
    let path = file("foreign.json");
    let reject = |content: &str| -> String {
        fs::write(&path, content).unwrap();
        let error = Evaluation::load(&path).unwrap_err();
        let Error::File {
            path: named,
            reason,
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!(named, path.display().to_string());
        reason
    };
    let bins = BinAccumulator::top_label(3, 3).unwrap();
    bins.save(&path).unwrap();
    let bins = fs::read_to_string(&path).unwrap();
    assert_eq!(
        reject(&bins),
        "not a saved evaluation: it holds burn-calibration accumulator of bins, version 3, expected \
         burn-calibration evaluation, version 3"
    );
    let taken = having(&evaluation(3, 2), &p, &y);
    taken.save(&path).unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    let of_version = |version: &str| {
        format!(
            "not a saved evaluation: it holds burn-calibration evaluation, version {version}, expected \
             burn-calibration evaluation, version 3; sum the predictions up again"
        )
    };
    for version in ["2", "4"] {
        let other = whole.replacen("\"version\":3", &format!("\"version\":{version}"), 1);
        assert_eq!(reject(&other), of_version(version));
    }
    let older = r#"{"format":"burn-calibration evaluation, version 1","brier":{}}"#;
    assert_eq!(reject(older), of_version("1"));
    let foreign = reject("{\"loss\": 1}");
    contains(&foreign, "it holds nothing with a kind and a version");
    let changed = whole.replacen("\"samples\":", "\"samples\": ", 1);
    fs::write(&path, changed).unwrap();
    assert_eq!(Evaluation::load(&path).unwrap(), taken); // spaces are no change
    let sum = "\"sum\":\"";
    let changed = whole.replacen(sum, &format!("{sum}1"), 1);
    assert!(reject(&changed).contains("its checksum differs"));
    assert!(reject("x").starts_with("not a saved evaluation: expected value at line 1"));
    assert!(reject("").contains("EOF while parsing"));
    let good = text(&taken);
    for length in 1..good.len() {
        let part = serde_json::from_str::<Evaluation>(&good[..length]);
        assert!(part.is_err(), "{length}");
    }
    assert!(reject(&whole[..whole.len() / 2]).contains("EOF while parsing"));
    let missing = Evaluation::load(file("none.json")).unwrap_err().to_string();
    contains(&missing, "none.json: No such file");
}

/// What no predictions leave.
#[test]
fn inconsistent_accumulators() {
    let (p, y) = taken(3);
    let change = |text: &str, from: &str, to: &str| {
        contains(&text, from);
        text.replacen(from, to, 1)
    };
    let one = having(&BinAccumulator::new(Event::Class(2), 1, 3).unwrap(), &p, &y);
    let good = text(&one);
    let reject = |text: String| serde_json::from_str::<BinAccumulator>(&text).unwrap_err();
    let wrong = reject(change(&good, "{\"Class\":2}", "{\"Class\":3}"));
    contains(&wrong, "the class of the event is 3");
    let wrong = reject(change(&good, "\"samples\":41", "\"samples\":4"));
    contains(&wrong, "its bins hold 41 of 4 samples");
    let wrong = reject(change(
        &good,
        "\"samples\":41",
        "\"samples\":9007199254740993",
    ));
    contains(&wrong, "no accumulator takes");
    let wrong = reject(change(&good, "\"occurred\":\"", "\"occurred\":\"9"));
    contains(&wrong, "bin 0 holds more");
    let bins = &good[good.find("\"bins\":").unwrap()..];
    let wrong = reject(change(&good, bins, "\"bins\":[]}"));
    contains(&wrong, "the number of bins is 0");

    let classes = text(&ClassBinAccumulator::new(1, 2).unwrap());
    let bin =
        &classes[classes.find("[{\"samples\"").unwrap() + 1..classes.find("}]}").unwrap() + 1];
    let ragged = change(&classes, bin, &format!("{bin},{bin}"));
    let wrong = serde_json::from_str::<ClassBinAccumulator>(&ragged).unwrap_err();
    contains(&wrong, "its classes differ");

    let block = text(&BlockSkceAccumulator::linear(fixed(Kernel::gaussian()), 3).unwrap());
    let reject = |text: String| serde_json::from_str::<BlockSkceAccumulator>(&text).unwrap_err();
    let wrong = reject(change(&block, &format!("\"{BANDWIDTH:?}\""), "\"-1\""));
    contains(&wrong, "the kernel bandwidth is -1");
    let wrong = reject(change(&block, "\"size\":2", "\"size\":1"));
    contains(&wrong, "expected at least 2");
    let wrong = reject(change(&block, "\"gaussian\"", "\"rational-quadratic:-1\""));
    contains(&wrong, "the shape of the rational");

    let score = text(&having(&ScoreAccumulator::new(Brier, 3), &p, &y));
    // of another score
    let wrong = serde_json::from_str::<ScoreAccumulator<LogScore>>(&score).unwrap_err();
    contains(&wrong, "it holds the Brier score, expected the log score");
    let deviations = &score[score.find("\"deviations\"").unwrap()..];
    let negative = "\"deviations\":\"-1.0\"}}";
    for (from, to) in [(deviations, negative), ("\"count\":41", "\"count\":0")] {
        let wrong = serde_json::from_str::<ScoreAccumulator<Brier>>(&change(&score, from, to));
        contains(&wrong.unwrap_err(), "no numbers have its sums");
    }
    let wrong = serde_json::from_str::<ScoreAccumulator<Brier>>(&change(
        &score,
        "\"sum\":\"",
        "\"sum\":\"NaN",
    ));
    contains(&wrong.unwrap_err(), "a sum is \"NaN");

    let all = text(&having(&evaluation(3, 2), &p, &y));
    let reject = |text: String| serde_json::from_str::<Evaluation>(&text).unwrap_err();
    let wrong = reject(change(&all, "\"samples\":41", "\"samples\":42"));
    contains(&wrong, "its parts differ");
    let wrong = reject(change(&all, "\"spherical score\"", "\"log score\""));
    contains(
        &wrong,
        "it holds the log score, expected the spherical score",
    );
}
