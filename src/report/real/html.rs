use super::{PitDiagram, QuantileDiagram, RealReport, RealSummary, quantity::QUANTITIES};
use crate::{
    kernel::RealProfile,
    report::{
        answer,
        drawn::Drawn,
        number::{decimals, percent, significant, whole},
        page::{
            self, ANSWER, BAND, DIAMOND, DISC, bandwidth, capital, drawn_at_random,
            fitted_elsewhere, profile,
        },
        table,
    },
};

impl RealReport {
    /// The page: one file without scripts, links or anything to load, that is well-formed as XML
    /// too. It scales down to the width of a phone, follows a dark colour scheme on screens, prints
    /// in black and white, and has the numbers of each picture in words.
    pub fn to_html(&self) -> String {
        page::page(
            &self.title,
            &[
                self.overview(),
                table::numbers(&self.named(), &QUANTITIES, self.level),
                self.transforms(),
                self.quantiles(),
                self.method(),
            ],
        )
    }

    /// The sets of predictions with their names.
    fn named(&self) -> Vec<(&'static str, &RealSummary)> {
        table::named(&self.before, self.after.as_ref())
    }

    fn overview(&self) -> String {
        let answers = self.named();
        let answers: Vec<_> = answers
            .iter()
            .map(|(name, s)| (*name, &s.omnibus))
            .collect();
        let mut html = answer::verdicts(&answers, &[]);
        html += &format!(
            "<p>{} prediction{} of {}{}.</p>\n<ul>\n",
            whole(self.samples),
            if self.samples == 1 { "" } else { "s" },
            match self.dimensions {
                1 => "a real number".into(),
                d => format!("{} real numbers each", whole(d)),
            },
            match self.after {
                Some(_) => ", before and after recalibration",
                None => "",
            }
        );
        for (name, summary) in self.named() {
            let covered = summary.ninety.coverage.estimate;
            let lead = match self.after {
                Some(_) => format!("{}: the", capital(name)),
                None => "The".into(),
            };
            html += &format!(
                "<li>{lead} intervals that should hold 90&#160;% of the targets hold {}{}. The model \
                 expects a root mean squared error of {} and has one of {}.</li>\n",
                percent(covered),
                direction(covered - 0.9),
                significant(summary.sharpness.variance.estimate.sqrt()),
                significant(summary.root_mean_squared_error)
            );
        }
        html + "</ul>\n"
    }

    fn transforms(&self) -> String {
        let level = decimals(100.0 * self.level, 2);
        let band =
            format!("where {level} % of the bars of a calibrated model would end, bin by bin");
        let key = page::key(&[
            (BAND, &band),
            (DISC, "a bar that ends inside the band"),
            (DIAMOND, "a bar that ends outside the band"),
        ]);
        let figures = self.figures(|summary, heading, what| {
            let pit = &summary.pit;
            let title = format!("Histogram of probability integral transforms: {what}");
            let caption = format!(
                "{what}: {} of {} bars outside the band.",
                pit.outside(),
                pit.counts.len()
            );
            (pit.drawn(heading, title), caption, bars(pit, what))
        });
        format!(
            "<h2>Do targets fall where the model says?</h2>\n<p>The probability integral transform is \
             the predicted probability of a target at most as large as the one observed. Of a \
             calibrated model all values are equally frequent: the dashed line. A valley in the middle \
             tells of predictions that are too certain, a hump of ones that are not certain enough, a \
             slope of a bias.{}</p>\n{key}{figures}",
            self.pooled()
        )
    }

    fn quantiles(&self) -> String {
        let level = decimals(100.0 * self.level, 2);
        let band = format!("where the whole curve of a calibrated model lies, with {level} %");
        let key = page::key(&[
            (BAND, &band),
            (DISC, "a level whose share is inside the band"),
            (DIAMOND, "a level whose share is outside the band"),
        ]);
        let figures = self.figures(|summary, heading, what| {
            let diagram = &summary.quantiles;
            let title = format!("Calibration of quantiles: {what}");
            let caption = format!(
                "{what}: {} of {} levels outside the band.",
                diagram.outside(),
                diagram.curve.points.len()
            );
            (
                diagram.drawn(heading, title),
                caption,
                shares(diagram, what),
            )
        });
        format!(
            "<h2>Are the quantiles right?</h2>\n<p>Each mark is a level, and the share of targets at \
             most at the quantile that is predicted for it. On the dashed diagonal both are equal. A \
             curve that is flatter than the diagonal in the middle tells of predictions that are too \
             certain, a steeper one of ones that are not certain enough; one that is all below or all \
             above tells of a bias.{}</p>\n{key}{figures}",
            self.pooled()
        )
    }

