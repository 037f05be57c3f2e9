//! Events: every number and sentence is of what is asked.

use crate::*;

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
