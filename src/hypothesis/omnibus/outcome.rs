use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use super::aspect::{Aspect, Observed};
use crate::{
    error::serialize_or_infinite,
    hypothesis::{TestOutcome, engine::Place, holm},
    names::Name,
    numbers::counted,
    score::Interval,
};

/// The outcome of an [`OmnibusTest`](super::OmnibusTest): one answer, and where the model fails. It is serialized with
/// its [`verdict`](Self::verdict).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct OmnibusOutcome {
    /// The p-value of all aspects together: a multiple of `1/(redraws + 1)`, never less.
    pub p_value: f64,
    /// The p-value adjusted by [`holm`] for the tests of which this is one; see [`together`](Self::together).
    pub adjusted_p_value: Option<f64>,
    /// The number of tests of which this is one.
    pub(in crate::hypothesis) tests: usize,
    /// The number of times that the targets were redrawn.
    pub redraws: usize,
    /// The largest number of redraws that the test could have made.
    pub(in crate::hypothesis) most: usize,
    /// The interval that holds the p-value of endless redraws with a probability of 99 % (Clopper and
    /// Pearson 1934).
    pub resampling_interval: Interval,
    /// The number `n` of samples.
    pub samples: usize,
    /// The aspects: of the whole prediction first, then of each class.
    pub aspects: Vec<AspectOutcome>,
    /// The sizes of errors that the sentences are about; see [`beside`](Self::beside).
    pub(super) errors: Vec<(Name, Interval)>,
    /// The level of the verdict and of the findings; see [`at_level`](Self::at_level).
    pub(super) level: f64,
}

impl Serialize for OmnibusOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("OmnibusOutcome", 7)?;
        object.serialize_field("verdict", &self.verdict())?;
        object.serialize_field("p_value", &self.p_value)?;
        if let Some(adjusted) = self.adjusted_p_value {
            object.serialize_field("adjusted_p_value", &adjusted)?;
        }
        object.serialize_field("redraws", &self.redraws)?;
        let Interval { lower, upper, .. } = self.resampling_interval;
        object.serialize_field("resampling_interval", &[lower, upper])?;
        object.serialize_field("samples", &self.samples)?;
        object.serialize_field("aspects", &self.aspects)?;
        object.end()
    }
}

/// The outcome of an [`OmnibusTest`](super::OmnibusTest) in one aspect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AspectOutcome {
    /// The name of the aspect.
    pub name: String,
    /// The finding in words, such as "overconfident by 5.0 points". It is about the estimate of this aspect
    /// only. Rows count from 0.
    pub finding: String,
    #[serde(skip)]
    pub(super) aspect: Aspect,
    /// The mean of the estimate for a calibrated model, which the finding names, unless it is 0.
    #[serde(skip)]
    pub(super) if_calibrated: Option<f64>,
    /// The part of the data that the finding names.
    #[serde(skip)]
    pub(super) place: Option<Place>,
    /// The row of the sample, counted from 0, if the finding is about one sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    /// The estimate: 0, or small, if the model is calibrated.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub estimate: f64,
    /// The estimate minus its mean over the redraws, in standard deviations of the redraws.
    #[serde(serialize_with = "serialize_or_infinite")]
    pub standardised: f64,
    /// The p-value of the hypothesis that the model is calibrated, by this aspect alone; exact.
    pub p_value: f64,
    /// The p-value of the finding, adjusted for all aspects.
    ///
    /// If the model is calibrated, there is an aspect with one of at most `α` with a probability of at
    /// most `α`, at every sample size: it is at least that of the step-down method of Westfall and Young
    /// (1993) by redraws, in which all classes count as the largest of them.
    ///
    /// If the model is not calibrated, redraws do not have the distribution of an aspect that is right: for
    /// example, labels vary more than an overconfident model predicts. So the adjusted p-value of a mean
    /// (`confidence`, `brier_score`, `log_score` and, times the number of classes less one, `class_c`) is
    /// also at least `3.178 P(|Z| ≥ |Σ v_i|/√max(V, Σ v_i²))`, which holds however wrong the model is
    /// elsewhere: for terms that are symmetric about 0 at every sample size (Bentkus and Dzindzalieta
    /// 2015), for others as their number grows; of the confidence the bound by the count of errors, `3.178`
    /// times that of the binomial distribution, is taken where it is less. `docs/levels.md` has how often
    /// an aspect that is right is accused, from n = 50 on, of models that are wrong elsewhere. The findings
    /// of `cumulative_confidence` and `binned_frequencies` are false only if the probabilities that they
    /// name are calibrated, where redraws are their law; that of the SKCE says that something is wrong, not
    /// what; and that of `least_likely_label` is a fact with the probability of a label as rare in a
    /// calibrated model.
    ///
    /// Of real targets the adjusted p-value of `coverage` is also at least the two-sided binomial one, which holds at
    /// every sample size however wrong the model is elsewhere. It is 1 for `spread` where predictions seem too wide: no
    /// mean of squares has an upper bound without one of the tails, and most sets of heavy or skewed errors have too
    /// small a variance. It is 1 for trends of fewer than `10√n` draws, whose own means and deviations vary.
    pub adjusted_p_value: f64,
}

