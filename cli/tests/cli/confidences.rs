//! Confidences, and whether the model was right: a kind of predictions of their own.

use crate::*;

/// Ten confidences of 0.40 in one of many classes, one right: not nine right at 0.60.
#[test]
fn a_low_confidence_is_no_confidence_in_another_class() {
    let folder = folder("low-confidence");
    write(&folder, &[("p.csv", include_str!("cases/lowconf4.csv"))]);
    let base = "evaluate --predictions p.csv";
    for lens in ["", " --lens top-label"] {
        let object = found(&folder, &format!("{base}{lens}"));
        assert_eq!(object["subject"], "correctness");
        assert_relative_eq!(number(&object["accuracy"]), 0.1, epsilon = 1e-12);
        assert_relative_eq!(number(&object["mean_confidence"]), 0.4, epsilon = 1e-12);
        let over = number(&object["intervals"]["overconfidence"]["estimate"]);
        assert_relative_eq!(over, 0.3, epsilon = 1e-12);
        let ece = number(&object["estimates"]["ece_event"]);
        assert_relative_eq!(ece, 0.3, epsilon = 1e-12);
        let ks = number(&object["estimates"]["ks"]);
        assert_relative_eq!(ks, 0.3, epsilon = 1e-12);
        let aspect = &object["omnibus"]["aspects"][0];
        assert_eq!(aspect["name"], "confidence");
        assert_relative_eq!(number(&aspect["estimate"]), 0.3, epsilon = 1e-12);
        assert!(object["estimates"]["ece_top_label"].is_null());
    }
    let text = printed(&folder, base);
    contains(&text, "10 confidences, and whether the model was right\n");
    contains(&text, "accuracy 10.0 %, mean confidence 40.0 %\n");
    contains(
        line(&text, "overconfidence of the confidence, points"),
        " 30.00 [",
    );
    lacks(
        &text,
        &["underconfident", "top label", "class 0", "class 1"],
    );
    let refused = calibration(&folder, &format!("{base} --lens class-wise"));
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    contains(&said, "there are no classes beside confidences");
}

/// 8.9 points too sure in words, as in numbers.
#[test]
fn an_overconfident_model_is_overconfident() {
    let folder = folder("over-confidence");
    let rows = |confidence: &str, n: usize, right: usize| {
        let row = |i| format!("{confidence},{}\n", usize::from(i < right));
        (0..n).map(row).collect::<String>()
    };
    let text = "confidence,correct\n".to_owned() + &rows("0.4", 300, 93) + &rows("0.3", 300, 63);
    fs::write(folder.join("p.csv"), text).unwrap();
    let text = printed(&folder, "evaluate --predictions p.csv");
    contains(&text, "The model is not calibrated: p ≤ 0.001.");
    contains(
        &text,
        "\n    overconfident by 9.0 points (adjusted p ≤ 0.00",
    );
    lacks(&text, &["underconfident", "class 0", "class 1"]);
}

/// A map of confidences is a map of confidences: for such alone, and it keeps the accuracy, which is data.
#[test]
fn maps_of_confidences_are_of_their_own() {
    let folder = folder("confidence-maps");
    let rows = |i: usize| format!("0.{},{}\n", 50 + i % 45, usize::from(!i.is_multiple_of(3)));
    let text = "confidence,correct\n".to_owned() + &(0..90).map(rows).collect::<String>();
    write(&folder, &[("cc.csv", &text)]);
    let run = |arguments: &str| printed(&folder, arguments);
    let fitted = run("fit --method temperature --predictions cc.csv -o t.map");
    contains(
        &fitted,
        "temperature scaling of 90 confidences, and whether the model was right, saved as t.map",
    );
    lacks(&fitted, &["keeps the accuracy", "classes"]);
    let shown = run("show t.map");
    contains(&shown, "fitted to: confidence and correctness\n");
    lacks(&shown, &["keeps the accuracy", "--family"]);
    assert_eq!(
        json(&folder, "show t.map")["fitted_to"]["family"],
        "correctness"
    );
    let applied = found(&folder, "apply t.map --predictions cc.csv -o after.csv");
    assert_eq!(applied["family"], "correctness");

    let compared = found(&folder, "compare --before cc.csv --after after.csv");
    assert_eq!(compared["subject"], "correctness");
    let accuracy = &compared["accuracy"];
    assert_relative_eq!(number(&accuracy["before"]), 2.0 / 3.0, epsilon = 1e-12);
    assert_eq!(accuracy["before"], accuracy["after"]);
    assert!(compared["ece_event"]["before"].is_number() && compared["ece_top_label"].is_null());

    // no map of one kind for the other
    write(
        &folder,
        &[
            ("two.csv", "0.6,0.4\n0.7,0.3\n0.2,0.8\n0.3,0.7\n"),
            ("y.csv", "0\n1\n1\n0\n"),
        ],
    );
    let other = complaint(&folder, "apply t.map --predictions two.csv -o no.csv");
    contains(
        &other,
        "t.map: a temperature scaling of confidence and correctness, expected one of --family categorical, as two.csv holds",
    );
    run("fit --method temperature --predictions two.csv --labels y.csv -o c.map");
    let output = calibration(&folder, "apply c.map --predictions cc.csv -o no.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    contains(
        &said,
        "c.map: a temperature scaling of --family categorical, expected one of confidence and correctness, as cc.csv holds",
    );
    let normal = complaint(
        &folder,
        "apply t.map --family normal --predictions two.csv -o no.csv",
    );
    contains(
        &normal,
        "a temperature scaling of confidence and correctness, expected one of --family normal",
    );
    for keep in ["accuracy", "order"] {
        let output = calibration(
            &folder,
            &format!("fit --keep {keep} --predictions cc.csv -o k.map"),
        );
        let said = String::from_utf8(output.stderr).unwrap();
        contains(
            &said,
            &format!("--keep {keep}: of confidences the accuracy is data"),
        );
    }
    // an event has no accuracy to keep, but sides of 1/2
    write(
        &folder,
        &[("e.csv", &risks(&[("0.3", 20, 8), ("0.8", 20, 13)]))],
    );
    let event =
        run("fit --method temperature --positive --predictions e.csv --label-column y -o e.map");
    contains(
        &event,
        "temperature scaling of 40 predictions of one event, class 1, saved as e.map",
    );
    contains(&event, "keeps each side of 1/2:");
    lacks(&event, &["accuracy"]);
}
