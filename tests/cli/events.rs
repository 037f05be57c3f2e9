//! Events and confidences: every number and sentence is of what is asked.

use crate::*;

/// What the command prints.
#[track_caller]
fn printed(folder: &Path, arguments: &str) -> String {
    let output = calibration(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "{part} in\n{text}");
    }
}

/// The line that begins with a title.
#[track_caller]
fn line<'a>(text: &'a str, title: &str) -> &'a str {
    let mut lines = text.lines().map(str::trim_start);
    let found = lines.find(|line| line.starts_with(title));
    found.unwrap_or_else(|| panic!("{title} in\n{text}"))
}

/// Risks with as many events as are said of each.
fn risks(cells: &[(&str, usize, usize)]) -> String {
    let rows = |&(risk, samples, events): &(&str, usize, usize)| {
        let row = move |i| format!("{risk},{}\n", usize::from(i < events));
        (0..samples).map(row).collect::<String>()
    };
    "p,y\n".to_owned() + &cells.iter().map(rows).collect::<String>()
}

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

/// The event is off by 20 points where the confidence in the more likely class is off by none.
#[test]
fn an_event_is_no_top_label() {
    let folder = folder("event-20");
    let data = include_str!("cases/binary_top_vs_event.csv");
    write(&folder, &[("p.csv", data)]);
    let base = "evaluate --predictions p.csv --positive --label-column y";
    let object = found(&folder, base);
    assert_eq!(object["subject"], "event");
    assert_relative_eq!(number(&object["event_frequency"]), 0.7, epsilon = 1e-12);
    assert_relative_eq!(number(&object["mean_risk"]), 0.5, epsilon = 1e-12);
    assert!(object["accuracy"].is_null() && object["intervals"]["overconfidence"].is_null());
    let estimate = |part: &str, key: &str| match part {
        "estimates" => number(&object[part][key]),
        _ => number(&object[part][key]["estimate"]),
    };
    for (part, key, expected) in [
        ("intervals", "overprediction", -0.2),
        ("intervals", "observed_expected", 1.4),
        ("estimates", "ece_event", 0.2),
        ("estimates", "ks", 0.2),
        // 2 (r − c)²: 0.29 of each half, less the isotonic 0.25 and 0.09
        ("estimates", "brier_miscalibration", 0.08),
    ] {
        assert_relative_eq!(estimate(part, key), expected, epsilon = 1e-6);
    }
    let text = printed(&folder, base);
    contains(
        &text,
        "200 predictions of one event, class 1\ntested: the probability of the event\n",
    );
    contains(&text, "frequency of the event 70.0 %, mean risk 50.0 %\n");
    contains(
        &text,
        "    risks are too low: 100 expected, 140 observed, O/E 1.40 [1.26, 1.53] (adjusted",
    );
    contains(
        line(&text, "O/E of the event, 140 of 100"),
        " 1.40 [1.26, 1.53]",
    );
    contains(
        line(&text, "mean probability less frequency of the event"),
        "-20.00 [",
    );
    contains(
        line(&text, "debiased ECE of order 2 of the event"),
        "19.57 [",
    );
    contains(
        line(&text, "ECE, 15 equal-width bins"),
        " 2.00000000e-1  of the event",
    );
    contains(
        line(&text, "Brier, CORP miscalibration"),
        "  of the event, summed over both outcomes",
    );
    let told = [
        "confident",
        "top label",
        "accuracy",
        "class 0",
        "confidence",
    ];
    lacks(&text, &told);
    // the same two columns without --positive are two classes, and say of which a number is
    let two: String = data
        .lines()
        .skip(1)
        .map(|line| {
            let (p, y) = line.split_once(',').unwrap();
            let p: f64 = p.parse().unwrap();
            format!("{},{p},{y}\n", 1.0 - p)
        })
        .collect();
    write(&folder, &[("two.csv", &("a,b,y\n".to_owned() + &two))]);
    let text = printed(&folder, "evaluate --predictions two.csv --label-column y");
    contains(
        line(&text, "ECE, 15 equal-width bins"),
        "  of the top label",
    );
    contains(
        line(&text, "Brier score"),
        "  of both classes, summed over both outcomes",
    );
    contains(line(&text, "Cox slope"), "  of class b");
}

/// A risk of one in a thousand that is predicted twice too high.
#[test]
fn rare_risks_have_digits() {
    let folder = folder("rare");
    let cells = [("0.002", 30_000, 28), ("0.004", 10_000, 20)];
    fs::write(folder.join("p.csv"), risks(&cells)).unwrap();
    let base = "evaluate --predictions p.csv --positive --label-column y";
    let text = printed(&folder, &format!("{base} --test spiegelhalter"));
    contains(&text, "frequency of the event 0.12 %, mean risk 0.25 %\n");
    contains(
        &text,
        "    risks are too high: 100 expected, 48 observed, O/E 0.480 [0.354, 0.636] (adjusted",
    );
    contains(
        line(
            &text,
            "mean probability less frequency of the event, points",
        ),
        " 0.13 [0.0",
    );
    let (answer, _) = text.split_once("\naspects of the").unwrap();
    lacks(
        answer,
        &[
            "confident",
            "0–0",
            " 0.0000",
            "0.00 ",
            "[0.00,",
            " 0.0 points",
        ],
    );
    let object = found(&folder, base);
    let intercept = number(&object["estimates"]["cox_in_the_large"]);
    assert_relative_eq!(intercept, 0.48f64.ln(), epsilon = 5e-3);
}

