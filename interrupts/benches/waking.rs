//! How long it takes from a request until the agent that waits for it wakes, beside what the runtime itself needs.
//!
//! Prints both sides, measured in turns in one process: a bare notification, a bare cancellation token, and a
//! request to the manager, whose agent waits on a node's scope three levels down. The record of the request goes
//! on at the same time, as it does in a run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use interrupt_router::{NodeId, RunId, StopMode};
use interrupts::life::{Actor, Role};
use interrupts::manager::{
    AgentRoutes, InterruptManager, ManagerSettings, NoDeliveries, StopRequest, Taking, Target,
};
use interrupts::store::{NewRun, Runs as _};
use interrupts::{ActorName, KindName, OwnerName, RouteName};
use store::{MemoryStore, StoreSettings};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 2_000;
/// So many share a store and a process.
const OF_ONE_PROCESS: usize = 100;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // Test runners ask a bench to list its tests: it has none, and must not measure then.
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(measure())
}

async fn measure() -> Result<(), Failure> {
    let (mut notified, mut cancelled) = (Vec::new(), Vec::new());
    let (mut requested, mut asked) = (Vec::new(), Vec::new());
    for _process in 0..ROUNDS / OF_ONE_PROCESS {
        let store = Arc::new(MemoryStore::new(StoreSettings::default()));
        let process = process(Arc::clone(&store))?;
        for _round in 0..OF_ONE_PROCESS {
            notified.push(notify().await?);
            cancelled.push(cancel().await?);
            let (woken, returned) = request(&store, &process).await?;
            requested.push(woken);
            asked.push(returned);
        }
    }
    println!("from the call until the agent that waits runs, {ROUNDS} rounds in turns:");
    for (name, times) in [
        ("tokio Notify", &mut notified),
        ("tokio-util CancellationToken", &mut cancelled),
        ("InterruptManager::request", &mut requested),
        ("the call of request itself", &mut asked),
    ] {
        times.sort_unstable();
        let at = |part: usize| times.get(times.len() * part / 100).copied();
        let (middle, high) = (at(50).unwrap_or_default(), at(99).unwrap_or_default());
        println!("  {name:<30} p50 {middle:>9.1?}  p99 {high:>9.1?}");
    }
    Ok(())
}

/// Waits until the other side is at its wait, as far as one can know.
async fn settle() {
    for _turn in 0..4 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_micros(200)).await;
}

async fn notify() -> Result<Duration, Failure> {
    let notify = Arc::new(Notify::new());
    let (woken, wakes) = oneshot::channel();
    let waiting = Arc::clone(&notify);
    tokio::spawn(async move {
        waiting.notified().await;
        let _bench_waits = woken.send(Instant::now());
    });
    settle().await;
    let began = Instant::now();
    notify.notify_one();
    Ok(wakes.await?.duration_since(began))
}

async fn cancel() -> Result<Duration, Failure> {
    let token = CancellationToken::new();
    let (woken, wakes) = oneshot::channel();
    let waiting = token.child_token().child_token().child_token();
    tokio::spawn(async move {
        waiting.cancelled().await;
        let _bench_waits = woken.send(Instant::now());
    });
    settle().await;
    let began = Instant::now();
    token.cancel();
    Ok(wakes.await?.duration_since(began))
}

async fn request(
    store: &MemoryStore,
    process: &InterruptManager,
) -> Result<(Duration, Duration), Failure> {
    let run = RunId::generate();
    store
        .create_run(NewRun {
            root: None,
            id: run,
            alias: None,
            content: "{}".to_owned(),
        })
        .await?;
    let kept = process
        .take(Taking {
            run,
            node: NodeId::new("root")?,
            lost: None,
            outlasted: None,
            deliveries: Arc::new(NoDeliveries),
            messages_after: 0,
            leaves_agents_out: true,
        })
        .await?;
    let scope = kept.node_scope(&NodeId::new("root/worker/helper")?);
    let (woken, wakes) = oneshot::channel();
    tokio::spawn(async move {
        scope.stopping().await;
        let _bench_waits = woken.send(Instant::now());
    });
    settle().await;
    let by = Actor {
        name: ActorName::new("bench")?,
        role: Role::Operator,
    };
    let pause = StopRequest::by_user(Target::Run(run), StopMode::Graceful, by, "measured");
    let began = Instant::now();
    let handle = process.request(pause);
    let returned = began.elapsed();
    let woken = wakes.await?.duration_since(began);
    handle.recorded().await?;
    Ok((woken, returned))
}

fn process(store: Arc<MemoryStore>) -> Result<InterruptManager, Failure> {
    let agent_routes = AgentRoutes {
        kind: KindName::new("ORCHESTRATOR")?,
        origin: RouteName::new("ORCHESTRATOR")?,
        routes: vec![RouteName::new("ORCHESTRATOR")?],
    };
    let settings = ManagerSettings::new(store, OwnerName::new("bench")?, Arc::new(agent_routes));
    Ok(InterruptManager::new(settings, Handle::current()))
}
