//! The content of an event, from a row of the outbox: its name, whom it is about, and its data.

use std::sync::Arc;

use control::{AgentAddress, decider};
use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptId, NodeId, RuleId, RunId};
use interrupts::life::{
    AskingId, Decider, Decision, Interrupt, Notice, ReviewStep, RunState, State,
};
use interrupts::store::{NodeActivity, Notification, RerouteRow, RuleEvent};
use journal::tool::StoredCall;
use serde_json::{Map, Value, json};

use super::model_call::report_messages;
use super::records::{EventRecords, StoredEffect, StoredRun};
use crate::wire::AskingView;

/// The longest text in an event, in bytes: thousands of events are kept for readers, and brokers have limits.
pub(super) const LONGEST_TEXT: usize = 4 << 10;

/// What a notification says.
pub(super) struct EventContent {
    pub(super) topic: String,
    pub(super) run: Option<RunId>,
    pub(super) node: Option<NodeId>,
    pub(super) interrupt: Option<(InterruptId, State)>,
    pub(super) run_state: Option<RunState>,
    pub(super) data: Value,
}

impl EventContent {
    fn new(topic: impl Into<String>, run: impl Into<Option<RunId>>, data: Value) -> Self {
        Self {
            topic: topic.into(),
            run: run.into(),
            node: None,
            interrupt: None,
            run_state: None,
            data,
        }
    }

    fn by(mut self, node: &NodeId) -> Self {
        self.node = Some(node.clone());
        self
    }

    pub(super) fn subject(&self) -> Option<String> {
        let agent = self.run.zip(self.node.as_ref());
        let agent = agent.map(|(run, node)| format!("agents/{run}/{node}"));
        match (agent, self.interrupt) {
            (Some(agent), Some((interrupt, _))) => Some(format!("{agent}/interrupts/{interrupt}")),
            (None, Some((interrupt, _))) => Some(format!("interrupts/{interrupt}")),
            (agent, None) => agent,
        }
    }

    /// The content for a notification.
    #[expect(clippy::too_many_lines, reason = "one arm for each notification")]
    pub(super) fn of(notification: &Notification, records: &EventRecords) -> Self {
        match notification {
            Notification::Interrupt {
                interrupt: id,
                run,
                state,
                version,
                source,
                notice,
            } => {
                let interrupt = records.interrupt(*id).map(Arc::as_ref);
                let mut told = Self::interrupt(*id, *run, (*state, *version), notice, interrupt);
                if let (Value::Object(data), Some(source)) = (&mut told.data, source) {
                    data.insert("source".to_owned(), source.name().into());
                }
                told
            }
            Notification::Reroute {
                event,
                run,
                reroute,
            } => Self::reroute(*run, (event, reroute), records.reroute(event)),
            Notification::Node {
                run,
                node,
                kind,
                activity,
                step,
                waits,
            } => {
                let mut told = Self::node(*run, node, kind.as_str(), *activity, *step);
                if let (Value::Object(data), Some(waits)) = (&mut told.data, waits) {
                    data.insert("waits".to_owned(), json!(waits));
                }
                told
            }
            Notification::Effect {
                run,
                node,
                effect,
                kind,
                done,
            } => {
                let data =
                    json!({"agent_id": address(*run, node), "effect_id": effect, "kind": kind});
                let kept = records.effect(*effect);
                Self::effect(*run, data, (kind.as_str(), *done), kept).by(node)
            }
            Notification::Message { run, node, message } => {
                let mut data = Map::new();
                data.insert("agent_id".to_owned(), address(*run, node).into());
                data.insert("message".to_owned(), (*message).into());
                tell_text(&mut data, "text", records.message(*message));
                Self::new("agent.message_added", *run, Value::Object(data)).by(node)
            }
            Notification::Checkpoint { checkpoint } => Self::new(
                "checkpoint.saved",
                checkpoint.run,
                json!({"checkpoint_id": checkpoint.to_string(), "number": checkpoint.number}),
            ),
            Notification::Rule {
                rule,
                event,
                run,
                interrupt: of,
                why,
            } => Self::rule(*rule, *event, (*run, *of), why.as_deref()),
            Notification::Run {
                run,
                state,
                version,
                reason,
                open,
            } => {
                let why = (reason.as_deref(), open.as_slice());
                Self::run(*run, (*state, *version), why, records.run(*run))
            }
        }
    }

