//! Peak memory of the process for value and gradient of the unbiased SKCE:
//! `cargo bench -p burn-calibration-benches --bench memory [-- N M]`. Linux.

use std::time::Instant;

use burn_calibration::prelude::*;
use burn_calibration_benches::{data, value_and_gradient};

/// The most memory that the process has held, in megabytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.expect("VmHWM in kB") / 1024.0
}

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let (n, m) = match numbers[..] {
        [n, m] => (n, m),
        _ => (65_536, 10),
    };
    let (logits, labels) = data(n, m, &Default::default());
    println!("n = {n}, m = {m}: {:.0} MB before", peak());
    for (name, kernel, bandwidth) in [
        ("Gaussian", Kernel::gaussian(), Bandwidth::Fixed(0.5)),
        (
            "exponential TV",
            Kernel::exponential(),
            Bandwidth::Fixed(0.5),
        ),
        (
            "exponential TV, median bandwidth",
            Kernel::exponential(),
            Bandwidth::Median,
        ),
    ] {
        let loss = SkceLossConfig::new()
            .with_kernel(kernel.with_bandwidth(bandwidth))
            .init();
        let start = Instant::now();
        value_and_gradient(&loss, &logits, &labels);
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {seconds:.2} s, peak so far {:.0} MB", peak());
    }
}
