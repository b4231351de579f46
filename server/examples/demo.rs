//! A server over a store in memory with a run that asks two questions: to look at the page without a model.
//!
//! `cargo run -p interrupt-router-server --example demo` prints the address to open.

use std::sync::Arc;

use control::{TokenOrder, issue_token};
use interrupt_router::{
    AgentType as _, InterruptId, InterruptType, NodeId, RunId, StopMode, StopSource,
};
use interrupts::life::{Actor, Admission, ExpiryOutcome, Recurrence, Role, RunState, Scope};
use interrupts::store::{
    Deciders, Delivery, NewRun, NodeActivity, NodeRow, RaisedQuestion, Run, Store,
};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, NoNotifier, OwnerName, RouteName};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use server::{ServerConfig, serve};
use store::{MemoryStore, StoreSettings};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(StoreSettings::default()));
    let run = running(&*store).await?;
    ask(
        &*store,
        &run,
        "Two modules have no tests: write them, or leave them out?",
    )
    .await?;
    ask(&*store, &run, "Need clarification on discovery scope").await?;
    let order = TokenOrder {
        name: ActorName::new("you")?,
        role: Role::Operator,
        lifetime: Some(SignedDuration::from_mins(10)),
        once: true,
        scope: None,
        by: None,
    };
    let launch = issue_token(&*store, order).await?.secret;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/?launch={launch}", listener.local_addr()?);
    let stop = CancellationToken::new();
    let mut config = ServerConfig::new(store, Arc::new(NoNotifier));
    config.catalogues = agents::catalogue::built_in();
    serve(listener, config, stop).await?;
    Ok(())
}

fn delivery() -> Result<Delivery, Failure> {
    Ok(Delivery {
        owner: OwnerName::new("demo")?,
        lease: SignedDuration::from_hours(1),
        lost: None,
    })
}

async fn running(store: &dyn Store) -> Result<Run, Failure> {
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: json!({"goal": "Find the modules and test them"}).to_string(),
    };
    let run = store.create_run(new).await?;
    let run = store.own_run(run.id, delivery()?).await?;
    let nodes = [
        ("orchestrator", "ORCHESTRATOR", NodeActivity::Ready),
        (
            "orchestrator/discovery",
            "DISCOVERY_ORCHESTRATOR",
            NodeActivity::WaitingReview,
        ),
    ];
    let mut rows = Vec::new();
    for (id, kind, activity) in nodes {
        rows.push(NodeRow {
            run: run.id,
            node: NodeId::new(id)?,
            kind: KindName::new(kind)?,
            activity,
            takes_messages: true,
            turn: 1,
            step: 1,
            tokens: 0,
            since: Timestamp::UNIX_EPOCH,
            waits: None,
        });
    }
    store.put_nodes(run.id, run.epoch, rows).await?;
    Ok(store
        .change_run(run.id, run.epoch, RunState::Running, None)
        .await?)
}

async fn ask(store: &dyn Store, run: &Run, reason: &str) -> Result<(), Failure> {
    let content = json!({
        "type": "HUMAN_REVIEW",
        "reason": reason,
        "choices": [
            {"label": "Expand scope", "value": "expand", "description": "All fifteen modules."},
            {"label": "Keep narrow", "value": "narrow", "description": "The three that were named."},
        ],
        "confirmationItems": [
            {"id": "cost", "prompt": "May it cost more?", "defaultValue": false, "impactIfNo": "Only the first module is read."},
        ],
        "contextForDecision": "Fifteen modules were found, three were named in the goal.\nThe others are older.",
        "phase": "discovery",
    })
    .to_string();
    let mut routes = Vec::new();
    for &name in agents::RouteType::NAMES {
        routes.push(RouteName::new(name)?);
    }
    let shown = Digest::of(content.as_bytes());
    let admission = Admission {
        id: InterruptId::generate(),
        run: run.id,
        node: NodeId::new("orchestrator/discovery")?,
        kind: KindName::new("DISCOVERY_ORCHESTRATOR")?,
        origin: RouteName::new("DISCOVERY_ORCHESTRATOR")?,
        routes,
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: Actor {
            name: ActorName::new("orchestrator/discovery")?,
            role: Role::Requester,
        },
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: reason.to_owned(),
        content,
        key: IdempotencyKey::new(InterruptId::generate().to_string())?,
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: 8,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    };
    let delivery = delivery()?;
    let raised = store.raise(RaisedQuestion {
        admission,
        delivery,
        deciders: Deciders::default(),
    });
    let raised = raised.await?.into_interrupt();
    store.require_review(raised.id, raised.epoch, shown).await?;
    Ok(())
}
