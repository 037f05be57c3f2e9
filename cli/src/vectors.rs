//! The families of predictions of real numbers.

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Geometry, Given, Laplace, Mixture, Normal, Predictive,
        Samples, Targets,
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
    answer::{Size, Sizing},
    args::{BinArgs, Evaluate, LengthScale, Lens, RowsArgs, SourceArgs},
    error::{Context, Result, bail, ensure},
    files::{File, Files, Inputs, LeftOut, SampleWeights},
    given,
    input::{Options, clipped, say},
    kernel::{fixed, some},
    kind::{Estimates, Kind, Loaded, ScoresOf, Vectors, View, Words},
    limits::QUADRATIC_LIMIT,
    quantiles,
    quantities::estimates_of_vectors,
    rows::Wanted,
    source::{are_levels, check_halves, device, label_options, order_columns, targets, tensor},
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
    Self: Geometry + Predictive<Unconditional = Self> + AbsoluteMoments,
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

pub fn one_dimension(dimensions: usize) -> Result<()> {
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
        (!labels.ignore_label.is_empty(), "--ignore-label"),
    ];
    match options.iter().find(|(is_given, _)| *is_given) {
        Some((_, name)) => bail!("{name}: of the family categorical only"),
        None => Ok(()),
    }
}

/// The files of predictions of real numbers, and their targets.
pub struct VectorFiles {
    files: Files,
    pub targets: Tensor<2>,
    pub left_out: LeftOut,
}

impl VectorFiles {
    /// The weights of the samples, if there are any.
    pub fn weights(&self) -> Option<SampleWeights> {
        self.files.samples.clone()
    }

    /// Reads them, the targets from a file of their own or columns of the first: columns by their names, where
    /// they have those of the first file, and rows by their ids.
    pub fn read(inputs: &Inputs, args: &SourceArgs) -> Result<Self> {
        refuse_options_of_classes(args)?;
        let mut files = Files::read(inputs, args, false)?;
        let options = Options {
            columns: args.rows.label_column.as_deref(),
            ..label_options(&args.labels)
        };
        files.read_labels(args, &options)?;
        let left_out = files.join(args, &[])?;
        let are_beside = files.labels.is_none();
        let (first, others) = files.sets.split_first_mut().expect("there is a file");
        for file in others {
            order_columns(file, &args.rows, &first.table.names);
        }
        let of_targets = files.labels.as_mut().unwrap_or(first);
        let targets = targets(of_targets, are_beside)?;
        let name = args.rows.device;
        Ok(Self {
            targets: tensor(targets, name, &device(name)?),
            files,
            left_out,
        })
    }

    /// Makes predictions of a file, whose numbers are taken out of its table.
    pub fn parse<P>(&mut self, at: usize, args: &RowsArgs) -> Result<P>
    where
        P: Kind<Targets = Tensor<2>> + Vectors,
    {
        quantiles::refuse_own_options(args)?;
        self.parse_by(at, args, |File { path, table }, rows, dimensions| {
            if P::HALVES && !args.by_position {
                check_halves(&table.names)?;
            }
            if P::DRAWS && are_levels(&table.names) {
                let names = clipped(&table.names.join(", "));
                let draws = "they are taken as draws, each as likely as the others";
                let family = "--family quantiles takes them as these";
                let note = format_args!(
                    "the columns {names} look like levels of quantiles: {draws}; {family}"
                );
                say(path, note);
            }
            P::parse(rows, dimensions)
        })
    }

    /// Makes predictions of the numbers of a file, for targets of some dimension.
    pub fn parse_by<P: Predictive<Targets = Tensor<2>>>(
        &mut self,
        at: usize,
        args: &RowsArgs,
        parse: impl FnOnce(&File, Tensor<2>, usize) -> Result<P>,
    ) -> Result<P> {
        let file = &mut self.files.sets[at];
        let numbers = std::mem::take(&mut file.table.numbers);
        let rows = tensor(numbers, args.device, &device(args.device)?);
        let parsed = parse(file, rows, self.targets.dims()[1]).and_then(|set| {
            set.check()?;
            Ok(set)
        });
        let set = parsed.on(&file.path, &file.table.lines)?;
        let of_targets = self.files.of_labels();
        let checked = set.check_targets(&self.targets);
        checked.on(&of_targets.path, &of_targets.table.lines)?;
        SampleWeights::on(&self.files.samples, set, &self.targets)
    }

    /// The names of the columns of the first file.
    pub fn columns(&self) -> &[String] {
        &self.files.sets[0].table.names
    }
}

impl<P: Vectors> Kind for P
where
    RealKernel: TargetKernel<P>,
{
    const OUTCOMES: fn(usize) -> Outcomes = Outcomes::Dimensions;

    fn read(inputs: &Inputs, args: &SourceArgs, _wanted: Wanted) -> Result<Loaded<Self>> {
        let mut read = VectorFiles::read(inputs, args)?;
        let weights = read.weights();
        let sets = (0..read.files.sets.len()).map(|at| read.parse(at, &args.rows));
        let sets = sets.collect::<Result<_>>()?;
        let numbers: Vec<f64> = read.targets.to_data().iter().collect();
        Ok(Loaded {
            sets,
            given: given::of_files(&read.files, &numbers)?,
            targets: read.targets,
            class_names: Vec::new(),
            columns: std::mem::take(&mut read.files.sets[0].table.names),
            left_out: read.left_out,
            weights,
        })
    }

    fn view(self, targets: Tensor<2>, class: Option<usize>, _names: &[String]) -> View<Self> {
        View {
            class,
            of: Words::default(),
            predictions: self,
            targets,
            event: Event::TopLabel,
            bins: BinArgs::default(),
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
