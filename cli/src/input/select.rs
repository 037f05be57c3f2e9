//! Columns by name, number or range.

use super::{Result, array::clipped};

/// The column of one of some names, in whatever case.
pub fn by_name(names: &[String], any: &[&str]) -> Option<usize> {
    let is_one = |name: &String| any.contains(&&*name.to_lowercase());
    names.iter().position(is_one)
}

/// The columns that an option names: `cat,dog`, `p0..p9`, `1-10`, with numbers from 0.
pub fn select(spec: &str, names: &[String], width: usize, option: &str) -> Result<Vec<usize>> {
    let one = |word: &str| -> Result<usize> {
        let word = word.trim();
        let named = names.iter().position(|name| name == word);
        let counted = || word.parse().ok().filter(|&column| column < width);
        named.or_else(counted).ok_or_else(|| {
            let names = match names {
                [] => String::new(),
                names => format!(" or one of {}", clipped(&names.join(", "))),
            };
            format!(
                "{option}: no column \"{}\", expected a number below {width}{names}",
                clipped(word)
            )
        })
    };
    let mut columns = Vec::new();
    let whole = one(spec).ok().map(|column| vec![column]);
    let words = || {
        spec.split(',')
            .map(|word| match (one(word), word.split_once("..")) {
                (Ok(column), _) => Ok(column..=column),
                (_, Some((first, last))) => Ok(one(first)?..=one(last)?),
                (wrong, None) => match word.split_once('-') {
                    Some((first, last)) if first.trim().parse::<usize>().is_ok() => {
                        Ok(one(first)?..=one(last)?)
                    }
                    _ => wrong.map(|column| column..=column),
                },
            })
    };
    match whole {
        Some(whole) => columns = whole,
        None => {
            for range in words() {
                columns.extend(range?);
            }
        }
    }
    let mut seen = vec![false; width];
    for &column in &columns {
        if std::mem::replace(&mut seen[column], true) {
            return Err(format!("{option}: column {column} twice, expected it once"));
        }
    }
    match columns.is_empty() {
        true => Err(format!("{option} {}: no column", clipped(spec))),
        false => Ok(columns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_ranges() {
        let names = ["id", "p0", "p1", "sea-lion", "2"].map(str::to_owned);
        let of = |spec: &str| select(spec, &names, 5, "--columns");
        assert_eq!(of("p0..sea-lion"), Ok(vec![1, 2, 3]));
        assert_eq!(of("1-3"), Ok(vec![1, 2, 3]));
        assert_eq!(of("sea-lion, 1"), Ok(vec![3, 1]));
        assert_eq!(of("2"), Ok(vec![4])); // a name before a number
        assert_eq!(
            of("9").unwrap_err(),
            "--columns: no column \"9\", expected a number below 5 or one of id, p0, p1, sea-lion, 2"
        );
        for wrong in ["", "p0,p0", "3..p0", "1-9", "-", "a..b"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
