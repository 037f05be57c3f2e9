//! Points and residuals of a tile in shared memory.

use cubecl::prelude::*;

/// The coordinates of the samples of a tile and their residuals `δ = e_y − p`: coordinate by
/// coordinate, the samples of each side by side. One number more than samples in a row keeps the
/// units that fill it out of each other's banks.
#[derive(CubeType)]
pub(super) struct Staged<F: Float> {
    pub(super) points: Shared<[F]>,
    pub(super) residuals: Shared<[F]>,
    #[cube(comptime)]
    side: usize,
}

#[cube]
impl<F: Float> Staged<F> {
    pub(super) fn new(#[comptime] side: usize) -> Self {
        Staged::<F> {
            points: Shared::new_slice(side * (side + 1)),
            residuals: Shared::new_slice(side * (side + 1)),
            side,
        }
    }

    /// Coordinates `coordinate..coordinate + side` of the samples `first..first + side`: one number
    /// by each unit, 0 from sample `end` on and beyond the last of `m` coordinates.
    pub(super) fn fill<I: Int>(
        &mut self,
        points: &[F],
        labels: &[I],
        first: usize,
        end: usize,
        coordinate: usize,
        m: usize,
    ) {
        let sample = first + UNIT_POS_Y as usize;
        let c = coordinate + UNIT_POS_X as usize;
        let at = UNIT_POS_X as usize * comptime!(self.side + 1) + UNIT_POS_Y as usize;
        let mut point = F::new(0.0);
        let mut residual = F::new(0.0);
        if sample < end && c < m {
            point = points[sample * m + c];
            let label = u32::cast_from(labels[sample]) as usize;
            residual = select(c == label, F::new(1.0), F::new(0.0)) - point;
        }
        self.points[at] = point;
        self.residuals[at] = residual;
    }
}
