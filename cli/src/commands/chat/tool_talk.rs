//! Tools on the terminal: the question whether one may do something, and the words when they are stopped.

use std::collections::{HashMap, VecDeque};

use interrupt_router::model::ToolRequest;
use serde_json::Value;
use tokio::time::Instant;

use super::shown_question::ShownQuestion;
use super::terminal::Talk;
use super::tools::PermissionQuestion;
use crate::reviewer::Consent;
use crate::visible::visible_lines;

/// The prompt's hint while a question is open.
pub(super) const QUESTION_HINT: &str = "y allows this call once · n denies it · e edits its arguments · v shows all of it · Ctrl+C stops";

/// The hint until an answer counts.
pub(super) const QUESTION_COMES: &str = "a question has come up: read it, then answer";

/// The rows of a preview that are shown at first.
const LONGEST_PREVIEW: usize = 60;

/// What is known of the tools of the run under way.
#[derive(Default)]
pub(super) struct ToolTalk {
    /// The open questions; the first one is shown.
    open: VecDeque<PermissionQuestion>,
    /// The phase of the first question, once it is shown.
    standing: Option<ShownQuestion>,
    /// What was being typed when the question came up.
    aside: Option<String>,
    /// Whether the arguments of the shown call are being edited.
    editing: bool,
    /// The arguments that a person has edited, by the calls' ids.
    edited: HashMap<String, String>,
    running: usize,
    /// Whether the first line after an interrupt was printed.
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

    /// Whether a line submitted now is an answer.
    pub(super) fn takes_answers(&mut self) -> bool {
        self.asks() && self.standing.is_some_and(|it| it.takes_answers())
    }

    /// When the question starts to take answers; `None` if it already does.
    pub(super) fn due(&self) -> Option<Instant> {
        self.standing.and_then(|standing| standing.due())
    }

    /// Everything is on the screen.
    pub(super) fn drawn(&mut self) {
        if let Some(standing) = &mut self.standing {
            standing.drawn(Instant::now());
        }
    }

    /// A key was pressed.
    pub(super) fn touched(&mut self) {
        if let Some(standing) = &mut self.standing {
            standing.touched(Instant::now());
        }
    }

    /// A request as it is executed: with the arguments that a person has edited.
    pub(super) fn as_edited(&mut self, request: ToolRequest) -> ToolRequest {
        match self.edited.remove(&request.id) {
            Some(arguments) => ToolRequest {
                arguments,
                ..request
            },
            None => request,
        }
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

    /// An interrupt is requested; returns whether it newly stops tools.
    pub(super) fn begin_stop(&mut self) -> bool {
        let has_tools = self.running > 0 || self.asks();
        has_tools && !std::mem::replace(&mut self.stopping, true)
    }

    /// The interrupt is over; returns whether it stopped tools.
    pub(super) fn over(&mut self) -> bool {
        self.running = 0;
        std::mem::take(&mut self.stopping)
    }
}

impl Talk {
    /// A tool needs a person's permission.
    pub(super) fn ask_permission(&mut self, question: PermissionQuestion) {
        self.tools.open.push_back(question);
    }

    /// Shows the next question if it is not shown, and restores the line if no question is open.
    pub(super) fn settle_questions(&mut self) {
        if !self.tools.asks() {
            self.tools.standing = None;
            if let Some(draft) = self.tools.aside.take() {
                // Half an answer to a question that is no longer open can be recalled.
                self.prompt.clear();
                self.prompt.put(&draft);
            }
            return;
        }
        let next = self.tools.open.front();
        let next = next.map(|question| question.request.digest);
        let is_shown = |standing: ShownQuestion| next.is_some_and(|next| standing.is_of(next));
        if !self.tools.standing.is_some_and(is_shown) {
            self.tools.standing = next.map(ShownQuestion::new);
            self.show_question(LONGEST_PREVIEW);
        }
    }

    /// The question was shown long enough: from now on typed text answers it. Text that was typed before is kept until the
    /// question is answered.
    pub(super) fn open_question(&mut self) {
        let standing = self.tools.standing.as_mut();
        let opens = standing.is_some_and(|standing| standing.open(Instant::now()));
        if opens && !self.prompt.is_empty() {
            let typed = self.prompt.take_out();
            self.tools.aside = Some(match self.tools.aside.take() {
                Some(before) => format!("{before} {typed}"),
                None => typed,
            });
        }
    }

    /// Something was submitted that was typed before the question was seen. It is kept and does not answer the question.
    pub(super) fn submitted_too_early(&mut self, line: &str) {
        self.prompt.put(line);
        if !line.is_empty() && self.tools.standing.as_mut().is_some_and(ShownQuestion::say) {
            self.notice("A question has come up. What you typed is kept until it is answered.");
        }
    }

    /// The line that was submitted while a question is open.
    pub(super) fn answered_question(&mut self, line: &str) {
        let text = line.trim();
        if std::mem::take(&mut self.tools.editing) && !text.is_empty() {
            return self.edited(text);
        }
        match Consent::read(text) {
            Consent::Allow => {
                if let Some(question) = self.tools.open.pop_front() {
                    question.allow();
                }
            }
            Consent::Deny(reason) => {
                if let Some(question) = self.tools.open.pop_front() {
                    question.deny(reason.unwrap_or_default());
                }
            }
            Consent::Edit(Some(json)) => self.edited(json),
            Consent::Edit(None) => {
                if let Some(question) = self.tools.open.front() {
                    self.prompt
                        .put(&question.request.call.arguments.to_string());
                    self.tools.editing = true;
                }
                self.notice("Edit the arguments, Enter runs the call with them.");
            }
            Consent::Show => self.show_question(usize::MAX),
            Consent::Help | Consent::Nothing => self.notice("Answer y, n, e or v."),
            Consent::Words(_) => {
                // It does not answer the question, and it is not lost either.
                if self.conversation.send_message(text).is_ok() {
                    self.notice("Kept as the next message. Answer y, n, e or v first.");
                }
            }
        }
    }

    fn edited(&mut self, text: &str) {
        match serde_json::from_str::<Value>(text) {
            Ok(arguments) => {
                if let Some(question) = self.tools.open.pop_front() {
                    let id = question.request.call.id.as_str().to_owned();
                    self.tools.edited.insert(id, arguments.to_string());
                    question.edit(arguments);
                }
            }
            Err(error) => {
                self.notice(&format!("That is no JSON ({error}); the call still waits."));
                self.prompt.put(text);
                self.tools.editing = true;
            }
        }
    }

    /// Shows the exact call that is asked about, and at most this many rows of what it would change.
    fn show_question(&mut self, most: usize) {
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
            rows.extend(lines.iter().take(most).map(|line| format!("  {line}")));
            let more = lines.len().saturating_sub(most);
            if more > 0 {
                rows.push(format!("  ({more} more lines: v shows all of them)"));
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
