//! What an occurrence is on the wire: the type's name, the subject, the data.

use engine::run::RunEvent;
use llm::{ChatUsage, TokenCount};
use routing_core::review::Answer;
use routing_core::{InterruptId, InterruptType, NodeId};
use serde_json::{Value, json};
use tools::CallEnd as ToolEnd;

use crate::model::{CallMoment, CallOutcome, CallPhase};
use crate::workflows;

/// The epoch of a run's first owner.
const FIRST_EPOCH: u64 = 1;

/// What passes: what agents do at this moment, what a tool says on its way, what was refused here, that a stop begins. The
/// store has what it follows from or what it leads to, and not the thing itself.
const TRANSIENT: [&str; 10] = [
    "agent.finished",
    "agent.spawned",
    "agent.status_changed",
    "decision.refused",
    "interrupt.request_refused",
    "llm.noted",
    "run.stopping",
    "tool.late_result_dropped",
    "tool.progress",
    "tool.stop_deferred",
];

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EventSubject {
    Run,
    Agent(NodeId),
    Interrupt(InterruptId),
}

/// One event before it gets its envelope.
#[derive(Debug)]
pub(super) struct Fact {
    /// The type without prefix and version: `run.started`.
    pub(super) name: &'static str,
    pub(super) subject: EventSubject,
    pub(super) data: Value,
}

impl Fact {
    /// Whether it passes: nothing of it is in the store, and nobody tells it again.
    pub(super) fn is_transient(&self) -> bool {
        TRANSIENT.contains(&self.name)
    }

    fn run(name: &'static str, data: Value) -> Self {
        Self {
            name,
            subject: EventSubject::Run,
            data,
        }
    }

    /// With the interrupts that wait for somebody.
    pub(super) fn with_open(mut self, open: &[InterruptId]) -> Self {
        if let Value::Object(fields) = &mut self.data {
            fields.insert("open_interrupts".to_owned(), json!(open));
        }
        self
    }

    fn agent(name: &'static str, node: &NodeId, data: Value) -> Self {
        Self {
            name,
            subject: EventSubject::Agent(node.clone()),
            data,
        }
    }

    fn interrupt(name: &'static str, interrupt: InterruptId, data: Value) -> Self {
        let mut data = data;
        if let Value::Object(fields) = &mut data {
            fields.shift_insert(0, "interrupt_id".to_owned(), json!(interrupt));
        }
        Self {
            name,
            subject: EventSubject::Interrupt(interrupt),
            data,
        }
    }
}

/// The name of the event with which a tool call ends. Whatever ran to its end is finished, however that went.
const fn tool_end_name(end: &ToolEnd) -> &'static str {
    match end {
        ToolEnd::Interrupted { .. } => "tool.interrupted",
        ToolEnd::Skipped { .. } => "tool.skipped",
        ToolEnd::Finished { .. }
        | ToolEnd::FinishedAnyway { .. }
        | ToolEnd::Failed { .. }
        | ToolEnd::FailedAnyway { .. }
        | ToolEnd::Denied { .. }
        | ToolEnd::TimedOut { .. } => "tool.finished",
    }
}

/// What a process tells first that goes on with what was recorded, where the occurrence is that it began. A fork
/// begins with what another run has recorded, and this is its own beginning.
pub(super) fn fact_of_going_on(event: &RunEvent, epoch: u64) -> Option<Fact> {
    let RunEvent::Started {
        goal,
        model,
        workspace,
    } = event
    else {
        return None;
    };
    let data = json!({"goal": goal, "model": model, "workspace": workspace});
    let name = if epoch == FIRST_EPOCH {
        "run.started"
    } else {
        "run.resumed"
    };
    Some(Fact::run(name, data))
}

