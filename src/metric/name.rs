use serde::Serialize;
use serde_json::Value;

/// File systems allow 255 bytes.
const LONGEST: usize = 120;

/// The title, and in brackets the parameters that are not the usual ones, by the names that they are saved
/// under: a parameter that is added later, with its usual value, changes no name. What is too long for a
/// file name ends with its hash.
pub(super) fn name(title: &str, value: &impl Serialize, usual: &impl Serialize) -> String {
    let [value, usual] = [to_value(value), to_value(usual)];
    let mut words = Vec::new();
    differences(&value, &usual, &mut words);
    if words.is_empty() {
        return title.into();
    }
    let name = format!("{title} [{}]", words.join(" "));
    if name.len() <= LONGEST {
        return name;
    }
    let beginning: String = name.chars().take(LONGEST - 20).collect();
    format!("{beginning} {:016x}]", fnv1a(&name))
}

fn to_value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("parameters without maps of odd keys")
}

/// The words of the fields that differ.
fn differences(value: &Value, usual: &Value, words: &mut Vec<String>) {
    match (value, usual) {
        (value, usual) if value == usual => {}
        (Value::Object(fields), Value::Object(usual)) if fields.keys().eq(usual.keys()) => {
            for (key, field) in fields.iter().filter(|(key, field)| usual[*key] != **field) {
                words.push(key.clone());
                differences(field, &usual[key], words);
            }
        }
        (value, _) => spell(value, words),
    }
}

/// Collects all words of a value.
fn spell(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, field)| {
            words.push(key.clone());
            spell(field, words);
        }),
        Value::Array(entries) => entries.iter().for_each(|entry| spell(entry, words)),
        Value::String(text) => words.push(text.clone()),
        other => words.push(other.to_string()),
    }
}

/// The hash of Fowler, Noll and Vo: the same in every version of every language.
fn fnv1a(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
