//! The tests that the command offers, with their names on the command line, and what a kernel gives.
//!
//! To add a test, add an entry: to [`Pairs`] if it is by a kernel, otherwise to those of a kind of prediction.

mod pairs;

pub use pairs::Pairs;

use burn_calibration::{distribution::Categorical, estimator::Event, hypothesis::*, names::Name};
use burn_calibration_report::{SubjectWords, View};

use crate::kind::{Build, Kind, Test};

/// The names of all tests: every test is there for classes.
pub fn test_keys() -> Vec<&'static str> {
    let tests = tests::<Categorical>().into_iter();
    tests.map(|test| test.name.key).collect()
}

/// A test with what it is of.
fn test<P: Kind>(
    of: fn(&SubjectWords) -> &str,
    (key, title, build): (&'static str, &'static str, Build<P>),
) -> Test<P> {
    let name = Name::new(key, title);
    Test { name, of, build }
}

/// The tests by a kernel, and those of a kind.
pub fn tests<P: Kind>() -> Vec<Test<P>> {
    P::Kernel::tests().into_iter().chain(P::tests()).collect()
}

pub fn tests_of_classes() -> Vec<Test<Categorical>> {
    type Boxed = Box<dyn CalibrationTest<Categorical>>;
    fn exact(statistic: impl Statistic + 'static, replicates: usize) -> Boxed {
        Box::new(ExactTest::new(statistic).with_replicates(replicates))
    }
    fn one(view: &View<Categorical>) -> Event {
        Event::one_of(&view.predictions)
    }
    let of_event: [(&str, &str, Build<Categorical>); 2] = [
        (
            "ece_top_label_exact",
            "ECE, exact",
            |_, view, replicates| exact(view.bins.error(view.event(), 1.0), replicates),
        ),
        (
            "ece_top_label_consistency",
            "ECE, consistency",
            |_, view, n| {
                let ece = view.bins.error(view.event(), 1.0);
                Box::new(ConsistencyTest::new(ece).with_replicates(n))
            },
        ),
    ];
    let of_one: [(&str, &str, Build<Categorical>); 6] = [
        ("spiegelhalter", "Spiegelhalter, normal", |_, view, _| {
            Box::new(Spiegelhalter::new(one(view)))
        }),
        (
            "spiegelhalter_exact",
            "Spiegelhalter, exact",
            |_, view, replicates| exact(Spiegelhalter::new(one(view)), replicates),
        ),
        (
            "hosmer_lemeshow",
            "Hosmer-Lemeshow, chi-squared",
            |_, view, _| Box::new(HosmerLemeshow::new(one(view))),
        ),
        (
            "hosmer_lemeshow_exact",
            "Hosmer-Lemeshow, exact",
            |_, view, replicates| exact(HosmerLemeshow::new(one(view)), replicates),
        ),
        ("cox", "Cox, chi-squared", |_, view, _| {
            Box::new(Cox::new(one(view)))
        }),
        ("cox_exact", "Cox, exact", |_, view, n| {
            exact(Cox::new(one(view)), n)
        }),
    ];
    let of_event = of_event.map(|entry| test(|of| &of.event, entry));
    let of_one = of_one.map(|entry| test(|of| &of.one, entry));
    of_event.into_iter().chain(of_one).collect()
}
