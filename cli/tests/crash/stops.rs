//! Deaths at each operation of a stop: requested, delivered, taken hold, applied, saved, announced.

use std::sync::Arc;

use interrupt_router::InterruptType;
use interrupts::life::{RunState, State};
use interrupts::store::Filter;
use tokio::runtime::Handle;

use crate::deaths::{NextCommand, around, die_at_each};
use crate::life::Life;
use crate::people::decide_all;
use crate::world::{ALL, World};

/// The operations of a limit's pause in the process that has the run, each with the times that are tried. No other
/// interrupt of these runs is asked for or delivered. What is named here must be reached.
const OF_A_PAUSE: [(&str, &[u32]); 7] = [
    ("join", &[1]),
    ("deliver", &[1]),
    ("change_run", &[3, 4]),
    ("save", &[1]),
    ("acknowledge", &[1]),
    ("require_review", &[1]),
    ("release_run", &[1]),
];

/// The operations of the owner of a run that another process stops for good while it waits for an answer.
const OF_A_STOP: [(&str, &[u32]); 5] = [
    ("deliver", &[1]),
    ("acknowledge", &[1]),
    ("save", &[1]),
    ("decide", &[1]),
    ("release_run", &[1]),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_death_at_any_step_of_a_pause_loses_neither_the_pause_nor_the_run() {
    let world = World::new().await;
    let people = decide_all(&world);
    let command: NextCommand = |world, run, dies| {
        let mut command = match run {
            Ok(run) => world.resume(run),
            Err(goal) => world.begin(goal),
        };
        command.args(["--timeout", if dies { "1ms" } else { "1h" }]);
        command
    };
    die_at_each(&world, around(&OF_A_PAUSE), command).await;
    people.abort();
    assert_eq!(world.failures(), Vec::<String>::new());
    world.assert_completed().await;
    let report = world.audit(&world.own_attempts().await).await;
    assert_eq!(report.findings, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_for_good_ends_the_run_whatever_its_owner_dies_of() {
    for moment in around(&OF_A_STOP) {
        println!("{moment}");
        let world = World::new().await;
        let mut command = world.begin("Describe");
        command.env("IRQ_DIE_AT", &moment);
        let mut owner = Life::start(&world, command, "owner");
        let question = world.first_question().await;
        let run = question.run.to_string();
        let stop = world.irq(&["interrupt", &run, "--type", "stop"]);
        let (again, told) = (Arc::clone(&world), moment.clone());
        let ended = tokio::task::spawn_blocking(move || {
            assert_eq!(Life::start(&again, stop, "stop").end(), Some(0), "{told}");
            assert_eq!(owner.end(), None, "{told} was not reached");
            let run = Handle::current().block_on(again.run_of("Describe"));
            let run = run.unwrap();
            if run.state.is_final() {
                return None;
            }
            Life::start(&again, again.resume(&run), "next").end()
        });
        let ended = ended.await.unwrap();
        let is_refused = matches!(ended, None | Some(4 | 6));
        assert!(is_refused, "{moment}: {ended:?}");
        let run = world.run_of("Describe").await.unwrap();
        assert_eq!(run.state, RunState::Cancelled, "{moment}");
        let all = world.store.interrupts(&Filter::default(), ALL).await;
        let stops: Vec<State> = all
            .unwrap()
            .into_iter()
            .filter(|(_position, it)| it.interrupt_type == InterruptType::Stop)
            .map(|(_position, it)| it.state)
            .collect();
        assert_eq!(stops, [State::Resolved], "{moment}");
        let report = world.audit(&world.own_attempts().await).await;
        assert_eq!(report.findings, [], "{moment}");
    }
}
