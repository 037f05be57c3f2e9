//! How the pairs are shared among cubes.

use burn::backend::TensorMetadata;
use burn_cubecl::tensor::CubeTensor;
use cubecl::{client::Client, prelude::*, server::CubeCountSelection};

use super::grid::GridLaunch;

/// Units along a side of a tile: 256 in a cube and 16 KiB of shared memory are what every device of
/// WebGPU has, and f64 takes 13 KiB.
pub(super) const SIDE: usize = 16;

/// Multiprocessors, where the device does not tell.
const MULTIPROCESSORS: usize = 32;

/// Cubes that occupy a multiprocessor.
const CUBES_EACH: usize = 4;

/// The numbers of a [`Grid`](super::grid::Grid).
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    samples: usize,
    used: usize,
    m: usize,
    size: usize,
    extent: usize,
    pub(super) parts: usize,
    pub(super) cubes: usize,
}

impl Plan {
    /// Plans the pairs of points within blocks of `size`.
    pub(super) fn new(points: &CubeTensor, size: usize) -> Self {
        let (samples, m) = (points.shape()[0], points.shape()[1]);
        let used = samples / size * size;
        let extent = size * (SIDE / size).max(1);
        let tiles = extent.div_ceil(SIDE);
        let row_tiles = used.div_ceil(extent) * tiles;
        let parts = parts(&points.client, row_tiles, tiles);
        Self {
            samples,
            used,
            m,
            size,
            extent,
            parts,
            cubes: row_tiles * parts,
        }
    }

    pub(super) fn grid(&self) -> GridLaunch {
        GridLaunch::new(
            self.samples,
            self.used,
            self.m,
            self.size,
            self.extent,
            self.parts,
            self.cubes,
        )
    }

    pub(super) fn cube_count(&self, client: &Client) -> CubeCount {
        CubeCountSelection::new(client, self.cubes as u32).cube_count()
    }

    pub(super) fn units() -> CubeDim {
        CubeDim::new_2d(SIDE as u32, SIDE as u32)
    }
}

/// Cubes for the same rows: as many as occupy the device. Their partial gradients have no more rows
/// than that many tiles, or than there are samples.
fn parts(client: &Client, row_tiles: usize, tiles: usize) -> usize {
    let multiprocessors = client.properties().hardware.num_streaming_multiprocessors;
    let multiprocessors = multiprocessors.map_or(MULTIPROCESSORS, |count| count as usize);
    (multiprocessors * CUBES_EACH / row_tiles).clamp(1, tiles)
}
