//! Saying what is wrong with an answer: it is read again, with its path tracked.

use std::fmt::Write;

use serde_json::error::Category;
use serde_path_to_error::{Path, Segment, Track};

use super::read::AnswerForm;
use super::strict::Strict;
use super::watch::{Note, Notes, Unwatched};
use super::{AnswerError, AnswerFault};

/// The most characters of a path or a reason: it is shown to people, and to the model again.
const LONGEST_TEXT: usize = 400;

/// The fault of a text that could not be read.
#[cold]
pub(super) fn explain<F: AnswerForm>(form: &F, text: &[u8]) -> AnswerError {
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

/// The fault that reading meets before it comes to the end of the text; `None` if it comes there.
pub(super) fn fault_before_end<F: AnswerForm>(form: &F, text: &[u8]) -> Option<AnswerError> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let read = form
        .read(Strict::new(&mut json, Unwatched), Unwatched)
        .and_then(|_value| json.end());
    let error = read.err()?;
    (error.classify() != Category::Eof).then(|| explain(form, text))
}

fn fault_of(error: &serde_json::Error, path: &Path, note: Option<Note>) -> AnswerError {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let bare = message.strip_suffix(&place).unwrap_or(&message);
    let mut path = path_text(path);
    let (fault, reason) = match error.classify() {
        Category::Eof => (
            AnswerFault::CutOff,
            format!("the answer is cut off: {message}"),
        ),
        // The text continues after the end of a list of known length; text after the whole value is found elsewhere.
        Category::Syntax if bare == "trailing characters" => (
            AnswerFault::WrongShape,
            "the list has more elements than it may".to_owned(),
        ),
        Category::Syntax | Category::Io => (AnswerFault::Syntax, shortened(&message)),
        Category::Data => {
            let (fault, key) = match note {
                Some(Note { fault, key }) => (fault, key),
                None => of_message(bare),
            };
            if let Some(key) = key {
                push_key(&mut path, &key);
            }
            (fault, shortened(bare))
        }
    };
    AnswerError::new(fault, shortened(&path), reason)
}

/// The fault behind an error of serde's derived code, which has no kinds, only words, and the key that it is about if
/// the path does not have it.
fn of_message(message: &str) -> (AnswerFault, Option<String>) {
    let key_after = |start: &str| {
        let (key, _after) = message.strip_prefix(start)?.split_once('`')?;
        Some(key.to_owned())
    };
    if let Some(key) = key_after("duplicate field `") {
        (AnswerFault::DuplicateKey, Some(key))
    } else if let Some(key) = key_after("missing field `") {
        (AnswerFault::WrongShape, Some(key))
    } else if message.starts_with("unknown field `") {
        (AnswerFault::UnknownField, None)
    } else if message.starts_with("invalid type: sequence, expected an object")
        || message.starts_with("invalid type: sequence, expected a map")
    {
        (AnswerFault::ArrayForObject, None)
    } else {
        (AnswerFault::WrongShape, None)
    }
}

/// A text that may repeat a part of the answer, which may be long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _char)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn path_text(path: &Path) -> String {
    let mut text = "$".to_owned();
    let mut segments = path.iter().peekable();
    while let Some(segment) = segments.next() {
        match segment {
            Segment::Seq { index } => {
                // Writing to a string cannot fail.
                let _written = write!(text, "[{index}]");
            }
            Segment::Map { key } => push_key(&mut text, key),
            Segment::Enum { variant } => push_key(&mut text, variant),
            // A key that was not read to its end, which says nothing at the end of a path.
            Segment::Unknown if segments.peek().is_none() => {}
            Segment::Unknown => text.push_str("[?]"),
        }
    }
    text
}

pub(super) fn push_key(path: &mut String, key: &str) {
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
