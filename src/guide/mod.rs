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
//! | test a model, measure its error, and report the results | [`test_and_report`] |
//! | watch a model in production | [`monitor`] |
//! | predict numbers instead of classes | [`regression`] |
//! | give samples weights | [`weights`] |
//! | work with thousands of classes, or with language models | [`many_classes`] |
//! | use a GPU, or several devices | [`devices`] |
//! | find the counterpart of a Python library | [`from_pytorch`] |
//! | know what calibration does not guarantee | [`what_calibration_is_not`] |
//!
//! The tests of the library compile and run all code of these pages. All figures are measured; each page
//! names the file of `docs/` with the whole table.

#[doc = include_str!("start.md")]
pub mod start {}

#[doc = include_str!("which_loss.md")]
pub mod which_loss {}

#[doc = include_str!("which_map.md")]
pub mod which_map {}

#[doc = include_str!("which_test.md")]
pub mod which_test {}

#[doc = include_str!("train.md")]
#[doc = include_str!("train_learner.md")]
pub mod train {}

#[doc = include_str!("recalibrate.md")]
pub mod recalibrate {}

#[doc = include_str!("test_and_report.md")]
#[doc = include_str!("diagram.html")]
#[doc = include_str!("report.md")]
pub mod test_and_report {}

#[doc = include_str!("monitor.md")]
pub mod monitor {}

#[doc = include_str!("regression.md")]
pub mod regression {}

#[doc = include_str!("weights.md")]
pub mod weights {}

#[doc = include_str!("many_classes.md")]
pub mod many_classes {}

#[doc = include_str!("devices.md")]
pub mod devices {}

#[doc = include_str!("from_pytorch.md")]
pub mod from_pytorch {}

#[doc = include_str!("what_calibration_is_not.md")]
pub mod what_calibration_is_not {}
