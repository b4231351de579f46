//! One call, from the request to its message.

use std::sync::Arc;

use interrupt_router::Outcome;
use tokio::sync::Semaphore;
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};

use super::ExecutorConfig;
use super::permitted::{Permitted, PersonsPart, skipped};
use crate::arguments;
use crate::call_log::{CallLogError, CallPosition};
use crate::callbacks::tell;
use crate::containment::ContainmentError;
use crate::controller::{CallStop, Driven, Registration, RunningCall, Turn};
use crate::counts::{count_interrupt, reason_label};
use crate::limit::CallLimit;
use crate::tool::{PartialOutput, RequestedCall, ToolCall, ToolContext, ToolError, ToolOutput};
use journal::tool::{CallEnd, ToolMessage};

/// What a tool gives back.
type Returned = Result<Outcome<ToolOutput, PartialOutput>, ToolError>;

pub(super) struct OneCall<'turn> {
    pub(super) config: &'turn ExecutorConfig,
    pub(super) turn: &'turn Turn,
    pub(super) slots: &'turn Semaphore,
    pub(super) place: CallPosition,
    pub(super) call: RequestedCall,
}

/// What ends a call early: its end itself, or a record that failed.
enum Early {
    End(CallEnd),
    Ledger(CallLogError),
    /// It would do something else than what it was allowed for.
    Changed(Box<Permitted>),
}

impl From<CallEnd> for Early {
    fn from(end: CallEnd) -> Self {
        Self::End(end)
    }
}

impl From<CallLogError> for Early {
    fn from(error: CallLogError) -> Self {
        Self::Ledger(error)
    }
}

