//! Files side by side: columns by their names, and maps for what they were fitted to.

use super::*;

/// Rows of three classes, right two times of three.
const THREE: [[f64; 3]; 6] = [
    [0.7, 0.2, 0.1],
    [0.1, 0.8, 0.1],
    [0.2, 0.2, 0.6],
    [0.6, 0.3, 0.1],
    [0.3, 0.5, 0.2],
    [0.1, 0.3, 0.6],
];
pub const ANIMALS: [&str; 6] = ["cat", "dog", "emu", "dog", "dog", "cat"];

/// The rows with their columns in another order, below a header.
pub fn table(header: &[&str], order: [usize; 3]) -> String {
    let row = |row: &[f64; 3]| order.map(|class| row[class].to_string()).join(",") + "\n";
    header.join(",") + "\n" + &THREE.iter().map(row).collect::<String>()
}

pub fn prepared(name: &str) -> PathBuf {
    let folder = folder(name);
    let names: Vec<String> = ANIMALS.iter().map(|name| format!("{name}\n")).collect();
    write(
        &folder,
        &[
            ("a.csv", &table(&["cat", "dog", "emu"], [0, 1, 2])),
            ("b.csv", &table(&["emu", "cat", "dog"], [2, 0, 1])),
            ("c.csv", &table(&["cat", "dog", "cow"], [0, 1, 2])),
            ("p.csv", &table(&["p0", "p1", "p2"], [0, 1, 2])),
            ("q.csv", &table(&["p2", "p1", "p0"], [2, 1, 0])),
            ("names.csv", &names.concat()),
            ("y.csv", "0\n1\n2\n1\n1\n0\n"),
        ],
    );
    folder
}

/// Standard output and standard error of what ends well.
pub fn said(folder: &Path, arguments: &str) -> (String, String) {
    let output = calibration(folder, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, said) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{arguments}: {said}");
    (out, said)
}

#[test]
fn columns_are_taken_by_their_names() {
    let folder = prepared("columns by name");
    let line = "calibration: b.csv: columns are taken by their names: cat, dog, emu\n";
    for labels in ["y.csv", "names.csv", "y.csv --columns cat,dog,emu"] {
        let compare = format!("compare --before a.csv --after b.csv --labels {labels} --json");
        let (out, said) = said(&folder, &compare);
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(found["accuracy"]["before"], found["accuracy"]["after"]);
        assert_eq!(found["changes"]["brier"]["difference"], 0.0);
        // chosen by name they are in order already
        let expected = if labels.contains("--columns") {
            ""
        } else {
            line
        };
        assert_eq!(said, expected, "{labels}");
    }
    let compare = "compare --before a.csv --after b.csv --labels y.csv --by-position --json";
    let found: Value = serde_json::from_str(&said(&folder, compare).0).unwrap();
    assert_ne!(found["accuracy"]["before"], found["accuracy"]["after"]);
    assert_eq!(
        complaint(
            &folder,
            "compare --before a.csv --after c.csv --labels y.csv"
        ),
        "c.csv: the columns are named cat, dog, cow, expected cat, dog, emu as of a.csv; --by-position takes \
         columns in their order"
    );
    let report = "report --predictions a.csv --after b.csv --labels y.csv -o r.html --json";
    let (out, words) = said(&folder, report);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["before"]["estimates"], found["after"]["estimates"]);
    assert_eq!(words, line);
}

/// `p2,p1,p0` are classes 2, 1 and 0, of labels as well.
#[test]
fn names_that_count_are_classes() {
    let folder = prepared("names that count");
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    let (out, words) = said(
        &folder,
        "evaluate --predictions q.csv --labels y.csv --json",
    );
    assert_eq!(unnamed(serde_json::from_str(&out).unwrap()), expected);
    assert_eq!(
        words,
        "calibration: q.csv: columns are taken by their names: p0, p1, p2\n"
    );
    // one-hot labels whose columns count
    write(
        &folder,
        &[(
            "hot.csv",
            "y2,y1,y0\n0,0,1\n0,1,0\n1,0,0\n0,1,0\n0,1,0\n0,0,1\n",
        )],
    );
    assert_eq!(
        found(&folder, "evaluate --predictions p.csv --labels hot.csv"),
        expected
    );
    // names that count from 1 leave open where labels do
    write(
        &folder,
        &[
            ("one.csv", &table(&["c1", "c2", "c3"], [0, 1, 2])),
            ("from1.csv", "1\n2\n2\n2\n2\n1\n"),
        ],
    );
    contains(
        &complaint(&folder, "evaluate --predictions one.csv --labels from1.csv"),
        "the columns count from 1, and no label is 0: expected --one-based",
    );
    for option in ["--one-based", "--by-position"] {
        found(
            &folder,
            &format!("evaluate --predictions one.csv --labels from1.csv {option}"),
        );
    }
    // names of classes for columns in another order
    contains(
        &complaint(
            &folder,
            "evaluate --predictions q.csv --labels names.csv --classes cat,dog,emu",
        ),
        "q.csv: the columns are named p2, p1, p0, expected the names of --classes or the columns in the order",
    );
    let named = "evaluate --predictions b.csv --labels names.csv";
    let expected = found(&folder, "evaluate --predictions a.csv --labels names.csv");
    assert_eq!(
        found(&folder, &format!("{named} --classes cat,dog,emu")),
        expected
    );
    contains(
        &complaint(&folder, &format!("{named} --classes cat,dog,cow")),
        "expected cat, dog, cow as of --classes",
    );
}

