//! The columns of labels and of variables.

use super::{Choice, by_id, is_id};
use crate::{
    ColumnKind, Opened,
    error::{Context, Result, bail, wrong},
};

impl Opened {
    /// Chooses the columns of labels or targets in a file of their own.
    ///
    /// - `are_numbers`: whether they are targets or frequencies
    /// - `known`: the names of columns that files of predictions have besides
    ///
    /// # Errors
    ///
    /// A column that is named and not there; no column that other files lack.
    pub fn choose_labels(
        &mut self,
        (spec, id): (Option<&str>, Option<&str>),
        are_numbers: bool,
        known: &[String],
    ) -> Result<()> {
        let id = self.select_id(id)?;
        let named = spec.map(|spec| (spec, true));
        let mut columns = self.select_named(named, "--label-column")?;
        let mut left_out = Vec::new();
        if spec.is_none() {
            columns = (self.data_columns())
                .filter(|column| Some(*column) != id)
                .collect();
            if columns.len() > 1 {
                let is_known =
                    |name: &str| !name.is_empty() && known.contains(&name.to_lowercase());
                columns.retain(|&column| !is_known(&self.columns[column].name));
            }
            if are_numbers {
                let is_text = |column: &usize| self.columns[*column].kind == ColumnKind::Text;
                (left_out, columns) = columns.into_iter().partition(is_text);
            }
            if let Some(column) = self.find_named(&columns, is_id) {
                let wrong = wrong!(
                    "{} is named as an id, expected {} to name the labels; {}, if all files have it",
                    self.title(column),
                    self.columns_option("--label-column", &columns, Some(column)),
                    by_id(&self.columns[column].name)
                );
                return Err(wrong).of(&self.path);
            }
        }
        if let Some(column) = id.filter(|column| columns.contains(column)) {
            let title = self.title(column);
            let wrong = wrong!("--id: {title} is one of the labels, expected another column");
            return Err(wrong).of(&self.path);
        }
        if columns.is_empty() {
            let wrong =
                wrong!("no column of labels that no other file has, expected --label-column");
            return Err(wrong).of(&self.path);
        }
        self.choice = Choice {
            id,
            left_out,
            ..Choice::default()
        };
        if are_numbers {
            self.choice.numbers = columns;
        } else {
            self.check_labels(&columns).of(&self.path)?;
            self.choice.labels = columns;
        }
        Ok(())
    }

    /// Chooses columns as text: those that are named, or all but an index, the column that names the rows, and keys.
    ///
    /// # Errors
    ///
    /// A column that is named and not there.
    pub fn choose_variables(
        &mut self,
        id: Option<&str>,
        spec: Option<&str>,
        is_key: impl Fn(&str) -> bool,
    ) -> Result<()> {
        let id = self.select_id(id)?;
        let labels = match spec {
            Some(spec) => self.select(spec, "--given")?,
            None => {
                let is_variable =
                    |column: &usize| Some(*column) != id && !is_key(&self.columns[*column].name);
                self.data_columns().filter(is_variable).collect()
            }
        };
        self.choice = Choice {
            labels,
            id,
            ..Choice::default()
        };
        Ok(())
    }

    /// Checks that labels are numbers or text.
    pub(super) fn check_labels(&self, columns: &[usize]) -> Result<()> {
        for &column in columns {
            let what = match &self.columns[column].kind {
                ColumnKind::Numbers | ColumnKind::Text => continue,
                ColumnKind::Lists => "lists",
                ColumnKind::Other(name) => name,
            };
            bail!(
                "{}: {what}, expected labels as numbers or text",
                self.title(column)
            );
        }
        Ok(())
    }
}
