//! The file of `--given`: named columns of text or numbers, a row for each sample.

use std::{collections::BTreeSet, io::Read, path::Path};

use crate::input::{Lines, Record, Records, Result, clipped, read_text};

/// More values than this are no groups.
const MOST_GROUPS: usize = 100;

/// A variable of each sample.
#[derive(Debug, PartialEq)]
pub struct Column {
    pub name: String,
    pub values: Values,
}

#[derive(Debug, PartialEq)]
pub enum Values {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

/// The columns of a file with a header, of so many rows as the predictions have.
pub fn read(path: &Path, (predictions, samples): (&Path, usize)) -> Result<Vec<Column>> {
    let columns = read_text(path).and_then(parse);
    let columns = columns.map_err(|reason| format!("{}: {reason}", path.display()))?;
    let rows = match &columns[0].values {
        Values::Text(values) => values.len(),
        Values::Numbers(values) => values.len(),
    };
    match rows == samples {
        true => Ok(columns),
        false => Err(format!(
            "{}: {rows} rows below the header, expected {samples}, as many as {} has",
            path.display(),
            predictions.display()
        )),
    }
}

fn parse(reader: impl Read) -> Result<Vec<Column>> {
    let mut records = Records::new(reader)?;
    let mut record = Record::default();
    records.read(&mut record)?;
    let header: Vec<String> = record.cells().map(str::to_owned).collect();
    if header.iter().all(|name| name.parse::<f64>().is_ok()) {
        return Err("expected a header with the names of the columns in the first line".into());
    }
    let mut names = BTreeSet::new();
    if let Some(name) = header
        .iter()
        .find(|name| name.is_empty() || !names.insert(*name))
    {
        return Err(format!(
            "the header names a column \"{name}\", expected a name of its own for each"
        ));
    }
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); header.len()];
    let (mut row, mut lines) = (0, Lines::default());
    while records.read(&mut record)? {
        lines.push(row, record.line);
        let place = lines.name(row);
        if record.len() != header.len() {
            return Err(format!(
                "{place}: {} columns, expected {} as in the header",
                record.len(),
                header.len()
            ));
        }
        for ((cells, cell), name) in cells.iter_mut().zip(record.cells()).zip(&header) {
            if cell.is_empty() {
                return Err(format!(
                    "{place}, column {name}: is empty, expected a group or a number"
                ));
            }
            cells.push(cell.to_owned());
        }
        row += 1;
    }
    if cells[0].is_empty() {
        return Err("holds no rows below the header".into());
    }
    let columns = header.iter().zip(cells);
    columns
        .map(|(name, cells)| column(name, cells, &lines))
        .collect()
}

/// Numbers where all cells are, else the names of groups.
fn column(name: &str, cells: Vec<String>, lines: &Lines) -> Result<Column> {
    let numbers: Option<Vec<f64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
    let values = match numbers {
        Some(numbers) => match numbers.iter().position(|number| !number.is_finite()) {
            Some(row) => {
                return Err(format!(
                    "{}, column {name}: \"{}\", expected a finite number as in the other rows",
                    lines.name(row),
                    clipped(&cells[row])
                ));
            }
            None => Values::Numbers(numbers),
        },
        None => {
            let distinct = cells.iter().collect::<BTreeSet<_>>().len();
            if distinct > MOST_GROUPS {
                return Err(format!(
                    "column {name}: {distinct} groups, expected at most {MOST_GROUPS}, or numbers"
                ));
            }
            Values::Text(cells)
        }
    };
    Ok(Column {
        name: name.to_owned(),
        values,
    })
}

impl Column {
    /// Coordinates that a kernel compares: a standardised number, or whether each group is that of the
    /// sample, at a distance of 1 from one another. Row by row, with their number.
    pub fn coordinates(&self) -> (Vec<f64>, usize) {
        match &self.values {
            Values::Numbers(numbers) => {
                let n = numbers.len() as f64;
                let mean = numbers.iter().sum::<f64>() / n;
                let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
                let deviation = match variance.sqrt() {
                    0.0 => 1.0,
                    deviation => deviation,
                };
                (numbers.iter().map(|x| (x - mean) / deviation).collect(), 1)
            }
            Values::Text(cells) => {
                let groups: Vec<_> = cells.iter().collect::<BTreeSet<_>>().into_iter().collect();
                let hit = |cell, group| f64::from(u8::from(cell == group)) * 0.5f64.sqrt();
                let row = |cell| groups.iter().map(move |group| hit(cell, *group));
                (cells.iter().flat_map(row).collect(), groups.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn columns_are_groups_or_numbers() {
        let columns = parse("sex, age\nF, 31\nM, 4.5e1\nF, 31\n".as_bytes()).unwrap();
        let text = ["F", "M", "F"].map(str::to_owned).to_vec();
        assert_eq!(columns[0].values, Values::Text(text));
        assert_eq!(columns[1].values, Values::Numbers(vec![31.0, 45.0, 31.0]));
        let half = 0.5f64.sqrt();
        let groups = vec![half, 0.0, 0.0, half, half, 0.0];
        assert_eq!(columns[0].coordinates(), (groups, 2));
        let (standard, one) = columns[1].coordinates();
        assert_eq!(one, 1);
        for (x, expected) in standard.iter().zip([-half, 2.0 * half, -half]) {
            assert!((x - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(
            complaint("sex,age\nF,31\nM,\n"),
            "row 1 (line 3), column age: is empty, expected a group or a number"
        );
        assert_eq!(
            complaint("sex,age\nF,31\nM\n"),
            "row 1 (line 3): 1 columns, expected 2 as in the header"
        );
        assert_eq!(
            complaint("sex,age\nF,31\nM,NaN\n"),
            "row 1 (line 3), column age: \"NaN\", expected a finite number as in the other rows"
        );
        assert_eq!(complaint("sex,age\n"), "holds no rows below the header");
        assert!(complaint("1,2\n3,4\n").starts_with("expected a header"));
        assert!(complaint("a,a\n3,4\n").contains("a column \"a\", expected a name of its own"));
        let many: String = (0..101).map(|k| format!("id{k}\n")).collect();
        let expected = "column id: 101 groups, expected at most 100, or numbers";
        assert_eq!(complaint(&format!("id\n{many}")), expected);
    }
}
