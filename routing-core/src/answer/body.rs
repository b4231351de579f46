//! The JSON within an answer: white space and one Markdown code fence around it are tolerated.

use super::{AnswerError, AnswerFault};

/// The longest answer that is read, in bytes: 8 MiB.
pub const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

const FENCE: &[u8] = b"```";

/// What stands within the white space and the fence.
///
/// # Errors
///
/// Where the answer is too long or empty, or its fence is not closed.
pub(crate) fn body(answer: &[u8]) -> Result<&[u8], AnswerError> {
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

fn within_fence(fenced: &[u8]) -> Result<&[u8], AnswerError> {
    let cut_off = || {
        let reason = "the answer ends before its code fence is closed";
        AnswerError::new(AnswerFault::CutOff, "$", reason)
    };
    // The rest of the first line names the language.
    let line_end = fenced.iter().position(|byte| *byte == b'\n');
    let (language, rest) = fenced.split_at(line_end.ok_or_else(cut_off)?);
    if !matches!(language.trim_ascii(), b"" | b"json" | b"JSON") {
        let reason = "the code fence says that it holds something other than json";
        return Err(AnswerError::new(AnswerFault::Syntax, "$", reason));
    }
    let inside = rest.strip_suffix(FENCE).ok_or_else(cut_off)?;
    Ok(inside.trim_ascii())
}
