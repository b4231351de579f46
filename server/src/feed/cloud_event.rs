//! An event of the feed as a CloudEvent: the same bytes whenever it is told.

use std::sync::Arc;

use interrupts::life::{
    AskingId, Decider, Decision, Interrupt, Notice, ReviewStep, RunState, State,
};
use interrupts::store::{NodeActivity, Notification, OutboxRow, RuleEvent};
use jiff::Timestamp;
use journal::tool::KeptCall;
use routing_core::reroute::RerouteState;
use routing_core::{InterruptId, NodeId, RuleId, RunId};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::address::AgentAddress;
use crate::problem::decider;
use crate::wire::{AskingView, mode_name, scope_name, source_name, verdict_name};

/// What precedes the name of every event.
const PREFIX: &str = "dev.irq.";
/// What follows it.
const SUFFIX: &str = ".v1";
/// The type of the event that says that a position is gone.
pub(super) const RESET_TYPE: &str = "dev.irq.stream.reset.v1";

/// What an event is about, for those of its parts that never change.
#[derive(Debug)]
pub(super) enum About {
    /// Nothing beside what is told.
    Nothing,
    /// An interrupt.
    Interrupt(Arc<Interrupt>),
    /// A call of a tool. What is known of its end is told with its end alone.
    Call(KeptCall),
}

impl About {
    pub(super) fn of_interrupt(interrupt: Option<Arc<Interrupt>>) -> Self {
        interrupt.map_or(Self::Nothing, Self::Interrupt)
    }

    fn interrupt(&self) -> Option<&Interrupt> {
        match self {
            Self::Interrupt(interrupt) => Some(interrupt),
            Self::Nothing | Self::Call(_) => None,
        }
    }

    pub(super) fn of_call(call: Option<KeptCall>) -> Self {
        call.map_or(Self::Nothing, Self::Call)
    }
}

/// An event of the feed.
#[derive(Debug, Clone)]
pub(crate) struct FeedEvent {
    /// Its place in the feed.
    pub(crate) position: u64,
    /// When it was written.
    pub(crate) at: Timestamp,
    /// Its run, where it is of one.
    pub(crate) run: Option<RunId>,
    /// The agent that it is about.
    pub(crate) node: Option<NodeId>,
    /// The interrupt that it is about, with its state after.
    pub(crate) interrupt: Option<(InterruptId, State)>,
    /// The state after, where it is about the run itself.
    pub(crate) run_state: Option<RunState>,
    /// Its name, as `interrupt.opened`.
    pub(crate) topic: String,
    /// The CloudEvent, as JSON on one line.
    pub(crate) json: String,
}

/// The envelope. The order of its fields is the order on the wire.
#[derive(Serialize)]
struct Envelope<'event> {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    time: String,
    datacontenttype: &'static str,
    sequence: String,
    data: &'event Value,
}

impl FeedEvent {
    /// The event of a row. Of what it is about only what never changes is told.
    pub(super) fn of(instance: &str, row: &OutboxRow, about: &About) -> Self {
        let told = NotificationContent::of(&row.notification, about);
        let sequence = position_text(row.position);
        let envelope = Envelope {
            specversion: "1.0",
            id: sequence.clone(),
            source: source_of(instance, told.run),
            r#type: event_type(&told.topic),
            subject: told.subject(),
            time: row.at.to_string(),
            datacontenttype: "application/json",
            sequence,
            data: &told.data,
        };
        Self {
            position: row.position,
            at: row.at,
            // An envelope of texts always serializes.
            json: serde_json::to_string(&envelope).unwrap_or_default(),
            run: told.run,
            node: told.node,
            interrupt: told.interrupt,
            run_state: told.run_state,
            topic: told.topic,
        }
    }
}

/// The source of what is told of a run, or of no run.
pub(crate) fn source_of(instance: &str, run: Option<RunId>) -> String {
    match run {
        Some(run) => format!("/irq/{instance}/runs/{run}"),
        None => format!("/irq/{instance}"),
    }
}

/// The type of the events with a name.
pub(crate) fn event_type(topic: &str) -> String {
    format!("{PREFIX}{topic}{SUFFIX}")
}

/// A position as it is written: of one length, so that texts sort as numbers do.
pub(crate) fn position_text(position: u64) -> String {
    format!("{position:016}")
}

/// The event that says that a position is gone, and where to read what is now.
pub(crate) fn reset_event(instance: &str, missed: (u64, u64), now: Timestamp, why: &str) -> String {
    let (from, to) = missed;
    let data = json!({
        "from_seq": position_text(from),
        "to_seq": position_text(to),
        "reason": why,
        "snapshot": ["/v1/runs", "/v1/agents", "/v1/interrupts?status=open"],
    });
    let envelope = Envelope {
        specversion: "1.0",
        id: format!("reset-{}", position_text(to)),
        source: format!("/irq/{instance}"),
        r#type: RESET_TYPE.to_owned(),
        subject: None,
        time: now.to_string(),
        datacontenttype: "application/json",
        sequence: position_text(to),
        data: &data,
    };
    serde_json::to_string(&envelope).unwrap_or_default()
}

