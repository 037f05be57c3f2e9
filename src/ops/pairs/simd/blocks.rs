//! Loops over a number of coordinates that is known to the compiler.

use std::ops::Range;

/// `0..d` in nearly equal blocks of at most `most`.
pub(super) fn blocks(d: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let count = d.div_ceil(most);
    (0..count).map(move |b| b * d / count..(b + 1) * d / count)
}

/// `$call` with the constant `$N` equal to `$n`, at most 8.
macro_rules! with_constant {
    ($n:expr, $N:ident => $call:expr) => {
        with_constant!(@ $n, $N, $call, 1 2 3 4 5 6 7 8)
    };
    (@ $n:expr, $N:ident, $call:expr, $($k:literal)*) => {
        match $n {
            $($k => {
                const $N: usize = $k;
                $call
            })*
            n => unreachable!("a block of {n}"),
        }
    };
}

pub(super) use with_constant;
