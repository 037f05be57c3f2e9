//! The rows of files side by side: in their order, which columns that files share must agree with, or by the column of
//! `--id`.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    path::Path,
};

use super::File;
use crate::{
    TextColumn, clipped,
    error::{Context, Result, bail, wrong},
    is_missing, titled,
};

/// The rows of each file in the order of the first, by the columns of `--id`; none where they are in that order, or where
/// there are no such columns.
pub fn by_id(files: &[&File]) -> Result<Vec<Option<Vec<usize>>>> {
    let mut orders = vec![None; files.len()];
    let Some((first, others)) = files.split_first() else {
        return Ok(orders);
    };
    let Some(ids) = &first.table.ids else {
        return Ok(orders);
    };
    let own = places(&first.path, ids)?;
    for (at, other) in others.iter().enumerate() {
        if let Some(found) = &other.table.ids {
            orders[at + 1] = order((first, &own), (other, found))?;
        }
    }
    Ok(orders)
}

/// The row of each id of a file.
type Places<'a> = HashMap<Cow<'a, str>, usize>;

/// The row of each id of a file in another.
fn order(
    (file, own): (&File, &Places),
    (other, found): (&File, &TextColumn),
) -> Result<Option<Vec<usize>>> {
    let others = places(&other.path, found)?;
    let mut order = vec![0; own.len()];
    for (id, &row) in own {
        let Some(&place) = others.get(id) else {
            return Err(no_row(&other.path, id, row, &file.path));
        };
        order[row] = place;
    }
    if let Some((id, &row)) = others.iter().find(|(id, _)| !own.contains_key(*id)) {
        return Err(no_row(&file.path, id, row, &other.path));
    }
    let is_same = order.iter().enumerate().all(|(row, place)| row == *place);
    Ok((!is_same).then_some(order))
}

fn no_row(path: &Path, id: &str, row: usize, from: &Path) -> crate::error::Error {
    wrong!(
        "{}: no row has the id {}, which row {row} of {} has, expected the same ids in both",
        path.display(),
        clipped(id),
        from.display()
    )
}

fn places<'a>(path: &Path, ids: &'a TextColumn) -> Result<Places<'a>> {
    let mut places = HashMap::new();
    for (row, cell) in ids.cells.iter().enumerate() {
        if cell.is_empty() {
            return Err(wrong!("no id, expected one").at(row, titled(ids.at, &ids.name))).of(path);
        }
        if let Some(first) = places.insert(plain(cell), row) {
            bail!(
                "{}: rows {first} and {row} have the id {}, expected each id once",
                path.display(),
                clipped(cell)
            );
        }
    }
    Ok(places)
}

/// An id without what programs add to it: the decimals of whole numbers, and the hours of days. Times have a space
/// before the hour, no zeros after the seconds, and `+00:00` for `Z`.
fn plain(id: &str) -> Cow<'_, str> {
    let is_time = id.is_ascii() && id.len() > 15 && id.as_bytes()[13] == b':';
    if !is_time {
        return id.strip_suffix(".0").unwrap_or(id).into();
    }
    let (day, clock) = (&id[..10], &id[11..]);
    let (clock, zone) = match clock.find(['+', '-', 'Z']) {
        Some(at) if clock[at..] == *"Z" => (&clock[..at], "+00:00"),
        Some(at) => clock.split_at(at),
        None => (clock, ""),
    };
    let clock = match clock.split_once('.') {
        Some((seconds, rest)) if rest.bytes().all(|byte| byte == b'0') => seconds,
        Some(_) => clock.trim_end_matches('0'),
        None => clock,
    };
    match (clock, zone) {
        ("00:00:00", "") => day.into(),
        _ => format!("{day} {clock}{zone}").into(),
    }
}

/// Checks that columns that files share agree row by row.
pub fn check_shared(files: &[&File]) -> Result<()> {
    for (at, other) in files.iter().enumerate() {
        for column in &other.table.others {
            let name = shared_name(&column.name);
            for file in &files[..at] {
                let is_same = |known: &&TextColumn| shared_name(&known.name) == name;
                let Some(known) = file.table.others.iter().find(is_same) else {
                    continue;
                };
                check_column((file, known), (other, column))?;
            }
        }
    }
    Ok(())
}

