//! Runs, agents and interrupts as JSON: the names that programs meet everywhere.

use interrupts::life::{
    BoundReroute, Decider, Decision, ExpiryOutcome, Family, Interrupt, Verdict,
};
use interrupts::store::{NodeRow, Run};
use journal::goal_in;
use serde_json::{Map, Value, json};

use jiff::Timestamp;

use crate::address::full;
use crate::visible::visible_json;

/// A value on one line, ended, with nothing in it that acts unseen.
pub(crate) fn json_line(value: &Value) -> String {
    format!("{}\n", visible_json(&value.to_string()))
}

/// The value if there is one; a field without a value is left out.
fn put(object: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(name.to_owned(), value);
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// JSON that was kept as text; the text itself if it is no JSON.
pub(crate) fn kept_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_no_json| Value::from(text))
}

/// An interrupt.
pub(crate) fn interrupt(interrupt: &Interrupt) -> Value {
    let content = kept_json(&interrupt.content);
    let mut view = object(json!({
        "id": interrupt.id,
        "run_id": interrupt.run,
        "agent_id": interrupt.node,
        "agent_type": interrupt.kind,
        "type": interrupt.interrupt_type,
        "source": interrupt.source,
        "requested_by": interrupt.requested_by,
        "mode": interrupt.mode,
        "scope": interrupt.scope,
        "priority": interrupt.lane().priority(),
        "state": interrupt.state,
        "version": interrupt.version,
        "reason": crate::question::reason(interrupt),
    }));
    if interrupt.family() == Family::Stop {
        view.insert("askings".to_owned(), askings(interrupt).into());
    }
    for (name, key) in [
        ("choices", "choices"),
        ("confirmation_items", "confirmationItems"),
        ("context_for_decision", "contextForDecision"),
        ("answer_form", "answerForm"),
    ] {
        put(&mut view, name, content.get(key).cloned());
    }
    view.insert("content".to_owned(), content);
    put_review(&mut view, interrupt);
    put_times(&mut view, interrupt);
    let last_error = interrupt.last_error.as_ref().map(|error| json!(error));
    put(&mut view, "last_error", last_error);
    let decision = interrupt.decision.as_ref().map(decision);
    put(&mut view, "decision", decision);
    Value::Object(view)
}

/// Who asks for a stop, each with the id with which they take that back.
fn askings(interrupt: &Interrupt) -> Vec<Value> {
    let askings = interrupt.askings();
    let views = askings.iter().map(|asking| {
        let mut view = object(json!({
            "id": interrupt.asking_id(asking.number),
            "by": asking.by,
            "source": asking.source,
            "mode": asking.mode,
            "reason": asking.reason,
            "requested_at": asking.at,
        }));
        let withdrawn = asking.withdrawn.as_ref().map(|taken| json!(taken));
        put(&mut view, "withdrawn", withdrawn);
        Value::Object(view)
    });
    views.collect()
}

/// What may be decided, and what reviewers have done.
fn put_review(view: &mut Map<String, Value>, interrupt: &Interrupt) {
    let allowed: Vec<&str> = interrupt.verdicts().map(Verdict::name).collect();
    view.insert("allowed_decisions".to_owned(), json!(allowed));
    view.insert("origin".to_owned(), json!(interrupt.origin));
    view.insert("routes".to_owned(), json!(interrupt.routes));
    put(view, "reroute", interrupt.bound.as_ref().map(reroute));
    put(view, "held_by", interrupt.held_by.map(|by| json!(by)));
    if let Some(review) = &interrupt.review {
        view.insert("shown".to_owned(), json!(review.shown));
        let assignee = review.assignee.as_ref().map(|name| json!(name));
        put(view, "assignee", assignee);
        let claim = review.claim.as_ref().map(|claim| json!(claim));
        put(view, "claimed_by", claim);
    }
}

fn put_times(view: &mut Map<String, Value>, interrupt: &Interrupt) {
    view.insert("requested_at".to_owned(), json!(interrupt.requested_at));
    for (name, at) in [
        ("acknowledged_at", interrupt.acknowledged_at),
        ("ended_at", interrupt.ended_at),
        ("expires_at", interrupt.due_at()),
    ] {
        put(view, name, at.map(|at| json!(at)));
    }
    if interrupt.deadline.is_some() {
        view.insert("on_expiry".to_owned(), on_expiry(&interrupt.on_expiry));
    }
}

fn reroute(bound: &BoundReroute) -> Value {
    json!({"event_id": bound.event, "to": bound.target})
}

fn on_expiry(outcome: &ExpiryOutcome) -> Value {
    match outcome {
        ExpiryOutcome::Reject => json!({"outcome": "reject"}),
        ExpiryOutcome::Cancel => json!({"outcome": "cancel"}),
        ExpiryOutcome::Reroute { target } => json!({"outcome": "reroute", "to": target}),
    }
}

/// A decision.
pub(crate) fn decision(decision: &Decision) -> Value {
    let (by, name) = match &decision.by {
        Decider::Person { name } => ("person", Some(name)),
        Decider::Policy => ("policy", None),
        Decider::Rule { name, .. } => ("rule", Some(name)),
        Decider::Deadline => ("deadline", None),
    };
    let mut view = object(json!({
        "id": decision.id,
        "decision": decision.verdict.name(),
        "target": decision.target,
        "by": by,
    }));
    put(&mut view, "name", name.map(|name| json!(name)));
    view.insert("at".to_owned(), json!(decision.at));
    let payload = decision.content.as_deref().map(kept_json);
    put(&mut view, "payload", payload);
    Value::Object(view)
}

/// A run, without its agents.
pub(crate) fn run(run: &Run) -> Value {
    let mut view = object(json!({
        "id": run.id,
        "state": run.state,
        "created_at": run.created_at,
        "checkpoint": run.checkpoint,
        "version": run.version,
    }));
    put(
        &mut view,
        "alias",
        run.alias.as_ref().map(|alias| json!(alias)),
    );
    put(
        &mut view,
        "reason",
        run.reason.as_ref().map(|reason| json!(reason)),
    );
    put(
        &mut view,
        "owner",
        run.lease.as_ref().map(|lease| json!(lease)),
    );
    put(
        &mut view,
        "forked_from",
        run.forked_from.map(|from| json!(from.to_string())),
    );
    put(&mut view, "goal", goal(run).map(Value::from));
    Value::Object(view)
}

/// What a run is to do, if its content says so.
pub(crate) fn goal(run: &Run) -> Option<String> {
    goal_in(&run.content)
}

/// An agent.
pub(crate) fn agent(row: &NodeRow) -> Value {
    let mut agent = json!({
        "address": full(row.run, &row.node),
        "agent_id": row.node,
        "agent_type": row.kind,
        "parent_id": row.node.parent(),
        "status": row.activity,
        "takes_messages": row.takes_messages,
        "turn": row.turn,
        "tokens": row.tokens,
        "current_step": row.step,
        "since": row.since,
    });
    if let (Value::Object(agent), Some(waits)) =
        (&mut agent, row.waits_at(row.activity, Timestamp::now()))
    {
        agent.insert("waits".to_owned(), json!(waits));
    }
    agent
}

/// A value for people: the names and values of its fields, and of lists how long they are.
pub(crate) fn in_words(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_name, value)| !value.is_null());
            let fields = fields.map(|(name, value)| format!("{name}: {}", in_words(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            let first = values.first().map(in_words).unwrap_or_default();
            format!("{} entries, the first: {first}", values.len())
        }
        Value::Array(values) => values.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
