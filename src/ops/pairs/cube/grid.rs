//! Which pairs belong to which cube.

use cubecl::prelude::*;

/// Pairs are those of samples in the same block of `size`. Consecutive small blocks share a tile:
/// samples are in stretches of `extent`, a whole number of blocks, and no pair is across.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Grid {
    /// Samples `[n]`, and those of them that are in blocks.
    pub(super) samples: usize,
    pub(super) used: usize,
    /// Coordinates.
    pub(super) m: usize,
    pub(super) size: usize,
    pub(super) extent: usize,
    /// Cubes that share the columns of the same rows.
    pub(super) parts: usize,
    /// All cubes.
    pub(super) cubes: usize,
}

/// The work of one cube: rows `row..row + side`, and every `parts`-th tile of the columns `start..end` of their
/// stretch, from tile `part` on.
#[derive(CubeType)]
pub(super) struct Share {
    pub(super) part: usize,
    pub(super) row: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Tiles of columns in the stretch.
    pub(super) tiles: usize,
}

#[cube]
pub(super) fn share(cube: usize, grid: &Grid, #[comptime] side: usize) -> Share {
    let tiles = grid.extent.div_ceil(side);
    let part = cube % grid.parts;
    let tile = cube / grid.parts;
    let start = tile / tiles * grid.extent;
    Share {
        part,
        row: start + tile % tiles * side,
        start,
        end: min(start + grid.extent, grid.used),
        tiles,
    }
}
