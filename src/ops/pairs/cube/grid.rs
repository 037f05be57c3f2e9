//! Which pairs belong to which cube.

use cubecl::prelude::*;

/// Pairs are those of samples in the same block of `size`. Consecutive small blocks share a tile:
/// samples are in stretches of `extent`, a whole number of blocks, and no pair is across.
#[derive(CubeType, CubeLaunch)]
pub(in crate::ops) struct Grid {
    /// Samples `[n]`, and those of them that are in blocks.
    pub(in crate::ops) samples: usize,
    pub(in crate::ops) used: usize,
    /// Coordinates.
    pub(in crate::ops) m: usize,
    pub(in crate::ops) size: usize,
    pub(in crate::ops) extent: usize,
    /// Cubes that share the columns of the same rows.
    pub(in crate::ops) parts: usize,
    /// All cubes.
    pub(in crate::ops) cubes: usize,
}

/// The work of one cube: rows `row..row + side`, and every `parts`-th tile of the columns `start..end` of their
/// stretch, from tile `part` on.
#[derive(CubeType)]
pub(in crate::ops) struct Share {
    pub(in crate::ops) part: usize,
    pub(in crate::ops) row: usize,
    pub(in crate::ops) start: usize,
    pub(in crate::ops) end: usize,
    /// Tiles of columns in the stretch.
    pub(in crate::ops) tiles: usize,
}

#[cube]
pub(in crate::ops) fn share(cube: usize, grid: &Grid, #[comptime] side: usize) -> Share {
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
