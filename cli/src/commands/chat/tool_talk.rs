//! Tools on the terminal: the question whether one may do something, and the words when they are stopped.

use std::collections::VecDeque;

use serde_json::Value;

use super::terminal::Talk;
use super::tools::Question;
use crate::visible::visible_lines;

/// What stands in the prompt while a question is open.
pub(super) const QUESTION_HINT: &str =
    "y allows this call once · n denies it · e edits its arguments · Ctrl+C stops";

/// The rows of a preview that are shown.
const LONGEST_PREVIEW: usize = 60;

/// What is known of the tools of the run under way.
#[derive(Default)]
pub(super) struct ToolTalk {
    /// What is asked, the first of it shown.
    open: VecDeque<Question>,
    /// Whether the arguments of the shown call are being edited.
    editing: bool,
    running: usize,
    /// Whether the first line after an interrupt has been said.
    stopping: bool,
}

impl ToolTalk {
    /// Whether a question waits for its answer.
    pub(super) fn asks(&mut self) -> bool {
        let shown = self.open.len();
        self.open.retain(|question| !question.is_void());
        if self.open.len() != shown {
            self.editing = false;
        }
        !self.open.is_empty()
    }

    /// How many tools run.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    pub(super) fn started(&mut self) {
        self.running += 1;
    }

    /// A tool has ended; whether it was because of an interrupt.
    pub(super) fn ended(&mut self) -> bool {
        self.running = self.running.saturating_sub(1);
        self.stopping
    }

    /// An interrupt is asked for; whether tools are to be stopped that were not before.
    pub(super) fn begin_stop(&mut self) -> bool {
        let has_tools = self.running > 0 || self.asks();
        has_tools && !std::mem::replace(&mut self.stopping, true)
    }

    /// The interrupt is over; whether it stopped tools.
    pub(super) fn over(&mut self) -> bool {
        self.running = 0;
        std::mem::take(&mut self.stopping)
    }
}

impl Talk {
    /// A tool may do something only if a person says so.
    pub(super) fn asked(&mut self, question: Question) {
        let is_first = !self.tools.asks();
        self.tools.open.push_back(question);
        if is_first {
            self.show_question();
        }
    }

    /// The line that was submitted while a question is open.
    pub(super) fn answered_question(&mut self, line: &str) {
        let text = line.trim();
        if std::mem::take(&mut self.tools.editing) && !text.is_empty() {
            return self.edited(text);
        }
        let (word, reason) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "y" | "yes" => {
                if let Some(question) = self.tools.open.pop_front() {
                    question.allow();
                }
            }
            "n" | "no" => {
                if let Some(question) = self.tools.open.pop_front() {
                    question.deny(reason.trim());
                }
            }
            "e" | "edit" => {
                if let Some(question) = self.tools.open.front() {
                    self.prompt
                        .put(&question.request.call.arguments.to_string());
                    self.tools.editing = true;
                }
                return self.notice("Edit the arguments, Enter runs the call with them.");
            }
            "" => return self.notice("Answer y, n or e."),
            _ => {
                // It is no answer, and not lost either.
                if self.conversation.send_message(text).is_ok() {
                    self.notice("Kept as the next message. Answer y, n or e first.");
                }
                return;
            }
        }
        self.show_question();
    }

    fn edited(&mut self, text: &str) {
        match serde_json::from_str::<Value>(text) {
            Ok(arguments) => {
                if let Some(question) = self.tools.open.pop_front() {
                    question.edit(arguments);
                }
                self.show_question();
            }
            Err(error) => {
                self.notice(&format!("That is no JSON ({error}); the call still waits."));
                self.prompt.put(text);
                self.tools.editing = true;
            }
        }
    }

    /// Shows the exact call that is asked about, and what it would change.
    fn show_question(&mut self) {
        let Some(question) = self.tools.open.front() else {
            return;
        };
        let request = &question.request;
        let mut rows = vec![
            format!("The model wants to run {}:", request.call.tool),
            format!("  {}", request.call.arguments),
        ];
        if let Some(preview) = &request.preview {
            let lines: Vec<&str> = preview.lines().collect();
            rows.extend(
                lines
                    .iter()
                    .take(LONGEST_PREVIEW)
                    .map(|line| format!("  {line}")),
            );
            if lines.len() > LONGEST_PREVIEW {
                let more = lines.len() - LONGEST_PREVIEW;
                rows.push(format!("  ({more} more lines)"));
            }
        }
        for row in rows {
            for line in visible_lines(&row) {
                self.question_row(&line);
            }
        }
        self.notice("Allow exactly this, once? y, n, or e to edit it");
    }
}