/// What a notification says.
struct NotificationContent {
    topic: String,
    run: Option<RunId>,
    node: Option<NodeId>,
    interrupt: Option<(InterruptId, State)>,
    run_state: Option<RunState>,
    data: Value,
}

impl NotificationContent {
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

    fn subject(&self) -> Option<String> {
        let agent = self.run.zip(self.node.as_ref());
        let agent = agent.map(|(run, node)| format!("agents/{run}/{node}"));
        match (agent, self.interrupt) {
            (Some(agent), Some((interrupt, _))) => Some(format!("{agent}/interrupts/{interrupt}")),
            (None, Some((interrupt, _))) => Some(format!("interrupts/{interrupt}")),
            (agent, None) => agent,
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each notification")]
    fn of(notification: &Notification, about: &About) -> Self {
        match notification {
            Notification::Interrupt {
                interrupt: id,
                run,
                state,
                version,
                source,
                notice,
            } => {
                let mut told =
                    Self::interrupt(*id, *run, (*state, *version), notice, about.interrupt());
                if let (Value::Object(data), Some(source)) = (&mut told.data, source) {
                    data.insert("source".to_owned(), source_name(*source).into());
                }
                told
            }
            Notification::Reroute {
                event,
                run,
                reroute,
            } => Self::new(
                format!("reroute.{}", reroute_name(reroute)),
                *run,
                json!({"event_id": event.as_str(), "reroute": reroute}),
            ),
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
                Self::effect(*run, data, (kind.as_str(), *done), about).by(node)
            }
            Notification::Message { run, node, message } => {
                let data = json!({"agent_id": address(*run, node), "message": message});
                Self::new("agent.message_added", *run, data).by(node)
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
            } => Self::run(*run, (*state, *version), reason.as_deref(), open),
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
                data.insert(
                    "source".to_owned(),
                    source_name(interrupt.first_source()).into(),
                );
                data.insert("scope".to_owned(), scope_name(interrupt.scope).into());
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
            // A mode only goes up, so the one at the beginning is told with the beginning alone.
            if let (Notice::Admitted, Some(interrupt)) = (notice, interrupt) {
                data.insert("mode".to_owned(), mode_name(interrupt.mode).into());
            }
        }
        Self {
            node: interrupt.map(|interrupt| interrupt.node.clone()),
            interrupt: Some((id, state)),
            ..Self::new(interrupt_topic(notice, state), run, data)
        }
    }

    fn effect(run: RunId, data: Value, (kind, done): (&str, bool), about: &About) -> Self {
        let mut data = object(data);
        let topic = match about {
            About::Call(call) => call_told(call, done, &mut data),
            About::Nothing | About::Interrupt(_) => effect_topic(kind, done),
        };
        Self::new(topic, run, Value::Object(data))
    }

    fn run(
        run: RunId,
        (state, version): (RunState, u64),
        reason: Option<&str>,
        open: &[InterruptId],
    ) -> Self {
        let mut data = json!({"run_id": run, "state": state, "version": version});
        if let (Value::Object(data), Some(reason)) = (&mut data, reason) {
            data.insert("reason".to_owned(), reason.into());
        }
        if let (Value::Object(data), RunState::Paused | RunState::Waiting) = (&mut data, state) {
            data.insert("open_interrupts".to_owned(), json!(open));
        }
        Self {
            run_state: Some(state),
            ..Self::new(format!("run.{state}"), run, data)
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

/// What was decided, and by what: a decision never changes.
fn tell_decision(data: &mut Map<String, Value>, made: &Decision) {
    data.insert("decision".to_owned(), verdict_name(made.verdict).into());
    data.insert("decided_by".to_owned(), decider(&made.by).into());
    if let Decider::Rule { rule, .. } = &made.by {
        data.insert("rule_id".to_owned(), rule.to_string().into());
    }
}

/// Who has claimed it, or what holds it, from then on: what comes later has an event of its own.
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

/// Who asks for a stop now, too, or does so no more.
fn tell_asking(data: &mut Map<String, Value>, interrupt: InterruptId, notice: &Notice) {
    if let Notice::Asked { asking } = notice {
        // That it is taken back later has an event of its own.
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

/// What is told of a call of a tool, and the name of that: of its beginning what was asked for, of its end what came
/// of it.
fn call_told(call: &KeptCall, done: bool, data: &mut Map<String, Value>) -> &'static str {
    data.insert("call_id".to_owned(), call.call.as_str().into());
    data.insert("tool".to_owned(), call.tool.as_str().into());
    let Some(end) = call.end.as_ref().filter(|_end| done) else {
        return match (done, call.has_run) {
            (true, _) => "tool.finished",
            (false, true) => "tool.started",
            // It never ran: the journal has it for the sake of its end.
            (false, false) => "effect.started",
        };
    };
    data.insert("outcome".to_owned(), end.outcome.into());
    data.insert("left_behind".to_owned(), end.left_behind.into());
    if let Some(said) = &end.said {
        data.insert("message".to_owned(), said.as_str().into());
    }
    if let Some(by) = end.interrupted_by {
        data.insert("interrupted_by".to_owned(), source_name(by).into());
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
