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
    let of = |encode: &dyn Fn(f64) -> Vec<u8>| -> Vec<u8> {
        rows().into_iter().flat_map(encode).collect()
    };
    let f16 = of(&|x| half::f16::from_f64(x).to_le_bytes().to_vec());
    let big = of(&|x| half::f16::from_f64(x).to_be_bytes().to_vec());
    let bf16 = of(&|x| half::bf16::from_f64(x).to_le_bytes().to_vec());
    let f32 = of(&|x| (x as f32).to_le_bytes().to_vec());
    let f64 = of(&|x| x.to_be_bytes().to_vec());
    for (descr, bytes, tolerance, is_coarse) in [
        ("<f2", &f16, 1e-3, true),
        (">f2", &big, 1e-3, true),
        ("<f4", &f32, 1e-6, false),
        (">f8", &f64, 1e-12, false),
    ] {
        let (found, said) = brier(&folder, &array(descr, "(4, 3)", bytes));
        assert_relative_eq!(found, exact, max_relative = tolerance);
        let is_said = said.contains(": each row is divided by its sum");
        assert_eq!(is_said, is_coarse, "{descr}: {said}");
    }
    for descr in ["<V2", "|V2", "bfloat16"] {
        fs::write(folder.join("p"), array(descr, "(4, 3)", &bf16)).unwrap();
        contains(
            &complaint(&folder, EVALUATE),
            "--normalise divides each row",
        );
        let found = json(&folder, &format!("{EVALUATE} --normalise"));
        let found = number(&found["estimates"]["brier"]);
        assert_relative_eq!(found, exact, max_relative = 1e-2);
    }
    for (dtype, bytes, tolerance) in [
        (safetensors::Dtype::F16, f16, 1e-3),
        (safetensors::Dtype::F32, f32, 1e-6),
    ] {
        let (found, _) = brier(&folder, &safetensors_of(dtype, &[4, 3], &bytes));
        assert_relative_eq!(found, exact, max_relative = tolerance);
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
    for descr in ["<c16", "<U3"] {
        fs::write(folder.join("p"), array(descr, "(4, 3)", &[])).unwrap();
        let expected = format!("p: an array of dtype {descr}, expected numbers");
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
        let array = npy(&rows(), &[4, 3], npyz::Order::C);
        let archive = archive(method, &[("p.npy", array)]);
        fs::write(folder.join("p"), &archive).unwrap();
        json(&folder, EVALUATE);
        // the last bytes of the data, which end where the central directory begins
        let mut windows = archive.windows(4);
        let end = windows.position(|bytes| bytes == b"PK\x01\x02").unwrap();
        for at in end - 40..end {
            let mut broken = archive.clone();
            broken[at] ^= 1;
            fs::write(folder.join("p"), &broken).unwrap();
            complaint(&folder, EVALUATE);
        }
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
    let cases = "\
4611686018427387905, 4: 4611686018427387905 rows of 4 numbers, expected at most 536870912 numbers
4611686018427387904, 4: 4611686018427387904 rows of 4 numbers, expected at most
99999999999999999999, 4: a header of NPY that is broken
100000000, 4: ends before the last of 400000000 numbers of its shape
3, 3: goes on after the 9 numbers of its shape
2, 2, 3: an array of 3 dimensions (2 × 2 × 3), expected one or two
0, 3: holds no rows
4, 0: holds no rows
: an array of 0 dimensions (), expected one or two";
    for case in cases.lines() {
        let (shape, expected) = case.split_once(": ").unwrap();
        let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
        let file = array("<f8", &format!("({shape})"), &bytes);
        fs::write(folder.join("p"), file).unwrap();
        begins(&complaint(&folder, EVALUATE), &format!("p: {expected}"));
    }
    let mut header = b"\x93NUMPY\x02\x00".to_vec();
    header.extend(u32::MAX.to_le_bytes());
    fs::write(folder.join("p"), header).unwrap();
    let expected = "p: a header of 4294967295 bytes, expected at most 65536";
    assert_eq!(complaint(&folder, EVALUATE), expected);
    // 100 MiB in 100 kB
    let mut member = GzEncoder::new(Vec::new(), Compression::best());
    let row = format!("0.5,{}0.5\n", " ".repeat(1 << 20));
    member.write_all(row.as_bytes()).unwrap();
    let bomb = member.finish().unwrap().repeat(100);
    fs::write(folder.join("p"), bomb).unwrap();
    let expected = "p: unpacks to more than 64 MiB and to more than 200 times its size";
    assert_eq!(complaint(&folder, EVALUATE), expected);
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
        let (code, said) = outcome(&folder, EVALUATE);
        assert_eq!(code, 2, "{said}");
        let is_short = |line: &str| line.len() < 400;
        assert!(
            said.lines().count() <= 2 && said.lines().all(is_short),
            "{}",
            said.len()
        );
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
        let arguments = format!("{EVALUATE} --redraws 19 --bandwidth 0.5{logits}");
        let mut evaluate = command(&folder, &arguments);
        let evaluate = evaluate.stdout(std::process::Stdio::null());
        let mut child = evaluate.spawn().unwrap();
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
        let is_within = (2 * file.len()..most).contains(&peak);
        assert!(is_within, "{peak}, expected {most} at most");
    }
}

/// Redraws of which numbers are held are not too many; the usual redraws become fewer.
#[test]
fn redraws_are_limited() {
    let folder = folder("redraws");
    let row = |n: usize| vec![(1.0 / n as f64).to_string(); n].join(",");
    write(&folder, &[("p", &*row(1000)), ("y", "0")]);
    let wide = "--predictions p --labels y --header no";
    let many = complaint(&folder, &format!("evaluate {wide} --redraws 100000"));
    let expected =
        "--redraws 100000: expected at most 20000, because classes or dimensions times redraws";
    begins(&many, expected);
    write(&folder, &[("p", &row(40_000))]);
    let evaluate = format!("evaluate {wide} --normalise --kernel gaussian");
    let fewer = "500 redraws, not 999, since there are 40000 classes or dimensions";
    contains(&done(&folder, &evaluate).1, fewer);
}
