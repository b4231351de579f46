//! From publishing on the in-process bus to a waiting subscriber, beside a bare channel of the same kind.
//!
//! `cargo bench -p interrupt-router-agents --bench bus`. The target is at most 5 µs at the median.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::AgentKind;
use async_trait::async_trait;
use interrupt_router::bus::{Admission, BusEvent, EventBus, PublishRefusal};
use interrupt_router::event::InterruptRequestEvent;
use interrupt_router::{EventId, InterruptType, NodeId};
use tokio::sync::broadcast;

const ROUNDS: usize = 100_000;

/// Lets everything in: what is measured is the bus.
struct Open;

#[async_trait]
impl Admission<AgentKind> for Open {
    async fn admit(
        &self,
        _event: &InterruptRequestEvent<AgentKind>,
    ) -> Result<Vec<BusEvent<AgentKind>>, PublishRefusal> {
        Ok(Vec::new())
    }
}

fn event(node: &NodeId) -> InterruptRequestEvent<AgentKind> {
    InterruptRequestEvent {
        event_id: EventId::generate(),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
        node_id: node.clone(),
        source_agent_type: AgentKind::Orchestrator,
        reroute_to_agent_type: None,
        interrupt_type: InterruptType::HumanReview,
        reason: "measured".to_owned(),
        choices: Vec::new(),
        confirmation_items: Vec::new(),
        context_for_decision: String::new(),
        answer_form: None,
    }
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 1000];
    println!(
        "{what:<34} p50 {:>9.2?}   p99 {:>9.2?}   max {:>9.2?}",
        at(500),
        at(990),
        at(1000)
    );
}

/// The subscriber answers each event before the next one is sent, on the same thread.
async fn bus(node: &NodeId) -> Vec<Duration> {
    let bus = Arc::new(EventBus::new(Arc::new(Open), 1024));
    let mut subscription = bus.subscribe();
    let (done, mut next) = tokio::sync::mpsc::channel::<Instant>(1);
    let listener = tokio::spawn(async move {
        for _ in 0..ROUNDS {
            subscription.next().await;
            if done.send(Instant::now()).await.is_err() {
                return;
            }
        }
    });
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let event = event(node);
        let start = Instant::now();
        if bus.publish(event).await.is_err() {
            break;
        }
        let Some(seen) = next.recv().await else { break };
        times.push(seen - start);
    }
    listener.abort();
    times
}

async fn channel(node: &NodeId) -> Vec<Duration> {
    let (sender, mut receiver) = broadcast::channel(1024);
    let (done, mut next) = tokio::sync::mpsc::channel::<Instant>(1);
    let listener = tokio::spawn(async move {
        while let Ok(event) = receiver.recv().await {
            let _event: Arc<InterruptRequestEvent<AgentKind>> = event;
            if done.send(Instant::now()).await.is_err() {
                return;
            }
        }
    });
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let event = event(node);
        let start = Instant::now();
        if sender.send(Arc::new(event)).is_err() {
            break;
        }
        let Some(seen) = next.recv().await else { break };
        times.push(seen - start);
    }
    listener.abort();
    times
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let node = NodeId::new("orchestrator")?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    println!("publish to subscriber, one thread, {ROUNDS} rounds");
    print("in-process bus", runtime.block_on(bus(&node)));
    print(
        "bare broadcast channel (floor)",
        runtime.block_on(channel(&node)),
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()?;
    println!("publish to subscriber, two threads, {ROUNDS} rounds");
    print(
        "in-process bus",
        runtime.block_on(async { bus(&node).await }),
    );
    print(
        "bare broadcast channel (floor)",
        runtime.block_on(async { channel(&node).await }),
    );
    Ok(())
}
