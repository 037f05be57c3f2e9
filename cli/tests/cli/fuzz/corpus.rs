//! Small files of every kind and format that are right.

use std::{
    fs,
    io::{Cursor, Write},
    path::PathBuf,
};

use flate2::{Compression, write::GzEncoder};

use crate::{LABELS, ROWS, calibration, folder, npy};

/// Their names, which begin with the kind, and bytes.
pub fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = folder("fuzz-corpus");
    let (p, y) = (ROWS.repeat(3), LABELS.repeat(3));
    let numbers =
        |text: &str| -> Vec<f64> { text.split([',', '\n']).flat_map(str::parse).collect() };
    let table = |columns: usize, number: &dyn Fn(usize, usize) -> f64| -> String {
        let row = |i: usize| {
            (0..columns)
                .map(|c| number(i, c).to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        (0..12).map(|i| row(i) + "\n").collect()
    };
    let z = table(3, &|i, c| ((i * 7 + c * 5) % 11) as f64 / 2.0 - 2.5);
    let texts = [
        ("p.csv", p.clone()),
        ("p.header.csv", format!("cat,dog,emu\n{p}")),
        ("y.csv", y.clone()),
        ("z.csv", z.clone()),
        (
            "normal.csv",
            table(2, &|i, c| {
                if c == 0 {
                    0.5 + i as f64 / 4.0
                } else {
                    1.0 + i as f64 / 9.0
                }
            }),
        ),
        (
            "mixture.csv",
            table(6, &|i, c| [0.25, 0.75, i as f64, 1.0, 0.5, 2.0][c]),
        ),
        ("w.csv", table(1, &|i, _| (i * 5 % 12) as f64 / 4.0)),
        ("t.csv", table(1, &|i, _| (i * 5 % 12) as f64 / 4.0)),
        (
            "given.csv",
            "sex,age\nF,31\nM,45\nF,27\n".to_owned() + &"M,50\n".repeat(9),
        ),
        (
            "lines.jsonl",
            concat!(
                r#"{"id": 1, "p": {"a": 0.75, "b": 0.25}, "inner": {"y": "a"}, "logs": [[-1, true], ["-2", false]]}"#,
                "\n",
                r#"{"id": 2, "p": {"a": 0.5, "b": 0.5}, "inner": {"y": 1}, "logs": [[-900, true], ["-901", false]]}"#,
                "\n",
                r#"{"id": 3, "p": null, "inner": {"y": 0}, "logs": [[-0.5, true], ["-2.5", false]]}"#,
                "\n"
            )
            .to_owned(),
        ),
        ("hot.csv", "1,0,0\n0,1,0\n1,0,0\n0,0,1\n".repeat(3)),
        (
            "models.csv",
            "a_0,a_1,b_0,b_1,y\n0.5,0.5,0.75,0.25,0\n".to_owned()
                + &"0.25,0.75,0.5,0.5,1\n".repeat(11),
        ),
    ];
    let mut corpus: Vec<(String, Vec<u8>)> = texts
        .map(|(name, text)| (name.into(), text.into_bytes()))
        .into();
    for (kind, text) in [("p", &p), ("z", &z)] {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        corpus.push((format!("{kind}.csv.gz"), gzip.finish().unwrap()));
        let array = npy(&numbers(text), &[12, 3], npyz::Order::C);
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive
            .start_file("a.npy", zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(&array).unwrap();
        corpus.push((
            format!("{kind}.npz"),
            archive.finish().unwrap().into_inner(),
        ));
        corpus.push((format!("{kind}.npy"), array));
    }
    corpus.push((
        "y.npy".into(),
        npy(&numbers(&y), &[12], npyz::Order::Fortran),
    ));
    #[cfg(feature = "parquet")]
    for entry in fs::read_dir(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../reader/tests/reader/columnar"),
    )
    .unwrap()
    {
        let path = entry.unwrap().path();
        let end = path.extension().unwrap().to_string_lossy().into_owned();
        if end != "py" {
            corpus.push((format!("columns.{end}"), fs::read(path).unwrap()));
        }
    }
    for (name, bytes) in &corpus {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let mut made = |arguments: &str, path: PathBuf, name: String| {
        let output = calibration(&folder, arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        corpus.push((name, fs::read(path).unwrap()));
    };
    let made_map = folder.join("made");
    for method in [
        "temperature",
        "matrix",
        "platt",
        "isotonic",
        "order-invariant",
        "spline",
    ] {
        let fit =
            format!("fit --logits --predictions z.csv --labels y.csv --method {method} -o made");
        made(&fit, made_map.clone(), format!("map.{method}"));
    }
    made(
        "show made --export json -o part.foreign",
        folder.join("part.foreign"),
        "part.foreign".into(),
    );
    let fit = "fit --logits --predictions z.csv --labels y.csv --method vector -o made";
    made(fit, made_map, "map.vector".into());
    for (data, options, name) in [
        ("--predictions p.csv --labels y.csv", "", "part.plain"),
        (
            "--predictions p.csv --labels y.csv",
            "--bandwidth 1 --block 2",
            "part.blocks",
        ),
        (
            "--family normal --predictions normal.csv --targets t.csv",
            "",
            "means.plain",
        ),
        (
            "--family normal --predictions normal.csv --targets t.csv",
            "--bandwidth 1 --length-scale 1 --block 2",
            "means.blocks",
        ),
        (
            "--predictions p.csv --labels y.csv --weights w.csv",
            "--bandwidth 1 --block 2",
            "part.weights",
        ),
        (
            "--family normal --predictions normal.csv --targets t.csv --weights w.csv",
            "--bandwidth 1 --length-scale 1 --block 2",
            "means.weights",
        ),
    ] {
        let arguments = format!("summarise {data} {options} -o {name}");
        made(&arguments, folder.join(name), name.into());
    }
    corpus
}
