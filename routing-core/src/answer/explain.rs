//! Saying what is wrong with an answer: it is read again, with its path tracked.

use std::fmt::Write;

use serde_json::error::Category;
use serde_path_to_error::{Path, Segment, Track};

use super::read::Form;
use super::strict::Strict;
use super::watch::{Note, Notes};
use super::{AnswerError, AnswerFault};

/// The fault of a text that could not be read.
#[cold]
pub(super) fn explain<F: Form>(form: &F, text: &[u8]) -> AnswerError {
    let notes = Notes::default();
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_slice(text);
    let strict = Strict::new(&mut json, &notes);
    let tracked = serde_path_to_error::Deserializer::new(strict, &mut track);
    match form.read(tracked, &notes).map(|_value| ()) {
        Err(error) => fault_of(&error, &track.path(), notes.into_first()),
        Ok(()) => match json.end() {
            Err(error) => {
                let reason = format!("more text follows the JSON value ({error})");
                AnswerError::new(AnswerFault::Syntax, "$", reason)
            }
            // A type whose reading does not give the same result twice; nothing more can be said.
            Ok(()) => AnswerError::new(
                AnswerFault::WrongShape,
                "$",
                "the answer was refused at first reading and taken at the second",
            ),
        },
    }
}

fn fault_of(error: &serde_json::Error, path: &Path, note: Option<Note>) -> AnswerError {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let bare = message.strip_suffix(&place).unwrap_or(&message);
    let mut path = path_text(path);
    match error.classify() {
        Category::Eof => {
            let reason = format!("the answer is cut off: {message}");
            AnswerError::new(AnswerFault::CutOff, path, reason)
        }
        Category::Syntax | Category::Io => AnswerError::new(AnswerFault::Syntax, path, message),
        Category::Data => {
            let fault = note
                .as_ref()
                .map_or_else(|| fault_of_message(bare), |note| note.fault);
            let key = match &note {
                Some(Note { key: Some(key), .. }) => Some(key.as_str()),
                _ => key_of_message(bare),
            };
            if let Some(key) = key {
                push_key(&mut path, key);
            }
            AnswerError::new(fault, path, bare)
        }
    }
}

/// How messages begin that are about a key which the path does not hold yet, for it was refused
/// before its value was reached.
const ABOUT_KEYS: [&str; 5] = [
    "unknown field `",
    "duplicate field `",
    "missing field `",
    "the route `",
    "the field `",
];

/// The fault behind an error of serde's derived code, which has no kinds but words.
fn fault_of_message(message: &str) -> AnswerFault {
    if message.starts_with("unknown field `") {
        AnswerFault::UnknownField
    } else if message.starts_with("duplicate field `") {
        AnswerFault::DuplicateKey
    } else {
        AnswerFault::WrongShape
    }
}

fn key_of_message(message: &str) -> Option<&str> {
    let rest = ABOUT_KEYS
        .iter()
        .find_map(|start| message.strip_prefix(start))?;
    rest.split_once('`').map(|(key, _after)| key)
}

fn path_text(path: &Path) -> String {
    let mut text = "$".to_owned();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => {
                // Writing to a string cannot fail.
                let _written = write!(text, "[{index}]");
            }
            Segment::Map { key } => push_key(&mut text, key),
            Segment::Enum { variant } => push_key(&mut text, variant),
            // Inside of what serde buffers, or a key that is no text.
            Segment::Unknown => text.push_str("[?]"),
        }
    }
    text
}

fn push_key(path: &mut String, key: &str) {
    let is_plain = !key.is_empty()
        && key
            .chars()
            .all(|char| char.is_alphanumeric() || char == '_');
    if is_plain {
        path.push('.');
        path.push_str(key);
    } else {
        let _written = write!(path, "[{key:?}]");
    }
}