fn check_column(
    (file, known): (&File, &TextColumn),
    (other, column): (&File, &TextColumn),
) -> Result<()> {
    let mut pairs = known.cells.iter().zip(column.cells.iter()).enumerate();
    let Some((row, (expected, found))) = pairs.find(|(_, (a, b))| !is_same_cell(a, b)) else {
        return Ok(());
    };
    let by_id = id_option(&[file, other], (known, column)).filter(|_| has_same_ids(known, column));
    let remedy = match by_id {
        Some(by_id) => {
            format!("{by_id} matches them by this column, and --by-position does not compare it")
        }
        None => "--by-position does not compare this column".into(),
    };
    let wrong = wrong!(
        "{}, expected {} as in {} of {}, because rows are matched by their order; {remedy}",
        clipped(found),
        clipped(expected),
        file.table.lines.name(row),
        file.path.display()
    );
    Err(wrong.at(row, titled(column.at, &column.name))).on(&other.path, &other.table.lines)
}

/// Whether both columns name the same rows, each once.
fn has_same_ids(one: &TextColumn, other: &TextColumn) -> bool {
    let [own, others] =
        [one, other].map(|column| -> HashSet<_> { column.cells.iter().map(plain).collect() });
    own.len() == one.cells.len() && own == others
}

/// The option that matches rows by a column of two files, if one does: that of its name, or of an index of other names its
/// place, unless another column has this number as its name.
fn id_option(files: &[&File], (known, column): (&TextColumn, &TextColumn)) -> Option<String> {
    let is_named = !column.name.is_empty() && known.name == column.name;
    if is_named || !shared_name(&column.name).is_empty() {
        return Some(format!("--id {}", clipped(&column.name)));
    }
    if known.at != column.at {
        return None;
    }
    let place = column.at.to_string();
    let is_name = |file: &&File| {
        let texts = file.table.labels.iter().chain(&file.table.others);
        let names = texts.map(|text| &text.name).chain(&file.table.names);
        names.into_iter().any(|name| *name == place)
    };
    Some(if files.iter().any(is_name) {
        "--id=".into()
    } else {
        format!("--id {place}")
    })
}

/// The name under which files share a column: in small letters, and that of an index of pandas is empty.
pub fn shared_name(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    match &*lower {
        "__index_level_0__" | "unnamed: 0" => String::new(),
        _ => lower,
    }
}

/// Whether two cells hold the same.
fn is_same_cell(one: &str, other: &str) -> bool {
    if plain(one) == plain(other) || is_missing(one) && is_missing(other) {
        return true;
    }
    let is_whole = |cell: &str| cell.bytes().all(|byte| byte.is_ascii_digit());
    let number = |cell: &str| cell.parse::<f64>().ok();
    // whole numbers above 2⁵³ differ although their nearest numbers do not
    !(is_whole(one) && is_whole(other)) && number(one).is_some_and(|x| number(other) == Some(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_the_same_as_programs_write_them() {
        for (one, other, is_same) in [
            ("7", "7.0", true),
            ("0.5", "0.50", true),
            ("9007199254740993", "9007199254740992", false),
            ("2024-01-01", "2024-01-01 00:00:00", true),
            ("2024-01-01T12:30:00.000", "2024-01-01 12:30:00", true),
            ("2024-01-01T12:30:00.250", "2024-01-01 12:30:00.25", true),
            ("2024-01-01T12:30:00Z", "2024-01-01 12:30:00+00:00", true),
            ("2024-01-01 12:30:00", "2024-01-01 12:30:01", false),
            ("2024-01-01", "2024-01-02", false),
            ("", "NA", true),
            ("", "0", false),
            ("a", "A", false),
        ] {
            assert_eq!(is_same_cell(one, other), is_same, "{one} {other}");
        }
    }
}
