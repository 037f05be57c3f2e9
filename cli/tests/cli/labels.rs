//! Labels as names, numbers and indicators.

use super::*;

#[test]
fn labels_are_names() {
    let folder = folder("names");
    let names = "cat\nsea lion\ncat\nemu\n";
    write(
        &folder,
        &[
            ("p.csv", &format!("cat,sea lion,emu\n{ROWS}")),
            ("bare.csv", ROWS),
            ("y.csv", LABELS),
            ("from1.csv", "1\n2\n1\n3\n"),
            ("names.csv", names),
            ("headed.csv", &format!("animal\n{names}")),
            ("classes.txt", "cat\nsea lion\nemu\n"),
            ("wrong.csv", "cat\ncow\ncat\nemu\n"),
            ("hot.csv", "1,0,0\n0,1,0\n1,0,0\n0,0,1\n"),
            (
                "named.csv",
                "emu,cat,sea lion\n0,1,0\n0,0,1\n0,1,0\n1,0,0\n",
            ),
            ("part.csv", "emu,cat,cow\n0,1,0\n0,0,1\n0,1,0\n1,0,0\n"),
            ("soft.csv", "1,0,0\n0,0.5,0.5\n1,0,0\n0,0,1\n"),
            (
                "table.csv",
                "file,animal,split\na.png,cat,1\nb.png,sea lion,1\nc.png,cat,2\nd.png,emu,2\n",
            ),
        ],
    );
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    for arguments in [
        "p.csv --labels names.csv",
        "p.csv --labels headed.csv",
        "bare.csv --labels names.csv --classes classes.txt",
        "p.csv --labels hot.csv",
        "p.csv --labels named.csv",
        "p.csv --labels table.csv --label-column animal",
        "p.csv --labels table.csv --label-column 1",
        "p.csv --labels from1.csv --one-based",
    ] {
        let arguments = format!("evaluate --predictions {arguments}");
        assert_eq!(found(&folder, &arguments), expected, "{arguments}");
    }
    for (arguments, expected) in [
        (
            "--labels wrong.csv",
            "wrong.csv: row 1 (line 2): the label is cow, expected one of cat, sea lion, emu",
        ),
        (
            "--labels from1.csv",
            "from1.csv: row 3 (line 4): the label is 3, expected a class in 0..=2; labels run from 1 to the \
             number of classes: did you mean --one-based?",
        ),
        (
            "--labels soft.csv",
            "soft.csv: row 1 (line 2): 3 columns without a single 1 among zeros, expected one label a row; \
             --soft-labels takes frequencies of several labels",
        ),
        (
            "--labels part.csv",
            "part.csv: column 2 (cow): expected one of cat, sea lion, emu",
        ),
        (
            "--labels names.csv --classes a,b",
            "--classes: 2 names, expected 3, the classes of p.csv",
        ),
        (
            "--labels table.csv --label-column plant",
            "table.csv: --label-column: no column \"plant\", expected a number below 3 or one of file, animal, \
             split",
        ),
    ] {
        let arguments = format!("evaluate --predictions p.csv {arguments}");
        assert_eq!(complaint(&folder, &arguments), expected);
    }
}