    fn interrupt(
        id: InterruptId,
        run: RunId,
        (state, version): (State, u64),
        notice: &Notice,
        interrupt: Option<&Interrupt>,
    ) -> Self {
        let mut data = json!({
            "interrupt_id": id,
            "run_id": run,
            "state": state,
            "version": version,
        });
        if let Value::Object(data) = &mut data {
            if let Some(interrupt) = interrupt {
                data.insert("agent_id".to_owned(), address(run, &interrupt.node).into());
                data.insert("agent_type".to_owned(), interrupt.kind.as_str().into());
                data.insert("type".to_owned(), interrupt.interrupt_type.name().into());
                data.insert("source".to_owned(), interrupt.first_source().name().into());
                data.insert("scope".to_owned(), interrupt.scope.name().into());
                data.insert("origin".to_owned(), interrupt.origin.as_str().into());
            }
            if let Notice::Dispatch {
                target, decision, ..
            } = notice
            {
                data.insert("target".to_owned(), target.as_str().into());
                data.insert("decision_id".to_owned(), decision.to_string().into());
                let made = interrupt.and_then(|interrupt| interrupt.decision.as_ref());
                if let Some(made) = made.filter(|made| made.id == *decision) {
                    tell_decision(data, made);
                }
            }
            if let Notice::ReviewChanged { step } = notice {
                tell_step(data, step);
            }
            tell_asking(data, id, notice);
            // A mode only goes up, so only the event of the beginning contains the one at the beginning.
            if let (Notice::Admitted, Some(interrupt)) = (notice, interrupt) {
                data.insert("mode".to_owned(), interrupt.mode.name().into());
                tell_text(data, "reason", Some(interrupt.first_reason()));
            }
            if let (Notice::Acknowledged | Notice::Dispatch { .. }, Some(interrupt)) =
                (notice, interrupt)
                && let Some(bound) = &interrupt.bound
            {
                data.insert("event_id".to_owned(), bound.event.as_str().into());
                data.insert("reroute_to".to_owned(), bound.target.as_str().into());
            }
        }
        Self {
            node: interrupt.map(|interrupt| interrupt.node.clone()),
            interrupt: Some((id, state)),
            ..Self::new(interrupt_topic(notice, state), run, data)
        }
    }

    fn reroute(
        run: RunId,
        (event, state): (&EventId, &RerouteState),
        row: Option<&RerouteRow>,
    ) -> Self {
        let mut data = Map::new();
        data.insert("event_id".to_owned(), event.as_str().into());
        data.insert("reroute".to_owned(), json!(state));
        let told = format!("reroute.{}", reroute_name(state));
        let Some(row) = row else {
            return Self::new(told, run, Value::Object(data));
        };
        data.insert("agent_id".to_owned(), address(run, &row.node).into());
        data.insert("target".to_owned(), row.target.as_str().into());
        Self::new(told, run, Value::Object(data)).by(&row.node)
    }

    fn effect(
        run: RunId,
        data: Value,
        (kind, done): (&str, bool),
        kept: Option<&StoredEffect>,
    ) -> Self {
        let mut data = object(data);
        let topic = match kept {
            Some(StoredEffect::Tool(call)) => call_told(call, done, &mut data),
            Some(StoredEffect::Model(call)) => {
                call.tell(done, &mut data);
                effect_topic(kind, done)
            }
            Some(StoredEffect::Interrupt(kept)) => {
                kept.tell(done, &mut data);
                effect_topic(kind, done)
            }
            Some(StoredEffect::Attempt(attempt)) => attempt.tell(done, &mut data),
            Some(StoredEffect::Mail(letters)) => {
                if done {
                    report_messages(letters, &mut data);
                }
                effect_topic(kind, done)
            }
            None => effect_topic(kind, done),
        };
        Self::new(topic, run, Value::Object(data))
    }

