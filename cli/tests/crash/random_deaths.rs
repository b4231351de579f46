//! Deaths at any time, of several runs at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tokio::runtime::Handle;

use crate::life::{End, Life};
use crate::people::decide_all;
use crate::supervisors::{attempts, publish_all};
use crate::world::World;

/// How many runs are under way at once.
const AT_ONCE: u64 = 4;

/// The most deaths of one run. The next one begins after it.
const OF_ONE_RUN: u32 = 20;

/// The longest life of a process that is to die, in milliseconds. One of them is chosen for each life: the
/// shortest hit the start and the replay, the longest whatever a run does late.
const LONGEST_LIVES: [u32; 3] = [120, 400, 900];

/// How many deaths there are to be; the long proof says another number.
fn wanted() -> usize {
    let said = std::env::var("CRASHES").ok();
    said.and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// Runs one goal to its end, through deaths.
fn through_deaths(
    world: &World,
    goal: &str,
    random: &mut ChaCha8Rng,
    dead: &AtomicUsize,
    wanted: usize,
) {
    let mut deaths = 0;
    for life in 0.. {
        let run = Handle::current().block_on(world.run_of(goal));
        let command = match &run {
            Some(run) if run.state.is_final() => return,
            Some(run) => world.resume(run),
            None => world.begin(goal),
        };
        let mut process = Life::start(world, command, &format!("{goal}-{life}"));
        let may_die = deaths < OF_ONE_RUN && dead.load(Ordering::SeqCst) < wanted;
        let end = if may_die {
            let kind = usize::try_from(random.next_u32()).unwrap() % LONGEST_LIVES.len();
            let delay = random.next_u32() % LONGEST_LIVES[kind];
            process.die_after(Duration::from_millis(delay.into()))
        } else {
            End::Ended(process.end())
        };
        match end {
            End::Killed => {
                deaths += 1;
                dead.fetch_add(1, Ordering::SeqCst);
            }
            End::Ended(Some(0)) => {}
            End::Ended(code) => {
                world.failed(format!("{goal}: {code:?}, {}", process.errors(world)));
                return;
            }
        }
    }
}

fn one_after_another(world: &World, number: u64, dead: &AtomicUsize, wanted: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(number);
    for goal in 0.. {
        if dead.load(Ordering::SeqCst) >= wanted || !world.failures().is_empty() {
            return;
        }
        let goal = format!("Describe-the-bakery-{number}-{goal}");
        through_deaths(world, &goal, &mut random, dead, wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_or_doubled_however_often_processes_die() {
    let world = World::new().await;
    let wanted = wanted();
    let (people, supervisors) = (decide_all(&world), publish_all(&world));
    let dead = Arc::new(AtomicUsize::new(0));
    let mut drivers = tokio::task::JoinSet::new();
    for number in 0..AT_ONCE {
        let (world, dead) = (Arc::clone(&world), Arc::clone(&dead));
        drivers.spawn_blocking(move || one_after_another(&world, number, &dead, wanted));
    }
    while let Some(driven) = drivers.join_next().await {
        driven.unwrap();
    }
    supervisors.abort();
    people.abort();
    assert_eq!(world.failures(), Vec::<String>::new());
    world.assert_completed().await;
    let attempts = attempts(&world);
    let report = world.audit(&attempts).await;
    println!(
        "{} deaths, {} runs, {} interrupts, {} decisions, {} reroutes consumed, {} attempts to publish, \
         {} results, {} calls, {} answers lost with their callers",
        dead.load(Ordering::SeqCst),
        world.runs().await.len(),
        report.interrupts,
        report.decisions,
        report.consumed,
        attempts.len(),
        report.results,
        world.brain.calls().len(),
        report.lost_answers,
    );
    assert_eq!(report.findings, []);
    assert!(report.decisions > 0 && report.results > 0);
}
