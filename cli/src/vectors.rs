//! The families of predictions of real numbers.

use std::path::Path;

use burn::tensor::{Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Geometry, Given, Laplace, Mixture, Normal, Samples,
    },
    error,
    estimator::{Event, Skce},
    hypothesis::{CalibrationTest, ExactTest, GivenTest, OmnibusOutcome},
    kernel::{Kernel, RealKernel, TargetKernel, TensorKernel},
    names::{self, Name},
    recalibration::ScaleFamily,
    score::{IntervalOverconfidence, LogScore, Score},
};
use rand::rngs::StdRng;

use crate::{
    align::{self, File},
    answer::{Size, Sizing},
    args::{Evaluate, LengthScale, Lens, SourceArgs, TargetKernelName},
    bandwidth::{fixed, some},
    error::{Context, Result, bail, ensure, wrong},
    input::{clipped, say},
    kind::{Estimates, Kind, Loaded, LogScoreOf, Vectors, View, Words},
    limits::QUADRATIC_LIMIT,
    quantities::estimates_of_vectors,
    rows::Wanted,
    source::device,
    targets::{Numbers, are_levels, check_halves, read_vectors},
    words::TargetWords,
};

impl Vectors for Normal {
    const HALVES: bool = true;
    const LOG_SCORE: Option<LogScoreOf<Self>> = Some(|own, targets| LogScore.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        let (mean, deviation) = halves(rows, dimensions, "means and standard deviations")?;
        Ok(Self::new(mean, deviation))
    }
}

impl Vectors for Laplace {
    const HALVES: bool = true;
    const LOG_SCORE: Option<LogScoreOf<Self>> = Some(|own, targets| LogScore.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        let (location, scale) = halves(rows, dimensions, "locations and scales")?;
        Ok(Self::new(location, scale))
    }
}

impl<C: Vectors + Component + Density + ScaleFamily> Vectors for Mixture<C>
where
    Self: Geometry + AbsoluteMoments,
{
    const LOG_SCORE: Option<LogScoreOf<Self>> = Some(|own, targets| LogScore.each(own, targets));

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        one_dimension(dimensions)?;
        let [n, columns] = rows.dims();
        if columns == 0 || columns % 3 != 0 {
            bail!(
                "{columns} columns, expected weights, locations and scales, three for each \
                 component"
            );
        }
        let k = columns / 3;
        let part = |first: usize| rows.clone().slice([0..n, first..first + k]);
        let column = |part: Tensor<2>| part.reshape([n * k, 1]);
        let components = C::with_location_and_scale(column(part(k)), column(part(2 * k)));
        Ok(Self::new(part(0), components))
    }
}

impl Vectors for Samples {
    const DRAWS: bool = true;

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        one_dimension(dimensions)?;
        let [n, columns] = rows.dims();
        Ok(Self::new(rows.reshape([n, columns, 1])))
    }
}

fn halves(rows: Tensor<2>, d: usize, what: &str) -> Result<(Tensor<2>, Tensor<2>)> {
    let [n, columns] = rows.dims();
    if columns != 2 * d {
        bail!(
            "{columns} columns, expected {}: {what} for targets of dimension {d}",
            2 * d
        );
    }
    let second = rows.clone().slice([0..n, d..columns]);
    Ok((rows.slice([0..n, 0..d]), second))
}

fn one_dimension(dimensions: usize) -> Result<()> {
    match dimensions {
        1 => Ok(()),
        _ => Err(wrong!(
            "the targets have {dimensions} columns, expected one for this family"
        )),
    }
}

