//! One round of tools: what a model asked for at once, and what blocked some of it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use interrupt_router::StopReason;
use interrupt_router::model::ToolRequest;
use interrupt_router::review::Question;
use tools::{CallLogError, RequestedCall, ToolMessage};

use journal::error::KeepError;

/// How a round ended.
#[derive(Debug)]
pub enum RoundEnd {
    /// Each call has its message.
    Done(Vec<ToolMessage>),
    /// The agent's step ends here. Calls that have ended are recorded, and the others go on with the run.
    Ends(StopReason),
}

/// Why the step of an agent ended within its tools.
#[derive(Debug)]
pub enum Parked {
    /// Questions wait for answers that cannot come now.
    Waiting(Vec<Question>),
    /// An agent that was launched has ended so that its launcher cannot go on: the code that launched it knows how.
    Launched,
}

/// What blocks calls of a round. A parked call has no message yet: it goes on with the run.
#[derive(Debug, Default)]
pub(super) struct RoundState {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    parked: BTreeSet<String>,
    waiting: Vec<Question>,
    ended: bool,
    failure: Option<KeepError>,
}

impl RoundState {
    /// The call waits for something; nothing is recorded of it meanwhile.
    pub(super) fn park(&self, call: &str) {
        self.lock().parked.insert(call.to_owned());
    }

    /// The call goes on.
    pub(super) fn unpark(&self, call: &str) {
        self.lock().parked.remove(call);
    }

    pub(super) fn is_parked(&self, call: &str) -> bool {
        self.lock().parked.contains(call)
    }

    /// No one is there to answer: the call stays parked.
    pub(super) fn nobody_answers(&self, question: Question) {
        self.lock().waiting.push(question);
    }

    /// An agent that was launched has ended so that its launcher cannot go on.
    pub(super) fn end(&self) {
        self.lock().ended = true;
    }

    /// The run cannot be recorded. The first failure is kept.
    pub(super) fn fail(&self, error: KeepError) -> CallLogError {
        let reason = crate::durable::stored_interrupts::in_words(&error);
        self.lock().failure.get_or_insert(error);
        CallLogError { reason }
    }

    pub(super) fn take_failure(&self) -> Option<KeepError> {
        self.lock().failure.take()
    }

    /// Why the step ends, if anything is parked for longer than this process waits.
    pub(super) fn take_parked(&self) -> Option<Parked> {
        let mut inner = self.lock();
        if std::mem::take(&mut inner.ended) {
            return Some(Parked::Launched);
        }
        let waiting = std::mem::take(&mut inner.waiting);
        (!waiting.is_empty()).then_some(Parked::Waiting(waiting))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is one insertion, removal or assignment, so a panic elsewhere leaves it whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The requests with an id each that no other one of the same answer has: models leave ids out, and repeat them.
pub(super) fn with_own_ids(requests: Vec<ToolRequest>, round: u32) -> Vec<ToolRequest> {
    let mut known = BTreeSet::new();
    let own = requests.into_iter().enumerate().map(|(index, request)| {
        let is_new = !request.id.trim().is_empty() && known.insert(request.id.clone());
        let mut id = request.id.clone();
        if !is_new {
            id = format!("call_{round}_{index}");
            while !known.insert(id.clone()) {
                id.push('_');
            }
        }
        ToolRequest { id, ..request }
    });
    own.collect()
}

/// The calls that were asked for, for the executor.
pub(super) fn calls_of(requests: &[ToolRequest]) -> Vec<RequestedCall> {
    let calls = requests.iter();
    calls
        .map(|request| RequestedCall::new(&*request.id, &*request.name, &*request.arguments))
        .collect()
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::ToolRequest;

    use super::with_own_ids;

    #[test]
    fn ids_that_are_missing_or_doubled_are_replaced_and_others_stay() {
        let ids = ["a", "", "a", "call_1_1", "b"];
        let requests = ids.map(|id| ToolRequest::new(id, "shell", "{}"));
        let own = with_own_ids(requests.to_vec(), 1);
        let ids: Vec<&str> = own.iter().map(|request| request.id.as_str()).collect();
        assert_eq!(ids, ["a", "call_1_1", "call_1_2", "call_1_3", "b"]);
    }
}
