//! Commands over a socket: the same as the requests of REST, by the same functions.

use interrupt_router::NodeId;
use interrupts::life::{Interrupt, Scope};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::frame::{Frame, Outgoing};
use super::frame_type::FrameType;
use super::subscriptions::Subscriptions;
use crate::acting::{
    DecisionOrder, KeyedResume, affected, checked_key, decide, interrupt_named, resume,
};
use crate::app::App;
use crate::events::position_text;
use crate::feed::{Filter, heard_by};
use crate::metrics::Way;
use crate::problem::{Code, Problem};
use crate::routes::digest;
use crate::wire::{DecisionName, RememberBody};
use control::{Caller, CancelOrder, DecisionParts, NewDecision, RequestStop, Right, first_agent};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Subscribe {
    #[serde(default)]
    topics: Vec<String>,
    run_id: Option<String>,
    thread_id: Option<String>,
    agent_id: Option<String>,
    after_seq: Option<SeqGiven>,
}

/// A position, as text or as a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum SeqGiven {
    Text(String),
    Number(u64),
}

impl SeqGiven {
    fn position(&self) -> Result<u64, Problem> {
        let position = match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
        };
        position
            .filter(|&position| position <= i64::MAX as u64)
            .ok_or_else(|| shape("after_seq: this is no position"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unsubscribe {
    subscription_id: String,
}

/// An order to an agent, with what names the agent.
#[derive(Deserialize)]
struct InterruptFrame {
    thread_id: String,
    agent_id: Option<String>,
    run_id: Option<String>,
    idempotency_key: Option<String>,
    #[serde(flatten)]
    order: Map<String, Value>,
}

/// An order to a run, with what names the run.
#[derive(Deserialize)]
struct RunFrame {
    run_id: String,
    idempotency_key: Option<String>,
    #[serde(flatten)]
    order: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecisionFrame {
    interrupt_id: String,
    version: u64,
    decision: DecisionName,
    payload: Option<Value>,
    message: Option<String>,
    reroute_to: Option<String>,
    shown_digest: Option<String>,
    remember: Option<RememberBody>,
    idempotency_key: Option<String>,
}

/// Carries out a frame. Returns the replies, in their order.
pub(super) async fn carry_out(
    app: &App,
    caller: &Caller,
    subscriptions: &mut Subscriptions,
    frame: Frame,
) -> Vec<Outgoing> {
    let Frame { kind, id, payload } = frame;
    let Some(kind) = FrameType::named(&kind) else {
        let unknown = shape(&format!("`{kind}` is no type of a frame"));
        return vec![Outgoing::error(id, &unknown)];
    };
    let reply = match kind {
        FrameType::Ping => Ok(Outgoing::new("pong", id.clone(), payload)),
        FrameType::Pong => return Vec::new(),
        FrameType::Subscribe => subscribe(app, caller, subscriptions, id.clone(), payload).await,
        FrameType::Unsubscribe => unsubscribe(subscriptions, id.clone(), payload),
        FrameType::Interrupt => return interrupt(app, caller, subscriptions, id, payload).await,
        FrameType::Decision => acknowledged(
            "decision_ack",
            id.clone(),
            decision(app, caller, payload).await,
        ),
        FrameType::Resume => acknowledged(
            "resume_ack",
            id.clone(),
            resumed(app, caller, payload).await,
        ),
        FrameType::Cancel => acknowledged(
            "cancel_ack",
            id.clone(),
            cancelled(app, caller, subscriptions, payload).await,
        ),
    };
    vec![reply.unwrap_or_else(|problem| Outgoing::error(id, &problem))]
}

fn shape(detail: &str) -> Problem {
    Problem::new(Code::Shape, detail, "the frame was not carried out")
}

fn payload_of<T: DeserializeOwned>(payload: Value) -> Result<T, Problem> {
    if !payload.is_object() {
        return Err(shape("payload: this is no object"));
    }
    serde_json::from_value(payload).map_err(|error| shape(&format!("payload: {error}")))
}

/// Reads the order of a frame. A member that is null counts as left out.
fn order_of<T: DeserializeOwned>(mut order: Map<String, Value>) -> Result<T, Problem> {
    order.retain(|_name, value| !value.is_null());
    payload_of(order.into())
}

/// A reply that says whether it worked.
fn acknowledged(
    kind: &'static str,
    id: Option<String>,
    outcome: Result<Value, Problem>,
) -> Result<Outgoing, Problem> {
    let payload = match outcome {
        Ok(mut payload) => {
            if let Value::Object(payload) = &mut payload {
                payload.shift_insert(0, "success".to_owned(), true.into());
            }
            payload
        }
        Err(problem) => json!({"success": false, "problem": problem.to_json()}),
    };
    Ok(Outgoing::new(kind, id, payload))
}

async fn subscribe(
    app: &App,
    caller: &Caller,
    subscriptions: &mut Subscriptions,
    id: Option<String>,
    payload: Value,
) -> Result<Outgoing, Problem> {
    Right::Read.demand(caller)?;
    let wanted: Subscribe = payload_of(payload)?;
    let filter = Filter::default()
        .with_topics(wanted.topics.iter().map(String::as_str))
        .map_err(|error| shape(&format!("topics: {error}")))?;
    let run = wanted.run_id.or(wanted.thread_id);
    let (run, agent) = (run.as_deref(), wanted.agent_id.as_deref());
    let filter = heard_by(caller, app.store(), filter, run, agent).await?;
    let after = wanted.after_seq.map(|seq| seq.position()).transpose()?;
    if after.is_none() {
        // "From now on" means from here on.
        app.feed.catches_up().await;
    }
    let (name, begins) = subscriptions
        .add(filter, after)
        .ok_or_else(|| shape("too many subscriptions; end one first"))?;
    let payload = json!({"subscription_id": name, "replay_from": position_text(begins)});
    Ok(Outgoing::new("subscribed", id, payload))
}

fn unsubscribe(
    subscriptions: &mut Subscriptions,
    id: Option<String>,
    payload: Value,
) -> Result<Outgoing, Problem> {
    let wanted: Unsubscribe = payload_of(payload)?;
    if !subscriptions.remove(&wanted.subscription_id) {
        return Err(shape("subscription_id: there is no such subscription"));
    }
    let payload = json!({"subscription_id": wanted.subscription_id});
    Ok(Outgoing::new("unsubscribed", id, payload))
}

async fn interrupt(
    app: &App,
    caller: &Caller,
    subscriptions: &mut Subscriptions,
    id: Option<String>,
    payload: Value,
) -> Vec<Outgoing> {
    let thread = payload
        .get("thread_id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    subscriptions.listen();
    let seq = app.feed.latest();
    match asked(app, caller, payload).await {
        Ok((interrupt, affected)) => {
            let payload = json!({
                "success": true,
                "thread_id": thread,
                "interrupt_id": interrupt.id.to_string(),
                "state": interrupt.state,
                "scope": interrupt.scope.name(),
                "affected": affected,
                "seq": position_text(seq),
            });
            subscriptions.follow(interrupt);
            vec![Outgoing::new("interrupt_ack", id, payload)]
        }
        Err(problem) => {
            let payload =
                json!({"success": false, "thread_id": thread, "problem": problem.to_json()});
            vec![Outgoing::new("interrupt_ack", id, payload)]
        }
    }
}

async fn asked(
    app: &App,
    caller: &Caller,
    payload: Value,
) -> Result<(Interrupt, Vec<String>), Problem> {
    let mut wanted: InterruptFrame = payload_of(payload)?;
    let named = wanted.run_id.as_deref().unwrap_or(&wanted.thread_id);
    let run = caller.reach.run(app.store(), named).await?;
    let agent = match &wanted.agent_id {
        None => {
            let scope = wanted.order.entry("scope").or_insert(Value::Null);
            if scope.is_null() {
                *scope = Scope::Run.name().into();
            }
            first_agent(app.store(), run).await?
        }
        Some(text) => {
            // A bare node id means the node of the named run.
            let bare = NodeId::new(&**text).is_ok() && !text.starts_with("run_");
            let address = format!("{}/{text}", run.id);
            let named = if bare { &address } else { text };
            caller.reach.agent(app.store(), named).await?
        }
    };
    let key = checked_key(wanted.idempotency_key.as_deref())?;
    let stop = RequestStop::of(&agent, order_of(wanted.order)?, key);
    let interrupt = app.carry_out(caller, stop).await?.into_interrupt();
    let affected = affected(app, &interrupt).await?;
    Ok((interrupt, affected))
}

async fn decision(app: &App, caller: &Caller, payload: Value) -> Result<Value, Problem> {
    let wanted: DecisionFrame = payload_of(payload)?;
    Right::Decide.demand(caller)?;
    let interrupt = interrupt_named(app, &wanted.interrupt_id).await?;
    let order = DecisionOrder {
        decision: NewDecision {
            version: Some(wanted.version),
            shown: digest(wanted.shown_digest.as_deref())?,
            parts: DecisionParts {
                verdict: wanted.decision.into(),
                payload: wanted.payload,
                message: wanted.message,
                reroute_to: wanted.reroute_to,
            },
            remember: wanted
                .remember
                .map(|remember| remember.order("payload.remember."))
                .transpose()?,
        },
        key: checked_key(wanted.idempotency_key.as_deref())?,
        way: Way::Socket,
    };
    let decided = decide(app, caller, &interrupt, order).await?;
    let decision = decided.interrupt().decision.as_ref();
    Ok(json!({
        "interrupt_id": wanted.interrupt_id,
        "decision_id": decision.map(|decision| decision.id.to_string()),
        "state": decided.interrupt().state,
    }))
}

async fn resumed(app: &App, caller: &Caller, payload: Value) -> Result<Value, Problem> {
    let wanted: RunFrame = payload_of(payload)?;
    Right::Direct.demand(caller)?;
    let run = caller.reach.run(app.store(), &wanted.run_id).await?;
    let how = KeyedResume {
        order: order_of(wanted.order)?,
        key: checked_key(wanted.idempotency_key.as_deref())?,
    };
    let resumed = resume(app, caller, &run, how).await?;
    Ok(json!({"run_id": resumed.to_string()}))
}

async fn cancelled(
    app: &App,
    caller: &Caller,
    subscriptions: &mut Subscriptions,
    payload: Value,
) -> Result<Value, Problem> {
    Right::Direct.demand(caller)?;
    let wanted: RunFrame = payload_of(payload)?;
    let order: CancelOrder = order_of(wanted.order)?;
    let run = caller.reach.run(app.store(), &wanted.run_id).await?;
    let agent = first_agent(app.store(), run).await?;
    let key = checked_key(wanted.idempotency_key.as_deref())?;
    subscriptions.listen();
    let stop = RequestStop::of(&agent, order.into(), key);
    let interrupt = app.carry_out(caller, stop).await?.into_interrupt();
    let told = json!({
        "run_id": wanted.run_id,
        "interrupt_id": interrupt.id.to_string(),
        "state": interrupt.state,
    });
    subscriptions.follow(interrupt);
    Ok(told)
}