impl OneCall<'_> {
    /// Always exactly one message for the call.
    pub(super) async fn into_message(self) -> Result<ToolMessage, CallLogError> {
        let span = info_span!(
            "tool_call",
            tool.name = %self.call.tool,
            tool.call_id = %self.call.id,
            tool.end = Empty,
            tool.interrupted = Empty,
            tool.interrupt_reason = Empty,
            otel.status_code = Empty,
        );
        self.in_span().instrument(span).await
    }

    async fn in_span(self) -> Result<ToolMessage, CallLogError> {
        if let Some((end, part)) = self.made_before().await? {
            return self.ended(end, part).await;
        }
        if let Some(message) = self.config.call_log.known(&self.place, &self.call).await? {
            // It was reported when it ended.
            return Ok(message);
        }
        let mut permitted = self.permitted().await;
        let (end, part) = loop {
            let allowed = match permitted {
                Ok(allowed) => allowed,
                Err(end) => break (end, PersonsPart::default()),
            };
            let part = allowed.persons_part();
            match self.run(allowed).await {
                Ok(end) | Err(Early::End(end)) => break (end, part),
                Err(Early::Ledger(error)) => return Err(error),
                Err(Early::Changed(changed)) => {
                    permitted = changed.ask(self.config, self.turn).await;
                }
            }
        };
        self.ended(end, part).await
    }

    async fn ended(&self, end: CallEnd, part: PersonsPart) -> Result<ToolMessage, CallLogError> {
        let said = self.config.call_log.said(&self.place).await?;
        let message = self.message(end, part, said);
        self.config
            .call_log
            .end(&self.place, &self.call, &message)
            .await?;
        self.announce(&message);
        Ok(message)
    }

    /// The end of a call that an earlier process has made and not recorded, where exactly what it was to leave behind is
    /// there; and its arguments, where a person had changed them.
    async fn made_before(&self) -> Result<Option<(CallEnd, PersonsPart)>, CallLogError> {
        let config = self.config;
        let Some(begun) = config.call_log.begun(&self.place, &self.call).await? else {
            return Ok(None);
        };
        let Some(registered) = config.registry.get(&self.call.tool) else {
            return Ok(None);
        };
        let call = ToolCall {
            id: self.call.id.clone(),
            tool: registered.tool.spec().name.clone(),
            arguments: begun.arguments,
        };
        let context = self.looking();
        let made = registered.tool.made(&call, begun.leaves, &context).await;
        if made.is_some() {
            config.callbacks.on_tool_start(&call);
        }
        let asked_for = arguments::read(&self.call.arguments).ok();
        let edited = (asked_for.as_ref() != Some(&call.arguments)).then_some(call.arguments);
        let part = PersonsPart {
            edited,
            words: None,
        };
        Ok(made.map(|output| (CallEnd::Finished { output }, part)))
    }

    /// What a tool gets that only reads.
    fn looking(&self) -> ToolContext {
        ToolContext::new(self.turn.scope().child(), self.config.workspace.clone())
    }

    async fn permitted(&self) -> Result<Permitted, CallEnd> {
        if let Some(reason) = self.turn.scope().reason() {
            return Err(skipped(reason));
        }
        Permitted::get(self.config, self.turn, &self.call).await
    }

    async fn run(&self, mut permitted: Permitted) -> Result<CallEnd, Early> {
        let config = self.config;
        let _slot = tokio::select! {
            biased;
            reason = self.turn.scope().stopping() => return Err(skipped(reason).into()),
            slot = self.slots.acquire() => slot,
        };
        if !permitted.is_as_shown(config, self.turn).await {
            return Err(Early::Changed(Box::new(permitted)));
        }
        let given = tokio::select! {
            biased;
            reason = self.turn.scope().stopping() => return Err(skipped(reason).into()),
            given = config.callbacks.before_tool(&permitted.call) => given,
        };
        if let Some(output) = given {
            return Ok(CallEnd::Finished { output });
        }
        if let Err(void) = permitted.redeem(config) {
            return Ok(CallEnd::denied(void.to_string()));
        }
        let tool = permitted.tool();
        let leaves = tool.leaves(&permitted.call, &self.looking()).await;
        let spec = tool.spec();
        let limit = config.limits.of(&spec.name);
        let registration = Registration {
            id: permitted.call.id.clone(),
            tool: spec.name.as_str().to_owned(),
            interruption: spec.interruption,
            limit: limit.clone(),
            cleanup: None,
        };
        // Begun before the call can be stopped, and ended after it has.
        let is_section = config.policy.is_uninterruptible(&permitted.call);
        let _section = is_section.then(|| config.controller.non_interruptible());
        let registered = config.controller.register(self.turn, registration);
        let running = registered.map_err(|fenced| skipped(fenced.reason))?;
        config
            .call_log
            .begin(&self.place, &permitted.call, spec.repeating, leaves)
            .await?;
        let driven = self.drive(running, permitted, limit).await;
        Ok(end_of(driven))
    }

    async fn drive(
        &self,
        running: RunningCall,
        permitted: Permitted,
        limit: CallLimit,
    ) -> Driven<Returned> {
        let own_progress = self.config.callbacks.progress_of(&permitted.call);
        let context = ToolContext {
            scope: running.scope().clone(),
            progress: own_progress.unwrap_or_else(|| Arc::clone(&self.config.progress)),
            workspace: self.config.workspace.clone(),
            limit,
            shown: permitted.shown(),
        };
        let tool = permitted.tool();
        let (call, callbacks) = (permitted.call, Arc::clone(&self.config.callbacks));
        let work = async move {
            callbacks.on_tool_start(&call);
            tool.call(&call, &context).await
        };
        running.drive(work.in_current_span()).await
    }

    fn message(&self, end: CallEnd, part: PersonsPart, said: Option<String>) -> ToolMessage {
        ToolMessage {
            call: self.call.id.clone(),
            tool: self.call.tool.clone(),
            edited: part.edited,
            words: part.words,
            said,
            end: end.within_limit(),
        }
    }

    fn announce(&self, message: &ToolMessage) {
        let span = Span::current();
        span.record("tool.end", message.end.word());
        if let CallEnd::Failed { .. }
        | CallEnd::FailedAnyway { .. }
        | CallEnd::TimedOut { .. }
        | CallEnd::Unknown { .. } = &message.end
        {
            span.record("otel.status_code", "ERROR");
        }
        if let Some(reason) = message.end.interrupt() {
            span.record("tool.interrupted", true);
            span.record("tool.interrupt_reason", reason_label(reason.source));
        }
        if let CallEnd::Interrupted { reason, .. } = &message.end {
            count_interrupt(&*self.config.counter, &message.tool, reason.source);
        }
        tell(&*self.config.callbacks, message);
    }
}

