//! `--family quantiles`: forecasts that are known at some levels.

use std::fmt;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Predictive, QuantileForecasts, Subject, Targets},
    error::Error as DataError,
    estimator::regression::QuantileCoverage,
    hypothesis::{OmnibusOutcome, OmnibusTest},
    names::{self, Name},
    numbers::{percent, significant},
    score::{Interval, MeanEstimate, QuantileScore, Score, WeightedIntervalScore},
};
use burn_calibration_report::{ForecastSection, ReportBuilder};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    align::{check_distinct, in_order},
    answer::{Answer, check_level},
    args::{Evaluate, Family, Lens, Report, RowsArgs, SizeArgs, SourceArgs},
    error::{Error, Result, bail, ensure, wrong},
    files::{File, Inputs},
    finite,
    input::{clipped, say},
    limits::redraws,
    report::write_page,
    table::Table,
    vectors::{VectorFiles, one_dimension},
    words::{DataWords, Known, Named, Outcomes, object, probability},
};

/// Sets of forecasts of the same samples, and their targets.
pub struct Forecasts {
    pub sets: Vec<QuantileForecasts>,
    pub targets: Tensor<2>,
    /// What they are, for a result of them.
    pub data: DataWords,
}

/// Reads sets of forecasts, and gives the names of the columns of the first.
pub fn read(inputs: &Inputs, args: &SourceArgs) -> Result<(Forecasts, Vec<String>)> {
    ensure!(
        args.labels.weights.is_none(),
        "--weights: forecasts by quantiles take none"
    );
    let mut files = VectorFiles::read(inputs, args)?;
    let columns = files.columns().to_vec();
    let set = |at: usize| {
        files.parse_by(at, &args.rows, |file, rows, dimensions| {
            one_dimension(dimensions)?;
            Ok(parse(file, rows, &args.rows, &[])?.0)
        })
    };
    let sets: Vec<QuantileForecasts> = (0..inputs.predictions.len())
        .map(set)
        .collect::<Result<_>>()?;
    let data = DataWords {
        n: sets[0].len(),
        outcomes: Outcomes::Dimensions(1),
        class_names: Vec::new(),
        subject: Subject::Classes,
        left_out: files.left_out,
        weights: None,
    };
    let targets = files.targets;
    Ok((
        Forecasts {
            sets,
            targets,
            data,
        },
        columns,
    ))
}

/// The forecasts of the columns of a file in the order of their levels, and the names of these. The levels are those of
/// `--levels`, of the names, or, of a file without names, the known ones.
pub fn parse(
    file: &File,
    rows: Tensor<2>,
    args: &RowsArgs,
    known: &[f64],
) -> Result<(QuantileForecasts, Vec<String>)> {
    let names = &file.table.names[..];
    let [_, columns] = rows.dims();
    let of_names: Option<Vec<f64>> = names.iter().map(|name| level_of(name)).collect();
    let is_other = |levels: &Vec<f64>| !levels.is_empty() && *levels != args.levels;
    let levels = match &of_names {
        _ if args.levels.is_empty() && names.is_empty() => known.to_vec(),
        _ if args.levels.is_empty() => {
            check_distinct(names)?;
            levels_of(names)?
        }
        Some(levels) if is_other(levels) && !args.by_position => bail!(
            "the columns are named {}, expected names with the levels of --levels; --by-position takes columns in \
             their order",
            clipped(&names.join(", "))
        ),
        _ => args.levels.clone(),
    };
    ensure!(
        !levels.is_empty(),
        "{columns} columns without names, expected the levels of the quantiles: --levels 0.1,0.5,0.9, or --header \
         yes if line 1 has them"
    );
    ensure!(
        levels.len() == columns,
        "{columns} columns, expected {}, one for each level",
        levels.len()
    );
    if names.is_empty() {
        let first = rows.clone().slice([0..1, 0..columns]);
        ensure!(
            first.try_into_vec_as::<f64>()? != levels,
            "row 0 holds the levels of the quantiles, expected --header yes if it is a header"
        );
    }
    let mut order: Vec<usize> = (0..columns).collect();
    order.sort_by(|&a, &b| levels[a].total_cmp(&levels[b]));
    let levels = order.iter().map(|&column| levels[column]).collect();
    let names = match names {
        [] => Vec::new(),
        names => in_order(names, &order),
    };
    let rows = rows.transpose().select_rows(&order).transpose();
    let forecasts = QuantileForecasts::new(levels, rows)?;
    let Err(crossing @ DataError::Crossing { .. }) = forecasts.check() else {
        return Ok((forecasts, names));
    };
    if !args.sort_quantiles {
        let hint = "--sort-quantiles puts those of each row in order";
        return Err(Error::from(crossing).with_hint(hint));
    }
    let sorted = forecasts.rearranged();
    let moved = sorted.values().not_equal(forecasts.values());
    let rows = moved.any_dim(1).int().sum().into_scalar::<i64>();
    let n = forecasts.len();
    say(
        &file.path,
        format!("the quantiles of {rows} of {n} rows cross, and are sorted"),
    );
    Ok((sorted, names))
}

