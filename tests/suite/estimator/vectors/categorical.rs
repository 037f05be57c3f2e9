//! Classes by the definition of the pair statistic are those of the passes over labels and residuals.

use burn_calibration::error::Result;

use crate::prelude::*;

/// A kernel on classes of which nothing is known but its expectations.
#[derive(Debug, Clone, Copy)]
struct General<T>(T);

impl<T: TargetKernel<Categorical>> TargetKernel<Categorical> for General<T> {
    fn between(
        &self,
        y: &Tensor<1, Int>,
        other: &Tensor<1, Int>,
        like: &Categorical,
        batches: usize,
    ) -> Tensor<3> {
        self.0.between(y, other, like, batches)
    }

    fn expectation(&self, p: &Categorical, y: &Tensor<1, Int>, batches: usize) -> Tensor<3> {
        self.0.expectation(p, y, batches)
    }

    fn double_expectation(&self, p: &Categorical, q: &Categorical, batches: usize) -> Tensor<3> {
        self.0.double_expectation(p, q, batches)
    }

    fn half_bound(&self) -> f64 {
        self.0.half_bound()
    }

    fn validate_for(&self, predictions: &Categorical) -> Result<()> {
        self.0.validate_for(predictions)
    }
}

fn scalar_kernel() -> Kernel {
    exponential(0.4)
}

fn data() -> (Categorical, Tensor<1, Int>) {
    let (rows, classes) = draw(Model::M2, 60, 4, &mut rng(11));
    (categorical(&rows), labels(&classes))
}

#[test]
fn white_targets_are_the_scalar_kernel() {
    let (predictions, labels) = data();
    for bandwidth in [Bandwidth::Fixed(0.4), Bandwidth::Median] {
        let special = scalar_kernel().with_bandwidth(bandwidth);
        let general = TensorKernel::new(special, General(White));
        for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(7)] {
            let special = Skce::new(special, form).on(&predictions, &labels);
            let general = Skce::new(general, form).on(&predictions, &labels);
            assert_relative(special, general, 1e-12);
        }
    }
}

#[test]
fn a_matrix_on_classes_is_the_matrix_valued_kernel() {
    let (predictions, labels) = data();
    let rows = [
        [2.0, 0.5, 0.0, 0.1],
        [0.5, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.5, 0.3],
        [0.1, 0.0, 0.3, 1.0],
    ];
    let special = MatrixKernel::from_rows(scalar_kernel(), &rows).unwrap();
    let general = TensorKernel::new(scalar_kernel(), General(ClassMatrix::new(&rows).unwrap()));
    let special = Skce::unbiased(special).on(&predictions, &labels);
    let general = Skce::unbiased(general).on(&predictions, &labels);
    assert_relative(special, general, 1e-12);
}

#[test]
fn gradients_agree() {
    let (rows, classes) = draw(Model::M2, 20, 3, &mut rng(12));
    let y = labels(&classes);
    let special = Skce::unbiased(scalar_kernel());
    let special = gradient(&rows, |p| special.value(&of_probabilities(p), &y));
    let general = Skce::unbiased(TensorKernel::new(scalar_kernel(), General(White)));
    let general = gradient(&rows, |p| general.value(&of_probabilities(p), &y));
    all_near(&special, general, 1e-12 * largest(&special));
}

#[test]
fn tests_agree() {
    let (predictions, labels) = data();
    let special = scalar_kernel();
    let general = TensorKernel::new(scalar_kernel(), General(White));
    let pairs: Vec<(Box<dyn CalibrationTest>, Box<dyn CalibrationTest>)> = vec![
        (
            Box::new(AsymptoticBlockSkceTest::linear(special)),
            Box::new(AsymptoticBlockSkceTest::linear(general)),
        ),
        (
            Box::new(DistributionFreeSkceTest::new(Skce::biased(special))),
            Box::new(DistributionFreeSkceTest::new(Skce::biased(general))),
        ),
        (
            Box::new(ExactTest::new(Skce::biased(special)).with_replicates(99)),
            Box::new(ExactTest::new(Skce::biased(general)).with_replicates(99)),
        ),
        (
            Box::new(CmeTest::new(special, 3)),
            Box::new(CmeTest::new(general, 3)),
        ),
    ];
    for (special, general) in pairs {
        let evaluate = |test: &dyn CalibrationTest| test.seeded(&predictions, &labels, 13);
        let (special, general) = (evaluate(&*special), evaluate(&*general));
        assert_relative(special.statistic, general.statistic, 1e-10);
        assert_relative(special.p_value, general.p_value, 1e-8);
    }
}

/// The variance of the null by redrawn labels is the exact one, up to its own error: the same p-value
/// to a tenth of it.
#[test]
fn the_gamma_null_agrees_up_to_simulation() {
    let (predictions, labels) = data();
    let (rows, classes) = draw(Model::M1, 60, 4, &mut rng(14));
    for (predictions, labels) in [
        (predictions, labels),
        (categorical(&rows), crate::data::labels(&classes)),
    ] {
        let p = |test: &dyn CalibrationTest| test.p_value(&predictions, &labels, 15).ln();
        let special = p(&AsymptoticSkceTest::new(scalar_kernel()));
        let general = TensorKernel::new(scalar_kernel(), General(White));
        let general = p(&AsymptoticSkceTest::new(general));
        assert_near(special, general, 0.1 * special.abs().max(1.0));
    }
}

#[test]
fn ucme_agrees() {
    let (predictions, labels) = data();
    let (locations, classes) = draw(Model::M1, 5, 4, &mut rng(16));
    let (locations, classes) = (categorical(&locations), crate::data::labels(&classes));
    let special = Ucme::new(scalar_kernel(), &locations, &classes).unwrap();
    let general = TensorKernel::new(scalar_kernel(), General(White));
    let general = Ucme::new(general, &locations, &classes).unwrap();
    let special = special.on(&predictions, &labels);
    let general = general.on(&predictions, &labels);
    assert_relative(special, general, 1e-12);
}
