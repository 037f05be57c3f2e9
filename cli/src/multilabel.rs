//! `--family multilabel`: columns that are events of their own, of which several may happen at once.

use burn::tensor::{Device, Tensor, TensorData};
use burn_calibration::distribution::Categorical;
use burn_calibration_reader::{
    TextColumn, labels,
    names::{Names, columns_by_stem},
    titled,
};
use burn_calibration_report::View;

use crate::{
    args::{EvaluateArgs, LensName},
    error::{Context, Result, ensure},
    evaluate::Views,
    files::{self, File, Inputs, SampleWeights},
    given,
    kind::LazyViews,
    limits::redraws,
    notes::noted,
    rows::{PredictionForm, probabilities_of, rows_of},
    words::{DataWords, Named, OutcomeSpace, counted},
};

/// Reads predictions, a column for each event, and a matrix of labels, 0 or 1, with as many columns: in a file of
/// their own, or beside them. Each column is a view. The p-values of all of them are adjusted for their number: Holm's
/// are valid however the labels of a row depend on each other.
pub fn read(inputs: &Inputs, of: &EvaluateArgs) -> Result<(Views, LazyViews<Categorical>)> {
    let args = &of.source;
    let options = args.options();
    let files = files::read(inputs, args, true, |_| Ok(Vec::new()))?;
    let File { path, table } = &files.sets[0];
    let of_labels = files.of_labels();
    let (count, found) = (table.numbers.columns, of_labels.table.labels.len());
    ensure!(
        found == count,
        "{}: {} of labels, expected {count}, a column of 0 and 1 for each column of {}",
        of_labels.path.display(),
        counted(found, "column"),
        path.display()
    );
    let named = (of_labels.table.labels.iter()).map(|labels| labels.name.clone());
    let named: Vec<String> = named.filter(|name| !name.is_empty()).collect();
    let file = path.display().to_string();
    let expected = Names {
        names: &table.names,
        of: &file,
    };
    let mut order = None;
    if !args.rows.reading.by_position {
        order = columns_by_stem(expected, &named).of(&of_labels.path)?;
    }
    let mut of_event = options.clone();
    of_event.numbers.positive = true;
    let names: Vec<String> = match &table.names[..] {
        [] => (0..count).map(|column| column.to_string()).collect(),
        names => names.to_vec(),
    };
    let (mut list, mut samples) = (
        Vec::new(),
        files.row_weights.clone().map(SampleWeights::from),
    );
    // no more likely than each label are all labels of a row
    let mut of_rows = vec![1.0f64; table.rows()];
    for column in 0..count {
        let mut file = File {
            path: path.clone(),
            table: table.columns(&[column]),
        };
        let title = table.title(column);
        let none = Names { names: &[], of: "" };
        let event = rows_of(&mut file, &of_event, PredictionForm::Probabilities, none);
        let event = event.map_err(|error| error.in_column(title))?.predictions;
        let at = order.as_ref().map_or(column, |order| order[column]);
        let labels = labels::numbers(2, options.one_based, of_labels, at);
        let TextColumn { name, at, .. } = &of_labels.table.labels[at];
        let labels = labels.map_err(|error| error.in_column(titled(*at, name)))?;
        let of_label = probabilities_of(&event, labels.clone());
        for (least, p) in of_rows.iter_mut().zip(of_label) {
            *least = least.min(p);
        }
        let shape = [labels.len()];
        let labels = Tensor::from_data(TensorData::new(labels, shape), &Device::flex());
        if let Some(weights) = &mut samples {
            weights.check_outcomes(path, &event, &labels)?;
        }
        let event = SampleWeights::on(&samples, event, &labels)?;
        list.push(Ok(View::new(event, labels, Some(column), &names)));
    }
    noted(|notes| files.note_copies(|| of_rows, notes));
    let views = Views {
        data: DataWords {
            class_names: names,
            left_out: files.left_out,
            rows: table.lines.selected().to_vec(),
            weights: samples,
            ..DataWords::new(table.rows(), OutcomeSpace::Classes(count))
        },
        summary: Named::default(),
        lens: LensName::ClassWise,
        given: given::variables(&files, &[], &[])?,
        redraws: redraws("--redraws", of.redraws, 2)?,
    };
    Ok((views, Box::new(list.into_iter())))
}
