//! Predictions and labels as people have them.

use crate::*;

/// Of one column of risks and of two of classes the same map is fitted, and one is written as it was read.
#[test]
fn one_column_of_two_classes() {
    let folder = folder("positive");
    let p = [0.9, 0.2, 0.7, 0.4, 0.1];
    let two: String = p.iter().map(|p| format!("{:?},{p}\n", 1.0 - p)).collect();
    let one: String = p.iter().map(|p| format!("{p}\n")).collect();
    let labels = "1\n0\n1\n1\n0\n";
    write(
        &folder,
        &[("two", &*two), ("one", &*one), ("y.csv", labels)],
    );
    let [one, two] = [("one", "--positive"), ("two", "")].map(|(name, option)| {
        let predictions = format!("--predictions {name} {option}");
        let fit = format!("fit --method platt {predictions} --labels y.csv -o {name}.map");
        printed(&folder, &fit);
        let apply = format!("apply {name}.map {predictions} --to-probabilities -o {name}.csv");
        printed(&folder, &apply);
        read_csv(&folder.join(format!("{name}.csv")))
    });
    assert_eq!(one.len(), two.len());
    for (one, two) in one.iter().zip(two) {
        assert_eq!(one.len(), 1);
        assert_relative_eq!(one[0], two[1], max_relative = 1e-9);
    }
}

/// Columns of arrays have numbers for names.
#[test]
fn arrays_have_columns() {
    let folder = folder("array columns");
    write(&folder, &[("p.csv", ROWS), ("y.csv", LABELS)]);
    let (rows, labels) = (rows(), [0.0, 1.0, 0.0, 2.0]);
    let rows = rows.chunks(3).zip(labels);
    let rows: Vec<f64> = rows.flat_map(|(row, y)| [row, &[y]].concat()).collect();
    let array = npy(&rows, &[4, 4], npyz::Order::C);
    fs::write(folder.join("few.npy"), array).unwrap();
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    for arguments in ["--label-column 3", "--columns 0-2 --labels y.csv"] {
        let arguments = format!("evaluate --predictions few.npy {arguments}");
        assert_eq!(found(&folder, &arguments), expected, "{arguments}");
    }
    // confidence and correctness
    let cells = "0.9,1\n0.8,0\n0.6,1\n0.55,0\n";
    let values: Vec<f64> = cells.split([',', '\n']).flat_map(str::parse).collect();
    fs::write(folder.join("c.npy"), npy(&values, &[4, 2], npyz::Order::C)).unwrap();
    write(&folder, &[("c.csv", cells)]);
    let [text, array] = ["c.csv", "c.npy"].map(|name| {
        let evaluate = format!("evaluate --predictions {name} --confidence-correctness");
        found(&folder, &evaluate)
    });
    assert_eq!(text, array);
}