/// Calibrated risks are not accused, and those that are too low are not said to be too high.
#[test]
fn risks_are_accused_of_what_they_do() {
    let folder = folder("risk-sides");
    let base = "evaluate --predictions p.csv --positive --label-column y";
    for (events, side) in [(4, "high"), (10, ""), (20, "low")] {
        let cells = [("0.1", 200, 2 * events), ("0.2", 200, 4 * events)];
        fs::write(folder.join("p.csv"), risks(&cells)).unwrap();
        let text = printed(&folder, base);
        match side {
            "" => contains(&text, "There is no evidence against calibration: p = "),
            side => contains(
                &text,
                &format!("\n    risks are too {side}: 60.0 expected, "),
            ),
        }
        let others = ["high", "low"].map(|other| format!("risks are too {other}"));
        for other in others
            .iter()
            .filter(|other| !other.ends_with(side) || side.is_empty())
        {
            lacks(&text, &[other]);
        }
    }
}

/// Of three classes every number says of what it is.
#[test]
fn numbers_of_classes_say_of_what_they_are() {
    let folder = folder("of-what");
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    let text = printed(
        &folder,
        "evaluate --predictions p.csv --labels y.csv --test spiegelhalter --test cox",
    );
    for (title, of) in [
        ("overconfidence of the top label, points", ""),
        ("debiased ECE of order 2 of the top label, points", ""),
        ("SKCE of the whole vector, unbiased", ""),
        ("Brier score ", "of the whole vector"),
        ("log score ", "of the whole vector"),
        (
            "Brier, CORP miscalibration",
            "of the top label, summed over both outcomes",
        ),
        ("ECE, 15 equal-width bins", "of the top label"),
        (
            "Cox intercept, slope 1 (0 if calibrated)",
            "of the top label",
        ),
    ] {
        let line = line(&text, title);
        assert!(
            line.ends_with(of) || line.contains("  there is no"),
            "{line}"
        );
    }
    let spiegelhalter = line(&text, "Spiegelhalter, normal");
    assert!(
        spiegelhalter.ends_with("  of the top label"),
        "{spiegelhalter}"
    );
}

/// A map of confidences is a map of confidences: for such alone, and it keeps the accuracy, which is data.
#[test]
fn maps_of_confidences_are_of_their_own() {
    let folder = folder("confidence-maps");
    let rows = |i: usize| format!("0.{},{}\n", 50 + i % 45, usize::from(i % 3 > 0));
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

/// Pieces of confidences and of events are summed up as such, and only with their like.
#[test]
fn pieces_of_confidences_and_events() {
    let folder = folder("event-pieces");
    let data = include_str!("cases/binary_top_vs_event.csv");
    let low = include_str!("cases/lowconf4.csv");
    write(
        &folder,
        &[
            ("e.csv", data),
            ("low.csv", low),
            ("y.csv", LABELS),
            ("p.csv", "0.7,0.3\n0.2,0.8\n0.1,0.9\n0.4,0.6\n"),
            ("z.csv", "0\n1\n1\n0\n"),
        ],
    );
    let run = |arguments: &str| printed(&folder, arguments);
    run("summarise --predictions low.csv -o low.json");
    run("summarise --predictions e.csv --positive --label-column y -o e.json");
    run("summarise --predictions p.csv --labels z.csv -o c.json");
    let low = json(&folder, "merge low.json");
    assert_eq!(low["subject"], "correctness");
    let estimates = &low["estimates"];
    assert_relative_eq!(number(&estimates["accuracy"]), 0.1, epsilon = 1e-12);
    assert_relative_eq!(number(&estimates["ece_event"]), 0.3, epsilon = 1e-12);
    assert!(estimates["ece_top_label"].is_null());
    let event = json(&folder, "merge e.json");
    assert_eq!(event["subject"], "event");
    let estimates = &event["estimates"];
    assert_relative_eq!(number(&estimates["event_frequency"]), 0.7, epsilon = 1e-12);
    assert_relative_eq!(number(&estimates["ece_event"]), 0.2, epsilon = 1e-12);
    assert!(estimates["accuracy"].is_null());
    let text = run("merge e.json");
    contains(&text, "200 predictions of one event, class 1 in 1 parts");
    contains(&text, "Brier score, summed over both outcomes");
    assert!(json(&folder, "merge c.json")["subject"].is_null());
    for (one, other) in [("low.json", "e.json"), ("e.json", "c.json")] {
        let refused = complaint(&folder, &format!("merge {one} {other}"));
        contains(&refused, "what predictions are about");
    }
}

/// The page of an event is of the event, with digits where risks are small.
#[cfg(feature = "report")]
#[test]
fn a_page_is_of_the_event() {
    let folder = folder("event-page");
    let cells = [("0.002", 750, 0), ("0.004", 250, 1)];
    fs::write(folder.join("p.csv"), risks(&cells)).unwrap();
    let base = "report --predictions p.csv";
    printed(
        &folder,
        &format!("{base} --positive --label-column y -o r.html"),
    );
    let page = fs::read_to_string(folder.join("r.html")).unwrap();
    for part in [
        "Does the event occur as often as predicted?",
        "n average the event has a probability of 0.25\u{a0}%, and occurs in 0.10\u{a0}% of the samples",
        "O/E",
        "ean probability less frequency of the event",
        "Brier score, summed over both outcomes,",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in [
        "op label",
        "verconfiden",
        "nderconfiden",
        "most likely class",
        "0–0<",
        ">0.0000<",
    ] {
        assert!(!page.contains(part), "{part}");
    }
    write(&folder, &[("p.csv", include_str!("cases/lowconf4.csv"))]);
    printed(&folder, &format!("{base} -o r.html"));
    let page = fs::read_to_string(folder.join("r.html")).unwrap();
    contains(
        &page,
        "n average the model is 40.00\u{a0}% sure, and right 10.00\u{a0}% of the time: overconfident by 30.00",
    );
    assert!(!page.contains("underconfident by"));
}
