//! Starting, interrupting and finishing at once, in many schedules: whatever the order, an interrupt is
//! neither lost nor told twice, and no message is lost.

use jiff::Timestamp;
use routing_core::model::Role;
use routing_core::{StopMode, StopReason, StopSource};
use shuttle::sync::{Arc, Mutex};
use shuttle::{check_random, thread};

use super::{Machine, Next, RunNumber, StepEnd};
use crate::chat::{ChatPartial, ChatReply, ChatUsage};
use crate::conversation::event::{Asked, ConversationEvent, ConversationStatus, RunEnd};

/// Schedules that are tried for each scenario.
const SCHEDULES: usize = 10_000;

type Shared = Arc<Mutex<Machine>>;

fn reason(mode: StopMode) -> StopReason {
    StopReason {
        source: StopSource::User,
        mode,
        message: "enough".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

/// A run as the loop around the machine drives it: a step is a few pieces, and ends as interrupted once
/// it sees that it was.
fn drive(machine: &Shared) -> Option<RunEnd> {
    let run = machine.lock().unwrap().begin().ok()?;
    loop {
        let next = machine.lock().unwrap().next(run);
        match next {
            Next::Over(end) => return Some(end),
            Next::Step(_messages) => {
                let ended = step(machine, run);
                let over = machine.lock().unwrap().step_ended(run, ended);
                if let Some(end) = over.unwrap() {
                    return Some(end);
                }
            }
        }
    }
}

fn step(machine: &Shared, run: RunNumber) -> StepEnd {
    let mut text = String::new();
    for piece in ["one ", "two ", "three"] {
        let mut machine = machine.lock().unwrap();
        if machine.status() == ConversationStatus::Interrupting {
            let partial = ChatPartial {
                text,
                ..ChatPartial::nothing_sent()
            };
            return StepEnd::Interrupted {
                reason: reason(StopMode::Immediate),
                partial,
            };
        }
        machine.piece(run, piece);
        text.push_str(piece);
    }
    StepEnd::Answered(ChatReply {
        tool_requests: Vec::new(),
        text,
        usage: ChatUsage::default(),
        cut_off: false,
    })
}

fn shared() -> Shared {
    Arc::new(Mutex::new(Machine::new(None)))
}

/// The interrupts that were told of, and the texts of all messages that stand or wait.
fn told(machine: &Shared) -> (usize, usize) {
    let mut machine = machine.lock().unwrap();
    let events = machine.take_events();
    let is_stop = |event: &&ConversationEvent| {
        matches!(
            event,
            ConversationEvent::Interrupted { .. } | ConversationEvent::Paused { .. }
        )
    };
    let stops = events.iter().filter(is_stop).count();
    let entries = machine.history().entries().iter();
    let users = entries.filter(|entry| entry.message.role == Role::User);
    (stops, users.count() + machine.waiting())
}

#[test]
fn an_interrupt_that_races_with_the_start_of_a_run_is_never_lost() {
    check_random(
        || {
            let machine = shared();
            machine.lock().unwrap().send("hello".to_owned());
            let runner = Arc::clone(&machine);
            let run = thread::spawn(move || drive(&runner));
            let asked = machine.lock().unwrap().ask(reason(StopMode::Immediate));
            let end = run.join().unwrap().unwrap();
            let status = machine.lock().unwrap().status();
            match asked {
                // It came first: the run goes on from the pause.
                Asked::PausesIdle => {}
                Asked::StopsRun => {
                    assert_eq!(status, ConversationStatus::Paused);
                    // The answer may have been whole a moment before; the run ends as interrupted.
                    assert!(matches!(end, RunEnd::Interrupted { .. }), "{end:?}");
                }
                Asked::ChangesNothing => panic!("nothing was paused before"),
            }
            assert_eq!(told(&machine), (1, 1));
        },
        SCHEDULES,
    );
}

#[test]
fn many_interrupts_and_pauses_are_told_once_for_each_stop() {
    check_random(
        || {
            let machine = shared();
            let mut threads = Vec::new();
            for mode in [StopMode::Graceful, StopMode::Immediate, StopMode::Immediate] {
                let machine = Arc::clone(&machine);
                threads.push(thread::spawn(move || {
                    let mut machine = machine.lock().unwrap();
                    machine.send(format!("{mode:?}"));
                    drop(machine);
                }));
            }
            let runner = Arc::clone(&machine);
            let run = thread::spawn(move || {
                while drive(&runner).is_some() && runner.lock().unwrap().has_work() {}
            });
            let stopper = Arc::clone(&machine);
            let stops = thread::spawn(move || {
                let mut counted = 0;
                for mode in [StopMode::Graceful, StopMode::Immediate] {
                    let asked = stopper.lock().unwrap().ask(reason(mode));
                    counted += usize::from(asked != Asked::ChangesNothing);
                }
                counted
            });
            for thread in threads {
                thread.join().unwrap();
            }
            run.join().unwrap();
            let counted = stops.join().unwrap();
            let last = drive(&machine);
            let (told, messages) = told(&machine);
            // A pause that became an interrupt is told as one stop.
            assert!(
                told <= counted && told >= counted.min(1),
                "{told} of {counted}, {last:?}"
            );
            assert_eq!(messages, 3, "no message is lost");
        },
        SCHEDULES,
    );
}

#[test]
fn of_two_runs_that_begin_at_once_one_runs() {
    check_random(
        || {
            let machine = shared();
            machine.lock().unwrap().send("hello".to_owned());
            let other = Arc::clone(&machine);
            let second = thread::spawn(move || drive(&other));
            let ends = [drive(&machine), second.join().unwrap()];
            assert!(ends.contains(&Some(RunEnd::Answered)), "{ends:?}");
            let machine = machine.lock().unwrap();
            assert_eq!(machine.history().entries().len(), 2, "answered once");
            assert!(!machine.has_work());
        },
        SCHEDULES,
    );
}