impl OmnibusOutcome {
    /// The usual level of the verdict, and of the findings that are printed.
    pub const LEVEL: f64 = 0.05;

    /// Returns the same outcome with a verdict and findings at another level than 5 %, which its sentences name.
    pub fn at_level(self, level: f64) -> Self {
        Self { level, ..self }
    }

    /// The level of the verdict, and of the findings that are printed.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// The aspects with an adjusted p-value of at most `level`, the most significant first; of equal ones
    /// in the order of [`aspects`](Self::aspects).
    pub fn failing(&self, level: f64) -> Vec<&AspectOutcome> {
        let failing = |aspect: &&AspectOutcome| aspect.adjusted_p_value <= level;
        let mut aspects: Vec<_> = self.aspects.iter().filter(failing).collect();
        aspects.sort_by(|a, b| a.adjusted_p_value.total_cmp(&b.adjusted_p_value)); // stable
        aspects
    }

    /// Names classes in the findings by `names` instead of by number; those without a name keep it.
    pub fn with_class_names(mut self, names: &[String]) -> Self {
        let name = |class: usize| names.get(class).cloned().unwrap_or(class.to_string());
        let aspects = self.aspects.into_iter();
        self.aspects = aspects.map(|aspect| aspect.in_words(&name)).collect();
        self
    }

    /// Adjusts several outcomes for their number, such as those of each class against the rest: p-values by
    /// [`holm`], and those of aspects are multiplied by the number. If the model is calibrated in all of them,
    /// any has a verdict against it, or a finding, at level `α` with a probability of at most `α`, for any
    /// dependence between them. Tests [`as_one_of`](super::OmnibusTest::as_one_of) so many redraw often enough.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, hypothesis::{OmnibusOutcome, OmnibusTest}};
    /// use rand::{SeedableRng, rngs::StdRng};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.5, 0.4, 0.1]; 60], &device))?;
    /// let labels = Tensor::<1, Int>::arange(0..60, &device).remainder_scalar(2); // never class 2
    /// let test = OmnibusTest::new().as_one_of(3);
    /// let mut rng = StdRng::seed_from_u64(0);
    /// let outcome = |class| {
    ///     let (of_class, labels) = predictions.class_wise(class, &labels)?;
    ///     test.outcome(&of_class, &labels, &mut rng)
    /// };
    /// let outcomes = OmnibusOutcome::together((0..3).map(outcome).collect::<Result<_, _>>()?);
    /// let adjusted = outcomes[2].adjusted_p_value.unwrap();
    /// assert!(adjusted <= 3.0 * outcomes[2].p_value && adjusted < 0.05);
    /// # Ok(())
    /// # }
    /// ```
    pub fn together(outcomes: Vec<Self>) -> Vec<Self> {
        let p_values: Vec<f64> = outcomes.iter().map(|outcome| outcome.p_value).collect();
        let adjusted = holm(&p_values).expect("p-values of redraws are probabilities");
        let tests = outcomes.len();
        let pairs = outcomes.into_iter().zip(adjusted);
        let adjusted = pairs.map(|(outcome, adjusted)| Self {
            adjusted_p_value: Some(adjusted),
            ..outcome.among(tests)
        });
        adjusted.collect()
    }

