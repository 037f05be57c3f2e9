//! Columns by name, number or range.

use super::clipped;
use crate::error::{Result, bail, ensure, wrong};

/// The column of one of some names, in whatever case.
pub fn by_name(names: &[String], any: &[&str]) -> Option<usize> {
    let is_one = |name: &String| any.contains(&&*name.to_lowercase());
    names.iter().position(is_one)
}

/// Whether all columns that an option names are there under their names.
pub fn are_named(spec: &str, names: &[String]) -> bool {
    let has = |word: &str| names.iter().any(|name| name == word.trim());
    let mut words = spec.split(',').flat_map(|word| word.split(".."));
    has(spec) || words.all(has)
}

/// Whether a column is of a list or an object that a path names: `p.1` of `p`, and of `p.*.0`.
fn is_element(name: &str, path: &str) -> bool {
    let path = path.split_once(".*").map_or(path, |(list, _)| list);
    let rest = name.strip_prefix(path);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// The columns that an option names: `cat,dog`, `p0..p9`, `1-10`, with numbers from 0; and the elements of what a
/// path of JSON Lines names, under their own names.
pub fn select(spec: &str, names: &[String], width: usize, option: &str) -> Result<Vec<usize>> {
    let one = |word: &str| -> Result<usize> {
        let word = word.trim();
        let mut columns = (0..names.len()).filter(|&column| names[column] == word);
        let named = columns.next();
        if let Some((first, second)) = named.zip(columns.next()) {
            bail!(
                "{option}: columns {first} and {second} are both named \"{}\", expected a number, counted from 0, or a \
                 name of one column",
                clipped(word)
            );
        }
        let counted = || word.parse().ok().filter(|&column| column < width);
        named.or_else(counted).ok_or_else(|| {
            let names = match names {
                [] => String::new(),
                names => format!(" or one of {}", clipped(&names.join(", "))),
            };
            wrong!(
                "{option}: no column \"{}\", expected a number below {width}{names}",
                clipped(word)
            )
        })
    };
    let range = |word: &str| {
        let of_numbers = || {
            let ends = word.split_once('-');
            ends.filter(|(first, _)| first.trim().parse::<usize>().is_ok())
        };
        match (one(word), word.split_once("..").or_else(of_numbers)) {
            (Err(_), Some((first, last))) => Ok(one(first)?..=one(last)?),
            (column, _) => column.map(|column| column..=column),
        }
    };
    let columns: Vec<usize> = if let Ok(whole) = one(spec) {
        vec![whole]
    } else {
        let mut columns = Vec::new();
        for word in spec.split(',') {
            let path = Some(word.trim()).filter(|path| path.parse::<f64>().is_err());
            let of_path =
                |column: &usize| path.is_some_and(|path| is_element(&names[*column], path));
            let elements: Vec<usize> = (0..names.len()).filter(of_path).collect();
            match range(word) {
                Err(_) if !elements.is_empty() => columns.extend(elements),
                found => columns.extend(found?),
            }
        }
        columns
    };
    let mut seen = vec![false; width];
    for &column in &columns {
        if std::mem::replace(&mut seen[column], true) {
            bail!("{option}: column {column} twice, expected it once");
        }
    }
    ensure!(
        !columns.is_empty(),
        "{option} {}: no column, expected a range that rises; a name comes before a number",
        clipped(spec)
    );
    Ok(columns)
}