    fn run(
        run: RunId,
        (state, version): (RunState, u64),
        (reason, open): (Option<&str>, &[InterruptId]),
        kept: Option<&StoredRun>,
    ) -> Self {
        let mut data = Map::new();
        data.insert("run_id".to_owned(), json!(run));
        data.insert("state".to_owned(), json!(state));
        data.insert("version".to_owned(), version.into());
        if let Some(reason) = reason {
            data.insert("reason".to_owned(), reason.into());
        }
        if let RunState::Paused | RunState::Waiting = state {
            data.insert("open_interrupts".to_owned(), json!(open));
        }
        match (state, kept) {
            (RunState::Created, Some(kept)) => {
                for (name, text) in &kept.order {
                    tell_text(&mut data, name, Some(text));
                }
            }
            (RunState::Completed, Some(kept)) => {
                tell_text(&mut data, "summary", kept.result.as_deref());
            }
            _ => {}
        }
        Self {
            run_state: Some(state),
            ..Self::new(format!("run.{state}"), run, Value::Object(data))
        }
    }

    fn rule(
        rule: RuleId,
        event: RuleEvent,
        (run, interrupt): (Option<RunId>, Option<InterruptId>),
        why: Option<&str>,
    ) -> Self {
        let mut data = Map::new();
        data.insert("rule_id".to_owned(), rule.to_string().into());
        for (name, value) in [
            ("run_id", run.map(|run| run.to_string())),
            ("interrupt_id", interrupt.map(|id| id.to_string())),
            ("why", why.map(str::to_owned)),
        ] {
            if let Some(value) = value {
                data.insert(name.to_owned(), value.into());
            }
        }
        Self::new(format!("rule.{}", event.name()), run, Value::Object(data))
    }

    fn node(run: RunId, node: &NodeId, kind: &str, activity: NodeActivity, step: u32) -> Self {
        let data = json!({
            "agent_id": address(run, node),
            "agent_type": kind,
            "status": activity.name(),
            "step": step,
        });
        Self::new(node_topic(activity), run, data).by(node)
    }
}

pub(super) const fn node_topic(activity: NodeActivity) -> &'static str {
    if activity.is_final() {
        "agent.finished"
    } else {
        "agent.status_changed"
    }
}

/// Adds a text, unless it is too long for an event: those are read from their record.
fn tell_text(data: &mut Map<String, Value>, name: &str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| text.len() <= LONGEST_TEXT) {
        data.insert(name.to_owned(), text.into());
    }
}

/// Adds what was decided, and by what: a decision never changes.
fn tell_decision(data: &mut Map<String, Value>, made: &Decision) {
    data.insert("decision".to_owned(), made.verdict.name().into());
    data.insert("decided_by".to_owned(), decider(&made.by).into());
    let answer = made
        .content
        .as_deref()
        .filter(|text| text.len() <= LONGEST_TEXT);
    if let Some(answer) = answer.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        data.insert("answer".to_owned(), answer);
    }
    if let Decider::Rule { rule, .. } = &made.by {
        data.insert("rule_id".to_owned(), rule.to_string().into());
    }
}

/// Adds who has claimed it, or what holds it, from then on: later steps have events of their own.
fn tell_step(data: &mut Map<String, Value>, step: &ReviewStep) {
    match step {
        ReviewStep::Claimed(claim) => {
            let claim = json!({"by": claim.by.as_str(), "until": claim.until.to_string()});
            data.insert("claimed_by".to_owned(), claim);
        }
        ReviewStep::Held { by } => {
            data.insert("held_by".to_owned(), by.to_string().into());
        }
        ReviewStep::Released | ReviewStep::Unnamed => {}
    }
}

