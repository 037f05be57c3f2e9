//! Benchmarks of burn-calibration; see README.md beside this package.
