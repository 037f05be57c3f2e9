//! The expectation, with its derivatives, against 80 digits.

use pulp::{Scalar, WithSimd};

use super::{PACK, PARTS, Row};
use crate::ops::simd::{aligned::Aligned, arch::Arch, real::Real};

const LENGTH: f64 = 0.75;

/// Value and derivatives at a difference of locations, by the widest vectors and by one number at a time.
fn evaluate<T: Real>(delta: f64, scale: f64) -> [[f64; PARTS]; 2] {
    let points = Aligned::zeros(PACK);
    let mut both = [(); 2].map(|()| Aligned::zeros(PARTS * PACK));
    let row = |parts| Row {
        length_scale: LENGTH,
        unit: 1.0,
        location: T::new(delta),
        scale: T::new(scale),
        points: &points,
        parts,
    };
    let [widest, single] = &mut both;
    Arch::new().dispatch(row(widest));
    row(single).with_simd(Scalar);
    both.map(|parts| std::array::from_fn(|part| parts[part * PACK + 1].to_f64()))
}

/// As the composition is checked; but derivatives with respect to a scale are accurate relative to the value
/// over the larger of scale and length scale, up to what a polynomial loses.
fn check<T: Real>(epsilon: f64) {
    let mut rows = 0;
    for line in include_str!("../../kernel/expectation/reference.tsv").lines() {
        let Some(row) = line.strip_prefix("gaussian_laplace\t") else {
            continue;
        };
        let row: Vec<f64> = row.split('\t').map(|x| x.parse().unwrap()).collect();
        let [delta, scale, value, to_location, to_scale] = row[..] else {
            panic!("five numbers, not {row:?}");
        };
        if value < T::MIN_POSITIVE * 1e9 {
            continue; // derivatives underflow
        }
        rows += 1;
        let tolerance = epsilon * (24.0 + 4.0 * value.ln().abs());
        let expected = [value, to_location, to_scale];
        let units = [0.0, 2.0 * value / LENGTH, 4.0 * value / LENGTH.max(scale)];
        for found in evaluate::<T>(delta, scale) {
            for ((found, expected), unit) in found.iter().zip(expected).zip(units) {
                assert!(
                    (found - expected).abs() <= tolerance * expected.abs().max(unit),
                    "at {delta}, {scale}: {found}, not {expected}",
                );
            }
        }
    }
    assert!(rows > 10);
}

#[test]
fn gaussian_kernel_laplace() {
    check::<f64>(f64::EPSILON);
    check::<f32>(f32::EPSILON.into());
}
