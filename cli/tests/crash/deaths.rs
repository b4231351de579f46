//! Deaths at named moments, many of them in one run.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::{Arc, Mutex};

use interrupts::store::Run;
use tokio::runtime::Handle;

use crate::life::Life;
use crate::world::World;

/// How many runs are under way at once.
const AT_ONCE: usize = 3;

/// How a process ends whose time limit has paused its run.
const TIMED_OUT: i32 = 7;

/// The command of the next process of a run, or of its first one, to which a goal is given; and whether it shall die.
pub(crate) type NextCommand = fn(&World, Result<&Run, &str>, bool) -> Command;

/// The moments right before and right after each of these operations, at each of these times in a process.
pub(crate) fn around(points: &[(&str, &[u32])]) -> VecDeque<String> {
    let times = points
        .iter()
        .flat_map(|(operation, times)| times.iter().map(move |time| (operation, time)));
    times
        .flat_map(|(operation, time)| {
            ["before", "after"].map(|side| format!("{operation}:{side}:{time}"))
        })
        .collect()
}

/// Carries out runs until a process has died at each moment, and all runs to their end.
pub(crate) async fn die_at_each(
    world: &Arc<World>,
    moments: VecDeque<String>,
    command: NextCommand,
) {
    let moments = Arc::new(Mutex::new(moments));
    let mut drivers = tokio::task::JoinSet::new();
    for driver in 0..AT_ONCE {
        let (world, moments) = (Arc::clone(world), Arc::clone(&moments));
        drivers.spawn_blocking(move || die(&world, driver, &moments, command));
    }
    while let Some(driven) = drivers.join_next().await {
        driven.unwrap();
    }
}

/// Each process of a run dies at the next moment. What one does not reach because its run is too far is tried by the
/// first process of a run.
fn die(world: &World, driver: usize, moments: &Mutex<VecDeque<String>>, command: NextCommand) {
    let next = || moments.lock().unwrap().pop_front();
    let mut left_over = VecDeque::new();
    for number in 0.. {
        let mut moment = left_over.pop_front().or_else(next);
        if moment.is_none() {
            return;
        }
        let goal = format!("Die {driver} {number}");
        for life in 0.. {
            let run = Handle::current().block_on(world.run_of(&goal));
            if run.as_ref().is_some_and(|run| run.state.is_final()) {
                break;
            }
            moment = moment.or_else(next);
            let mut command = command(world, run.as_ref().ok_or(&*goal), moment.is_some());
            if let Some(moment) = &moment {
                command.env("IRQ_DIE_AT", moment);
            }
            let mut process = Life::start(world, command, &format!("{goal} {life}"));
            match (process.end(), moment.take()) {
                (None, _) | (Some(0), None) => {}
                (Some(0 | TIMED_OUT), Some(moment)) if run.is_some() => left_over.push_back(moment),
                (Some(code), moment) => {
                    world.failed(format!("{moment:?}: {code}, {}", process.errors(world)));
                    return;
                }
            }
        }
    }
}
