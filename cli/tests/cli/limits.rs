//! Numbers of every format, rounding, and files that are broken or too large.

use crate::*;

const EVALUATE: &str = "evaluate --predictions p --labels y.csv";

/// An NPY file of any dtype.
fn array(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// The Brier score, and what is said of the rounding.
fn brier(folder: &Path, bytes: &[u8]) -> (f64, String) {
    fs::write(folder.join("p"), bytes).unwrap();
    let (text, said) = done(folder, &format!("{EVALUATE} --json"));
    let found: Value = serde_json::from_str(&text).unwrap();
    (number(&found["estimates"]["brier"]), said)
}

#[test]
fn dtypes_and_their_rounding() {
    let folder = example("dtypes");
    let (exact, _) = brier(&folder, ROWS.as_bytes());
    let of =
        |encode: &dyn Fn(f64) -> Vec<u8>| rows().into_iter().flat_map(encode).collect::<Vec<u8>>();
    let f16 = |x: f64| half::f16::from_f64(x).to_le_bytes().to_vec();
    let bf16 = |x: f64| half::bf16::from_f64(x).to_le_bytes().to_vec();
    let f32 = |x: f64| (x as f32).to_le_bytes().to_vec();
    for (descr, bytes, tolerance, name) in [
        ("<f2", of(&f16), 1e-3, "f16"),
        ("<V2", of(&bf16), 1e-2, "bf16"),
        ("|V2", of(&bf16), 1e-2, "bf16"),
        ("bfloat16", of(&bf16), 1e-2, "bf16"),
        (
            ">f2",
            of(&|x| half::f16::from_f64(x).to_be_bytes().to_vec()),
            1e-3,
            "f16",
        ),
        ("<f4", of(&f32), 1e-6, ""),
        (">f8", of(&|x| x.to_be_bytes().to_vec()), 1e-12, ""),
    ] {
        let (found, said) = brier(&folder, &array(descr, "(4, 3)", &bytes));
        assert_relative_eq!(found, exact, max_relative = tolerance);
        let is_said = said.contains(&format!(
            "the rounding of {name}: each row is divided by its sum"
        ));
        assert_eq!(is_said, !name.is_empty(), "{descr}: {said}");
    }
    for (name, dtype, bytes, tolerance) in [
        ("f16", safetensors::Dtype::F16, of(&f16), 1e-3),
        ("bf16", safetensors::Dtype::BF16, of(&bf16), 1e-2),
        ("f32", safetensors::Dtype::F32, of(&f32), 1e-6),
    ] {
        let tensor = safetensors::tensor::TensorView::new(dtype, vec![4, 3], &bytes).unwrap();
        let file = safetensors::serialize([("p", tensor)], None).unwrap();
        let (found, _) = brier(&folder, &file);
        assert_relative_eq!(found, exact, max_relative = tolerance);
        assert!(!name.is_empty());
    }
    // whole numbers and truth as one-hot rows, labels too
    let hot = [1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1];
    let (expected, _) = brier(&folder, b"1,0,0\n0,1,0\n1,0,0\n0,0,1\n");
    for descr in ["|b1", "|u1", "|i1"] {
        assert_eq!(brier(&folder, &array(descr, "(4, 3)", &hot)).0, expected);
    }
    fs::write(folder.join("y.csv"), array("|b1", "(4, 3)", &hot)).unwrap();
    assert_eq!(brier(&folder, ROWS.as_bytes()).0, exact);
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    for (descr, expected) in [
        ("<c16", "p: an array of dtype <c16, expected numbers"),
        ("<U3", "p: an array of dtype <U3, expected numbers"),
    ] {
        fs::write(folder.join("p"), array(descr, "(4, 3)", &[])).unwrap();
        assert_eq!(complaint(&folder, EVALUATE), expected);
    }
}

/// A byte that changed is an error.
#[test]
fn archives_are_checked() {
    let folder = example("crc");
    for method in [
        zip::CompressionMethod::Stored,
        zip::CompressionMethod::Deflated,
    ] {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        archive.start_file("p.npy", options).unwrap();
        archive
            .write_all(&npy(&rows(), &[4, 3], npyz::Order::C))
            .unwrap();
        let archive = archive.finish().unwrap().into_inner();
        fs::write(folder.join("p"), &archive).unwrap();
        json(&folder, EVALUATE);
        // the last bytes of the data, which end where the central directory begins
        let end = archive
            .windows(4)
            .position(|bytes| bytes == b"PK\x01\x02")
            .unwrap();
        let mut refused = 0;
        for at in end - 40..end {
            let mut broken = archive.clone();
            broken[at] ^= 1;
            fs::write(folder.join("p"), &broken).unwrap();
            let output = calibration(&folder, EVALUATE);
            assert_eq!(output.status.code(), Some(2), "byte {at}");
            assert_eq!(
                output.stderr.iter().filter(|&&byte| byte == b'\n').count(),
                1
            );
            refused += 1;
        }
        assert_eq!(refused, 40);
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(ROWS.as_bytes()).unwrap();
    let mut gzip = gzip.finish().unwrap();
    let at = gzip.windows(3).position(|bytes| bytes == b"0.7").unwrap();
    gzip[at + 2] = b'6';
    gzip[at + 6] = b'3';
    fs::write(folder.join("p"), gzip).unwrap();
    assert!(complaint(&folder, EVALUATE).starts_with("p: "));
}

/// Nothing is allocated for what a header merely says, and what unpacks to too much is refused.
#[test]
fn sizes_are_limited() {
    let folder = example("sizes");
    for (shape, expected) in [
        (
            "(4611686018427387905, 4)",
            "p: 4611686018427387905 rows of 4 numbers, expected at most 536870912 numbers",
        ),
        (
            "(4611686018427387904, 4)",
            "p: 4611686018427387904 rows of 4 numbers, expected at most",
        ),
        (
            "(99999999999999999999, 4)",
            "p: a header of NPY that is broken",
        ),
        (
            "(100000000, 4)",
            "p: ends before the last of 400000000 numbers of its shape",
        ),
        ("(3, 3)", "p: goes on after the 9 numbers of its shape"),
        (
            "(2, 2, 3)",
            "p: an array of 3 dimensions (2 × 2 × 3), expected one or two",
        ),
        ("(0, 3)", "p: holds no rows"),
        ("(4, 0)", "p: holds no rows"),
        ("()", "p: an array of 0 dimensions (), expected one or two"),
    ] {
        let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(folder.join("p"), array("<f8", shape, &bytes)).unwrap();
        let found = complaint(&folder, EVALUATE);
        assert!(found.starts_with(expected), "{shape}: {found}");
    }
    let mut header = b"\x93NUMPY\x02\x00".to_vec();
    header.extend(u32::MAX.to_le_bytes());
    fs::write(folder.join("p"), header).unwrap();
    assert_eq!(
        complaint(&folder, EVALUATE),
        "p: a header of 4294967295 bytes, expected at most 65536"
    );
    // 100 MiB in 100 kB
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    let row = format!("0.5,{}0.5\n", " ".repeat(1 << 20));
    member.write_all(row.as_bytes()).unwrap();
    let bomb = member.finish().unwrap().repeat(100);
    fs::write(folder.join("p"), bomb).unwrap();
    assert_eq!(
        complaint(&folder, EVALUATE),
        "p: unpacks to more than 64 MiB and to more than 200 times its size"
    );
}

/// A quote that nothing closes, and cells of any length: a short line.
#[test]
fn errors_are_short() {
    let folder = example("short errors");
    let rows = ROWS.repeat(50_000);
    for text in [
        format!("\"{rows}"),
        format!("{ROWS}\"{rows}\""),
        format!("{},0.5\n{rows}", "x".repeat(3_000_000)),
        format!("0.5,{}\n{rows}", "x".repeat(3_000_000)),
        format!("a,{}\n0.5,y\n", "x".repeat(3_000_000)),
        format!("{rows}\"0.5\"\"\"{}", "\n\r\t\u{1b}".repeat(100)),
    ] {
        fs::write(folder.join("p"), text).unwrap();
        let found = complaint(&folder, EVALUATE);
        assert!(found.len() < 400, "{}", found.len());
    }
}

/// The numbers of a file of f32 are in memory once, as f64.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded() {
    let (n, m) = (21_000usize, 400usize); // above the limit of what costs the square
    let folder = folder("memory");
    let row = |i: usize| {
        let others = 1.0 / (2 + i % 7) as f32 / m as f32;
        (0..m).map(move |c| match c == i % m {
            true => 1.0 - others * (m - 1) as f32,
            false => others,
        })
    };
    let numbers = (0..n).flat_map(row).flat_map(f32::to_le_bytes);
    let file = array("<f4", &format!("({n}, {m})"), &numbers.collect::<Vec<u8>>());
    fs::write(folder.join("p"), &file).unwrap();
    let labels = (0..n).map(|i| format!("{}\n", if i % 5 == 0 { 0 } else { i % m }));
    fs::write(folder.join("y.csv"), labels.collect::<String>()).unwrap();
    for logits in ["", " --logits --force"] {
        let arguments = format!("{EVALUATE} --replicates 19 --bandwidth 0.5{logits}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_calibration"))
            .args(arguments.split_whitespace())
            .current_dir(&folder)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // the most so far, while it runs, without the pages of the program itself: many of a debug build
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            let status = fs::read_to_string(&status).unwrap_or_default();
            let kilobytes = |name: &str| -> usize {
                let line = status.lines().find_map(|line| line.strip_prefix(name));
                let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
                number.unwrap_or(0)
            };
            let data = kilobytes("VmHWM:").saturating_sub(kilobytes("RssFile:"));
            peak = peak.max(data << 10);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(child.wait().unwrap().success());
        // 67 MB as f64, and what does not grow with the file: a machine under load needs more of it; a copy more
        // would be 67 MB more
        let most = 2 * file.len() + (110 << 20);
        assert!(
            (2 * file.len()..most).contains(&peak),
            "{peak}, expected {most} at most"
        );
    }
}

/// Redraws of which numbers are held are not too many; the usual redraws become fewer.
#[test]
fn redraws_are_limited() {
    let folder = folder("redraws");
    let row = |n: usize| vec![(1.0 / n as f64).to_string(); n].join(",");
    write(&folder, &[("p", &row(1000)), ("y", "0")]);
    let wide = "--predictions p --labels y --header no";
    begins(
        &complaint(&folder, &format!("evaluate {wide} --redraws 100000")),
        "--replicates 100000: expected at most 20000, because classes or dimensions times redraws",
    );
    write(&folder, &[("p", &row(40_000))]);
    let evaluate = format!("evaluate {wide} --normalise --kernel gaussian");
    contains(
        &done(&folder, &evaluate).1,
        "--replicates: 500, since there are 40000 classes or dimensions",
    );
}
