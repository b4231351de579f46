//! Whatever is done to the processes of a run, it does the same and comes to the same end.

use std::sync::Arc;
use std::time::Duration;

use control::RunProgress;
use interrupts::life::RunState;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::runtime::Handle;

use crate::life::Life;
use crate::people::decide_all;
use crate::trace::Trace;
use crate::world::World;

const GOAL: &str = "Describe the bakery";

/// How often a run is disturbed, and at most so long after its process has begun, in milliseconds.
const TIMES: u32 = 12;
const LONGEST: u32 = 500;

/// What is done to a process.
type Disturbing = fn(&mut ChaCha8Rng, &Life);

fn send(life: &Life, signal: Signal) {
    let id = Pid::from_raw(i32::try_from(life.child.id()).unwrap()).unwrap();
    // An error says that it has just ended.
    let _ = kill_process(id, signal);
}

/// Runs to the end, disturbed again and again. Returns the last summary and how often it was disturbed; there is no
/// summary where the process was killed between the run's end and its last words: what the store says is all then.
fn run_through(world: &World, seed: u64, times: u32, disturb: Disturbing) -> (Option<Value>, u32) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut disturbed = 0;
    loop {
        let run = Handle::current().block_on(world.run_of(GOAL));
        let command = match &run {
            Some(run) => world.resume(run),
            None => world.begin(GOAL),
        };
        let mut life = Life::start(world, command, &format!("life-{disturbed}"));
        if disturbed < times {
            let delay = Duration::from_millis((random.next_u32() % LONGEST).into());
            if life.wait_for(delay).is_none() {
                disturbed += 1;
                disturb(&mut random, &life);
            }
        }
        let code = life.end();
        if code == Some(0) {
            return (Some(summary(&life.output(world))), disturbed);
        }
        let left = Handle::current().block_on(world.run_of(GOAL));
        if code.is_none() && left.is_some_and(|run| run.state == RunState::Completed) {
            return (None, disturbed);
        }
        let expected = [None, Some(130), Some(143)];
        assert!(expected.contains(&code), "{code:?}: {}", life.errors(world));
    }
}

/// The last of the events, without what names the run.
fn summary(output: &str) -> Value {
    let last = output.lines().last().unwrap();
    let event: Value = serde_json::from_str(last).unwrap();
    assert_eq!(event["type"], "dev.irq.run.completed.v1", "{last}");
    let data = &event["data"];
    serde_json::json!([data["summary"], data["steps"], data["usage"]])
}

async fn run(seed: u64, times: u32, disturb: Disturbing) -> (Arc<World>, Option<Value>, Trace) {
    let world = World::new().await;
    let people = decide_all(&world);
    let its = Arc::clone(&world);
    let driven = move || run_through(&its, seed, times, disturb);
    let (summary, disturbed) = tokio::task::spawn_blocking(driven).await.unwrap();
    people.abort();
    assert!(times == 0 || disturbed > 0, "the run was never disturbed");
    let trace = Trace::of(&world, GOAL).await;
    (world, summary, trace)
}

/// What came of the run and how many steps it took, as the store says.
async fn kept(world: &World) -> Value {
    let run = world.run_of(GOAL).await.unwrap();
    let progress = RunProgress::of(&*world.store, run.id, |_run| true)
        .await
        .unwrap();
    let progress = progress.unwrap();
    assert!(progress.result.is_some(), "{progress:?}");
    serde_json::json!([
        progress.result,
        progress.steps.completed,
        progress.steps.total
    ])
}

async fn check(seed: u64, disturb: Disturbing) {
    let (quiet, expected_summary, expected) = run(seed, 0, |_, _| {}).await;
    let (world, summary, trace) = run(seed, TIMES, disturb).await;
    assert_eq!(trace, expected);
    assert_eq!(kept(&world).await, kept(&quiet).await);
    if summary.is_some() {
        assert_eq!(summary, expected_summary);
    }
    let report = world.audit(&world.own_attempts().await).await;
    assert_eq!(report.findings, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_anywhere_it_comes_to_the_same_end() {
    check(1, |_random, life| send(life, Signal::KILL)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_anywhere_it_comes_to_the_same_end() {
    check(2, |_random, life| send(life, Signal::INT)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn terminated_anywhere_and_then_hard_it_comes_to_the_same_end() {
    check(3, |random, life| {
        send(life, Signal::TERM);
        if random.next_u32() % 2 == 0 {
            std::thread::sleep(Duration::from_millis((random.next_u32() % 40).into()));
            send(life, Signal::TERM);
        }
    })
    .await;
}
