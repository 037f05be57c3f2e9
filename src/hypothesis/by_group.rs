use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use burn::tensor::DType;
use rand::Rng;
use serde::Serialize;

use super::{Omnibus, OmnibusOutcome, OmnibusTest};
use crate::{
    distribution::Targets,
    error::{Error, Result, check_count, check_values},
    host::rounding,
    kernel::Kernel,
    numbers::{significant, tied},
};

/// A number as it is where that is short, otherwise in some significant digits.
fn shown(number: f64, digits: usize) -> String {
    let exact = number.to_string();
    if exact.len() > 7 {
        significant(number, digits)
    } else {
        exact
    }
}

/// The fewest digits of a number in a name.
const FEWEST_DIGITS: usize = 4;
/// The digits that tell any two numbers apart.
const ALL_DIGITS: usize = 17;

/// A named group of samples. Groups may overlap, as those of several variables do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The name, as "sex = Female".
    pub name: String,
    /// The samples, by increasing row.
    pub rows: Vec<usize>,
}

impl Group {
    /// Returns a group for each value of a variable, in the order of the values: "sex = Female",
    /// "sex = Male".
    pub fn by_value(variable: &str, values: &[impl AsRef<str>]) -> Vec<Self> {
        let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, value) in values.iter().enumerate() {
            groups.entry(value.as_ref()).or_default().push(row);
        }
        let group = |(value, rows)| Self {
            name: format!("{variable} = {value}"),
            rows,
        };
        groups.into_iter().map(group).collect()
    }

    /// Returns at most this number of groups of about equal size, by the quantiles of a variable: "age in
    /// 17 to 28". Equal values are in one group. Names have four significant digits of numbers with many,
    /// or as many as tell the groups and the ends of each apart.
    ///
    /// # Errors
    ///
    /// A value that is not finite, with its row; or no groups.
    pub fn by_quantile(variable: &str, values: &[f64], groups: usize) -> Result<Vec<Self>> {
        check_count("the number of groups", groups)?;
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let finite = (f64::is_finite, "a finite number");
        check_values(values, (1, "column"), "the conditioning variable", finite)?;
        let tied = tied(values, |row| rounding(DType::F64) * values[row].abs());
        let mut sorted = tied.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = |group: usize| sorted[(values.len() * group).div_ceil(groups) - 1];
        let lasts: Vec<f64> = (1..groups).map(last).collect();
        let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, value) in tied.iter().enumerate() {
            let number = lasts.iter().filter(|last| *last < value).count();
            parts.entry(number).or_default().push(row);
        }
        let ends = |rows: &Vec<usize>| {
            let members = || rows.iter().map(|&row| tied[row]);
            let least = members().fold(f64::INFINITY, f64::min);
            [least, members().fold(f64::NEG_INFINITY, f64::max)]
        };
        let ends: Vec<[f64; 2]> = parts.values().map(ends).collect();
        let name = |ends: &[f64; 2], digits: usize| {
            let [from, to] = ends.map(|end| shown(end, digits));
            if ends[0] == ends[1] {
                format!("{variable} = {from}")
            } else {
                format!("{variable} in {from} to {to}")
            }
        };
        let tell_apart = |digits: &usize| {
            let names: BTreeSet<String> = ends.iter().map(|ends| name(ends, *digits)).collect();
            let is_range = |[least, most]: &[f64; 2]| {
                let [from, to] = [least, most].map(|end| shown(*end, *digits).parse::<f64>().ok());
                least == most || from < to
            };
            names.len() == ends.len() && ends.iter().all(is_range)
        };
        let digits = (FEWEST_DIGITS..ALL_DIGITS).find(tell_apart);
        let digits = digits.unwrap_or(ALL_DIGITS);
        let group = |(ends, rows): (&[f64; 2], Vec<usize>)| Self {
            name: name(ends, digits),
            rows,
        };
        Ok(ends.iter().zip(parts.into_values()).map(group).collect())
    }
}

