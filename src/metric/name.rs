use std::{
    fmt::Debug,
    hash::{DefaultHasher, Hash, Hasher},
};

/// File systems allow 255 bytes.
const LONGEST: usize = 120;

/// The title, and in brackets the parameters of a value where they are not the usual ones.
pub(super) fn name(title: &str, value: &impl Debug, usual: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text == format!("{usual:?}") {
        true => title.into(),
        false => with_parameters(title, &text),
    }
}

/// The title, and in brackets what a derived `Debug` shows of the parameters: values and names of
/// variants, without names of fields. What is too long for a file name ends with its hash.
pub(super) fn with_parameters(title: &str, debug: &str) -> String {
    let words = debug
        .split([' ', ',', '(', ')', '{', '}', '[', ']', '"'])
        .filter(|word| !word.is_empty() && !word.ends_with(':'));
    let parameters: Vec<&str> = words.skip(1).collect(); // the type is in the title
    let name = format!("{title} [{}]", parameters.join(" "));
    if name.len() <= LONGEST {
        return name;
    }
    let mut hasher = DefaultHasher::new();
    debug.hash(&mut hasher);
    let beginning: String = name.chars().take(LONGEST - 20).collect();
    format!("{beginning} {:016x}]", hasher.finish())
}
