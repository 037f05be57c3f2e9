//! The kernel: sums over the pairs of a cube.

use cubecl::{ir::ElemType, prelude::*};

use super::{
    grid::{Grid, share},
    pair::{Specialisation, direction, pair, part},
    stage::Staged,
};

/// The sums of `½ h` and of `½ ν ∂h/∂ν` over the ordered pairs of each cube, and the gradient of the first
/// with respect to the points, all times `factor`.
///
/// As `h` is symmetric, the gradient for a point is that of `Σ_j h_ij` with respect to `x_i` alone.
///
/// - points: `[n, m]`, labels: `[n]`, bandwidth: `[1]`
/// - sums: `[2, cubes]`
/// - gradient: `[parts, n, m]`, 0 at first; left alone if not asked for
#[cube(launch, address_type = "dynamic")]
pub(super) fn tile_sums<F: Float, I: Int>(
    points: &[F],
    labels: &[I],
    bandwidth: &[F],
    sums: &mut [F],
    gradient: &mut [F],
    grid: &Grid,
    scale: InputScalar,
    factor: InputScalar,
    #[comptime] form: Specialisation,
    #[comptime] side: usize,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if CUBE_POS >= grid.cubes {
        terminate!();
    }
    let share = share(CUBE_POS, grid, side);
    let m = grid.m;
    let (x, y) = (UNIT_POS_X as usize, UNIT_POS_Y as usize);
    let unit = y * side + x;
    let pitch = comptime!(side + 1);
    let rate = scale.get::<F>() / bandwidth[0];
    let factor = factor.get::<F>();

    let mut rows = Staged::<F>::new(side);
    let mut columns = Staged::<F>::new(side);
    let mut slopes = Shared::<[F]>::new_slice(side * side);
    let mut kernels = Shared::<[F]>::new_slice(side * side);
    let mut value = F::new(0.0);
    let mut stretch = F::new(0.0);

    let row = share.row + y;
    for tile in range_stepped(share.part, share.tiles, grid.parts) {
        let first = share.start + tile * side;
        let column = first + x;

        let mut parts = F::new(0.0);
        let mut product = F::new(0.0);
        for coordinate in range_stepped(0, m, side) {
            rows.fill::<I>(points, labels, share.row, share.end, coordinate, m);
            columns.fill::<I>(points, labels, first, share.end, coordinate, m);
            sync_cube();
            for c in 0..min(side, m - coordinate) {
                let (i, j) = (c * pitch + y, c * pitch + x);
                parts += part::<F>(rows.points[i] - columns.points[j], form.euclidean);
                product += rows.residuals[i] * columns.residuals[j];
            }
            sync_cube();
        }

        let mut slope = F::new(0.0);
        let mut kernel = F::new(0.0);
        let inside = row < share.end && column < share.end;
        let together = row / grid.size == column / grid.size;
        let counts = comptime!(form.diagonal) || row != column;
        if inside && together && counts {
            let pair = pair::<F>(parts, product, rate, form);
            value += pair.value;
            stretch += pair.stretch;
            slope = factor * pair.slope;
            kernel = factor * pair.kernel;
        }

        if comptime!(form.gradient) {
            slopes[unit] = slope;
            kernels[unit] = kernel;
            for coordinate in range_stepped(0, m, side) {
                columns.fill::<I>(points, labels, first, share.end, coordinate, m);
                sync_cube();
                let c = coordinate + x;
                if row < share.end && c < m {
                    let point = points[row * m + c];
                    let mut sum = F::new(0.0);
                    for j in 0..side {
                        let (pair, other) = (y * side + j, x * pitch + j);
                        let difference = point - columns.points[other];
                        sum += slopes[pair] * direction::<F>(difference, form.euclidean)
                            - kernels[pair] * columns.residuals[other];
                    }
                    gradient[(share.part * grid.samples + row) * m + c] += sum;
                }
                sync_cube();
            }
        }
    }

    let value = sum_of_cube::<F>(value, &mut slopes, side);
    let stretch = sum_of_cube::<F>(stretch, &mut kernels, side);
    if unit == 0 {
        let half = factor * F::new(0.5);
        sums[CUBE_POS] = half * value;
        sums[grid.cubes + CUBE_POS] = half * stretch;
    }
}

/// The sum of a number of each unit, for all units; `side` is a power of two.
#[cube]
fn sum_of_cube<F: Float>(number: F, shared: &mut Shared<[F]>, #[comptime] side: usize) -> F {
    let unit = UNIT_POS as usize;
    shared[unit] = number;
    sync_cube();
    #[unroll]
    for step in 0..comptime!((side * side).ilog2()) {
        let half = comptime!((side * side) >> (step + 1));
        if unit < half {
            let other = shared[unit + half];
            shared[unit] += other;
        }
        sync_cube();
    }
    shared[0]
}
