//! The life of a conversation as a synchronous value: what is asked for and what happened go in, events
//! and the next step come out. It knows no clock, no task and no model.

mod open_calls;
mod tools;

use std::collections::VecDeque;
use std::sync::Arc;

use interrupt_router::model::{
    CallNote, Message, ModelError, ModelReply, PartialReply, ToolRequest,
};
use interrupt_router::{StopMode, StopReason};

use super::event::{
    ConversationEvent, ConversationRunEnd, ConversationRunError, ConversationStatus, StopOutcome,
};
use super::history::{Completeness, History};

use open_calls::OpenCalls;

/// Which run: reports of a run that has ended are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunNumber(u64);

/// What a run does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NextAction {
    /// Call the model with these messages.
    Step(Vec<Message>),
    /// Run these tools.
    Tools(Vec<ToolRequest>),
    /// Pause: tools were run in so many rounds, which is as many as may be.
    RoundsUsedUp(u32),
    /// Nothing: the run is over.
    Over(ConversationRunEnd),
}

/// How a step ended.
#[derive(Debug)]
pub(crate) enum StepEnd {
    Answered(ModelReply),
    Interrupted {
        reason: StopReason,
        partial: PartialReply,
    },
    Failed(Arc<ModelError>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ConversationPhase {
    Idle,
    Running {
        run: RunNumber,
        /// The hardest stop that was asked for.
        asked: Option<StopReason>,
    },
    Paused,
}

/// A conversation's state.
#[derive(Debug)]
pub(crate) struct Machine {
    phase: ConversationPhase,
    history: History,
    /// What was sent and not yet taken up.
    waiting: VecDeque<String>,
    /// Whether the model still owes an answer to what the history ends with.
    owes: bool,
    /// What has arrived of the answer under way.
    said: String,
    runs: u64,
    /// The tools that were asked for and have no result.
    open: OpenCalls,
    /// How often tools were run since the user's last message or the begin of the run.
    rounds: u32,
    /// How often they may; `None` where there are no tools.
    most_rounds: Option<u32>,
    /// Whether a message was sent since the last run began, while none was under way.
    is_fresh: bool,
    /// A stop that was asked for behind such a message: the next run ends by it before it calls the model.
    stops_next: Option<StopReason>,
    events: Vec<ConversationEvent>,
}

impl Machine {
    pub(crate) fn new(system: Option<String>) -> Self {
        Self {
            phase: ConversationPhase::Idle,
            history: History::with_system(system),
            waiting: VecDeque::new(),
            owes: false,
            said: String::new(),
            runs: 0,
            open: OpenCalls::default(),
            rounds: 0,
            most_rounds: None,
            is_fresh: false,
            stops_next: None,
            events: Vec::new(),
        }
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Whether a run would call the model, or run tools that it asked for.
    pub(crate) fn has_work(&self) -> bool {
        self.owes || !self.open.is_empty() || !self.waiting.is_empty()
    }

    pub(crate) fn status(&self) -> ConversationStatus {
        match &self.phase {
            ConversationPhase::Idle => ConversationStatus::Idle,
            ConversationPhase::Paused => ConversationStatus::Paused,
            ConversationPhase::Running { asked, .. } => {
                match asked.as_ref().map(|reason| reason.mode) {
                    None => ConversationStatus::Running,
                    Some(StopMode::Graceful) => ConversationStatus::Pausing,
                    Some(StopMode::Immediate) => ConversationStatus::Interrupting,
                }
            }
        }
    }

    /// What happened since this was last asked, in order.
    pub(crate) fn take_events(&mut self) -> Vec<ConversationEvent> {
        std::mem::take(&mut self.events)
    }

    /// Keeps a message until the next step.
    pub(crate) fn send(&mut self, text: String) {
        self.events
            .push(ConversationEvent::MessageSent { text: text.clone() });
        self.is_fresh |= !self.status().is_running();
        self.waiting.push_back(text);
    }

    /// Begins a run; continues what was paused.
    pub(crate) fn begin(&mut self) -> Result<RunNumber, ConversationRunError> {
        if self.status().is_running() {
            return Err(ConversationRunError::AlreadyRunning);
        }
        self.runs += 1;
        self.rounds = 0;
        let run = RunNumber(self.runs);
        self.is_fresh = false;
        let asked = self.stops_next.take();
        self.phase = ConversationPhase::Running { run, asked };
        self.events.push(ConversationEvent::RunStarted);
        Ok(run)
    }

    /// Asks for a pause after the step, or for an interrupt now, as the reason's mode says.
    pub(crate) fn ask(&mut self, reason: StopReason) -> StopOutcome {
        match &mut self.phase {
            // The run that answers the message is about to begin: the stop means that run.
            ConversationPhase::Idle | ConversationPhase::Paused if self.is_fresh => {
                self.ask_before_run(reason)
            }
            ConversationPhase::Paused => StopOutcome::ChangesNothing,
            ConversationPhase::Idle => {
                self.phase = ConversationPhase::Paused;
                self.announce_stop(reason, None);
                StopOutcome::PausesIdle
            }
            ConversationPhase::Running { asked, .. } => {
                if asked
                    .as_ref()
                    .is_some_and(|asked| asked.mode >= reason.mode)
                {
                    return StopOutcome::ChangesNothing;
                }
                *asked = Some(reason);
                StopOutcome::StopsRun
            }
        }
    }

    /// Keeps a stop for the next run, unless one that is as hard is kept already.
    fn ask_before_run(&mut self, reason: StopReason) -> StopOutcome {
        let kept = self.stops_next.as_ref();
        if kept.is_some_and(|kept| kept.mode >= reason.mode) {
            return StopOutcome::ChangesNothing;
        }
        self.phase = ConversationPhase::Paused;
        self.stops_next = Some(reason);
        StopOutcome::StopsNextRun
    }

    /// What the run does next. Must not be asked while a step is under way.
    pub(crate) fn next(&mut self, run: RunNumber) -> NextAction {
        let Some(asked) = self.asked_of(run) else {
            // It has already been ended.
            return NextAction::Over(ConversationRunEnd::Answered);
        };
        if let Some(reason) = asked {
            self.phase = ConversationPhase::Paused;
            if reason.mode == StopMode::Immediate {
                // None of what waits to run will. After a pause the next run begins with it.
                self.settle_tools();
            }
            return NextAction::Over(self.announce_stop(reason, None));
        }
        if !self.has_work() {
            self.phase = ConversationPhase::Idle;
            self.events.push(ConversationEvent::RunEnded);
            return NextAction::Over(ConversationRunEnd::Answered);
        }
        if let Some(tools) = self.next_tools() {
            return tools;
        }
        let messages: Vec<String> = self.waiting.drain(..).collect();
        if !messages.is_empty() {
            self.rounds = 0;
        }
        for text in &messages {
            self.history
                .add(Message::user(text.as_str()), Completeness::Whole);
        }
        self.owes = true;
        self.said.clear();
        self.events
            .push(ConversationEvent::StepStarted { messages });
        NextAction::Step(self.history.for_next_call())
    }

    /// A piece of the answer under way has arrived.
    pub(crate) fn piece(&mut self, run: RunNumber, text: &str) {
        if self.asked_of(run).is_some() {
            self.said.push_str(text);
            let text = text.to_owned();
            self.events.push(ConversationEvent::Piece { text });
        }
    }

    /// The pieces so far do not count.
    pub(crate) fn restarted(&mut self, run: RunNumber) {
        if self.asked_of(run).is_some() {
            self.said.clear();
            self.events.push(ConversationEvent::Restarted);
        }
    }

    /// Something else is to be known of the call under way.
    pub(crate) fn noted(&mut self, run: RunNumber, note: &CallNote) {
        if self.asked_of(run).is_some() {
            let note = note.clone();
            self.events.push(ConversationEvent::Noted { note });
        }
    }

    /// A step has ended. The run's end, where that ends it; its failure, where it failed.
    pub(crate) fn step_ended(
        &mut self,
        run: RunNumber,
        ended: StepEnd,
    ) -> Result<Option<ConversationRunEnd>, ConversationRunError> {
        let Some(asked) = self.asked_of(run) else {
            return Ok(Some(ConversationRunEnd::Answered));
        };
        match ended {
            StepEnd::Answered(reply) => {
                self.answered(reply);
                Ok(None)
            }
            StepEnd::Interrupted { reason, partial } => {
                let reason = immediate(asked).unwrap_or(reason);
                Ok(Some(self.interrupted(reason, partial)))
            }
            StepEnd::Failed(error) => match asked {
                // The call fell over its own interrupt: that is no failure.
                Some(reason) if reason.mode == StopMode::Immediate => {
                    let partial = self.left_behind();
                    Ok(Some(self.interrupted(reason, partial)))
                }
                asked => Err(self.failed(error, asked)),
            },
        }
    }

    /// A run was dropped before its end.
    pub(crate) fn abandoned(&mut self, run: RunNumber, reason: StopReason) {
        if let Some(asked) = self.asked_of(run) {
            let partial = self.left_behind();
            self.interrupted(immediate(asked).unwrap_or(reason), partial);
        }
    }

    /// What is left of a step that cannot say how it ended.
    pub(crate) fn left_behind(&self) -> PartialReply {
        PartialReply {
            text: self.said.clone(),
            ..PartialReply::default()
        }
    }

    /// The stop that was asked of this run; `None` where it is not under way.
    fn asked_of(&self, of: RunNumber) -> Option<Option<StopReason>> {
        match &self.phase {
            ConversationPhase::Running { run, asked } if *run == of => Some(asked.clone()),
            ConversationPhase::Running { .. }
            | ConversationPhase::Idle
            | ConversationPhase::Paused => None,
        }
    }

    fn answered(&mut self, reply: ModelReply) {
        let ModelReply {
            text,
            tool_requests,
            usage,
            cut_off,
        } = reply;
        let tool_requests = self.taken(tool_requests);
        // It waits for the tools' results, then continues.
        self.owes = !tool_requests.is_empty();
        self.said.clear();
        let completeness = if cut_off {
            Completeness::CutOff
        } else {
            Completeness::Whole
        };
        let answer = Message::asking(text.as_str(), tool_requests.clone());
        self.history.add(answer, completeness);
        self.open(tool_requests.clone());
        self.events.push(ConversationEvent::Answered {
            text,
            tool_requests,
            usage,
            cut_off,
        });
    }

    fn interrupted(&mut self, reason: StopReason, partial: PartialReply) -> ConversationRunEnd {
        self.phase = ConversationPhase::Paused;
        self.said.clear();
        // What ran until now, where tools did.
        self.settle_tools();
        let asked_for = self.taken(partial.tool_requests.clone());
        // Nothing said is no answer, and the message still waits for one.
        self.owes &= partial.text.trim().is_empty() && asked_for.is_empty();
        let answer = Message::asking(partial.text.as_str(), asked_for.clone());
        self.history.add(answer, Completeness::Interrupted);
        self.open(asked_for);
        self.settle_tools();
        self.announce_stop(reason, Some(partial))
    }

    fn failed(
        &mut self,
        error: Arc<ModelError>,
        asked: Option<StopReason>,
    ) -> ConversationRunError {
        self.said.clear();
        self.events.push(ConversationEvent::Failed {
            error: Arc::clone(&error),
        });
        self.phase = match asked {
            Some(reason) => {
                self.announce_stop(reason, None);
                ConversationPhase::Paused
            }
            None => ConversationPhase::Idle,
        };
        ConversationRunError::Model(error)
    }

    fn announce_stop(
        &mut self,
        reason: StopReason,
        partial: Option<PartialReply>,
    ) -> ConversationRunEnd {
        match reason.mode {
            StopMode::Graceful => {
                self.events.push(ConversationEvent::Paused {
                    reason: reason.clone(),
                });
                ConversationRunEnd::Paused { reason }
            }
            StopMode::Immediate => {
                self.events.push(ConversationEvent::Interrupted {
                    reason: reason.clone(),
                    partial: partial.clone(),
                });
                ConversationRunEnd::Interrupted { reason, partial }
            }
        }
    }
}

/// The stop that was asked for, where it was an interrupt.
fn immediate(asked: Option<StopReason>) -> Option<StopReason> {
    asked.filter(|reason| reason.mode == StopMode::Immediate)
}

#[cfg(test)]
mod schedules;
#[cfg(test)]
mod tests;
