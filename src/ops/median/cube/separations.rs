//! The kernels of the median: counts of the separations by their bits, and the choice among them.
//!
//! A number that is not negative has the order of its bits. Each pass settles eight bits of the two
//! middle separations, from the highest on: it counts those that share all bits settled so far by
//! their next eight.

use cubecl::prelude::*;

use crate::ops::pairs::cube::{
    grid::{Grid, share},
    pair::part,
};

/// Bits that a pass settles.
const BITS: u32 = 8;
/// Counts of each of the two ranks.
pub(super) const BINS: usize = 1 << BITS;
/// Passes.
pub(super) const PASSES: u32 = 32 / BITS;
/// Counts, and one more that is not 0 if some separation is not finite.
pub(super) const COUNTS: usize = 2 * BINS + 1;
/// The bits of infinity.
const INFINITY: u32 = 0x7f80_0000;

/// Counts the separations of the pairs `i < j` of each cube, without the kernel's scale.
///
/// - points: `[n, m]`
/// - found: the bits of the two separations as far as they are known, and their ranks among those that
///   share them, `[2, 2]`
/// - counts: `[COUNTS]`
#[cube(launch, address_type = "dynamic")]
pub(super) fn count(
    points: &[f32],
    found: &[u32],
    counts: &[Atomic<u32>],
    grid: &Grid,
    #[comptime] euclidean: bool,
    #[comptime] pass: u32,
    #[comptime] side: usize,
) {
    if CUBE_POS >= grid.cubes {
        terminate!();
    }
    let share = share(CUBE_POS, grid, side);
    let m = grid.m;
    let (x, y) = (UNIT_POS_X as usize, UNIT_POS_Y as usize);
    let unit = y * side + x;
    let pitch = comptime!(side + 1);
    let shift = comptime!(32 - BITS * (pass + 1));

    let mut rows = Shared::<[f32]>::new_slice(side * pitch);
    let mut columns = Shared::<[f32]>::new_slice(side * pitch);
    let counts_here = Shared::<[Atomic<u32>]>::new_slice(2 * BINS);
    for bin in range_stepped(unit, 2 * BINS, side * side) {
        counts_here[bin].store(0u32);
    }
    sync_cube();

    let row = share.row + y;
    for tile in range_stepped(share.part, share.tiles, grid.parts) {
        let first = share.start + tile * side;
        let column = first + x;
        if first + side > share.row {
            let mut parts = 0.0f32;
            for coordinate in range_stepped(0, m, side) {
                stage(&mut rows, points, share.row, share.end, coordinate, m, side);
                stage(&mut columns, points, first, share.end, coordinate, m, side);
                sync_cube();
                for c in 0..min(side, m - coordinate) {
                    let difference = rows[c * pitch + y] - columns[c * pitch + x];
                    parts += part::<f32>(difference, euclidean);
                }
                sync_cube();
            }
            if row < column && column < share.end && row / grid.size == column / grid.size {
                let separation = if comptime!(euclidean) {
                    parts.sqrt()
                } else {
                    parts
                };
                let bits = u32::reinterpret(separation);
                if bits >= INFINITY {
                    counts[2 * BINS].store(1u32);
                }
                #[unroll]
                for rank in 0..2usize {
                    let shares = if comptime!(pass == 0) {
                        true.runtime()
                    } else {
                        let known = comptime!(shift + BITS);
                        bits >> known == found[rank] >> known
                    };
                    if shares {
                        let bin = (bits >> shift) & comptime!(BINS as u32 - 1);
                        counts_here[rank * BINS + bin as usize].fetch_add(1u32);
                    }
                }
            }
        }
    }

    sync_cube();
    for bin in range_stepped(unit, 2 * BINS, side * side) {
        let count = counts_here[bin].load();
        if count > 0 {
            counts[bin].fetch_add(count);
        }
    }
}

/// Coordinates `coordinate..coordinate + side` of the points `first..first + side`, as in
/// the staging of the fused pass.
#[cube]
fn stage(
    shared: &mut Shared<[f32]>,
    points: &[f32],
    first: usize,
    end: usize,
    coordinate: usize,
    m: usize,
    #[comptime] side: usize,
) {
    let sample = first + UNIT_POS_Y as usize;
    let c = coordinate + UNIT_POS_X as usize;
    let mut point = 0.0f32;
    if sample < end && c < m {
        point = points[sample * m + c];
    }
    shared[UNIT_POS_X as usize * comptime!(side + 1) + UNIT_POS_Y as usize] = point;
}

/// Settles the next bits of the two separations from their counts, which are 0 then; after the last
/// pass the median is the mean of both, times the scale, and 1 where that is no bandwidth of f32 or some separation is not
/// finite. At first all bits are open, and the ranks are `lower` and `upper`.
///
/// One cube of [`BINS`] units.
#[cube(launch)]
pub(super) fn choose(
    counts: &[Atomic<u32>],
    found: &mut [u32],
    median: &mut [f32],
    lower: u32,
    upper: u32,
    scale: f32,
    #[comptime] pass: u32,
) {
    let unit = UNIT_POS as usize;
    let shift = comptime!(32 - BITS * (pass + 1));
    let mut bins = Shared::<[u32]>::new_slice(2 * BINS);
    let mut middle = Shared::<[u32]>::new_slice(2usize);
    let (first, second) = (unit, BINS + unit);
    bins[first] = counts[first].load();
    bins[second] = counts[second].load();
    counts[first].store(0u32);
    counts[second].store(0u32);
    sync_cube();
    #[unroll]
    for k in 0..2usize {
        let rank = if comptime!(pass > 0) {
            found[2 + k]
        } else if comptime!(k == 0) {
            lower
        } else {
            upper
        };
        let bits = found[k] | ((unit as u32) << shift);
        let mut below = 0u32;
        for bin in 0..unit {
            below += bins[k * BINS + bin];
        }
        sync_cube();
        if below <= rank && rank - below < bins[k * BINS + unit] {
            found[k] = bits;
            found[2 + k] = rank - below;
            middle[k] = bits;
        }
    }
    sync_cube();
    if comptime!(pass + 1 == PASSES) && unit == 0 {
        let lower = f32::reinterpret(middle[0]);
        let upper = f32::reinterpret(middle[1]);
        let mean = 0.5f32 * (lower + upper) * scale;
        let usable = mean >= 1e-18f32 && counts[2 * BINS].load() == 0;
        median[0] = select(usable, mean, 1.0f32);
    }
}
