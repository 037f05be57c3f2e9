//! Each kind of sentence that `evaluate` prints: it is there where it is true, and not where it would be false.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::*;

/// Rows of text, each so many times.
fn rows(cells: &[(&str, usize)]) -> String {
    let times = |&(row, n): &(&str, usize)| format!("{row}\n").repeat(n);
    cells.iter().map(times).collect()
}

/// What is printed before the table of aspects: the answer.
fn answer(folder: &Path, data: &str, arguments: &str) -> String {
    write(folder, &[("p.csv", data)]);
    let arguments = format!("evaluate --predictions p.csv --label-column y {arguments}");
    let output = calibration(folder, &arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let (answer, _) = text.split_once("\naspects of the omnibus test").unwrap();
    answer.to_owned()
}

/// The answer has all of the first, and none of the others.
#[track_caller]
fn check(folder: &Path, data: &str, arguments: &str, (there, not): (&[&str], &[&str])) {
    let answer = answer(folder, data, arguments);
    for part in there {
        assert!(answer.contains(part), "no \"{part}\" in\n{answer}");
    }
    for part in not {
        assert!(!answer.contains(part), "\"{part}\" in\n{answer}");
    }
}

const CALIBRATED: &str = "There is no evidence against calibration: p = ";
const WRONG: &str = "The model is not calibrated: p ≤ 0.001.\n";

/// Two classes whose frequencies are right, of too much and too little confidence.
#[test]
fn of_classes() {
    let folder = folder("sentences-classes");
    let two = |sure: &str, rest: &str, right: usize| {
        let wrong = 100 - right;
        "a,b,y\n".to_owned()
            + &rows(&[
                (&format!("{sure},{rest},0"), right),
                (&format!("{sure},{rest},1"), wrong),
                (&format!("{rest},{sure},1"), right),
                (&format!("{rest},{sure},0"), wrong),
            ])
    };
    let accused = ["is predicted too", "confident by", "something is off"];
    check(
        &folder,
        &two("0.9", "0.1", 90),
        "",
        (&[CALIBRATED], &accused),
    );
    check(
        &folder,
        &two("0.9", "0.1", 70),
        "",
        (
            &[
                WRONG,
                "accuracy 70.0 %, mean confidence 90.0 %\n",
                "    overconfident by 20.0 points (adjusted p ≤ 0.00",
                "the Brier score, summed over both outcomes, is 0.320 worse than the probabilities promise",
                "the frequency of class b does not follow its probability: χ² = ",
                "    something is off ",
            ],
            &["is predicted too", "underconfident", "better than"],
        ),
    );
    check(
        &folder,
        &two("0.6", "0.4", 90),
        "",
        (
            &[
                WRONG,
                "    underconfident by 30.0 points (adjusted p ≤ 0.00",
                " better than the probabilities promise",
            ],
            &["is predicted too", "overconfident", "worse than"],
        ),
    );
}

/// One class is predicted too often; what is right elsewhere is not accused.
#[test]
fn of_one_class() {
    let folder = folder("sentences-one-class");
    let data = rows(&[("0.7,0.3,0", 100), ("0.7,0.3,1", 100)]);
    check(
        &folder,
        &("a,b,y\n".to_owned() + &data),
        "",
        (
            &[
                WRONG,
                "class a is predicted too often, by 20.0 points",
                "class b is predicted too rarely, by 20.0 points",
            ],
            &[
                "class a is predicted too rarely",
                "class b is predicted too often",
            ],
        ),
    );
    // three classes: the last is right
    let data = rows(&[
        ("0.5,0.3,0.2,0", 60),
        ("0.5,0.3,0.2,1", 100),
        ("0.5,0.3,0.2,2", 40),
    ]);
    check(
        &folder,
        &("a,b,c,y\n".to_owned() + &data),
        "",
        (
            &[
                WRONG,
                "class a is predicted too often, by 20.0 points",
                "class b is predicted too rarely, by 20.0 points",
                "the Brier score is ",
            ],
            &["class c is predicted", "summed over both"],
        ),
    );
}

/// Labels that were all but excluded, and labels that were excluded.
#[test]
fn of_rare_labels() {
    let folder = folder("sentences-rare");
    let calibrated = rows(&[("0.8,0.2,0", 160), ("0.8,0.2,1", 40)]);
    let with = |row: &str| format!("a,b,y\n{row}\n{calibrated}");
    check(
        &folder,
        &with("0.999999999,0.000000001,1"),
        "",
        (
            &[WRONG, "a label of probability 1.0e-9 occurred"],
            &["confident by", "is predicted too"],
        ),
    );
    check(
        &folder,
        &with("1,0,1"),
        "",
        (
            &[
                WRONG,
                "the log score is infinite: a label of probability 0 occurred",
            ],
            &["confident by", "is predicted too"],
        ),
    );
    check(
        &folder,
        &with("0.999999999,0.000000001,0"),
        "",
        (&[CALIBRATED], &["a label of probability", "is infinite"]),
    );
}

/// Along the probability: right on the whole, wrong in parts.
#[test]
fn of_parts_of_an_event() {
    let folder = folder("sentences-parts");
    let event = |low: usize, high: usize| {
        "p,y\n".to_owned()
            + &rows(&[
                ("0.2,1", low),
                ("0.2,0", 200 - low),
                ("0.6,1", high),
                ("0.6,0", 200 - high),
            ])
    };
    // 160 events are expected and observed, 80 of them where 40 are
    let wrong = [
        WRONG,
        "over the lower risks the expected and the observed frequency of the event differ by 10.0 points of all \
         samples",
        "the frequency of the event does not follow its risk: χ² = ",
    ];
    let accused = ["risks are too", "confident", "is predicted too"];
    check(&folder, &event(80, 80), "--positive", (&wrong, &accused));
    let fine = ["differ by", "does not follow", "risks are too"];
    check(
        &folder,
        &event(40, 120),
        "--positive",
        (&[CALIBRATED], &fine),
    );
}

/// Given a column: for whom a model fails, and for whom it does not.
#[test]
fn of_groups() {
    let folder = folder("sentences-groups");
    // 10 % where 30 % are predicted in a group, 30 % in the other
    let data = rows(&[("0.3,1", 15), ("0.3,0", 135), ("0.3,1", 45), ("0.3,0", 105)]);
    let groups = "sex\n".to_owned() + &rows(&[("woman", 150), ("man", 150)]);
    write(&folder, &[("g.csv", &groups)]);
    check(
        &folder,
        &("p,y\n".to_owned() + &data),
        "--positive --given g.csv",
        (
            &[
                "The model is not calibrated given sex: p ≤ 0.00",
                "sex = woman: risks are too high: 45.0 expected, 15 observed, O/E 0.333 [0.19",
            ],
            &["sex = man: ", "risks are too low"],
        ),
    );
    let data = rows(&[("0.3,1", 45), ("0.3,0", 105)]).repeat(2);
    check(
        &folder,
        &("p,y\n".to_owned() + &data),
        "--positive --given g.csv",
        (
            &["There is no evidence against calibration given sex: p = "],
            &["sex = woman: ", "sex = man: "],
        ),
    );
}

/// Along the confidence of ten classes: right on the whole, wrong in parts.
#[test]
fn of_parts_of_a_confidence() {
    let folder = folder("sentences-confidence");
    let low = "0.55,0.225,0.225";
    let high = "0.85,0.075,0.075";
    let data = |right: [usize; 2]| {
        let of = |row: &str, right: usize| {
            let others = (200 - right) / 2;
            [(0, right), (1, others), (2, 200 - right - others)]
                .map(|(label, n)| format!("{row},{label}\n").repeat(n))
                .concat()
        };
        "a,b,c,y\n".to_owned() + &of(low, right[0]) + &of(high, right[1])
    };
    let said = "confidence and accuracy differ by 10.0 points over the less confident samples";
    let accused = ["confident by", "is predicted too"];
    let wrong = [WRONG, said];
    check(&folder, &data([150, 130]), "", (&wrong, &accused));
    let fine = ["confidence and accuracy differ", "confident by"];
    check(&folder, &data([110, 170]), "", (&[CALIBRATED], &fine));
}

/// Real targets: location, spread, tails, each to its own side.
#[test]
fn of_real_targets() {
    let folder = folder("sentences-real");
    // the quantiles of a standard normal distribution, in an order without a trend
    let standard = Normal::standard();
    let normal = |i: usize| standard.inverse_cdf(((i * 61 % 200) as f64 + 0.5) / 200.0);
    let data = |target: &dyn Fn(usize) -> f64| {
        let row = |i: usize| format!("0,1,{:.6}\n", target(i));
        "mean,sd,y\n".to_owned() + &(0..200).map(row).collect::<String>()
    };
    let location = ["targets are too high", "targets are too low"];
    let spread = ["predictions are too narrow", "predictions are too wide"];
    let normals = "--family normal --columns mean,sd";
    for (shift, at) in [(0.6, 0), (-0.6, 1)] {
        let there = [WRONG, location[at]];
        let not = [location[1 - at], spread[0]];
        check(
            &folder,
            &data(&|i| normal(i) + shift),
            normals,
            (&there, &not),
        );
    }
    for (factor, at) in [(1.6, 0), (0.5, 1)] {
        let there = [WRONG, spread[at]];
        let not = [spread[1 - at], location[0], location[1]];
        check(
            &folder,
            &data(&|i| factor * normal(i)),
            normals,
            (&there, &not),
        );
    }
    let fine = [location, spread].concat();
    check(&folder, &data(&normal), normals, (&[CALIBRATED], &fine));
}

/// Real targets whose location and spread are right, and that lie elsewhere than predicted.
#[test]
fn of_parts_of_real_targets() {
    let folder = folder("sentences-real-parts");
    let standard = Normal::standard();
    let level = |i: usize| ((i * 163 % 400) as f64 + 0.5) / 400.0;
    let data = |row: &dyn Fn(usize) -> (f64, f64)| {
        let row = |i: usize| {
            let (mean, target) = row(i);
            format!("{mean:.6},1,{target:.6}\n")
        };
        "mean,sd,y\n".to_owned() + &(0..400).map(row).collect::<String>()
    };
    let normals = "--family normal --columns mean,sd";
    let location = ["targets are too high", "targets are too low"];
    let middle = ["closer to the middle", "further from the middle"];
    let trend = [
        "further outside where predictions are high",
        "further outside where predictions are low",
    ];
    // most targets near their mean, and a tenth at three standard deviations: a variance of one
    let peaked = |u: f64| match (u - 0.5).abs() {
        side if side > 0.45 => 3.0 * (u - 0.5).signum(),
        _ => 0.352 * standard.inverse_cdf((u - 0.05) / 0.9),
    };
    let there = [WRONG, middle[0]];
    let not = [&location[..], &[middle[1], trend[0], trend[1]]].concat();
    check(
        &folder,
        &data(&|i| (0.0, peaked(level(i)))),
        normals,
        (&there, &not),
    );
    // none near its mean
    let hollow = |u: f64| 0.98 * (u - 0.5).signum() + 0.1 * (u - 0.5);
    let there = [
        WRONG,
        middle[1],
        "shares of targets between levels of the predictions differ from those predicted",
    ];
    let not = [&location[..], &[middle[0], trend[0], trend[1]]].concat();
    check(
        &folder,
        &data(&|i| (0.0, hollow(level(i)))),
        normals,
        (&there, &not),
    );
    // errors that grow, or shrink, with the mean
    for (widths, at) in [([0.5, 1.3], 0), ([1.3, 0.5], 1)] {
        let row = |i: usize| {
            let mean = f64::from(u8::from(i % 2 == 1));
            (mean, mean + widths[i % 2] * standard.inverse_cdf(level(i)))
        };
        let there = [WRONG, trend[at]];
        let not = [&location[..], &[trend[1 - at]]].concat();
        check(&folder, &data(&row), normals, (&there, &not));
    }
    let row = |i: usize| {
        let mean = f64::from(u8::from(i % 2 == 1));
        (mean, mean + standard.inverse_cdf(level(i)))
    };
    let fine = [&location[..], &middle, &trend, &["shares of targets"]].concat();
    check(&folder, &data(&row), normals, (&[CALIBRATED], &fine));
}

/// Targets that cannot be drawn: a reason, and no verdict.
#[test]
fn of_no_test() {
    let folder = folder("sentences-no-test");
    let data = "mean,sd,y\n".to_owned() + &rows(&[("0,1e308,1e300", 10), ("0,1.7e308,-1e300", 10)]);
    write(&folder, &[("p.csv", &data)]);
    let arguments = "evaluate --family normal --predictions p.csv --columns mean,sd --label-column y \
         --bandwidth 1 --length-scale 1";
    let text = printed(&folder, arguments);
    contains(
        &text,
        "There is no test of calibration: a target drawn from the predictions",
    );
    contains(&text, "the CRPS of the target -1e300 is infinite");
    lacks(
        &text,
        &[
            "The model is not calibrated",
            "no evidence against calibration",
            "aspects of the omnibus test",
            "00000000000000",
        ],
    );
}

/// What `fit` says of an event is of the event, and of confidences of the confidence.
#[test]
fn of_fits_to_an_event() {
    let folder = folder("sentences-fits");
    let fit = |cells: &[(&str, usize)], header: &str, arguments: &str| {
        write(&folder, &[("p.csv", &(header.to_owned() + &rows(cells)))]);
        printed(
            &folder,
            &format!("fit --predictions p.csv -o map {arguments}"),
        )
    };
    // half of the events that are predicted
    let cells = [("0.2,1", 40), ("0.2,0", 360), ("0.4,1", 80), ("0.4,0", 320)];
    let event = "--positive --label-column y";
    let text = fit(&cells, "p,y\n", event);
    let none = line(&text, "none ");
    contains(none, ", risks too high by 15.0");
    lacks(&text, &["confident by", "predictions are wrong"]);
    // a risk of one in a hundred, and three events
    let cells = [("0.01,1", 3), ("0.01,0", 297), ("0.02,0", 100)];
    let text = fit(&cells, "p,y\n", event);
    contains(
        &text,
        "no gain is established: 3 samples have the event, fewer than 10",
    );
    lacks(&text, &["confident by", "predictions are"]);
    // no event at all
    let text = fit(&[("0.01,0", 300)], "p,y\n", event);
    contains(
        &text,
        "all 300 probabilities are on the right side of 1/2, which does not tell how sharp they may be",
    );
    lacks(&text, &["confident by", "predictions are right"]);
    // a confidence of 0.40 that is right in one of ten cases is not 60 % sure
    let cells = [("0.4,1", 40), ("0.4,0", 360), ("0.3,1", 40), ("0.3,0", 160)];
    let text = fit(&cells, "confidence,correct\n", "");
    let none = line(&text, "none ");
    contains(none, ", overconfident by 23.3");
    lacks(&text, &["underconfident", "risks"]);
}
