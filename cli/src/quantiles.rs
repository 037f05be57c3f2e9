//! `--family quantiles`: forecasts that are known at some levels, as a [`Kind`].

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Predictive, QuantileForecasts, Targets},
    error::Error as DataError,
    estimator::regression::QuantileCoverage,
    names,
    score::{Improvement, QuantileScore, Score},
};
use burn_calibration_reader::{
    clipped,
    names::{check_distinct, in_order},
};
use burn_calibration_report::View;

use crate::{
    args::{CompareArgs, EvaluateArgs, RowsArgs, SourceArgs},
    compare::{LevelChange, Others, change},
    coverage::{Coverage, LevelCoverage},
    error::{Context, Error, Result, bail, ensure},
    files::{File, Inputs},
    kind::{Kind, Loaded},
    notes::say,
    rows::PredictionForm,
    source::tensor,
    vectors::{VectorFiles, one_dimension},
    words::{OutcomeSpace, counted},
};

impl Kind for QuantileForecasts {
    const OUTCOMES: fn(usize) -> OutcomeSpace = OutcomeSpace::Dimensions;

    fn read(inputs: &Inputs, args: &SourceArgs, _form: PredictionForm) -> Result<Loaded<Self>> {
        VectorFiles::read(inputs, args)?.loaded(|files, at| {
            files.parse_by(at, |file, rows, dimensions| {
                one_dimension(dimensions)?;
                Ok(parse(file, rows, &args.rows, &[])?.0)
            })
        })
    }

    fn without_targets(file: &mut File, args: &SourceArgs) -> Result<(Self, Vec<String>)> {
        let rows = tensor(std::mem::take(&mut file.table.numbers));
        let parsed = parse(file, rows, &args.rows, &[]);
        let (set, _) = parsed.on(&file.path, &file.table.lines)?;
        Ok((set, std::mem::take(&mut file.table.names)))
    }

    fn kernel(_args: &EvaluateArgs, _view: &View<Self>) -> Result<()> {
        Ok(())
    }

    fn coverage(view: &View<Self>, level: f64) -> Result<Option<Coverage>> {
        let (forecasts, targets) = (&view.predictions, &view.targets);
        let covered = |coverage: QuantileCoverage, pinball| -> Result<LevelCoverage> {
            Ok(LevelCoverage {
                interval: coverage.interval(level)?,
                is_bound: coverage.is_bound(),
                coverage,
                pinball,
            })
        };
        let levels = QuantileCoverage::by_level(forecasts, targets)?.into_iter();
        let levels = levels.map(|coverage| {
            let level = coverage.level;
            let pinball = QuantileScore { level }.mean(forecasts, targets)?;
            covered(coverage, Some(pinball))
        });
        let intervals = QuantileCoverage::by_interval(forecasts, targets)?.into_iter();
        let intervals = intervals.map(|interval| covered(interval, None));
        Ok(Some(Coverage {
            levels: levels.collect::<Result<_>>()?,
            central_intervals: intervals.collect::<Result<_>>()?,
        }))
    }

    fn other_changes(
        args: &CompareArgs,
        before: &View<Self>,
        after: &View<Self>,
    ) -> Result<Others> {
        let (forecasts, targets) = (&before.predictions, &before.targets);
        let of_level = |&level: &f64| {
            let score = QuantileScore { level };
            let gain = Improvement::of(&score, forecasts, &after.predictions, targets);
            LevelChange {
                level,
                pinball: change(args, names::WIS, gain).1,
            }
        };
        Ok(Others {
            levels: forecasts.levels().iter().map(of_level).collect(),
            ..Others::default()
        })
    }
}

/// The forecasts of the columns of a file in the order of their levels, and the names of these. The levels are those of
/// `--quantile-levels`, of the names, or, of a file without names, the known ones.
pub fn parse(
    file: &File,
    rows: Tensor<2>,
    args: &RowsArgs,
    known: &[f64],
) -> Result<(QuantileForecasts, Vec<String>)> {
    let names = &file.table.names[..];
    let [_, columns] = rows.dims();
    let of_names: Option<Vec<f64>> = names.iter().map(|name| level_of(name)).collect();
    let is_other = |levels: &Vec<f64>| !levels.is_empty() && *levels != args.reading.levels;
    let levels = match &of_names {
        _ if args.reading.levels.is_empty() && names.is_empty() => known.to_vec(),
        _ if args.reading.levels.is_empty() => {
            check_distinct(names)?;
            levels_of(names)?
        }
        Some(levels) if is_other(levels) && !args.reading.by_position => bail!(
            "the columns are named {}, expected names with the levels of --quantile-levels; --by-position takes columns in \
             their order",
            clipped(&names.join(", "))
        ),
        _ => args.reading.levels.clone(),
    };
    ensure!(
        !levels.is_empty(),
        "{} without names, expected the levels of the quantiles: --quantile-levels 0.1,0.5,0.9, or --header yes if line 1 \
         has them",
        counted(columns, "column")
    );
    ensure!(
        levels.len() == columns,
        "{}, expected {}, one for each level",
        counted(columns, "column"),
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
    if !args.reading.sort_quantiles {
        let hint = "--sort-quantiles sorts the quantiles of each row";
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

/// The levels that the names of columns give.
fn levels_of(names: &[String]) -> Result<Vec<f64>> {
    let has_level = |name: &&String| level_of(name).is_some();
    let (inside, others): (Vec<&String>, Vec<&String>) = names.iter().partition(has_level);
    let Some(other) = others.first() else {
        return Ok(inside
            .into_iter()
            .filter_map(|name| level_of(name))
            .collect());
    };
    let is_end = |name: &&String| matches!(number_of(name), Some(0.0 | 1.0));
    if !inside.is_empty() && others.iter().all(is_end) {
        let inside: Vec<&str> = inside.into_iter().map(String::as_str).collect();
        bail!(
            "the column {} is a quantile at level {}, expected levels between 0 and 1, both excluded: --columns {}",
            clipped(other),
            number_of(other).unwrap_or_default(),
            inside.join(",")
        );
    }
    bail!(
        "the column {} has no level between 0 and 1 in its name, expected one such as 0.9, q0.9 or quantile_0.9; \
         --columns NAME,NAME selects columns, and --quantile-levels 0.1,0.5,0.9 gives their levels",
        clipped(other)
    )
}

/// The level that the name of a column gives: a number between 0 and 1 at its end.
fn level_of(name: &str) -> Option<f64> {
    number_of(name).filter(|level| *level > 0.0 && *level < 1.0)
}

/// The number at the end of a name.
fn number_of(name: &str) -> Option<f64> {
    let number = name.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '.');
    number.parse().ok()
}
