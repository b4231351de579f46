//! What was said in a conversation, and what is known of a call that was interrupted.

use llm::{ChatPartial, Completeness};
use routing_core::model::Role;

use super::{INTERRUPTED, Talk};
use crate::commands::chat::usage_text;
use crate::palette::Tone;
use crate::visible::visible_piece;

impl Talk {
    pub(super) fn history(&mut self) {
        let history = self.conversation.history();
        if history.entries().is_empty() {
            return self.notice("Nothing was said yet.");
        }
        for entry in history.entries() {
            let who = match entry.message.role {
                Role::System => "system",
                Role::User => "you",
                Role::Assistant => "model",
                Role::Tool => "tool",
            };
            let name = self.palette.paint(Tone::Strong, &format!("{who}:"));
            self.screen.rows([name.as_str()]);
            self.screen.text(&visible_piece(&entry.message.text));
            match entry.completeness {
                Completeness::Whole => self.screen.end_row(),
                Completeness::Interrupted => self.marked(INTERRUPTED),
                Completeness::CutOff => self.marked("[cut off at the length limit]"),
            }
        }
    }
}

/// What is known of an interrupted call.
pub(super) fn partial_text(partial: &ChatPartial) -> String {
    let provider = match partial.at_provider {
        llm::AtProvider::NothingUnderWay => "no request was under way",
        llm::AtProvider::ConnectionClosed => "the connection is closed",
        llm::AtProvider::BeingTold => "the provider is being told to cancel it",
        llm::AtProvider::OnlyDiscarded => "the answer is no longer read",
    };
    let billed = if partial.may_be_billed() {
        "; it may still be billed"
    } else {
        ""
    };
    format!("{provider}{billed}; {}", usage_text(partial.usage))
}