fn end_of(driven: Driven<Returned>) -> CallEnd {
    match driven {
        Driven::Ended {
            value: Ok(outcome),
            asked,
        } => outcome_end(outcome, asked),
        Driven::Ended {
            value: Err(error),
            asked,
        } => error_end(&error, asked),
        Driven::Panicked { asked } => {
            failure_end("the tool itself has a fault: it panicked".to_owned(), asked)
        }
        Driven::NeverStarted { reason } => skipped(reason),
        Driven::LeftBehind { asked, waited } => {
            let partial = PartialOutput::left_behind(format!("it did not stop within {waited:?}"));
            stopped_end(asked, partial)
        }
    }
}

fn outcome_end(outcome: Outcome<ToolOutput, PartialOutput>, asked: Option<CallStop>) -> CallEnd {
    match (outcome, asked) {
        (Outcome::Completed(output), None | Some(CallStop::Limit(_))) => {
            CallEnd::Finished { output }
        }
        (Outcome::Completed(output), Some(CallStop::Interrupt(reason))) => {
            CallEnd::FinishedAnyway { reason, output }
        }
        (Outcome::Interrupted { partial, .. }, Some(asked)) => stopped_end(asked, partial),
        // The tool was stopped by something of its own, such as an agent that it started.
        (Outcome::Interrupted { reason, partial }, None) => {
            CallEnd::Interrupted { reason, partial }
        }
    }
}

fn stopped_end(asked: CallStop, partial: PartialOutput) -> CallEnd {
    match asked {
        CallStop::Interrupt(reason) => CallEnd::Interrupted { reason, partial },
        CallStop::Limit(limit) => CallEnd::TimedOut { limit, partial },
    }
}

/// An error after which the call may have been done all the same is no failure.
fn error_end(error: &ToolError, asked: Option<CallStop>) -> CallEnd {
    let reason = reason_of(error);
    let containment = match error {
        ToolError::Unseen { .. } => None,
        ToolError::Containment(ContainmentError::KeeperDied { report }) => Some(report.clone()),
        ToolError::Unusable { .. }
        | ToolError::Io { .. }
        | ToolError::Path(_)
        | ToolError::Containment(ContainmentError::Keeper(_) | ContainmentError::Refused { .. })
        | ToolError::Server { .. }
        | ToolError::Service { .. } => return failure_end(reason, asked),
    };
    let stop = match asked {
        Some(CallStop::Interrupt(stop)) => Some(stop),
        Some(CallStop::Limit(_)) | None => None,
    };
    CallEnd::Unknown {
        reason,
        stop,
        containment,
    }
}

fn failure_end(reason: String, asked: Option<CallStop>) -> CallEnd {
    match asked {
        Some(CallStop::Interrupt(stop)) => CallEnd::FailedAnyway { stop, reason },
        Some(CallStop::Limit(_)) | None => CallEnd::Failed { reason },
    }
}

/// An error with its causes, in one line.
fn reason_of(error: &ToolError) -> String {
    let mut reason = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let words = inner.to_string();
        // Some errors repeat what caused them.
        if !reason.ends_with(&words) {
            reason = format!("{reason}: {words}");
        }
        cause = inner.source();
    }
    reason
}
