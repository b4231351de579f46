//! The JSON within an answer: white space and one Markdown code fence around it are tolerated.

use super::{AnswerError, AnswerFault};

/// The longest answer that is read, in bytes: 8 MiB.
pub const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

const FENCE: &[u8] = b"```";

/// What is within the white space and the fence.
///
/// # Errors
///
/// If the answer is too long or empty, or its fence is not closed.
pub fn body(answer: &[u8]) -> Result<&[u8], AnswerError> {
    if answer.len() > LONGEST_ANSWER {
        let reason = format!(
            "the answer has {} bytes; at most {LONGEST_ANSWER} are read",
            answer.len()
        );
        return Err(AnswerError::new(AnswerFault::TooLong, "$", reason));
    }
    let text = answer.trim_ascii();
    if text.is_empty() {
        let reason = "the answer is empty";
        return Err(AnswerError::new(AnswerFault::CutOff, "$", reason));
    }
    match text.strip_prefix(FENCE) {
        None => Ok(text),
        Some(fenced) => within_fence(fenced),
    }
}

/// What is within the white space and the fence of an answer that is still arriving, as far as it will be part of the
/// whole one; `None` while nothing of it has come.
///
/// # Errors
///
/// If the fence has something other than JSON in it.
pub(super) fn body_so_far(beginning: &[u8]) -> Result<Option<&[u8]>, AnswerError> {
    let text = beginning.trim_ascii_start();
    let inside = match text.strip_prefix(FENCE) {
        None if FENCE.starts_with(text) => None,
        None => Some(text),
        // The end may be part of the closing fence.
        Some(fenced) => after_language(fenced)?.map(|rest| without_last(rest, |byte| byte == b'`')),
    };
    // A number at the end may have more digits, a point, an exponent.
    let inside = inside.map(|inside| {
        let is_of_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
        without_last(inside, is_of_number)
    });
    Ok(inside.filter(|inside| !inside.is_empty()))
}

/// The text without white space, and what is meant, at its end.
fn without_last(text: &[u8], is_meant: impl Fn(u8) -> bool) -> &[u8] {
    let text = text.trim_ascii();
    let kept = text.iter().rposition(|byte| !is_meant(*byte));
    let end = kept.map_or(0, |last| last + 1);
    text.get(..end).unwrap_or_default().trim_ascii_end()
}

fn within_fence(fenced: &[u8]) -> Result<&[u8], AnswerError> {
    let cut_off = || {
        let reason = "the answer ends before its code fence is closed";
        AnswerError::new(AnswerFault::CutOff, "$", reason)
    };
    let rest = after_language(fenced)?.ok_or_else(cut_off)?;
    let inside = rest.strip_suffix(FENCE).ok_or_else(cut_off)?;
    Ok(inside.trim_ascii())
}

/// What follows the first line, whose rest names the language; `None` if that line does not end.
fn after_language(fenced: &[u8]) -> Result<Option<&[u8]>, AnswerError> {
    let Some(line_end) = fenced.iter().position(|byte| *byte == b'\n') else {
        return Ok(None);
    };
    let (language, rest) = fenced.split_at(line_end);
    if !matches!(language.trim_ascii(), b"" | b"json" | b"JSON") {
        let reason = "the code fence says that it holds something other than json";
        return Err(AnswerError::new(AnswerFault::Syntax, "$", reason));
    }
    Ok(Some(rest))
}
