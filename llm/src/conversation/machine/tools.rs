//! The part of a conversation's life that is about tools: each request always gets exactly one result.

use interrupt_router::model::ToolRequest;

use super::open_calls::OpenCalls;
use super::{Machine, NextAction, RunNumber};
use crate::conversation::event::ConversationEvent;
use crate::conversation::history::Completeness;
use crate::conversation::tools::ToolResult;

impl Machine {
    /// Tools may be asked for, in so many rounds of a run between two messages of the user.
    pub(crate) fn with_tools(self, rounds: u32) -> Self {
        Self {
            most_rounds: Some(rounds),
            ..self
        }
    }

    /// The tools that are to run next, if any.
    pub(super) fn next_tools(&mut self) -> Option<NextAction> {
        if self.open.is_empty() {
            return None;
        }
        let most = self.most_rounds.unwrap_or_default();
        if self.rounds >= most {
            return Some(NextAction::RoundsUsedUp(most));
        }
        self.rounds += 1;
        Some(NextAction::Tools(self.open.start()))
    }

    /// A tool starts.
    pub(crate) fn tool_started(&mut self, run: RunNumber, index: usize) {
        if self.asked_of(run).is_some()
            && let Some(request) = self.open.started(index)
        {
            self.events.push(ConversationEvent::ToolStarted { request });
        }
    }

    /// A tool has its result. A later one for the same request changes nothing.
    pub(crate) fn tool_ended(&mut self, run: RunNumber, index: usize, result: ToolResult) {
        if self.asked_of(run).is_some() {
            self.keep_result(index, result);
        }
    }

    /// All tools have ended that the run waited for.
    pub(crate) fn tools_ended(&mut self, run: RunNumber, results: Vec<ToolResult>) {
        if self.asked_of(run).is_none() {
            return;
        }
        for (index, result) in results.into_iter().enumerate() {
            self.keep_result(index, result);
        }
        self.settle_tools();
    }

    /// What a model asks for with an answer: none of it counts where it has no tools.
    pub(super) fn taken(&self, requests: Vec<ToolRequest>) -> Vec<ToolRequest> {
        if self.most_rounds.is_some() {
            return requests;
        }
        if !requests.is_empty() {
            tracing::warn!(
                count = requests.len(),
                "tools are asked for, and there are none"
            );
        }
        Vec::new()
    }

    /// From now on these wait for their results.
    pub(super) fn open(&mut self, requests: Vec<ToolRequest>) {
        self.open = OpenCalls::of(requests);
    }

    /// Gives every request its one result: what is known of it, or that it never ran, or that its end is unknown.
    pub(super) fn settle_tools(&mut self) {
        for (index, result) in self.open.unsaid() {
            self.keep_result(index, result);
        }
        for message in std::mem::take(&mut self.open).into_messages() {
            self.history.add(message, Completeness::Whole);
        }
    }

    fn keep_result(&mut self, index: usize, result: ToolResult) {
        if let Some(request) = self.open.ended(index, result.clone()) {
            self.events
                .push(ConversationEvent::ToolEnded { request, result });
        }
    }
}