/// The test of the hypothesis that a model is calibrated in each of several groups. Its outcome says in
/// which groups the model is not calibrated.
///
/// Each group is tested by an [`OmnibusTest`] of its samples alone, so a finding has the words of that
/// test, such as "underconfident by 5.0 points". Of `g` groups the SKCE of classes is over all pairs up to `10,000/√g`
/// samples of a group, so that many large groups together take no longer than one of 10,000, and otherwise a time that
/// is linear in their samples. Targets are redrawn from the predictions, so groups may
/// have any size. The p-values are adjusted by [`holm`](super::holm), which is valid even if groups overlap. The
/// adjusted p-values of aspects are multiplied by the number of groups: what
/// [`AspectOutcome::adjusted_p_value`](super::AspectOutcome::adjusted_p_value) promises of one of at most
/// `α` then holds of the aspects of all groups together.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, hypothesis::{Group, GroupTest}};
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // even odds, and half of the labels: but those of the first half of the samples
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.5, 0.5]; 200], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..200, &device).lower_elem(100).int();
/// let groups = Group::by_value("half", &[["first"; 100], ["second"; 100]].concat());
/// let mut rng = StdRng::seed_from_u64(0);
/// let outcome = GroupTest::new().outcome(&predictions, &labels, &groups, &mut rng)?;
/// assert_eq!(outcome.p_value, 0.002);
/// assert_eq!(outcome.failing(0.05).len(), 2);
/// println!("{outcome}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[must_use]
pub struct GroupTest {
    omnibus: OmnibusTest,
    /// The most redraws of each group, if not by the number of tests.
    most: Option<usize>,
    /// The number of tests that are adjusted together, if there are others than those of the groups.
    tests: Option<usize>,
}

/// The outcome of a [`GroupTest`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct GroupsOutcome {
    /// The p-value of the hypothesis that the model is calibrated in all groups: the smallest adjusted
    /// p-value.
    pub p_value: f64,
    /// The outcome of each group, in the order of the groups.
    pub groups: Vec<GroupOutcome>,
}

/// The outcome of a [`GroupTest`] in one group.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct GroupOutcome {
    /// The name of the group.
    pub name: String,
    /// The outcome for the samples of the group, adjusted for all groups by [`together`](OmnibusOutcome::together).
    #[serde(flatten)]
    pub outcome: OmnibusOutcome,
}

impl GroupTest {
    /// Creates the test with 999 redraws of each group, and up to a hundred times as many as there are
    /// groups where its p-value is near or below 5 % over their number: an adjusted p-value can be as small
    /// as 0.01.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a copy with another kernel on predictions.
    pub fn with_kernel(self, kernel: Kernel) -> Self {
        let omnibus = self.omnibus.with_kernel(kernel);
        Self { omnibus, ..self }
    }

    /// Returns the same test with exactly this number of redraws of each group.
    pub fn with_redraws(self, redraws: usize) -> Self {
        Self {
            omnibus: self.omnibus.with_redraws(redraws),
            most: Some(redraws),
            ..self
        }
    }

    /// Returns the same where the groups are among so many tests whose p-values are adjusted together afterwards, by
    /// [`OmnibusOutcome::together`]: it redraws as often as that many need.
    pub fn as_one_of(self, tests: usize) -> Self {
        let tests = Some(tests);
        Self { tests, ..self }
    }

    /// Returns the same test with at most this number of redraws of each group.
    pub fn with_most(self, most: usize) -> Self {
        let most = Some(most);
        Self { most, ..self }
    }