/// Refuses options of quantiles for other families.
pub fn refuse_own_options(args: &RowsArgs) -> Result<()> {
    let own = [
        (!args.levels.is_empty(), "--levels"),
        (args.sort_quantiles, "--sort-quantiles"),
    ];
    match own.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => bail!("{option}: of the family quantiles only"),
        None => Ok(()),
    }
}

/// The levels that the names of columns give.
fn levels_of(names: &[String]) -> Result<Vec<f64>> {
    let level = |name: &String| {
        level_of(name).ok_or_else(|| {
            wrong!(
                "the column {} has no level in its name, expected one as 0.9, q0.9 or quantile_0.9; --columns \
                 NAME,NAME takes some columns, and --levels 0.1,0.5,0.9 gives their levels",
                clipped(name)
            )
        })
    };
    names.iter().map(level).collect()
}

/// The level that the name of a column gives: a number between 0 and 1 at its end.
fn level_of(name: &str) -> Option<f64> {
    let number = name.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let level = number.parse().ok();
    level.filter(|level| *level > 0.0 && *level < 1.0)
}

#[derive(Serialize)]
pub struct Evaluation {
    #[serde(flatten)]
    data: DataWords,
    family: Family,
    #[serde(flatten)]
    answer: Answer,
    estimates: Named<Known<MeanEstimate>>,
    levels: Vec<Covered>,
    central_intervals: Vec<Covered>,
}

/// The coverage of the quantiles at one level, or of a central interval.
#[derive(Serialize)]
struct Covered {
    #[serde(flatten)]
    coverage: QuantileCoverage,
    interval: Interval,
    /// The pinball score of a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pinball: Option<MeanEstimate>,
}

const PARTS: [Name; 3] = [
    names::WIS_DISPERSION,
    names::WIS_OVERPREDICTION,
    names::WIS_UNDERPREDICTION,
];

pub fn evaluate(args: &Evaluate) -> Result<Evaluation> {
    check_level(&args.sizes)?;
    refuse_others(&args.sizes)?;
    args.bins.asked(args.input.family)?;
    let other = [
        (args.lens != Lens::Canonical, "--lens"),
        (args.given.is_some(), "--given"),
        (!args.tests.is_empty(), "--test"),
    ];
    let other = other.iter().find(|(is_given, _)| *is_given);
    if let Some((_, option)) = other {
        return Err(wrong!("{option}: there is none for --family quantiles"));
    }
    let (mut loaded, _) = read(&Inputs::of(&args.input.predictions), &args.source)?;
    let (forecasts, targets) = (loaded.sets.remove(0), loaded.targets);
    let count = redraws("--replicates", args.replicates, 1)?;
    let score = WeightedIntervalScore;
    let parts = score.parts(&forecasts, &targets);
    let parts = match parts {
        Ok(parts) => [
            parts.dispersion,
            parts.overprediction,
            parts.underprediction,
        ]
        .map(Ok),
        Err(reason) => [(); 3].map(|()| Err(reason.clone())),
    };
    let scores = [score.mean(&forecasts, &targets)].into_iter().chain(parts);
    let estimates = [names::WIS].into_iter().chain(PARTS).zip(scores);
    let estimates = estimates.map(|(name, mean)| (name, Known::of(mean)));
    let covered = |coverage: QuantileCoverage, pinball| -> Result<Covered> {
        Ok(Covered {
            interval: coverage.interval(args.sizes.level)?,
            coverage,
            pinball,
        })
    };
    let levels = QuantileCoverage::of_levels(&forecasts, &targets)?.into_iter();
    let levels = levels.map(|coverage| {
        let level = coverage.level;
        let pinball = QuantileScore { level }.mean(&forecasts, &targets)?;
        covered(coverage, Some(pinball))
    });
    let intervals = QuantileCoverage::of_intervals(&forecasts, &targets)?.into_iter();
    let intervals = intervals.map(|interval| covered(interval, None));
    Ok(Evaluation {
        data: loaded.data,
        family: args.input.family,
        answer: Answer {
            class_names: Vec::new(),
            omnibus: omnibus(&forecasts, &targets, (count, args.source.seed)),
            intervals: Named(Vec::new()),
        },
        estimates: Named(estimates.collect()),
        levels: levels.collect::<Result<_>>()?,
        central_intervals: intervals.collect::<Result<_>>()?,
    })
}

