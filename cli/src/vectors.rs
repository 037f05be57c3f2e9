//! The families of predictions of real numbers.

use std::path::Path;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Geometry, Given, Laplace, Mixture, Normal, Samples,
        Targets,
    },
    error,
    estimator::{Event, Skce},
    hypothesis::{CalibrationTest, ExactTest, GivenTest, OmnibusOutcome},
    kernel::{Distance, Kernel, RealKernel, TargetKernel, TensorKernel},
    names::{self, Name},
    recalibration::ScaleFamily,
    score::{FairCrps, IntervalOverconfidence, LogScore, Score},
};
use rand::rngs::StdRng;

use crate::{
    align::{self, File},
    answer::{Size, Sizing},
    args::{Evaluate, LengthScale, Lens, SourceArgs},
    error::{Context, Result, bail, ensure},
    input::{Options, clipped, say},
    kernel::{fixed, some},
    kind::{Estimates, Kind, Loaded, ScoresOf, Vectors, View, Words},
    limits::QUADRATIC_LIMIT,
    quantities::estimates_of_vectors,
    rows::Wanted,
    source::{
        Numbers, Where, are_levels, check_halves, device, label_options, no_labels, options,
        places, read_numbers,
    },
    words::{Outcomes, TargetWords},
};

impl Vectors for Normal {
    const HALVES: bool = true;
    const LOG_SCORE: Option<ScoresOf<Self>> = Some(|own, targets| LogScore.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        halves(rows, dimensions, "means and standard deviations")
    }
}

impl Vectors for Laplace {
    const HALVES: bool = true;
    const LOG_SCORE: Option<ScoresOf<Self>> = Some(|own, targets| LogScore.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        halves(rows, dimensions, "locations and scales")
    }
}

impl<C: Vectors + Component + Density + ScaleFamily> Vectors for Mixture<C>
where
    Self: Geometry + AbsoluteMoments,
{
    const LOG_SCORE: Option<ScoresOf<Self>> = Some(|own, targets| LogScore.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        one_dimension(dimensions)?;
        let [n, columns] = rows.dims();
        ensure!(
            columns > 0 && columns % 3 == 0,
            "{columns} columns, expected weights, locations and scales, three for each component"
        );
        let k = columns / 3;
        let part = |first: usize| rows.clone().slice([0..n, first..first + k]);
        let column = |part: Tensor<2>| part.reshape([n * k, 1]);
        let components = C::with_location_and_scale(column(part(k)), column(part(2 * k)));
        Ok(Self::new(part(0), components))
    }
}

impl Vectors for Samples {
    const DRAWS: bool = true;
    const FAIR_CRPS: Option<ScoresOf<Self>> = Some(|own, targets| FairCrps.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        one_dimension(dimensions)?;
        let [n, columns] = rows.dims();
        Ok(Self::new(rows.reshape([n, columns, 1])))
    }
}

/// Predictions of locations and then scales.
fn halves<P: ScaleFamily>(rows: Tensor<2>, d: usize, what: &str) -> Result<P> {
    let [n, columns] = rows.dims();
    ensure!(
        columns == 2 * d,
        "{columns} columns, expected {}: {what} for targets of dimension {d}",
        2 * d
    );
    let scales = rows.clone().slice([0..n, d..columns]);
    Ok(P::with_location_and_scale(rows.slice([0..n, 0..d]), scales))
}

fn one_dimension(dimensions: usize) -> Result<()> {
    ensure!(
        dimensions == 1,
        "the targets have {dimensions} columns, expected one for this family"
    );
    Ok(())
}

/// Options of classes, which mean nothing elsewhere.
fn refuse_options_of_classes(args: &SourceArgs) -> Result<()> {
    let (rows, labels) = (&args.rows, &args.labels);
    let options = [
        (rows.logits, "--logits"),
        (rows.percent, "--percent"),
        (rows.log_probabilities, "--log-probabilities"),
        (rows.normalise, "--normalise"),
        (rows.clip.is_some(), "--clip"),
        (rows.positive, "--positive"),
        (rows.confidence_correctness, "--confidence-correctness"),
        (labels.classes.is_some(), "--classes"),
        (labels.one_based, "--one-based"),
        (labels.soft_labels, "--soft-labels"),
    ];
    match options.iter().find(|(is_given, _)| *is_given) {
        Some((_, name)) => bail!("{name}: of the family categorical only"),
        None => Ok(()),
    }
}

