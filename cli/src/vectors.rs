//! The families of predictions of real numbers.

use std::path::Path;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{
        AbsoluteMoments, Component, Density, Geometry, Laplace, Mixture, Normal, Predictive,
        Samples,
    },
    kernel::{RealKernel, TargetKernel, TensorKernel},
    recalibration::ScaleFamily,
};
use burn_calibration_reader::{
    Table, clipped,
    names::{in_order, say_by_name},
};
use burn_calibration_report::View;

use crate::{
    args::{EvaluateArgs, LengthScale, RowsArgs, SourceArgs},
    error::{Context, Result, ensure},
    files::{self, File, Files, Inputs, SampleWeights, in_words},
    given,
    kernel::fixed,
    kind::{Kind, Loaded, Vectors, WithKernel},
    notes::{noted, say},
    roles::{Halves, by_names, check_no_variances, take_roots},
    rows::PredictionForm,
    source::{are_levels, order_columns, targets, tensor},
    words::{OutcomeSpace, TargetWords, counted},
};

impl Vectors for Normal {
    const HALVES: bool = true;
    const VARIANCES: bool = true;

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        halves(rows, dimensions, "means and standard deviations")
    }
}

impl Vectors for Laplace {
    const HALVES: bool = true;

    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        halves(rows, dimensions, "locations and scales")
    }
}

impl<C: Vectors + Component + Density + ScaleFamily> Vectors for Mixture<C>
where
    Self: Geometry + Predictive<Unconditional = Self> + AbsoluteMoments,
{
    fn parse(rows: Tensor<2>, dimensions: usize) -> Result<Self> {
        one_dimension(dimensions)?;
        let [n, columns] = rows.dims();
        ensure!(
            columns > 0 && columns % 3 == 0,
            "{}, expected weights, locations and scales, three for each component",
            counted(columns, "column")
        );
        let k = columns / 3;
        let part = |first: usize| rows.clone().slice([0..n, first..first + k]);
        let column = |part: Tensor<2>| part.reshape([n * k, 1]);
        let components = C::with_location_and_scale(column(part(k)), column(part(2 * k)));
        Ok(Self::new(part(0), components))
    }

    fn for_kernels(self) -> Self {
        self.compared_by_quantiles()
    }
}

impl Vectors for Samples {
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
        "{}, expected {}: {what} for targets of dimension {d}; --family names the kind of the \
         predictions, and --after-family that of the predictions after",
        counted(columns, "column"),
        2 * d
    );
    let scales = rows.clone().slice([0..n, d..columns]);
    Ok(P::with_location_and_scale(rows.slice([0..n, 0..d]), scales))
}

/// Puts locations before scales, in the order of the coordinates of the targets, by their names, and takes the square roots
/// of variances. Returns whether the scales were variances.
pub fn order_halves(
    path: &Path,
    table: &mut Table,
    targets: &[String],
    takes_variances: bool,
) -> Result<bool> {
    if table.names.is_empty() {
        return Ok(false);
    }
    let Halves {
        order,
        are_variances,
    } = by_names(&table.names, targets)?;
    if !order.is_sorted() {
        table.numbers = table.numbers.with_columns(&order);
        table.names = in_order(&table.names, &order);
        noted(|notes| say_by_name(notes, path, "columns", &table.names));
    }
    if are_variances {
        let names = clipped(&table.names[table.names.len() / 2..].join(", "));
        ensure!(
            takes_variances,
            "the column {names} holds variances by its name, expected scales"
        );
        take_roots(&mut table.numbers)?;
        let note = "holds variances by its name: square roots are taken as standard deviations";
        say(path, format_args!("the column {names} {note}"));
    }
    Ok(are_variances)
}

/// Puts the columns of a file in their order by what their names say, unless they are taken by their position.
fn order_by_names<P: Vectors>(file: &mut File, args: &RowsArgs, targets: &[String]) -> Result<()> {
    if args.reading.by_position {
        return Ok(());
    }
    let File { path, table } = file;
    let ordered = if P::HALVES {
        order_halves(path, table, targets, P::VARIANCES).map(drop)
    } else {
        check_no_variances(&table.names)
    };
    ordered.on(path, &table.lines)
}

pub fn one_dimension(dimensions: usize) -> Result<()> {
    ensure!(
        dimensions == 1,
        "the targets have {dimensions} columns, expected one for this family"
    );
    Ok(())
}

/// The files of predictions of real numbers, and their targets.
pub struct VectorFiles {
    pub files: Files,
    pub weights: Option<SampleWeights>,
    pub targets: Tensor<2>,
}

impl VectorFiles {
    /// Reads them, the targets from a file of their own or columns of the first: columns by their names, where
    /// they have those of the first file, and rows by their order or by --id.
    pub fn read(inputs: &Inputs, args: &SourceArgs) -> Result<Self> {
        let mut files = files::read(inputs, args, false, |_| Ok(Vec::new()))?;
        let are_beside = files.labels.is_none();
        let (first, others) = files.sets.split_first_mut().expect("there is a file");
        for file in others {
            order_columns(file, &args.rows, &first.table.names);
        }
        let of_targets = files.labels.as_mut().unwrap_or(first);
        let targets = targets(of_targets, are_beside)?;
        Ok(Self {
            targets: tensor(targets),
            weights: files.row_weights.take().map(SampleWeights::from),
            files,
        })
    }

