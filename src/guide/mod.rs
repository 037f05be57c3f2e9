//! A guide to the library, with one page for each question.
//!
//! Read [`start`] first. It goes from `cargo new` to a first p-value, and names the next page.
//!
//! | you want to | page |
//! | --- | --- |
//! | begin | [`start`] |
//! | choose a penalty for training | [`which_loss`] |
//! | choose a recalibration map | [`which_map`] |
//! | choose a test, or a measure of the error | [`which_test`] |
//! | train with a penalty, with a loop of your own or with Burn's `Learner` | [`train`] |
//! | recalibrate a trained model, save the map and load it | [`recalibrate`] |
//! | write a recalibration map of your own | [`own_map`] |
//! | test a model, measure its error, and report the results | [`test_and_report`] |
//! | watch a model in production | [`monitor`] |
//! | predict numbers instead of classes | [`regression`] |
//! | give samples weights | [`weights`] |
//! | work with thousands of classes, or with language models | [`many_classes`] |
//! | use a GPU, or several devices | [`devices`] |
//! | find the counterpart of a Python library | [`from_pytorch`] |
//! | know what calibration does not guarantee | [`what_calibration_is_not`] |
//!
//! Each block of Rust is a whole program: paste it into `src/main.rs` of a crate with the dependencies of
//! [`start`]. The tests of the library compile and run all of them. All figures are measured; each page names
//! the file of `docs/` with the whole table.

/// Makes a module of each page. `links.md` has the definitions of links and comes first, so that they win here: a
/// page ends with definitions for readers of Markdown, which point to files. `.ci/paste` checks that a label has both.
macro_rules! pages {
    ($($page:ident)*) => {$(
        #[doc = include_str!("links.md")]
        #[doc = include_str!(concat!(stringify!($page), ".md"))]
        pub mod $page {}
    )*};
}

pages! {
    start
    which_loss
    which_map
    which_test
    train
    recalibrate
    own_map
    monitor
    regression
    weights
    many_classes
    devices
    from_pytorch
    what_calibration_is_not
}

#[doc = include_str!("links.md")]
#[doc = include_str!("test_and_report.md")]
#[doc = include_str!("diagram.svg")]
pub mod test_and_report {}

/// The program of README is tested as well.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
