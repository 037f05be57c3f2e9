//! Answers name the rows of the file, also where rows were left out.

use crate::*;

/// 90 rows of normal predictions with targets and weights. Row 5 has no target, rows 20 to 24 have weight 0, and the
/// target of row 70 is far outside, of whose deviation the second says nearly nothing.
fn reals(deviation: f64) -> String {
    let mut text = "mean,sd,tiny,y,w,kept,g\n".to_owned();
    for row in 0..90_u32 {
        let level = f64::from((37 * row) % 90) / 90.0;
        let error = 1.6 * (2.0 * level - 1.0) + 0.3 * (6.3 * level).sin();
        let y = match row {
            5 => "NA".to_owned(),
            70 => "9".to_owned(),
            _ => format!("{error:.4}"),
        };
        let tiny = if row == 70 { deviation } else { 1.0 };
        let weight = if (20..25).contains(&row) {
            0.0
        } else {
            1.0 + level
        };
        let kept = u8::from(weight > 0.0);
        let group = if row < 50 { "a" } else { "b" };
        text += &format!("0,1,{tiny},{y},{weight:.4},{kept},{group}\n");
    }
    text
}

/// Row, and the row in words, of the finding about the furthest target.
fn furthest(omnibus: &Value) -> (u64, bool) {
    let aspects = omnibus["aspects"].as_array().unwrap();
    let aspect = aspects.iter().find(|of| of["name"] == "furthest_target");
    let aspect = aspect.unwrap();
    let words = aspect["finding"].as_str().unwrap();
    (
        aspect["row"].as_u64().unwrap(),
        words.contains("the target of row 70 is"),
    )
}

#[test]
fn findings_name_rows_of_the_file() {
    let folder = folder("left_out");
    write(&folder, &[("all.csv", reals(1.0))]);
    let columns = "--family normal --columns mean,sd --label-column y";
    let found = |arguments: &str| -> Value {
        let text = printed(&folder, &format!("{arguments} --json"));
        serde_json::from_str(&text).unwrap()
    };
    let base = format!("evaluate --predictions all.csv {columns} --skip-missing --redraws 99");
    for options in ["", "--weights w", "--weights w --given g.csv"] {
        let groups: String = reals(1.0)
            .lines()
            .map(|line| {
                let (_, group) = line.rsplit_once(',').unwrap();
                format!("{group}\n")
            })
            .collect();
        write(&folder, &[("g.csv", groups)]);
        let answer = found(&format!("{base} {options}"));
        assert_eq!(furthest(&answer["omnibus"]), (70, true), "{options}");
        for test in answer["given"]["tests"].as_array().unwrap_or(&vec![]) {
            if test["name"] == "g = b" {
                assert_eq!(furthest(test), (70, true), "given");
            }
        }
    }
    let text = printed(&folder, &format!("{base} --weights w"));
    assert!(
        text.contains("the target of row 70 is too far outside"),
        "{text}"
    );
    let both = "--before all.csv --after all.csv --skip-missing --redraws 99 --weights w";
    let answer = found(&format!("compare {both} {columns}"));
    for when in ["before", "after"] {
        assert_eq!(furthest(&answer["omnibus"][when]), (70, true), "{when}");
    }
    let page = "report --predictions all.csv --skip-missing --weights w -o page.html";
    let answer = found(&format!("{page} {columns}"));
    assert_eq!(furthest(&answer["before"]["omnibus"]), (70, true));
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("target of row 70 is") && !page.contains("target of row 64 is"));
}

/// The warning of a fit, and of the map that it saves.
#[test]
fn warnings_name_rows_of_the_file() {
    let folder = folder("left_out_fit");
    write(&folder, &[("all.csv", reals(1e-6))]);
    let base = "fit --predictions all.csv --family normal --columns mean,tiny --label-column y --skip-missing --weights kept";
    for method in ["--method variance", ""] {
        let (text, _) = done(&folder, &format!("{base} {method} -o x.map"));
        assert!(text.contains("the fit leaves out row 70, "), "{text}");
        let answer = printed(&folder, &format!("{base} {method} -o x.map --json"));
        assert!(answer.contains("the fit leaves out row 70, "), "{answer}");
    }
    printed(&folder, &format!("{base} --method variance -o x.map"));
    let shown = printed(&folder, "show x.map");
    assert!(shown.contains("the fit leaves out row 70, "), "{shown}");
}

/// A label of a small probability, and an infinite score.
#[test]
fn labels_and_reasons_name_rows_of_the_file() {
    let folder = folder("left_out_classes");
    let file = |least: &str| {
        let mut text = "a,b,y,w\n".to_owned();
        for row in 0..60_u32 {
            let p = 0.2 + 0.6 * f64::from((7 * row) % 60) / 60.0;
            let label = u8::from(f64::from((23 * row) % 60) / 60.0 < p);
            let weight = f64::from(u8::from(row != 3)) * (1.0 + 0.1 * f64::from(row % 7));
            text += &match row {
                2 => format!("NA,0.5,0,{weight}\n"),
                50 => format!("1,{least},1,{weight}\n"),
                _ => format!("{:.4},{p:.4},{label},{weight}\n", 1.0 - p),
            };
        }
        text
    };
    write(
        &folder,
        &[("p.csv", file("1e-12")), ("zero.csv", file("0"))],
    );
    let options = "--columns a,b --label-column y --weights w --skip-missing --redraws 99 --json";
    let answer = printed(&folder, &format!("evaluate --predictions p.csv {options}"));
    assert!(answer.contains("1.0e-12 occurred (row 50)"), "{answer}");
    let answer = printed(
        &folder,
        &format!("evaluate --predictions zero.csv {options}"),
    );
    assert!(answer.contains("\"row 50: the log score"), "{answer}");
    let both = format!("compare --before zero.csv --after p.csv {options}");
    let answer = printed(&folder, &both);
    assert!(answer.contains("row 50: the log score"), "{answer}");
}