/// Adds who now also requests a stop, or no longer does.
fn tell_asking(data: &mut Map<String, Value>, interrupt: InterruptId, notice: &Notice) {
    if let Notice::Asked { asking } = notice {
        // A later withdrawal has an event of its own.
        let view = AskingView::of(interrupt, asking);
        data.insert("asking".to_owned(), json!(view));
    }
    if let Notice::TakenBack { askings, by } = notice {
        let ids = askings.iter().map(|&number| AskingId { interrupt, number });
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        data.insert("askings".to_owned(), ids.into());
        data.insert("withdrawn_by".to_owned(), by.name.as_str().into());
    }
}

fn address(run: RunId, node: &NodeId) -> String {
    let node = node.clone();
    AgentAddress { run, node }.to_string()
}

pub(super) fn interrupt_topic(notice: &Notice, state: State) -> &'static str {
    match notice {
        Notice::Admitted => "interrupt.requested",
        Notice::Delivered => "interrupt.delivered",
        Notice::Acknowledged => "interrupt.acknowledged",
        Notice::ReviewOpened => "interrupt.opened",
        Notice::ReviewChanged { step } => match step {
            ReviewStep::Claimed(_) => "interrupt.claimed",
            ReviewStep::Released => "interrupt.released",
            ReviewStep::Held { .. } => "interrupt.held",
            ReviewStep::Unnamed => "interrupt.updated",
        },
        Notice::ModeRaised => "interrupt.mode_raised",
        Notice::Asked { .. } => "interrupt.asked",
        Notice::TakenBack { .. } => "interrupt.taken_back",
        Notice::Dispatch { .. } => match state {
            State::Expired => "interrupt.expired",
            State::Rerouted => "interrupt.rerouted",
            State::Requested
            | State::Delivered
            | State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Cancelled
            | State::DeadLettered => "interrupt.resolved",
        },
        Notice::Ended => "interrupt.cancelled",
        Notice::DeadLettered => "interrupt.dead_lettered",
        Notice::Redriven => "interrupt.redriven",
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Adds a call of a tool, and returns the event's name: the beginning has what was requested, the end has the result.
fn call_told(call: &StoredCall, done: bool, data: &mut Map<String, Value>) -> &'static str {
    data.insert("call_id".to_owned(), call.call.as_str().into());
    data.insert("tool".to_owned(), call.tool.as_str().into());
    let Some(end) = call.end.as_ref().filter(|_end| done) else {
        return match (done, call.has_run) {
            (true, _) => "tool.finished",
            (false, true) => "tool.started",
            // It never ran: the journal has it only for its end.
            (false, false) => "effect.started",
        };
    };
    data.insert("outcome".to_owned(), end.outcome.into());
    data.insert("left_behind".to_owned(), end.left_behind.into());
    if let Some(said) = &end.said {
        data.insert("message".to_owned(), said.as_str().into());
    }
    if let Some(by) = end.interrupted_by {
        data.insert("interrupted_by".to_owned(), by.name().into());
        return "tool.interrupted";
    }
    if end.is_skipped {
        "tool.skipped"
    } else {
        "tool.finished"
    }
}

pub(super) fn effect_topic(kind: &str, done: bool) -> &'static str {
    match (kind, done) {
        ("model_call", false) => "llm.call_started",
        ("model_call", true) => "llm.call_finished",
        ("tool_call", false) => "tool.started",
        ("tool_call", true) => "tool.finished",
        (_, false) => "effect.started",
        (_, true) => "effect.finished",
    }
}

pub(super) const fn reroute_name(state: &RerouteState) -> &'static str {
    match state {
        RerouteState::Pending => "pending",
        RerouteState::Bound { .. } => "bound",
        RerouteState::Consumed { .. } => "consumed",
        RerouteState::Expired => "expired",
        RerouteState::Superseded { .. } => "superseded",
        RerouteState::Cancelled { .. } => "cancelled",
    }
}