    /// Runs the test. The generator draws the targets of each group in turn.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid, an invalid kernel, no redraws; no groups, a group without
    /// samples, or a row that does not exist.
    pub fn outcome<P: Omnibus>(
        &self,
        predictions: &P,
        targets: &P::Targets,
        groups: &[Group],
        rng: &mut dyn Rng,
    ) -> Result<GroupsOutcome> {
        check_count("the number of groups", groups.len())?;
        let (plain, _) = predictions.parted();
        plain.check()?;
        plain.check_targets(targets)?;
        let tests = self.tests.unwrap_or(groups.len()).max(groups.len());
        let most = (self.most).unwrap_or(999.max(100 * tests - 1));
        let test = self.omnibus.as_one_of(tests).with_most(most);
        let of_group = |group: &Group| {
            group.check(predictions.len())?;
            let (predictions, targets) = (
                predictions.select_rows(&group.rows),
                targets.select_rows(&group.rows),
            );
            let outcome = test.outcome(&predictions, &targets, &mut *rng)?;
            Ok(outcome.at_rows(&group.rows))
        };
        let outcomes: Vec<OmnibusOutcome> = groups.iter().map(of_group).collect::<Result<_>>()?;
        let named = groups.iter().zip(OmnibusOutcome::together(outcomes));
        let of_group = |(group, outcome): (&Group, _)| GroupOutcome {
            name: group.name.clone(),
            outcome,
        };
        let groups: Vec<GroupOutcome> = named.map(of_group).collect();
        let adjusted = groups.iter().map(GroupOutcome::adjusted_p_value);
        Ok(GroupsOutcome {
            p_value: adjusted.fold(1.0, f64::min),
            groups,
        })
    }
}

impl Group {
    /// Checks that there are samples, each of the data.
    fn check(&self, samples: usize) -> Result<()> {
        let reason = match self.rows.iter().find(|row| **row >= samples) {
            Some(row) => format!("holds row {row}, expected rows below {samples}"),
            None if self.rows.is_empty() => "holds no samples, expected at least one".into(),
            None => return Ok(()),
        };
        Err(Error::Groups {
            reason: format!("the group {} {reason}", self.name),
        })
    }
}

impl GroupsOutcome {
    /// The groups with an adjusted p-value of at most `level`, the most significant first; of equal ones
    /// in the order of the groups.
    pub fn failing(&self, level: f64) -> Vec<&GroupOutcome> {
        let mut groups = self.by_p_value();
        groups.retain(|group| group.adjusted_p_value() <= level);
        groups
    }

    /// The groups, the most significant first.
    fn by_p_value(&self) -> Vec<&GroupOutcome> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by(|a, b| a.adjusted_p_value().total_cmp(&b.adjusted_p_value())); // stable
        groups
    }
}

impl GroupOutcome {
    /// The p-value adjusted for all groups: with a probability of at least `1 − α` the model is calibrated
    /// in no group among those with one of at most `α`.
    pub fn adjusted_p_value(&self) -> f64 {
        self.outcome
            .adjusted_p_value
            .unwrap_or(self.outcome.p_value)
    }

    /// The most significant aspect in words, if one is significant at a level among the aspects of all
    /// groups.
    pub fn finding(&self, level: f64) -> Option<&str> {
        let failing = self.outcome.failing(level);
        failing.first().map(|aspect| aspect.finding.as_str())
    }
}

impl fmt::Display for GroupsOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failing = self.failing(OmnibusOutcome::LEVEL);
        let p = self.by_p_value()[0].outcome.probability();
        let too_few = |group: &GroupOutcome| group.outcome.least_p_value().is_some();
        let verdict = if !failing.is_empty() {
            "The model is not calibrated in at least one group"
        } else if self.groups.iter().all(too_few) {
            "There are too few redraws for a verdict in any group"
        } else {
            "There is no evidence against calibration in any group"
        };
        write!(f, "{verdict}: {p}.")?;
        for group in failing {
            let finding = group
                .finding(0.05)
                .unwrap_or("no aspect significant by itself");
            let p = group.outcome.probability();
            write!(f, "\n    {}: {finding} (adjusted {p})", group.name)?;
        }
        Ok(())
    }
}
