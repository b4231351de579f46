//! Starting, interrupting and finishing at once, in many schedules: in any order, an interrupt is neither lost nor
//! reported twice, and no message is lost.

use interrupt_router::model::{ModelReply, PartialReply, Role, TokenUsage, ToolRequest};
use interrupt_router::{StopMode, StopReason, StopSource};
use jiff::Timestamp;
use shuttle::sync::{Arc, Mutex};
use shuttle::{check_random, thread};

use super::{Machine, NextAction, RunNumber, StepEnd};
use crate::conversation::event::{
    ConversationEvent, ConversationRunEnd, ConversationStatus, StopOutcome,
};
use crate::conversation::tools::{ToolResult, ToolState};

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
fn drive(machine: &Shared) -> Option<ConversationRunEnd> {
    let run = machine.lock().unwrap().begin().ok()?;
    loop {
        let next = machine.lock().unwrap().next(run);
        match next {
            NextAction::Over(end) => return Some(end),
            NextAction::Tools(requests) => run_tools(machine, run, requests.len()),
            NextAction::RoundsUsedUp(_) => {
                machine.lock().unwrap().ask(reason(StopMode::Graceful));
            }
            NextAction::Step(_messages) => {
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
            let partial = PartialReply {
                text,
                ..PartialReply::never_made()
            };
            return StepEnd::Interrupted {
                reason: reason(StopMode::Immediate),
                partial,
            };
        }
        machine.piece(run, piece);
        text.push_str(piece);
    }
    // The first answer of a conversation with tools asks for two; where there are none that counts as none.
    let machine = machine.lock().unwrap();
    let asks = !machine
        .history()
        .entries()
        .iter()
        .any(|entry| entry.message.role == Role::Tool);
    let requests = if asks { 2 } else { 0 };
    StepEnd::Answered(ModelReply {
        tool_requests: vec![ToolRequest::new("same", "list", "{}"); requests],
        text,
        usage: TokenUsage::default(),
        cut_off: false,
    })
}

/// Runs tools one after the other until it sees that the run was interrupted.
fn run_tools(machine: &Shared, run: RunNumber, count: usize) {
    let mut results = Vec::new();
    for index in 0..count {
        let mut machine = machine.lock().unwrap();
        if machine.status() == ConversationStatus::Interrupting {
            break;
        }
        machine.tool_started(run, index);
        drop(machine);
        thread::yield_now();
        results.push(ToolResult {
            text: index.to_string(),
            state: ToolState::Finished,
            summary: String::new(),
            may_still_run: None,
        });
    }
    machine.lock().unwrap().tools_ended(run, results);
}

fn with_tools() -> Shared {
    Arc::new(Mutex::new(Machine::new(None).with_tools(5)))
}

fn shared() -> Shared {
    Arc::new(Mutex::new(Machine::new(None)))
}

/// How many interrupts were reported, and how many messages of the user are in the history or wait.
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
                // The run had ended.
                StopOutcome::PausesIdle => assert_eq!(end, ConversationRunEnd::Answered),
                // It came first, or in the midst.
                StopOutcome::StopsNextRun | StopOutcome::StopsRun => {
                    assert_eq!(status, ConversationStatus::Paused);
                    // The answer may have been whole a moment before; the run ends as interrupted.
                    assert!(
                        matches!(end, ConversationRunEnd::Interrupted { .. }),
                        "{end:?}"
                    );
                }
                StopOutcome::ChangesNothing => panic!("nothing was paused before"),
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
                    counted += usize::from(asked != StopOutcome::ChangesNothing);
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
            // A pause that became an interrupt is reported as one stop.
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
            assert!(
                ends.contains(&Some(ConversationRunEnd::Answered)),
                "{ends:?}"
            );
            let machine = machine.lock().unwrap();
            assert_eq!(machine.history().entries().len(), 2, "answered once");
            assert!(!machine.has_work());
        },
        SCHEDULES,
    );
}

#[test]
fn an_interrupt_that_races_with_tools_leaves_one_result_for_each_request() {
    check_random(
        || {
            let machine = with_tools();
            machine.lock().unwrap().send("hello".to_owned());
            let runner = Arc::clone(&machine);
            let run = thread::spawn(move || drive(&runner));
            let asked = machine.lock().unwrap().ask(reason(StopMode::Immediate));
            run.join().unwrap().unwrap();
            if asked == StopOutcome::StopsRun {
                assert_eq!(machine.lock().unwrap().status(), ConversationStatus::Paused);
            }
            // Another run does what was left to do.
            while machine.lock().unwrap().has_work() {
                drive(&machine);
            }
            let machine = machine.lock().unwrap();
            let entries = machine.history().entries();
            let requests = entries
                .iter()
                .map(|entry| entry.message.tool_requests.len());
            let results = entries
                .iter()
                .filter(|entry| entry.message.role == Role::Tool);
            assert_eq!(requests.sum::<usize>(), results.count());
        },
        SCHEDULES,
    );
}