/// Refuses the sizes of other errors.
pub fn refuse_others(args: &SizeArgs) -> Result<()> {
    ensure!(
        args.tolerance.is_none() && args.lp_error.is_none(),
        "--tolerance, --lp-error: of other families"
    );
    Ok(())
}

/// The omnibus test with so many redraws, and the most, and a seed.
pub fn omnibus(
    forecasts: &QuantileForecasts,
    targets: &Tensor<2>,
    ((redraws, most), seed): ((u32, usize), u64),
) -> Known<OmnibusOutcome> {
    let test = OmnibusTest::new().with_redraws(redraws as usize);
    let mut rng = StdRng::seed_from_u64(seed);
    Known::of(test.with_most(most).outcome(forecasts, targets, &mut rng))
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels = self.levels.len();
        writeln!(
            f,
            "{} forecasts by quantiles at {levels} levels\n",
            self.data.n
        )?;
        writeln!(f, "{}\nestimates", self.answer)?;
        let table = Table::new(2, 38, [14, 14]);
        table.head(f, ["estimate", "standard error"])?;
        let cells = |mean: &MeanEstimate| {
            vec![
                significant(mean.estimate, 4),
                significant(mean.standard_error, 2),
            ]
        };
        for (Name { title, .. }, mean) in &self.estimates.0 {
            table.known(f, title, mean, cells, "")?;
        }
        let table = Table::new(2, 18, [10, 10, 20, 10, 12]);
        let interval = format!("{} % interval", 100.0 * self.levels[0].interval.level);
        writeln!(f, "\ncoverage of quantiles")?;
        table.head(f, ["below", "at most", &interval, "p-value", "pinball"])?;
        for level in &self.levels {
            let title = format!("level {}", level.coverage.level);
            table.line(f, &title, &level.cells(), "")?;
        }
        if self.central_intervals.is_empty() {
            return Ok(());
        }
        writeln!(f, "\ncoverage of central intervals")?;
        table.head(f, ["open", "closed", &interval, "p-value", ""])?;
        for interval in &self.central_intervals {
            let title = format!("{} %", (1e9 * interval.coverage.expected).round() / 1e7);
            table.line(f, &title, &interval.cells(), "")?;
        }
        Ok(())
    }
}

impl Covered {
    fn cells(&self) -> Vec<String> {
        let share = |share| percent(share, 1);
        let (coverage, (low, high)) = (&self.coverage, self.interval.ends());
        let mut cells = vec![
            share(coverage.inside),
            share(coverage.covered),
            format!("[{}, {}]", share(low), share(high)),
            probability(coverage.p_value, false),
        ];
        cells.extend(self.pinball.map(|pinball| significant(pinball.estimate, 4)));
        cells
    }
}

/// The numbers of a page.
#[derive(Serialize)]
struct Written {
    files: Vec<String>,
    #[serde(flatten)]
    data: DataWords,
    family: Family,
    level: f64,
    seed: u64,
    before: ForecastSection,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<ForecastSection>,
}

pub fn report(args: &Report, json: bool) -> Result<()> {
    args.bins.asked(args.input.family)?;
    let mut inputs = Inputs::of(&args.input.predictions);
    inputs.predictions.extend(args.after.as_deref());
    let (loaded, _) = read(&inputs, &args.source)?;
    let mut builder = ReportBuilder::new(&loaded.sets[0], &loaded.targets)
        .with_title(&args.title)
        .with_seed(args.source.seed);
    if let Some(after) = loaded.sets.get(1) {
        builder = builder.with_after(after);
    }
    let page = builder.build()?;
    write_page(args, json, &page, |files| {
        finite::check(&page.before)?;
        let written = Written {
            files,
            data: loaded.data,
            family: args.input.family,
            level: page.level,
            seed: page.seed,
            before: page.before.clone(),
            after: page.after.clone(),
        };
        object("report", &written)
    })
}
