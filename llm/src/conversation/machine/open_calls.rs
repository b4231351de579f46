//! The tools that a model has asked for and not got a result of.

use interrupt_router::model::{Message, ToolRequest};

use crate::conversation::tools::ToolResult;

/// Requests without results.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    requests: Vec<ToolRequest>,
    /// What was reported of each while it ran.
    calls: Vec<OpenCall>,
    /// Whether they were handed to the tools.
    running: bool,
}

#[derive(Debug, Default, Clone)]
struct OpenCall {
    started: bool,
    result: Option<ToolResult>,
}

impl OpenCalls {
    pub(super) fn of(requests: Vec<ToolRequest>) -> Self {
        Self {
            calls: vec![OpenCall::default(); requests.len()],
            requests,
            running: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Hands them to the tools.
    pub(super) fn start(&mut self) -> Vec<ToolRequest> {
        self.running = true;
        self.requests.clone()
    }

    /// A call starts; its request, where that was not known.
    pub(super) fn started(&mut self, index: usize) -> Option<ToolRequest> {
        let call = self.calls.get_mut(index).filter(|call| !call.started)?;
        call.started = true;
        self.requests.get(index).cloned()
    }

    /// A call has its result; its request, where it had none.
    pub(super) fn ended(&mut self, index: usize, result: ToolResult) -> Option<ToolRequest> {
        let call = self.calls.get_mut(index)?;
        if call.result.is_some() {
            return None;
        }
        call.result = Some(result);
        self.requests.get(index).cloned()
    }

    /// The requests without a known result, and the result to record if nothing else is said of them: they did not
    /// start, or their end was not seen.
    pub(super) fn unsaid(&self) -> Vec<(usize, ToolResult)> {
        let calls = self.calls.iter().enumerate();
        let unsaid = calls.filter(|(_, call)| call.result.is_none());
        let result = |(index, call): (usize, &OpenCall)| {
            let result = if self.running && call.started {
                ToolResult::unknown()
            } else {
                ToolResult::never_ran()
            };
            (index, result)
        };
        unsaid.map(result).collect()
    }

    /// How many of them have a result that the history does not have yet.
    #[cfg(test)]
    pub(super) fn said(&self) -> usize {
        self.calls
            .iter()
            .filter(|call| call.result.is_some())
            .count()
    }

    /// One message for each request, in their order.
    pub(super) fn into_messages(self) -> Vec<Message> {
        let results = self
            .calls
            .into_iter()
            .map(|call| call.result.unwrap_or_else(ToolResult::never_ran).text);
        let requests = self.requests.into_iter().zip(results);
        requests
            .map(|(request, text)| Message::result(request.id, text))
            .collect()
    }
}