/// A map knows the names of its columns, and what it was fitted to.
#[test]
fn maps_are_for_what_they_were_fitted_to() {
    let folder = prepared("maps by name");
    let fit = "fit --method vector --predictions a.csv --labels names.csv -o v.map";
    said(&folder, fit);
    said(&folder, "apply v.map --predictions a.csv -o straight.csv");
    let (_, words) = said(&folder, "apply v.map --predictions b.csv -o turned.csv");
    assert_eq!(
        words,
        "calibration: b.csv: columns are taken by their names: cat, dog, emu\n"
    );
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("straight.csv"), read("turned.csv"));
    begins(&read("straight.csv"), "cat,dog,emu\n");
    for (arguments, expected) in [
        (
            "v.map --predictions c.csv",
            "c.csv: the columns are named cat, dog, cow, expected cat, dog, emu as of v.map;",
        ),
        (
            "v.map --predictions p.csv",
            "p.csv: the columns are named p0, p1, p2, expected cat, dog, emu as of v.map;",
        ),
        (
            "v.map --predictions a.csv --logits --force",
            "v.map: the vector scaling was fitted to probabilities, and these are logits,",
        ),
        (
            "v.map --predictions a.csv --family normal",
            "v.map: a vector scaling is a map of classes, expected one of normal or Laplace",
        ),
    ] {
        let found = complaint(&folder, &format!("apply {arguments} -o out.csv"));
        contains(&found, expected);
    }
    let (out, _) = said(&folder, "show v.map");
    contains(
        &out,
        "\nfitted to: --family categorical\ncolumns: cat, dog, emu\n",
    );
    let shown = json(&folder, "show v.map");
    assert_eq!(shown["fitted_to"]["columns"][2], "emu");

    write(
        &folder,
        &[("n.csv", "mean,sd,y\n0,1,1\n1,2,-2\n2,1,2.5\n0,3,1\n")],
    );
    let fit = |family: &str, method: &str| {
        let fit = format!(
            "fit --family {family} --method {method} --predictions n.csv --label-column y -o"
        );
        said(&folder, &format!("{fit} {family}-{method}.map"));
    };
    said(
        &folder,
        "fit --method temperature --predictions a.csv --labels y.csv -o t.map",
    );
    fit("normal", "temperature");
    fit("normal", "variance");
    let rest = "--predictions n.csv --label-column y -o out.csv";
    for (map, family, of) in [
        ("t.map", "normal", "categorical"),
        ("t.map", "laplace", "categorical"),
        ("normal-variance.map", "laplace", "normal"),
        ("normal-temperature.map", "laplace", "normal"),
    ] {
        contains(
            &complaint(&folder, &format!("apply {map} --family {family} {rest}")),
            &format!(
                "of --family {of}, expected one of --family {family}; --family {of} applies it"
            ),
        );
    }
    contains(
        &complaint(
            &folder,
            "apply normal-temperature.map --predictions a.csv -o out.csv",
        ),
        "a temperature scaling of --family normal, expected one of --family categorical;",
    );
    contains(
        &complaint(
            &folder,
            "apply normal-variance.map --predictions a.csv -o out.csv",
        ),
        "apply it with --family normal or laplace",
    );
    said(
        &folder,
        &format!("apply normal-variance.map --family normal {rest}"),
    );
    begins(&read("out.csv"), "mean,sd\n");
}

/// Locations and scales are told by their names, and matched by them.
#[test]
fn parameters_by_name() {
    let folder = folder("parameters by name");
    write(
        &folder,
        &[
            ("a.csv", "mean,sd\n0,1\n1,2\n2,1\n"),
            ("b.csv", "sd,mean\n1,0\n2,1\n1,2\n"),
            ("m.csv", "mx,my,sx,sy\n0,5,1,2\n1,6,1,2\n2,7,1,2\n"),
            ("n.csv", "my,mx,sy,sx\n5,0,2,1\n6,1,2,1\n7,2,2,1\n"),
            ("y.csv", "0.5\n1\n3\n"),
            ("z.csv", "0.5,4\n1,7\n3,9\n"),
        ],
    );
    for (a, b, y) in [("a", "b", "y"), ("m", "n", "z")] {
        let compare = format!(
            "compare --family normal --before {a}.csv --after {b}.csv --targets {y}.csv --json"
        );
        let (out, words) = said(&folder, &compare);
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(found["changes"]["crps"]["difference"], 0.0, "{a}");
        contains(&words, "columns are taken by their names");
    }
    contains(
        &complaint(
            &folder,
            "evaluate --family normal --predictions b.csv --targets y.csv",
        ),
        "b.csv: the columns are named sd, mean, expected locations and then scales;",
    );
    let columns = "evaluate --family normal --predictions b.csv --targets y.csv --columns mean,sd";
    let expected = found(
        &folder,
        "evaluate --family normal --predictions a.csv --targets y.csv",
    );
    assert_eq!(found(&folder, columns), expected);
}
