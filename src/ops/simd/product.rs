//! Products of matrices, by the `gemm` crate.

use gemm::{Parallelism, gemm};

use super::real::Real;

/// Numbers of a slice as a matrix.
#[derive(Clone, Copy)]
pub(crate) struct MatrixView<'a, T> {
    numbers: &'a [T],
    shape: [usize; 2],
    /// The steps from one row and from one column to the next.
    strides: [usize; 2],
}

impl<'a, T: Real> MatrixView<'a, T> {
    /// `[rows, columns]`, from one row to the next `stride` numbers.
    pub fn new(numbers: &'a [T], stride: usize, shape: [usize; 2]) -> Self {
        let [rows, columns] = shape;
        let within = rows == 0 || (rows - 1) * stride + columns <= numbers.len();
        assert!(columns <= stride && within, "{shape:?} by {stride}");
        Self {
            numbers,
            shape,
            strides: [stride, 1],
        }
    }

    pub fn transposed(self) -> Self {
        let ([rows, columns], [down, right]) = (self.shape, self.strides);
        Self {
            shape: [columns, rows],
            strides: [right, down],
            ..self
        }
    }
}

/// `sums += a·b`, with as many numbers in each row of `sums` as `stride`, on the calling thread.
pub(crate) fn add_product<T: Real>(
    sums: &mut [T],
    stride: usize,
    a: MatrixView<T>,
    b: MatrixView<T>,
) {
    multiply(sums, stride, a, b, true);
}

/// `sums = a·b`.
pub(crate) fn product<T: Real>(sums: &mut [T], stride: usize, a: MatrixView<T>, b: MatrixView<T>) {
    multiply(sums, stride, a, b, false);
}

fn multiply<T: Real>(sums: &mut [T], stride: usize, a: MatrixView<T>, b: MatrixView<T>, add: bool) {
    let ([rows, inner], [also_inner, columns]) = (a.shape, b.shape);
    assert_eq!(inner, also_inner, "columns of a and rows of b");
    assert!(columns <= stride && rows * stride <= sums.len());
    let [a_strides, b_strides] = [a.strides, b.strides].map(|strides| strides.map(as_isize));
    // SAFETY: a matrix lies within its slice, `rows` rows of `stride ≥ columns` numbers within `sums`,
    // which nobody else has; all numbers are initialised
    unsafe {
        gemm(
            rows,
            columns,
            inner,
            sums.as_mut_ptr(),
            1,
            as_isize(stride),
            add,
            a.numbers.as_ptr(),
            a_strides[1],
            a_strides[0],
            b.numbers.as_ptr(),
            b_strides[1],
            b_strides[0],
            T::new(1.0),
            T::new(1.0),
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

fn as_isize(stride: usize) -> isize {
    isize::try_from(stride).expect("a slice is shorter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let a = [1.0, 2.0, 9.0, 3.0, 4.0, 9.0]; // a third number in each row does not count
        let (a, b) = (MatrixView::new(&a, 3, [2, 2]), [5.0, 6.0, 7.0, 8.0]);
        let b = MatrixView::new(&b, 2, [2, 2]);
        let mut sums = [1.0f64, 2.0, -1.0, 3.0, 4.0, -1.0];
        product(&mut sums, 3, a, b);
        assert_eq!(sums, [19.0, 22.0, -1.0, 43.0, 50.0, -1.0]);
        add_product(&mut sums, 3, a.transposed(), b);
        assert_eq!(sums, [45.0, 52.0, -1.0, 81.0, 94.0, -1.0]);
    }

    #[test]
    #[should_panic(expected = "columns of a and rows of b")]
    fn shapes_are_checked() {
        let numbers = [0.0f32; 6];
        let a = MatrixView::new(&numbers, 3, [2, 3]);
        product(&mut [0.0; 4], 2, a, a);
    }

    #[test]
    #[should_panic(expected = "[3, 2] by 3")]
    fn a_matrix_lies_within_its_numbers() {
        MatrixView::new(&[0.0f32; 7], 3, [3, 2]);
    }
}