    /// Multiplies the p-values of aspects by the number of tests, instead of that of the tests before.
    fn among(mut self, tests: usize) -> Self {
        let factor = tests as f64 / self.tests as f64;
        for aspect in &mut self.aspects {
            aspect.adjusted_p_value = (factor * aspect.adjusted_p_value).min(1.0);
        }
        Self { tests, ..self }
    }

    /// Names the rows of the data in the findings, where the samples are some of them: `rows[k]` is the row of sample
    /// `k`. Without rows they stay as they are.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::{distribution::{Normal, Predictive}, hypothesis::OmnibusTest};
    /// use rand::{SeedableRng, rngs::StdRng};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let means = Tensor::<2>::zeros([40, 1], &Device::default());
    /// let predictions = Normal::new(means.clone(), means.ones_like());
    /// let targets = means.slice_fill([30..31, 0..1], 9.0);
    /// let rows: Vec<usize> = (20..40).collect(); // the first 20 rows are left out
    /// let some = (predictions.select_rows(&rows), targets.slice([20..40, 0..1]));
    /// let outcome = OmnibusTest::new().outcome(&some.0, &some.1, &mut StdRng::seed_from_u64(0))?;
    /// let outcome = outcome.at_rows(&rows);
    /// let furthest = outcome.aspects.iter().find(|aspect| aspect.name == "furthest_target").unwrap();
    /// assert_eq!(furthest.row, Some(30));
    /// assert!(furthest.finding.contains("row 30"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If there are rows, but fewer than samples.
    pub fn at_rows(mut self, rows: &[usize]) -> Self {
        for aspect in &mut self.aspects {
            aspect.set_row(rows);
        }
        self
    }

    /// The outcome whose estimate is the largest standardised aspect.
    pub(in crate::hypothesis) fn in_short(&self, name: &'static str) -> TestOutcome {
        let size = |aspect: &AspectOutcome| aspect.standardised.abs();
        let largest = self.aspects.iter().map(size).fold(0.0, f64::max);
        TestOutcome::redrawn(name, self.samples, largest, self.p_value, self.redraws)
    }

    /// Whether the model is called not calibrated: the p-value, adjusted where this is one of several tests, is
    /// at most [`level`](Self::level).
    pub fn is_rejected(&self) -> bool {
        self.adjusted_p_value.unwrap_or(self.p_value) <= self.level
    }

    /// The smallest p-value that so many redraws can give, adjusted, where that is above
    /// [`level`](Self::level): whatever the model, the test could not have rejected.
    pub fn least_p_value(&self) -> Option<f64> {
        let least = self.tests as f64 / (self.most + 1) as f64;
        Some(least.min(1.0)).filter(|least| *least > self.level)
    }
}

impl AspectOutcome {
    /// The number of the class that this is an aspect of, if it is of one.
    pub fn class(&self) -> Option<usize> {
        self.aspect.class()
    }

    /// Names the row of the data, if the finding is about one; it names no class then.
    fn set_row(&mut self, rows: &[usize]) {
        if let Some(row) = self.row.filter(|_| !rows.is_empty()) {
            let aspect = Self {
                row: Some(rows[row]),
                ..self.clone()
            };
            *self = aspect.in_words(&|class| class.to_string());
        }
    }

    /// Writes the finding with names of classes.
    pub(super) fn in_words(mut self, class_name: &dyn Fn(usize) -> String) -> Self {
        self.finding = self.aspect.finding(&Observed {
            estimate: self.estimate,
            if_calibrated: self.if_calibrated,
            row: self.row,
            place: self.place,
            class_name,
        });
        self
    }
}

impl fmt::Display for OmnibusOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for sentence in self.sentences() {
            writeln!(f, "{sentence}")?;
        }
        let failing = self.failing(self.level);
        for aspect in &failing {
            let p = self.adjusted(aspect);
            writeln!(f, "    {} (adjusted {p})", aspect.finding)?;
        }
        if failing.is_empty() && self.is_rejected() {
            writeln!(f, "    no single aspect is significant by itself")?;
        }
        write!(
            f,
            "    omnibus test, n = {}, {}",
            counted(self.samples, "independent sample"),
            counted(self.redraws, "redraw")
        )
    }
}
