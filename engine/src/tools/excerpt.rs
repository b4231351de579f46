//! Excerpts of large calls for questions. The journal has the whole call; a question shows the beginning, the true size
//! and the digest.

use interrupts::Digest;
use serde_json::Value;

/// The most bytes of a text in a question. Written as JSON within JSON a byte may take seven; a question has four such
/// texts, and stays below the MiB that the store takes.
const MOST_SHOWN: usize = 24 * 1024;

/// The most bytes of each text in arguments that are too long together.
const MOST_OF_EACH: usize = 2 * 1024;

/// What a question shows of a value, and whether that is all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt<T> {
    pub(super) value: T,
    pub(super) is_whole: bool,
}

/// A text, or its beginning.
pub(super) fn text(whole: &str) -> Excerpt<String> {
    let is_whole = whole.len() <= MOST_SHOWN;
    let value = beginning(whole, MOST_SHOWN);
    Excerpt { value, is_whole }
}

/// The arguments of a call. Where they are too long together, each long text is shortened; where that is not enough, all
/// of them become one shortened text.
pub(super) fn arguments(whole: &Value) -> Excerpt<Value> {
    let written = whole.to_string();
    if written.len() <= MOST_SHOWN {
        return Excerpt {
            value: whole.clone(),
            is_whole: true,
        };
    }
    let short = shortened(whole);
    let value = if short.to_string().len() <= MOST_SHOWN {
        short
    } else {
        Value::String(beginning(&written, MOST_SHOWN))
    };
    Excerpt {
        value,
        is_whole: false,
    }
}

fn shortened(whole: &Value) -> Value {
    match whole {
        Value::String(text) => Value::String(beginning(text, MOST_OF_EACH)),
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), shortened(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => whole.clone(),
    }
}

fn beginning(whole: &str, most: usize) -> String {
    if whole.len() <= most {
        return whole.to_owned();
    }
    let end = whole.floor_char_boundary(most);
    format!(
        "{}\n[the first {end} of {} bytes; the whole has the digest {}]",
        &whole[..end],
        whole.len(),
        Digest::of(whole.as_bytes())
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{arguments, text};

    #[test]
    fn what_is_short_is_shown_whole_and_what_is_long_with_its_size_and_digest() {
        let short = json!({"path": "a", "content": "flour"});
        let shown = arguments(&short);
        assert!(shown.is_whole);
        assert_eq!(shown.value, short);
        let long = json!({"path": "a", "content": "é".repeat(150_000)});
        let shown = arguments(&long);
        assert!(!shown.is_whole);
        assert_eq!(shown.value["path"], "a");
        let content = shown.value["content"].as_str().unwrap();
        assert!(content.contains("of 300000 bytes; the whole has the digest"));
        let many = json!({"lines": vec!["x".repeat(1_000); 1_000]});
        let shown = arguments(&many);
        assert!(shown.value.as_str().unwrap().len() < 25 * 1024);
        assert!(text("flour").is_whole && !text(&"x".repeat(25_000)).is_whole);
    }

    #[test]
    fn texts_that_differ_behind_their_excerpts_are_shown_differently() {
        let of = |end: &str| text(&format!("{}{end}", "x".repeat(30_000))).value;
        assert_ne!(of("a"), of("b"));
    }
}
