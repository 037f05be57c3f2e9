//! Small files whose fits were wrong without a word.

use std::process::Stdio;

use crate::*;

/// A folder with a file.
fn with_case(name: &str, text: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, &[(name, text)]);
    folder
}

/// Rows of numbers below a header.
fn numbers(path: &Path) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split(',').flat_map(str::parse).collect();
    text.lines().skip(1).map(numbers).collect()
}

/// One of 300 standard deviations is 1e-6: no map makes the others worse, and the row is named.
#[test]
fn one_tiny_deviation() {
    let folder = with_case("one_tiny_sd.csv", include_str!("cases/one_tiny_sd.csv"));
    let data = "--family normal --predictions one_tiny_sd.csv --columns m,s";
    let before = numbers(&folder.join("one_tiny_sd.csv"));
    let score = |rows: &[Vec<f64>]| {
        let rows = rows.iter().zip(&before).enumerate();
        let others = rows.filter(|(i, _)| *i != 17);
        let of_row = |(_, (row, given)): (usize, (&Vec<f64>, &Vec<f64>))| {
            row[1].ln() + 0.5 * ((given[2] - row[0]) / row[1]).powi(2)
        };
        others.map(of_row).sum::<f64>() / 299.0
    };
    for method in ["", "variance", "temperature", "location-scale"] {
        let option = if method.is_empty() { "" } else { "--method" };
        let fit = format!("fit {data} --label-column y -o d.map {option} {method}");
        let object = json(&folder, &fit);
        printed(&folder, &format!("apply d.map {data} -o after.csv"));
        let after = numbers(&folder.join("after.csv"));
        assert!(score(&after) < score(&before) + 0.01, "{method}: {object}");
        if method != "location-scale" {
            contains(&object["warnings"].to_string(), "leaves out row 17,");
        }
    }
    let text = printed(&folder, &format!("fit {data} --label-column y -o d.map"));
    let title = "variance scaling of 300 predictions of 1 dimension, saved as d.map";
    contains(&text, title);
    let warning = "warning:    the fit leaves out row 17, which would make";
    contains(&text, warning);
}

/// A class of no sample is named and counted, and stays possible.
#[test]
fn an_absent_class() {
    let folder = with_case("absent_class.csv", include_str!("cases/absent_class.csv"));
    let data = "--predictions absent_class.csv";
    for method in "dirichlet vector matrix structured-matrix isotonic histogram".split(' ') {
        let fit = format!("fit --method {method} {data} --label-column y -o c.map");
        let text = printed(&folder, &fit);
        contains(&text, "warning:    class c has 0 labels of 60: ");
        let apply = format!("apply c.map {data} --columns a,b,c -o after.csv");
        printed(&folder, &apply);
        let after = numbers(&folder.join("after.csv"));
        // one more sample would have a likelihood of 1/61 in the mean
        assert!(after.iter().all(|row| row[2] > 1e-3), "{method}: {after:?}");
    }
    let shown = printed(&folder, "show c.map");
    contains(&shown, "warning: class c has 0 labels of 60: ");
}

/// A map goes to standard output, a pipe or a file that has more to come, and words to standard error then.
#[cfg(unix)]
#[test]
fn a_map_to_standard_output() {
    let folder = folder("standard output");
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    let fit = "fit --method temperature --predictions p.csv --labels y.csv -o";
    let told = printed(&folder, &format!("{fit} kept.map"));
    let kept = json(&folder, "show kept.map");
    for output in ["-", "/dev/stdout", "/proc/self/fd/1"] {
        let piped = calibration(&folder, &format!("{fit} {output}"));
        fs::write(folder.join("piped.map"), piped.stdout).unwrap();
        let said = String::from_utf8(piped.stderr).unwrap();
        assert_eq!(said.replace(&format!(" {output}\n"), " kept.map\n"), told);
        // a file that the shell has opened
        let file = fs::File::create(folder.join("redirected.map")).unwrap();
        let mut fit_it = command(&folder, &format!("{fit} {output}"));
        let fit_it = fit_it.stdout(file).stderr(Stdio::null());
        assert!(fit_it.status().unwrap().success());
        for map in ["piped.map", "redirected.map"] {
            assert_eq!(json(&folder, &format!("show {map}")), kept, "{output}");
        }
        let both = complaint(&folder, &format!("{fit} {output} --json"));
        let expected = format!("-o {output}: --json goes to standard output");
        begins(&both, &expected);
    }
}

/// Whether a text has a zero with a sign.
fn has_signed_zero(text: &str) -> bool {
    let is_part = |c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | 'e'));
    let mut numbers = text.split(is_part).filter(|part| part.starts_with('-'));
    numbers.any(|part| part.parse::<f64>() == Ok(0.0))
}

/// Probabilities of 0 that are all right are not too high, and no zero has a sign.
#[test]
fn zeros_that_are_right() {
    let folder = with_case("zeros.csv", &format!("r,y\n{}", "0.0,0\n".repeat(100)));
    let fit = "fit --predictions zeros.csv --positive --columns r --label-column y -o zeros.map";
    for fit in [fit.to_owned(), format!("{fit} --json")] {
        let text = printed(&folder, &fit);
        assert!(!has_signed_zero(&text), "{text}");
        lacks(&text, &["too high"]);
    }
    let file = format!("r,y\n{}", "1.0,1\n0.0,0\n".repeat(20));
    write(&folder, &[("certain.csv", file)]);
    let evaluate = "evaluate --predictions certain.csv --positive --columns r --label-column y";
    for options in ["", "--verbose", "--json"] {
        let text = printed(&folder, &format!("{evaluate} {options}"));
        assert!(!has_signed_zero(&text), "{text}");
    }
}

/// Risks without any event among their labels do not become sharp.
#[test]
fn no_event() {
    let rows = lines(100, |i| format!("{:.3},0", 0.1 + 0.3 * (i as f64 / 99.0)));
    let folder = with_case("none.csv", &format!("r,y\n{rows}"));
    let fit = "fit --predictions none.csv --positive --columns r --label-column y -o none.map";
    let text = printed(&folder, fit);
    contains(
        &text,
        "chosen:     none, no gain is established: 0 samples with the event, fewer than 10\n",
    );
}