/// The events that an occurrence becomes: usually one, none for the pieces of an answer.
#[expect(
    clippy::too_many_lines,
    reason = "a table with one entry for each event"
)]
pub(super) fn facts_of(event: &RunEvent) -> Vec<Fact> {
    let fact = match event {
        RunEvent::Started {
            goal,
            model,
            workspace,
        } => Fact::run(
            "run.started",
            json!({"goal": goal, "model": model, "workspace": workspace}),
        ),
        RunEvent::AgentSpawned { node, parent, kind } => Fact::agent(
            "agent.spawned",
            node,
            json!({"agent_id": node, "agent_type": kind, "parent_id": parent}),
        ),
        RunEvent::AgentStatusChanged { node, kind, status } => Fact::agent(
            "agent.status_changed",
            node,
            json!({"agent_id": node, "agent_type": kind, "status": status}),
        ),
        RunEvent::MessageAdded { node, text } => Fact::agent(
            "agent.message_added",
            node,
            json!({"agent_id": node, "text": text}),
        ),
        RunEvent::StepStarted {
            node,
            kind,
            step,
            turn,
        } => Fact::agent(
            "run.step_started",
            node,
            json!({"agent_id": node, "agent_type": kind, "step": step, "turn": turn}),
        ),
        // Pieces of an answer are for the eye, and a call tells of its own end.
        RunEvent::AnswerChunk { .. } | RunEvent::ModelCallRecorded { .. } => return Vec::new(),
        RunEvent::ModelNoted { node, note } => Fact::agent(
            "llm.noted",
            node,
            json!({"agent_id": node, "text": note.to_string()}),
        ),
        RunEvent::AnswerCorrected {
            node,
            correction,
            path,
            reason,
        } => Fact::agent(
            "llm.answer_refused",
            node,
            json!({"agent_id": node, "correction": correction, "path": path, "reason": reason}),
        ),
        RunEvent::StepFinished {
            node,
            kind,
            step,
            field,
            summary,
            usage,
            corrections,
        } => Fact::agent(
            "run.step_finished",
            node,
            json!({
                "agent_id": node, "agent_type": kind, "step": step, "field": field,
                "summary": summary, "usage": usage, "corrections": corrections,
            }),
        ),
        RunEvent::ToolStarted {
            node,
            call,
            tool,
            arguments,
        } => Fact::agent(
            "tool.started",
            node,
            json!({"agent_id": node, "call_id": call, "tool": tool, "arguments": arguments}),
        ),
        RunEvent::ToolProgress {
            node,
            call,
            tool,
            progress,
        } => Fact::agent(
            "tool.progress",
            node,
            json!({"agent_id": node, "call_id": call, "tool": tool, "progress": progress}),
        ),
        RunEvent::ToolEnded { node, message } => Fact::agent(
            tool_end_name(&message.end),
            node,
            json!({
                "agent_id": node, "call_id": message.call, "tool": message.tool,
                "outcome": message.end.word(), "left_behind": message.end.left_behind(),
                "message": message.text(),
            }),
        ),
        RunEvent::StopDeferred { node } => {
            Fact::agent("tool.stop_deferred", node, json!({"agent_id": node}))
        }
        RunEvent::ToolLateResultDropped { node, tool } => Fact::agent(
            "tool.late_result_dropped",
            node,
            json!({"agent_id": node, "tool": tool}),
        ),
        // The event's own JSON, as a supervisor would publish it.
        RunEvent::EventPublished { event } => {
            Fact::agent("interrupt.request_event", &event.node_id, json!(event))
        }
        RunEvent::EventRefused { event, reason } => Fact::run(
            "interrupt.request_refused",
            json!({"event_id": event, "reason": reason}),
        ),
        RunEvent::EventEnded { event, state } => Fact::run(
            "interrupt.request_ended",
            json!({"event_id": event, "state": state}),
        ),
        RunEvent::InterruptRaised {
            interrupt,
            node,
            kind,
            details,
            payload,
        } => Fact::interrupt(
            "interrupt.requested",
            *interrupt,
            json!({
                "agent_id": node, "agent_type": kind, "type": details.r#type,
                "reason": details.reason, "request": payload,
            }),
        ),
        RunEvent::InterruptBound {
            interrupt,
            event,
            target,
        } => Fact::interrupt(
            "interrupt.acknowledged",
            *interrupt,
            json!({"event_id": event, "reroute_to_agent_type": target}),
        ),
        RunEvent::InterruptOpened { question } => Fact::interrupt(
            "interrupt.opened",
            question.interrupt,
            json!({
                "agent_id": question.node, "agent_type": question.agent_type,
                "asked_because": question.kind, "details": question.details,
                "target": question.target, "routes": question.routes,
                "problem": question.problem,
            }),
        ),
        RunEvent::InterruptReviewed {
            interrupt,
            confidence,
            threshold,
        } => Fact::interrupt(
            "interrupt.reviewed",
            *interrupt,
            json!({"confidence": confidence, "threshold": threshold}),
        ),
        RunEvent::AnswerRefused { interrupt, problem } => {
            Fact::interrupt("decision.refused", *interrupt, json!({"problem": problem}))
        }
        RunEvent::InterruptAnswered { interrupt, answer } => {
            Fact::interrupt("decision.recorded", *interrupt, json!({"answer": answer}))
        }
        // The run itself is paused once its process has let it go.
        RunEvent::Paused { interrupt, reason } => Fact::interrupt(
            "interrupt.opened",
            *interrupt,
            json!({"type": InterruptType::Pause, "reason": reason}),
        ),
        RunEvent::Resumed { interrupt, input } => {
            let answer = Answer {
                text: input.clone(),
                ..Answer::default()
            };
            Fact::interrupt("decision.recorded", *interrupt, json!({"answer": answer}))
        }
        RunEvent::InterruptResolved { .. } => return resolved(event),
        RunEvent::Pruned {
            interrupt,
            node,
            reason,
        } => Fact::interrupt(
            "agent.pruned",
            *interrupt,
            json!({"agent_id": node, "reason": reason}),
        ),
        RunEvent::InterruptRefused { interrupt, reason } => {
            Fact::interrupt("interrupt.refused", *interrupt, json!({"reason": reason}))
        }
        RunEvent::AgentFinished { node, kind, status } => Fact::agent(
            "agent.finished",
            node,
            json!({"agent_id": node, "agent_type": kind, "status": status}),
        ),
        RunEvent::Stopping { reason } => Fact::run("run.stopping", json!(reason)),
        RunEvent::Completed { summary } => Fact::run("run.completed", json!({"summary": summary})),
        RunEvent::CutOff { node, reason } => Fact::agent(
            "agent.pruned",
            node,
            json!({"agent_id": node, "reason": reason}),
        ),
        RunEvent::Branched {
            interrupt,
            branch,
            reason,
        } => Fact::interrupt(
            "run.forked",
            *interrupt,
            json!({"branch": branch, "reason": reason}),
        ),
        RunEvent::CheckpointSaved { number, reason } => Fact::run(
            "checkpoint.saved",
            json!({"number": number, "reason": reason}),
        ),
        RunEvent::Told { node, name, data } => match node {
            Some(node) => Fact::agent(name, node, data.clone()),
            None => Fact::run(name, data.clone()),
        },
        RunEvent::Stopped { reason } => Fact::run("run.paused", json!({"reason": reason})),
        RunEvent::Cancelled { reason } => Fact::run("run.cancelled", json!({"reason": reason})),
        RunEvent::Waiting { interrupts } => {
            Fact::run("run.waiting", json!({"open_interrupts": interrupts}))
        }
        RunEvent::Failed { error, resumable } => failed(error, *resumable),
        // Events of later versions have no form on the wire yet.
        _ => return Vec::new(),
    };
    vec![fact]
}

