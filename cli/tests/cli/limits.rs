//! Limits: the length of errors, memory, and redraws.

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
        // each thread has some of its own
        let evaluate = evaluate.env("RAYON_NUM_THREADS", "2");
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