    /// The names of the columns of the targets; empty without a header.
    fn target_names(&self) -> Vec<String> {
        let table = &self.files.of_labels().table;
        let labels = table.labels.iter().map(|labels| labels.name.clone());
        if self.files.labels.is_some() {
            table.names.clone()
        } else {
            labels.collect()
        }
    }

    /// Makes predictions of a file, whose numbers are taken out of its table.
    pub fn parse<P>(&mut self, at: usize, args: &RowsArgs) -> Result<P>
    where
        P: Kind<Targets = Tensor<2>> + Vectors,
    {
        let targets = self.target_names();
        order_by_names::<P>(&mut self.files.sets[at], args, &targets)?;
        let set = self.parse_by(at, |File { path, table }, rows, dimensions| {
            if P::FAIR_CRPS.is_some() && are_levels(&table.names) {
                let names = clipped(&table.names.join(", "));
                let draws = "they are read as draws";
                let family = "--family quantiles reads them as quantiles";
                let note = format_args!(
                    "the columns {names} look like levels of quantiles: {draws}; {family}"
                );
                say(path, note);
            }
            P::parse(rows, dimensions)
        });
        set.map(P::for_kernels)
    }

    /// Makes predictions of the numbers of a file, for targets of some dimension.
    pub fn parse_by<P: Predictive<Targets = Tensor<2>>>(
        &mut self,
        at: usize,
        parse: impl FnOnce(&File, Tensor<2>, usize) -> Result<P>,
    ) -> Result<P> {
        let file = &mut self.files.sets[at];
        let numbers = std::mem::take(&mut file.table.numbers);
        let rows = tensor(numbers);
        let parsed = parse(file, rows, self.targets.dims()[1]).and_then(|set| {
            set.check()?;
            Ok(set)
        });
        let set = parsed.on(&file.path, &file.table.lines)?;
        let of_targets = self.files.of_labels();
        let checked = set.check_targets(&self.targets);
        checked.on(&of_targets.path, &of_targets.table.lines)?;
        SampleWeights::on(&self.weights, set, &self.targets)
    }

    /// The sets of all files, each by its place.
    pub fn loaded<P: Kind<Targets = Tensor<2>>>(
        mut self,
        mut set: impl FnMut(&mut Self, usize) -> Result<P>,
    ) -> Result<Loaded<P>> {
        let sets = (0..self.files.sets.len()).map(|at| set(&mut self, at));
        let sets = sets.collect::<Result<Vec<_>>>()?;
        let numbers: Vec<f64> = self.targets.to_data().iter().collect();
        Ok(Loaded {
            data: in_words(&self.files, &self.weights, &sets[0], Vec::new()),
            sets,
            given: given::variables(&self.files, &numbers, &[])?,
            columns: std::mem::take(&mut self.files.sets[0].table.names),
            event: None,
            targets: self.targets,
        })
    }
}

impl<P: Vectors> WithKernel for P {}

impl<P: Vectors> Kind for P
where
    RealKernel: TargetKernel<P>,
{
    const OUTCOMES: fn(usize) -> OutcomeSpace = OutcomeSpace::Dimensions;

    fn read(inputs: &Inputs, args: &SourceArgs, _form: PredictionForm) -> Result<Loaded<Self>> {
        VectorFiles::read(inputs, args)?.loaded(|files, at| files.parse(at, &args.rows))
    }

    fn without_targets(file: &mut File, args: &SourceArgs) -> Result<(Self, Vec<String>)> {
        order_by_names::<P>(file, &args.rows, &[])?;
        let rows = tensor(std::mem::take(&mut file.table.numbers));
        let [_, columns] = rows.dims();
        let dimensions = if P::HALVES { columns.div_ceil(2) } else { 1 };
        let parsed = P::parse(rows, dimensions).and_then(|set| {
            set.check()?;
            Ok(set)
        });
        let set = parsed.on(&file.path, &file.table.lines)?;
        Ok((set, std::mem::take(&mut file.table.names)))
    }

    fn kernel(args: &EvaluateArgs, view: &View<Self>) -> Result<TensorKernel<RealKernel>> {
        let kernel = fixed(&args.kernel, &view.predictions)?;
        let usual = args.targets.target_kernel.with_length_scale(1.0);
        let target = match args.targets.length_scale {
            LengthScale::Fixed(fixed) => args.targets.target_kernel.with_length_scale(fixed),
            LengthScale::Median => usual.with_median_of(&view.targets),
        };
        target.validate()?;
        Ok(TensorKernel::new(kernel, target))
    }

    fn on_targets(kernel: &TensorKernel<RealKernel>) -> Option<TargetWords> {
        Some(kernel.targets.into())
    }
}