/// What has failed: a run that can go on is paused by it, and not over.
fn failed(error: &str, resumable: bool) -> Fact {
    if resumable {
        Fact::run("run.paused", json!({"reason": error}))
    } else {
        Fact::run("run.failed", json!({"error": error}))
    }
}

/// A resolved interrupt, and the reroute where its answer goes elsewhere than where it came from.
fn resolved(event: &RunEvent) -> Vec<Fact> {
    let RunEvent::InterruptResolved {
        interrupt,
        origin,
        target,
        decided_by,
        filled_by,
        reroute,
    } = event
    else {
        return Vec::new();
    };
    let way = json!({
        "origin": origin, "target": target, "decided_by": decided_by, "filled_by": filled_by,
        "event_id": reroute,
    });
    let mut facts = vec![Fact::interrupt("interrupt.resolved", *interrupt, way)];
    let kind = workflows::with_shown_kind(origin).and_then(|it| it.kind(origin));
    let origin_route = kind.map_or(origin.as_str(), |kind| kind.origin.as_str());
    if origin_route != target {
        let rerouted = json!({"from": origin_route, "to": target, "event_id": reroute});
        facts.push(Fact::interrupt("run.rerouted", *interrupt, rerouted));
    }
    facts
}

/// What a call to a model is on the wire.
pub(super) fn facts_of_call(moment: &CallMoment) -> Fact {
    let caller = &moment.caller;
    let mut data = json!({
        "agent_id": caller.node, "agent_type": caller.agent_type, "purpose": caller.purpose,
        "turn": caller.turn, "correction": caller.correction, "model": moment.model,
        "schema": moment.schema,
    });
    let (name, more) = match &moment.phase {
        CallPhase::Started => ("llm.call_started", json!({})),
        CallPhase::Ended(CallOutcome::Answered { usage, cut_off }) => (
            "llm.call_finished",
            json!({"usage": usage, "cut_off": cut_off}),
        ),
        CallPhase::Ended(CallOutcome::Cancelled { usage, text }) => (
            "llm.call_cancelled",
            json!({
                "cancel_kind": "connection_closed", "tokens_may_be_billed": true,
                "usage": counts(*usage), "usage_known": certainty(*usage), "partial": text,
            }),
        ),
        CallPhase::Ended(CallOutcome::GivenUp { usage, why }) => (
            "llm.call_given_up",
            json!({
                "reason": why, "tokens_may_be_billed": true,
                "usage": counts(*usage), "usage_known": certainty(*usage),
            }),
        ),
        CallPhase::Ended(CallOutcome::Failed { error }) => {
            ("llm.call_finished", json!({"error": error}))
        }
    };
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    Fact::agent(name, &caller.node, data)
}

/// The tokens of a call that did not end by itself.
fn counts(usage: ChatUsage) -> Value {
    json!({"input": usage.input.tokens(), "output": usage.output.tokens()})
}

/// How each of them is known.
fn certainty(usage: ChatUsage) -> Value {
    let word = |count| match count {
        TokenCount::Unknown => "unknown",
        TokenCount::NothingSent => "nothing_sent",
        TokenCount::Reported(_) => "reported",
        TokenCount::Estimated { .. } => "estimated",
    };
    json!({"input": word(usage.input), "output": word(usage.output)})
}
