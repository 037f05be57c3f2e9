//! Names of quantities, shared by the command line, its JSON and the report.
//!
//! ```
//! use burn_calibration::names;
//!
//! let name = names::BRIER.with("two classes");
//! assert_eq!((name.key, name.title.as_ref()), ("brier", "Brier score, two classes"));
//! ```

use std::{borrow::Cow, fmt};

/// The name of a quantity: a key for JSON, and a title for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The key in JSON.
    pub key: &'static str,
    /// The title in a table.
    pub title: Cow<'static, str>,
}

impl Name {
    /// Names a quantity.
    pub const fn new(key: &'static str, title: &'static str) -> Self {
        Self {
            key,
            title: Cow::Borrowed(title),
        }
    }

    /// Adds a detail to the title, such as the number of bins.
    pub fn with(self, detail: impl fmt::Display) -> Self {
        Self {
            title: format!("{}, {detail}", self.title).into(),
            ..self
        }
    }

    /// Adds the subject of the quantity, such as "of the top label", before how it is computed.
    pub fn of(self, of: &str) -> Self {
        if of.is_empty() {
            return self;
        }
        let title = match self.title.split_once(", ") {
            Some((what, how)) => format!("{what} {of}, {how}"),
            None => format!("{} {of}", self.title),
        };
        Self {
            title: title.into(),
            ..self
        }
    }
}

macro_rules! names {
    ($($name:ident: $key:literal, $title:literal;)*) => {
        $(
            #[doc = concat!("Names the ", $title, ".")]
            pub const $name: Name = Name::new($key, $title);
        )*
    };
}

names! {
    OMNIBUS: "omnibus", "omnibus test";
    OVERCONFIDENCE: "overconfidence", "overconfidence";
    OVERPREDICTION: "overprediction", "mean probability minus frequency";
    OBSERVED_EXPECTED: "observed_expected", "O/E";
    INTERVAL_OVERCONFIDENCE: "overconfidence", "overconfidence of 90 % intervals";
    ECE_DEBIASED: "ece_debiased", "debiased ECE of order 2";
    LP_ERROR: "lp_error", "Lp error";
    LP_OVER: "lp_over", "Lp error, probability too high";
    LP_UNDER: "lp_under", "Lp error, probability too low";
    LP_VECTOR: "lp_vector", "Lp error of all classes";
    ECE_TOP_LABEL: "ece_top_label", "ECE, top label";
    ECE_EVENT: "ece_event", "ECE";
    ECE_AGAINST_REST: "ece_against_rest", "ECE";
    ECE_CLASS_WISE: "ece_class_wise", "ECE, class-wise";
    RMSCE_TOP_LABEL: "rmsce_top_label", "RMS calibration error, top label";
    RMSCE_EVENT: "rmsce_event", "RMS calibration error";
    RMSCE_AGAINST_REST: "rmsce_against_rest", "RMS calibration error";
    MCE_TOP_LABEL: "mce_top_label", "MCE, top label";
    MCE_EVENT: "mce_event", "MCE";
    MCE_AGAINST_REST: "mce_against_rest", "MCE";
    KS: "ks", "Kolmogorov-Smirnov";
    ICI: "ici", "ICI, by isotonic regression";
    E50: "e50", "E50, by isotonic regression";
    E90: "e90", "E90, by isotonic regression";
    EVENT_FREQUENCY: "event_frequency", "frequency of the event";
    ACCURACY: "accuracy", "accuracy";
    CONFIDENCE: "confidence", "mean confidence";
    BRIER: "brier", "Brier score";
    LOG: "log", "log score";
    SPHERICAL: "spherical", "spherical score";
    RANKED_PROBABILITY: "ranked_probability", "ranked probability score";
    SKCE: "skce", "SKCE, unbiased";
    SKCE_BIASED: "skce_biased", "SKCE, biased";
    SKCE_UNBIASED: "skce_unbiased", "SKCE, unbiased";
    SKCE_LINEAR: "skce_linear", "SKCE, linear";
    SKCE_BLOCK: "skce_block", "SKCE, blocks";
    CRPS: "crps", "CRPS";
    CRPS_FAIR: "crps_fair", "fair CRPS, of the drawn distribution";
    WIS: "wis", "weighted interval score (WIS)";
    WIS_DISPERSION: "wis_dispersion", "WIS, dispersion";
    WIS_OVERPREDICTION: "wis_overprediction", "WIS, overprediction";
    WIS_UNDERPREDICTION: "wis_underprediction", "WIS, underprediction";
    STANDARD_DEVIATION: "standard_deviation", "mean predicted standard deviation";
    ROOT_MEAN_SQUARED_ERROR: "root_mean_squared_error", "root mean squared error";
    COVERAGE_50: "coverage_50", "coverage of 50 % intervals";
    COVERAGE_90: "coverage_90", "coverage of 90 % intervals";
    QUANTILE_CALIBRATION: "quantile_calibration", "quantile calibration error";
}