/// Reads predictions of real numbers and their targets, from a file of their own or a column of the first:
/// columns by their names, where they have those of the first file or the expected ones, and rows by their ids.
pub fn read_like<P>(paths: &[&Path], args: &SourceArgs, expected: &[String]) -> Result<Loaded<P>>
where
    P: Kind<Targets = Tensor<2>> + Vectors,
{
    refuse_options_of_classes(args)?;
    let device = device(args.rows.device)?;
    let by_position = args.rows.by_position;
    let mut sets: Vec<Numbers> = Vec::new();
    let mut own = None;
    for (path, place) in paths.iter().zip(places(&args.labels)) {
        let options = Options {
            confidence: Some(false),
            ..options(&args.rows, place)
        };
        let expected = sets.first().map_or(expected, |first| &first.names);
        let (numbers, cells) = read_numbers(path, &args.rows, &options, expected, &device)?;
        if let Some(cells) = cells.filter(|_| place == Where::Here) {
            own = Some(numbers.beside(&cells, args.rows.device, &device)?);
        }
        sets.push(numbers);
    }
    let targets = match (&args.labels.labels, own) {
        (Some(file), _) => {
            let options = Options {
                columns: args.rows.label_column.as_deref(),
                ..label_options(&args.labels)
            };
            read_numbers(file, &args.rows, &options, &[], &device)?.0
        }
        (None, Some(own)) => own,
        (None, None) => return Err(no_labels(paths[0])),
    };
    let [count, dimensions] = targets.rows.dims();
    for rows in &sets {
        let samples = rows.rows.dims()[0];
        let advice = match count as i64 - samples as i64 {
            0 => continue,
            1 => "; --labels-header yes if line 1 of the targets is a header",
            -1 => "; --header yes if line 1 of the predictions is a header",
            _ => "",
        };
        bail!(
            "{}: {count} targets, expected {samples}, as many as {} has rows{advice}",
            targets.path.display(),
            rows.path.display()
        );
    }
    // targets beside the first predictions are in their order
    let of_targets = args.labels.labels.iter().map(|_| &targets);
    let files = sets.iter().chain(of_targets);
    let files: Vec<File> = files
        .map(|numbers| (numbers.path.as_path(), numbers.ids.as_ref()))
        .collect();
    let orders = align::rows(&files)?;
    let parse = |rows: &Numbers| -> Result<P> {
        if P::HALVES && !by_position {
            check_halves(&rows.names)?;
        }
        if P::DRAWS && are_levels(&rows.names) {
            let names = clipped(&rows.names.join(", "));
            let draws = "they are taken as draws, each as likely as the others";
            let note = format_args!("the columns {names} look like levels of quantiles: {draws}");
            say(&rows.path, note);
        }
        let set = P::parse(rows.rows.clone(), dimensions)?;
        set.check()?;
        Ok(set)
    };
    let read = |(rows, order): (&Numbers, &Option<Vec<usize>>)| {
        let set = parse(rows).on(&rows.path, &rows.lines)?;
        set.check_targets(&targets.rows)
            .on(&targets.path, &targets.lines)?;
        Ok(match order {
            Some(order) => set.select_rows(order),
            None => set,
        })
    };
    let parsed = sets.iter().zip(&orders).map(read).collect::<Result<_>>()?;
    let in_order = |order: &Vec<usize>| targets.rows.select_rows(order);
    let order = orders.get(sets.len()).and_then(Option::as_ref);
    let ordered = order.map_or_else(|| targets.rows.clone(), in_order);
    let first = sets.swap_remove(0);
    Ok(Loaded {
        sets: parsed,
        targets: ordered,
        class_names: Vec::new(),
        columns: first.names,
        ids: first.ids.or(targets.ids),
    })
}

impl<P: Vectors> Kind for P
where
    RealKernel: TargetKernel<P>,
{
    const OUTCOMES: fn(usize) -> Outcomes = Outcomes::Dimensions;

    fn read(paths: &[&Path], args: &SourceArgs, _wanted: Wanted) -> Result<Loaded<Self>> {
        read_like(paths, args, &[])
    }

    fn view(self, targets: Tensor<2>, class: Option<usize>, _names: &[String]) -> View<Self> {
        View {
            class,
            of: Words::default(),
            predictions: self,
            targets,
            event: Event::TopLabel,
        }
    }

    fn views(self, targets: Tensor<2>, (lens, _): (Lens, &[String])) -> Result<Vec<View<Self>>> {
        ensure!(
            lens == Lens::Canonical,
            "--lens: of classes only, expected --lens canonical or none"
        );
        Ok(vec![self.view(targets, None, &[])])
    }

    fn kernel(args: &Evaluate, view: &View<Self>, rng: &mut StdRng) -> Result<Self::Kernel> {
        ensure!(
            args.kernel.shape.distance != Some(Distance::TotalVariation),
            "--distance tv: of classes, expected l2, the 2-Wasserstein distance, or l1, that of the parameters"
        );
        let n = view.predictions.len();
        let kernel = fixed(&args.kernel, &view.predictions, rng)?;
        let usual = args.targets.target_kernel.with_length_scale(1.0);
        let target = match args.targets.length_scale {
            LengthScale::Fixed(fixed) => args.targets.target_kernel.with_length_scale(fixed),
            LengthScale::Median if n > QUADRATIC_LIMIT => {
                let rows = some("--length-scale", n, rng);
                usual.with_median_of(&view.targets.select_rows(&rows))
            }
            LengthScale::Median => usual.with_median_of(&view.targets),
        };
        target.validate()?;
        Ok(TensorKernel::new(kernel, target))
    }

    fn exact(skce: Skce<Self::Kernel>, replicates: usize) -> Box<dyn CalibrationTest<Self>> {
        Box::new(ExactTest::new(skce).with_replicates(replicates))
    }

    fn given(
        given: &Given<Self>,
        targets: &Tensor<2>,
        redraws: usize,
        rng: &mut StdRng,
    ) -> error::Result<OmnibusOutcome> {
        let test = GivenTest::new().with_redraws(redraws);
        test.outcome(given, targets, rng)
    }

    fn on_predictions(kernel: &Self::Kernel) -> Kernel {
        kernel.predictions
    }

    fn on_targets(kernel: &Self::Kernel) -> Option<TargetWords> {
        Some(kernel.targets.into())
    }

    fn estimates(view: &View<Self>) -> Estimates {
        estimates_of_vectors(view)
    }

    fn sizes(sizing: &Sizing<Self>) -> Vec<(Name, Size)> {
        let overconfidence = IntervalOverconfidence::default();
        vec![sizing.in_points(names::INTERVAL_OVERCONFIDENCE, &overconfidence)]
    }
}