    /// A figure for each set of predictions: its picture, caption and numbers from the summary, the
    /// heading of the picture, and what it is of.
    fn figures(&self, of: impl Fn(&RealSummary, &str, &str) -> (Drawn, String, String)) -> String {
        let named = self.named();
        let figure = |(name, summary): &(&'static str, &RealSummary)| {
            let (heading, what) = match named.len() {
                1 => ("all", "All targets".into()),
                _ => (*name, capital(name)),
            };
            let (drawn, caption, numbers) = of(summary, heading, &what);
            format!(
                "<figure>\n{}<figcaption>{caption}</figcaption>\n{numbers}</figure>\n",
                drawn.element()
            )
        };
        let figures: String = named.iter().map(figure).collect();
        let two = if named.len() > 1 { " two" } else { "" };
        format!("<div class=\"large{two}\">\n{figures}</div>\n")
    }

    fn pooled(&self) -> String {
        match self.dimensions {
            1 => String::new(),
            d => format!(" The {} coordinates are counted together.", whole(d)),
        }
    }

    fn method(&self) -> String {
        let kernel = &self.kernel;
        let target = match kernel.targets.profile {
            RealProfile::Gaussian => "a Gaussian",
            RealProfile::Laplacian => "a Laplacian",
        };
        let same = match self.after {
            Some(_) => ", the same before and after",
            None => "",
        };
        let level = decimals(100.0 * self.level, 2);
        let independent = match self.dimensions {
            1 => "",
            _ => " and coordinates",
        };
        format!(
            "<h2>How it was computed</h2>\n<p class=\"method\">{}{ANSWER}Intervals, of {level} \
             %: of the overconfidence at least of that level given the predictions (Clopper and Pearson \
             1934), of the SKCE approximate. Histogram: {} bins of equal width; \
             where a predicted distribution has steps, the transform is randomised. Band of a bar: \
             exact {level} % interval of a binomial count, bin by bin: some of many bars of a calibrated model \
             end outside. Quantiles: at {} levels; the band is ± {} (Dvoretzky, Kiefer, Wolfowitz; \
             Massart 1990), for all levels at once. Both bands are of independent samples{independent}. \
             SKCE (Widmann et al. 2021): {} kernel over the 2-Wasserstein distance of predictions with \
             bandwidth {}, times {target} kernel on targets with length scale {}{same}{}; the \
             omnibus test takes a quarter and four times this bandwidth too. Seed {}. burn-calibration {}.</p>\n",
            fitted_elsewhere(self.after.is_some()),
            self.before.pit.counts.len(),
            self.before.quantiles.curve.points.len(),
            decimals(self.before.quantiles.half_width(), 4),
            profile(&kernel.predictions),
            bandwidth(&kernel.predictions),
            significant(kernel.targets.length_scale),
            drawn_at_random(self.skce_samples, self.samples),
            self.seed,
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// How far a coverage is off its level.
fn direction(excess: f64) -> String {
    let points = decimals(100.0 * excess.abs(), 2);
    match excess {
        _ if points == "0" => String::new(),
        e if e < 0.0 => format!(", {points} percentage points fewer"),
        _ => format!(", {points} percentage points more"),
    }
}

/// The numbers of a histogram.
fn bars(pit: &PitDiagram, what: &str) -> String {
    let row = |(bin, &count): (usize, &usize)| {
        vec![
            format!(
                "{}–{}",
                decimals(pit.edge(bin), 3),
                decimals(pit.edge(bin + 1), 3)
            ),
            whole(count),
            format!("{:.3}", pit.density(count)),
            format!("{}–{}", whole(pit.band.0), whole(pit.band.1)),
        ]
    };
    table::of_picture(
        &format!("{what}: targets, density relative to the uniform one, and band of each bar"),
        &["bin", "targets", "density", "band"],
        pit.counts.iter().enumerate().map(row),
    )
}

/// The numbers of a curve.
fn shares(diagram: &QuantileDiagram, what: &str) -> String {
    let row = |point: &crate::estimator::regression::QuantilePoint| {
        let (low, high) = diagram.band(point.level);
        vec![
            decimals(point.level, 3),
            format!("{:.3}", point.frequency),
            format!("{low:.3}–{high:.3}"),
        ]
    };
    table::of_picture(
        &format!(
            "{what}: share of targets at most at the predicted quantile, and band of each level"
        ),
        &["level", "share", "band"],
        diagram.curve.points.iter().map(row),
    )
}
