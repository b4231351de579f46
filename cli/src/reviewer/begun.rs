//! What a person had begun to write as an answer when Esc was pressed.

use crate::keyboard::DraftAnswer;
use crate::layout::{screen_size, wrap};
use crate::visible::visible_line;

impl DraftAnswer {
    /// The text for a person who is asked again.
    pub(super) fn text(&self) -> String {
        let (columns, _rows) = screen_size();
        let how = if self.is_answer {
            " — Enter alone sends it"
        } else {
            ""
        };
        let words = format!("You had written: {}{how}", visible_line(&self.words));
        let lines = wrap(&words, columns - 1, "  ");
        format!("\n{}\n", lines.join("\n"))
    }

    /// The line that is meant: an empty answer means what was begun.
    pub(super) fn meant(begun: Option<&Self>, line: String, is_answer: bool) -> String {
        match begun {
            Some(begun) if begun.is_answer && is_answer && line.trim().is_empty() => {
                begun.words.clone()
            }
            Some(_) | None => line,
        }
    }

    /// What is kept for the next time: what was begun now, or else what was begun before.
    pub(super) fn or(self, before: Option<Self>) -> Self {
        match before {
            Some(before) if self.words.trim().is_empty() => before,
            Some(_) | None => self,
        }
    }
}
