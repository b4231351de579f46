//! Questions of people, as real rows among however many others.

use std::time::{Duration, Instant};

use interrupt_router::{DecisionId, InterruptId, InterruptType, NodeId, StopMode, StopSource};
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, ExpiryOutcome, Interrupt, Judge, Recurrence, Role, Scope,
    State, USUAL_ATTEMPTS, Verdict,
};
use interrupts::store::{
    Checkpoints as _, Filter, Interrupts as _, Journal as _, Page, Run, Runs as _,
};
use interrupts::{ActorName, Digest, IdempotencyKey, KindName, RouteName};
use store::PostgresStore;
use tokio_postgres::Client;

use super::{Failure, delivery, owned, say_all};

/// How often each is measured.
const TIMES: usize = 200;
/// How many a list shows.
const LISTED: u32 = 50;

/// So many open questions, which lists show first.
pub(crate) async fn to_list(store: &PostgresStore) -> Result<(), Failure> {
    let run = owned(store).await?;
    for _question in 0..LISTED {
        open(store, &run).await?;
    }
    Ok(())
}

/// Lists, decides, and resumes runs, each beside a bare insert with its commit: a disk that has just taken in millions of rows
/// is slower for all.
pub(crate) async fn measure(store: &PostgresStore, client: &Client) -> Result<(), Failure> {
    client
        .batch_execute("CREATE TABLE IF NOT EXISTS bare (body TEXT NOT NULL)")
        .await?;
    let insert = client.prepare("INSERT INTO bare VALUES ($1)").await?;
    let body = "x".repeat(1_000);
    let filter = Filter {
        run: None,
        node: None,
        states: vec![State::AwaitingReview],
    };
    let page = Page {
        after: 0,
        limit: LISTED,
    };
    let mut bare = Vec::new();
    let (mut lists, mut decisions, mut resumptions) = (Vec::new(), Vec::new(), Vec::new());
    let run = owned(store).await?;
    for _time in 0..TIMES {
        bare.push(timed(async { Ok(client.execute(&insert, &[&body]).await?) }).await?);
        lists.push(timed(async { Ok(store.interrupts(&filter, page).await?) }).await?);
        let question = open(store, &run).await?;
        decisions.push(timed(decide(store, &question)).await?);
        let other = owned(store).await?;
        store.release_run(other.id, other.epoch).await?;
        resumptions.push(timed(resume(store, &other)).await?);
    }
    say_all("  bare insert, committed", bare);
    say_all("  list 50 open questions", lists);
    say_all("  decide", decisions);
    say_all("  resume: own a run, read it", resumptions);
    Ok(())
}

async fn timed<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<Duration, Failure> {
    let began = Instant::now();
    work.await?;
    Ok(began.elapsed())
}

async fn decide(store: &PostgresStore, question: &Interrupt) -> Result<Interrupt, Failure> {
    let judge = Judge::Person {
        actor: actor("ada", Role::Reviewer)?,
        version: question.version,
        shown: Digest::of(b"shown"),
    };
    let choosing = Choosing {
        id: DecisionId::generate(),
        verdict: Verdict::Respond,
        target: None,
        content: Some(r#"{"answer":"the second"}"#.to_owned()),
    };
    Ok(store.decide(question.id, judge, choosing).await?)
}

async fn resume(store: &PostgresStore, run: &Run) -> Result<(), Failure> {
    let run = store.own_run(run.id, delivery("worker")?).await?;
    store.last_checkpoint(run.id).await?;
    let page = Page {
        after: 0,
        limit: 500,
    };
    store.journal(run.id, page).await?;
    Ok(())
}

/// A question that waits for a person.
async fn open(store: &PostgresStore, run: &Run) -> Result<Interrupt, Failure> {
    let id = InterruptId::generate();
    store.admit(question(id, run)?).await?;
    let epoch = store.deliver(id, delivery("worker")?).await?.epoch;
    let evidence = Evidence::Request {
        content: r#"{"asked":true}"#.to_owned(),
        form: None,
    };
    store.acknowledge(id, epoch, evidence).await?;
    Ok(store
        .require_review(id, epoch, Digest::of(b"shown"))
        .await?)
}

fn actor(name: &str, role: Role) -> Result<Actor, Failure> {
    Ok(Actor {
        name: ActorName::new(name)?,
        role,
    })
}

fn question(id: InterruptId, run: &Run) -> Result<Admission, Failure> {
    Ok(Admission {
        id,
        run: run.id,
        node: NodeId::root(),
        kind: KindName::new("DISCOVERY_AGENT")?,
        origin: RouteName::new("ORCHESTRATOR")?,
        routes: vec![RouteName::new("ORCHESTRATOR")?],
        interrupt_type: InterruptType::HumanReview,
        source: StopSource::Programmatic,
        requested_by: actor("agent", Role::Requester)?,
        mode: StopMode::Graceful,
        scope: Scope::Agent,
        reason: "two plans are equally good".to_owned(),
        content: r#"{"question":"which of the two shall it be?"}"#.to_owned(),
        key: IdempotencyKey::new(id.to_string())?,
        allowed: Vec::new(),
        patience: None,
        on_expiry: ExpiryOutcome::Reject,
        most_attempts: USUAL_ATTEMPTS,
        recurrence: Recurrence::Verbatim,
        reroute: None,
    })
}