/// Reads predictions of real numbers and their targets: columns by their names, where they have those of the
/// first file or the expected ones, and rows by their ids.
pub fn read_like<P>(paths: &[&Path], args: &SourceArgs, expected: &[String]) -> Result<Loaded<P>>
where
    P: Kind<Targets = Tensor<2>> + Vectors,
{
    let rows = &args.rows;
    for (given, name) in [
        (rows.logits, "--logits"),
        (rows.percent, "--percent"),
        (rows.log_probabilities, "--log-probabilities"),
        (rows.normalise, "--normalise"),
        (rows.clip.is_some(), "--clip"),
        (rows.positive, "--positive"),
        (rows.confidence_correctness, "--confidence-correctness"),
        (args.labels.classes.is_some(), "--classes"),
        (args.labels.one_based, "--one-based"),
        (args.labels.soft_labels, "--soft-labels"),
    ] {
        if given {
            bail!("{name}: of the family categorical only");
        }
    }
    let device = device(args.rows.device)?;
    let (sets, targets) = read_vectors(paths, args, expected, &device)?;
    let [count, dimensions] = targets.rows.dims();
    for rows in &sets {
        let samples = rows.rows.dims()[0];
        if count != samples {
            let advice = match count as i64 - samples as i64 {
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
    }
    let file = |numbers: &'_ Numbers| (numbers.path.clone(), numbers.ids.clone());
    let files: Vec<_> = sets.iter().chain([&targets]).map(file).collect();
    let files: Vec<File> = files
        .iter()
        .map(|(path, ids)| (path.as_path(), ids.as_ref()))
        .collect();
    // targets beside the first predictions are in their order
    let orders = align::rows(match args.labels.labels {
        Some(_) => &files,
        None => &files[..sets.len()],
    })?;
    let in_order = |at: usize, rows: &Tensor<2>| match orders.get(at) {
        Some(Some(order)) => {
            let order: Vec<i64> = order.iter().map(|&row| row as i64).collect();
            let order = Tensor::<1, Int>::from_data(&order[..], &rows.device());
            rows.clone().select(0, order)
        }
        _ => rows.clone(),
    };
    let own = in_order(sets.len(), &targets.rows);
    let read = |(at, rows): (usize, &Numbers)| {
        let parse = || -> Result<P> {
            if P::HALVES && !args.rows.by_position {
                check_halves(&rows.names)?;
            }
            if P::DRAWS && are_levels(&rows.names) {
                let names = clipped(&rows.names.join(", "));
                let draws = "they are taken as draws, each as likely as the others";
                let note =
                    format_args!("the columns {names} look like levels of quantiles: {draws}");
                say(&rows.path, note);
            }
            let set = P::parse(rows.rows.clone(), dimensions)?;
            set.check()?;
            Ok(set)
        };
        let set = parse().on(&rows.path, &rows.lines)?;
        set.check_targets(&targets.rows)
            .on(&targets.path, &targets.lines)?;
        match orders[at].is_some() {
            true => P::parse(in_order(at, &rows.rows), dimensions),
            false => Ok(set),
        }
    };
    let parsed = sets.iter().enumerate().map(read).collect::<Result<_>>()?;
    let first = sets.into_iter().next().expect("there is a file");
    Ok(Loaded {
        sets: parsed,
        targets: own,
        class_names: Vec::new(),
        columns: first.names,
        ids: first.ids.or(targets.ids),
    })
}

impl<P: Vectors> Kind for P
where
    RealKernel: TargetKernel<P>,
{
    type Joint = TensorKernel<RealKernel>;

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

    fn kernel(args: &Evaluate, view: &View<Self>, rng: &mut StdRng) -> Result<Self::Joint> {
        if args.kernel.shape.distance == Some(burn_calibration::kernel::Distance::TotalVariation) {
            bail!(
                "--distance tv: of classes, expected l2, the 2-Wasserstein distance, or l1, that of \
                 the parameters"
            );
        }
        let n = view.predictions.len();
        let kernel = fixed(&args.kernel, &view.predictions, rng)?;
        let target = match args.targets.target_kernel {
            TargetKernelName::Gaussian => RealKernel::gaussian(1.0),
            TargetKernelName::Laplacian => RealKernel::laplacian(1.0),
        };
        let target = match args.targets.length_scale {
            LengthScale::Fixed(length_scale) => RealKernel {
                length_scale,
                ..target
            },
            LengthScale::Median if n > QUADRATIC_LIMIT => {
                let rows = some("--length-scale", n, rng)
                    .into_iter()
                    .map(|row| row as i64);
                let rows = TensorData::from(rows.collect::<Vec<_>>().as_slice());
                let rows = Tensor::<1, Int>::from_data(rows, &view.targets.device());
                target.with_median_of(&view.targets.clone().select(0, rows))
            }
            LengthScale::Median => target.with_median_of(&view.targets),
        };
        target.validate()?;
        Ok(TensorKernel::new(kernel, target))
    }

    fn exact(skce: Skce<Self::Joint>, replicates: usize) -> Box<dyn CalibrationTest<Self>> {
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

    fn on_predictions(kernel: &Self::Joint) -> Kernel {
        kernel.predictions
    }

    fn on_targets(kernel: &Self::Joint) -> Option<TargetWords> {
        Some(kernel.targets.into())
    }

    fn outcomes(&self) -> (&'static str, usize) {
        ("dimensions", self.means().dims()[1])
    }

    fn estimates(view: &View<Self>) -> Estimates {
        estimates_of_vectors(view)
    }

    fn sizes(sizing: &Sizing<Self>) -> Vec<(Name, Size)> {
        let overconfidence = IntervalOverconfidence::default();
        vec![sizing.in_points(names::INTERVAL_OVERCONFIDENCE, &overconfidence)]
    }
}
