//! Answers as text on standard output.

use std::io::{self, Write};

use interrupt_router::model::CallNote;
use llm::ConversationEvent;
use tools::wording;

use super::lines::Output;
use super::{ended_line, tool_line, usage_text};
use crate::arguments::Global;
use crate::exit::tell;
use crate::visible::{visible_line, visible_piece};

/// Writes each piece as it arrives, and a line break behind each answer.
#[derive(Debug)]
pub(super) struct Plain {
    global: Global,
    /// Whether the current line has text.
    in_line: bool,
    /// How many tools run.
    running: usize,
    /// Whether a signal came while tools ran.
    stopping: bool,
}

impl Plain {
    pub(super) fn new(global: Global) -> Self {
        Self {
            global,
            in_line: false,
            running: 0,
            stopping: false,
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        if let Some(last) = text.chars().last() {
            self.in_line = last != '\n';
        }
        let mut output = io::stdout().lock();
        output.write_all(text.as_bytes())?;
        output.flush()
    }

    fn marked(&mut self, mark: &str) -> io::Result<()> {
        let gap = if self.in_line { " " } else { "" };
        self.write(&format!("{gap}{mark}\n"))
    }

    /// Everything but answers goes to standard error.
    fn aside(&self, text: &str) {
        if !self.global.quiet {
            tell(visible_line(text));
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        let end = if self.in_line { "\n" } else { "" };
        self.write(end)
    }
}

impl Output for Plain {
    fn interrupting(&mut self) -> io::Result<()> {
        if self.running > 0 && !std::mem::replace(&mut self.stopping, true) {
            self.end_line()?;
            self.aside(wording::RECEIVED);
        }
        Ok(())
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what happens beside the answers is not written"
    )]
    fn show_event(&mut self, event: &ConversationEvent) -> io::Result<()> {
        match event {
            ConversationEvent::Piece { text } => self.write(&visible_piece(text)),
            ConversationEvent::Restarted => self.marked("[broke off; asked again]"),
            ConversationEvent::Noted { note } => {
                if *note != CallNote::GoesOn {
                    self.aside(&note.to_string());
                }
                Ok(())
            }
            ConversationEvent::Answered { usage, cut_off, .. } => {
                if *cut_off {
                    self.marked("[cut off at the length limit]")?;
                }
                self.end_line()?;
                if self.global.verbose > 0 {
                    tell(usage_text(*usage));
                }
                Ok(())
            }
            ConversationEvent::Interrupted {
                partial: Some(_), ..
            } => self.marked("[interrupted]"),
            ConversationEvent::ToolStarted { request } => {
                self.running += 1;
                self.end_line()?;
                self.aside(&tool_line(request));
                Ok(())
            }
            ConversationEvent::ToolEnded { request, result } => {
                self.running = self.running.saturating_sub(1);
                self.aside(&ended_line(request, result, self.stopping));
                Ok(())
            }
            ConversationEvent::Interrupted { partial: None, .. } if self.stopping => {
                self.stopping = false;
                self.aside(wording::CHOICES);
                self.end_line()
            }
            ConversationEvent::Interrupted { partial: None, .. }
            | ConversationEvent::Failed { .. } => self.end_line(),
            _ => Ok(()),
        }
    }
}
