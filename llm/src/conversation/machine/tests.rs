use std::sync::Arc;

use interrupt_router::model::{
    ModelError, ModelReply, PartialReply, Role, TokenUsage, ToolRequest,
};
use interrupt_router::{StopMode, StopReason, StopSource};
use jiff::Timestamp;
use proptest::prelude::*;

use super::{Machine, NextAction, RunNumber, StepEnd};
use crate::conversation::event::{
    ConversationEvent, ConversationRunEnd, ConversationRunError, ConversationStatus, StopOutcome,
};
use crate::conversation::history::Completeness;
use crate::conversation::tools::{ToolResult, ToolState};
use crate::conversation::validity::check_history;

fn reason(mode: StopMode) -> StopReason {
    StopReason {
        source: StopSource::User,
        mode,
        message: "enough".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

fn interrupt() -> StopReason {
    reason(StopMode::Immediate)
}

fn answer(text: &str) -> StepEnd {
    StepEnd::Answered(ModelReply {
        tool_requests: Vec::new(),
        text: text.to_owned(),
        usage: TokenUsage::default(),
        cut_off: false,
    })
}

/// An answer that asks for so many tools, all with the same id.
fn asking(text: &str, count: usize) -> StepEnd {
    StepEnd::Answered(ModelReply {
        tool_requests: vec![ToolRequest::new("same", "list", "{}"); count],
        text: text.to_owned(),
        usage: TokenUsage::default(),
        cut_off: false,
    })
}

fn result(text: &str) -> ToolResult {
    ToolResult {
        text: text.to_owned(),
        state: ToolState::Finished,
        summary: String::new(),
        may_still_run: None,
    }
}

fn cut_at(text: &str) -> StepEnd {
    StepEnd::Interrupted {
        reason: interrupt(),
        partial: PartialReply {
            text: text.to_owned(),
            ..PartialReply::default()
        },
    }
}

fn failure() -> StepEnd {
    StepEnd::Failed(Arc::new(ModelError::BrokenOff { received: 3 }))
}

/// A machine in the midst of its first step.
fn stepping() -> (Machine, RunNumber) {
    let mut machine = Machine::new(Some("Be brief.".to_owned()));
    machine.send("one".to_owned());
    let run = machine.begin().unwrap();
    assert!(matches!(machine.next(run), NextAction::Step(_)));
    (machine, run)
}

fn interrupts(machine: &mut Machine) -> usize {
    let events = machine.take_events();
    let is_interrupt =
        |event: &&ConversationEvent| matches!(event, ConversationEvent::Interrupted { .. });
    events.iter().filter(is_interrupt).count()
}

#[test]
fn a_run_answers_until_nothing_is_left() {
    let (mut machine, run) = stepping();
    machine.send("two".to_owned());
    assert_eq!(machine.step_ended(run, answer("first")).unwrap(), None);
    let NextAction::Step(messages) = machine.next(run) else {
        panic!("the message that was sent meanwhile is answered too");
    };
    let said: Vec<&str> = messages.iter().map(|message| &*message.text).collect();
    assert_eq!(said, ["Be brief.", "one", "first", "two"]);
    machine.step_ended(run, answer("second")).unwrap();
    assert_eq!(
        machine.next(run),
        NextAction::Over(ConversationRunEnd::Answered)
    );
    assert_eq!(machine.status(), ConversationStatus::Idle);
}

#[test]
fn an_interrupt_keeps_the_partial_answer_marked_and_is_told_once() {
    let (mut machine, run) = stepping();
    assert_eq!(machine.ask(interrupt()), StopOutcome::StopsRun);
    assert_eq!(machine.ask(interrupt()), StopOutcome::ChangesNothing);
    assert_eq!(machine.status(), ConversationStatus::Interrupting);
    let end = machine.step_ended(run, cut_at("fir")).unwrap();
    assert!(matches!(end, Some(ConversationRunEnd::Interrupted { .. })));
    assert_eq!(machine.ask(interrupt()), StopOutcome::ChangesNothing);
    assert_eq!(machine.status(), ConversationStatus::Paused);
    assert_eq!(interrupts(&mut machine), 1);
    let last = machine.history().entries().last().unwrap();
    assert_eq!(&*last.message.text, "fir");
    assert_eq!(last.completeness, Completeness::Interrupted);
    assert!(!machine.has_work(), "a partial answer is an answer");
}

#[test]
fn a_message_whose_answer_had_not_begun_is_answered_by_the_next_run() {
    let (mut machine, run) = stepping();
    machine.ask(interrupt());
    machine.step_ended(run, cut_at("")).unwrap();
    machine.send("two".to_owned());
    let run = machine.begin().unwrap();
    let NextAction::Step(messages) = machine.next(run) else {
        panic!("there is work");
    };
    assert_eq!(messages.last().map(|last| &*last.text), Some("one\n\ntwo"));
}

#[test]
fn an_interrupt_while_idle_pauses_until_the_next_run() {
    let mut machine = Machine::new(None);
    assert_eq!(machine.ask(interrupt()), StopOutcome::PausesIdle);
    assert_eq!(machine.status(), ConversationStatus::Paused);
    assert_eq!(interrupts(&mut machine), 1);
    machine.send("one".to_owned());
    let run = machine.begin().unwrap();
    assert!(matches!(machine.next(run), NextAction::Step(_)));
}

#[test]
fn an_interrupt_between_a_message_and_its_run_ends_that_run_and_strands_no_message() {
    let mut machine = Machine::new(None);
    machine.send("one".to_owned());
    assert_eq!(
        machine.ask(reason(StopMode::Graceful)),
        StopOutcome::StopsNextRun
    );
    assert_eq!(
        machine.ask(interrupt()),
        StopOutcome::StopsNextRun,
        "it is harder"
    );
    assert_eq!(machine.ask(interrupt()), StopOutcome::ChangesNothing);
    assert_eq!(machine.status(), ConversationStatus::Paused);
    let run = machine.begin().unwrap();
    assert!(matches!(
        machine.next(run),
        NextAction::Over(ConversationRunEnd::Interrupted { partial: None, .. })
    ));
    assert_eq!(interrupts(&mut machine), 1);
    // One run, and no other.
    let run = machine.begin().unwrap();
    assert!(matches!(machine.next(run), NextAction::Step(_)));
}

#[test]
fn a_pause_lets_the_step_end_and_an_interrupt_is_harder() {
    let (mut machine, run) = stepping();
    machine.send("two".to_owned());
    assert_eq!(
        machine.ask(reason(StopMode::Graceful)),
        StopOutcome::StopsRun
    );
    assert_eq!(machine.status(), ConversationStatus::Pausing);
    assert_eq!(machine.step_ended(run, answer("whole")).unwrap(), None);
    assert!(matches!(
        machine.next(run),
        NextAction::Over(ConversationRunEnd::Paused { .. })
    ));
    assert_eq!(machine.waiting(), 1, "the message is kept");

    let run = machine.begin().unwrap();
    machine.next(run);
    machine.ask(reason(StopMode::Graceful));
    assert_eq!(machine.ask(interrupt()), StopOutcome::StopsRun);
    assert_eq!(
        machine.ask(reason(StopMode::Graceful)),
        StopOutcome::ChangesNothing
    );
    assert_eq!(machine.status(), ConversationStatus::Interrupting);
}

#[test]
fn an_answer_that_was_whole_before_the_interrupt_stays_whole() {
    let (mut machine, run) = stepping();
    machine.ask(interrupt());
    assert_eq!(machine.step_ended(run, answer("whole")).unwrap(), None);
    assert!(matches!(
        machine.next(run),
        NextAction::Over(ConversationRunEnd::Interrupted { partial: None, .. })
    ));
    assert_eq!(interrupts(&mut machine), 1);
    let last = machine.history().entries().last().unwrap();
    assert_eq!(last.completeness, Completeness::Whole);
}

#[test]
fn a_failure_leaves_the_message_for_the_next_run_and_is_none_under_an_interrupt() {
    let (mut machine, run) = stepping();
    assert!(matches!(
        machine.step_ended(run, failure()),
        Err(ConversationRunError::Model(_))
    ));
    assert_eq!(machine.status(), ConversationStatus::Idle);
    let run = machine.begin().unwrap();
    assert!(matches!(machine.next(run), NextAction::Step(_)));
    machine.piece(run, "some");
    machine.ask(interrupt());
    let end = machine.step_ended(run, failure()).unwrap();
    let Some(ConversationRunEnd::Interrupted {
        partial: Some(partial),
        ..
    }) = end
    else {
        panic!("{end:?}");
    };
    assert_eq!(partial.text, "some");
}

#[test]
fn a_run_that_goes_away_leaves_its_pieces() {
    let (mut machine, run) = stepping();
    machine.piece(run, "half an ");
    machine.abandoned(run, interrupt());
    assert_eq!(machine.status(), ConversationStatus::Paused);
    let last = machine.history().entries().last().unwrap();
    assert_eq!(&*last.message.text, "half an ");
    machine.piece(run, "late");
    machine.abandoned(run, interrupt());
    assert_eq!(interrupts(&mut machine), 1);
}

#[test]
fn a_second_run_is_refused_while_one_is_under_way() {
    let (mut machine, _run) = stepping();
    assert!(matches!(
        machine.begin(),
        Err(ConversationRunError::AlreadyRunning)
    ));
}

#[test]
fn tools_are_run_before_the_next_step_and_late_results_change_nothing() {
    let mut machine = Machine::new(None).with_tools(5);
    machine.send("one".to_owned());
    let run = machine.begin().unwrap();
    machine.next(run);
    machine.step_ended(run, asking("", 2)).unwrap();
    assert!(matches!(machine.next(run), NextAction::Tools(requests) if requests.len() == 2));
    machine.tool_started(run, 0);
    machine.tool_ended(run, 0, result("first"));
    machine.tools_ended(run, vec![result("other")]);
    machine.tool_ended(run, 1, result("late"));
    let NextAction::Step(messages) = machine.next(run) else {
        panic!("the model reads the results");
    };
    let said: Vec<&str> = messages.iter().map(|message| &*message.text).collect();
    assert_eq!(said[..3], ["one", "", "first"]);
    assert!(said[3].starts_with("Not executed"), "{said:?}");
}

#[test]
fn an_interrupt_before_tools_begin_keeps_them_from_it_and_says_so() {
    let mut machine = Machine::new(None).with_tools(5);
    machine.send("one".to_owned());
    let run = machine.begin().unwrap();
    machine.next(run);
    machine.ask(interrupt());
    machine.step_ended(run, asking("I look.", 1)).unwrap();
    assert!(matches!(
        machine.next(run),
        NextAction::Over(ConversationRunEnd::Interrupted { .. })
    ));
    let last = machine.history().entries().last().unwrap();
    assert_eq!(last.message.role, Role::Tool);
    assert!(last.message.text.starts_with("Not executed"));
}

#[test]
fn whole_requests_of_an_interrupted_answer_are_kept_with_results_that_say_they_never_ran() {
    let (mut machine, run) = {
        let mut machine = Machine::new(None).with_tools(5);
        machine.send("one".to_owned());
        let run = machine.begin().unwrap();
        machine.next(run);
        (machine, run)
    };
    machine.ask(interrupt());
    let partial = PartialReply {
        tool_requests: vec![ToolRequest::new("a", "list", "{}")],
        ..PartialReply::default()
    };
    let ended = StepEnd::Interrupted {
        reason: interrupt(),
        partial,
    };
    machine.step_ended(run, ended).unwrap();
    let roles: Vec<Role> = machine
        .history()
        .entries()
        .iter()
        .map(|entry| entry.message.role)
        .collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
    assert!(!machine.has_work(), "what was asked for is an answer");
}

/// What may happen to a conversation, in any order.
#[derive(Debug, Clone)]
enum Happening {
    Send(String),
    Begin,
    Next,
    Pause,
    Interrupt,
    Piece(String),
    Answered(String),
    Asking(String, usize),
    CutAt(String),
    ToolStarted(usize),
    ToolEnded(usize),
    ToolsEnded(usize),
    Failed,
    Abandoned,
}

fn happening() -> impl Strategy<Value = Happening> {
    let text = || "[ab ]{0,3}";
    prop_oneof![
        "[ab]{1,3}".prop_map(Happening::Send),
        Just(Happening::Begin),
        Just(Happening::Next),
        Just(Happening::Pause),
        Just(Happening::Interrupt),
        text().prop_map(Happening::Piece),
        text().prop_map(Happening::Answered),
        (text(), 0..4_usize).prop_map(|(text, count)| Happening::Asking(text, count)),
        (text(), 0..4_usize).prop_map(|(text, count)| Happening::Asking(text, count)),
        text().prop_map(Happening::CutAt),
        (0..4_usize).prop_map(Happening::ToolStarted),
        (0..4_usize).prop_map(Happening::ToolEnded),
        (0..4_usize).prop_map(Happening::ToolsEnded),
        Just(Happening::Failed),
        Just(Happening::Abandoned),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_the_next_call_is_valid_and_no_message_and_no_interrupt_is_lost(
        happenings in proptest::collection::vec(happening(), 0..40)
    ) {
        let mut machine = Machine::new(Some("Be brief.".to_owned())).with_tools(3);
        let (mut run, mut stepping, mut tooling) = (None, false, false);
        let (mut sent, mut effective, mut told) = (Vec::new(), 0, 0);
        for happening in happenings {
            let before = machine.status();
            match happening {
                Happening::Send(text) => {
                    sent.push(text.clone());
                    machine.send(text);
                }
                Happening::Begin => {
                    if let Ok(begun) = machine.begin() {
                        run = Some(begun);
                        (stepping, tooling) = (false, false);
                    }
                }
                Happening::Next if !stepping && !tooling => {
                    match run.map(|run| machine.next(run)) {
                        Some(NextAction::Step(messages)) => {
                            stepping = true;
                            prop_assert_eq!(check_history(&messages), Ok(()));
                        }
                        Some(NextAction::Tools(requests)) => {
                            tooling = true;
                            prop_assert!(!requests.is_empty());
                        }
                        Some(NextAction::RoundsUsedUp(_)) => {
                            machine.ask(reason(StopMode::Graceful));
                        }
                        Some(NextAction::Over(_)) | None => {}
                    }
                }
                Happening::Asking(text, count) if stepping => {
                    machine.step_ended(run.unwrap(), asking(&text, count)).unwrap();
                    stepping = false;
                }
                Happening::ToolStarted(index) if tooling => {
                    machine.tool_started(run.unwrap(), index);
                }
                Happening::ToolEnded(index) if tooling => {
                    machine.tool_ended(run.unwrap(), index, result("early"));
                }
                Happening::ToolsEnded(count) if tooling => {
                    machine.tools_ended(run.unwrap(), vec![result("late"); count]);
                    tooling = false;
                }
                Happening::Pause => {
                    machine.ask(reason(StopMode::Graceful));
                }
                Happening::Interrupt => {
                    let asked = machine.ask(interrupt());
                    effective += usize::from(asked != StopOutcome::ChangesNothing);
                    prop_assert!(before == ConversationStatus::Paused
                        || before == ConversationStatus::Interrupting
                        || asked != StopOutcome::ChangesNothing);
                }
                Happening::Piece(text) if stepping => machine.piece(run.unwrap(), &text),
                Happening::Answered(text) if stepping => {
                    machine.step_ended(run.unwrap(), answer(&text)).unwrap();
                    stepping = false;
                }
                Happening::CutAt(text) if stepping
                    && before == ConversationStatus::Interrupting => {
                    machine.step_ended(run.unwrap(), cut_at(&text)).unwrap();
                    stepping = false;
                }
                Happening::Failed if stepping => {
                    let _failed = machine.step_ended(run.unwrap(), failure());
                    stepping = false;
                }
                Happening::Abandoned if before == ConversationStatus::Interrupting => {
                    machine.abandoned(run.unwrap(), interrupt());
                    (stepping, tooling) = (false, false);
                }
                // What needs a step under way, or an interrupt, and there is none.
                Happening::Next
                | Happening::Asking(..)
                | Happening::ToolStarted(_)
                | Happening::ToolEnded(_)
                | Happening::ToolsEnded(_)
                | Happening::Piece(_)
                | Happening::Answered(_)
                | Happening::CutAt(_)
                | Happening::Failed
                | Happening::Abandoned => {}
            }
            told += interrupts(&mut machine);
        }
        let is_kept = machine.stops_next.as_ref()
            .is_some_and(|kept| kept.mode == StopMode::Immediate);
        let pending = usize::from(is_kept || machine.status() == ConversationStatus::Interrupting);
        prop_assert_eq!(told + pending, effective, "one event for each interrupt");
        let kept = machine.history().entries().iter()
            .filter(|entry| entry.message.role == Role::User)
            .map(|entry| entry.message.text.to_string())
            .chain(machine.waiting.iter().cloned())
            .collect::<Vec<_>>();
        prop_assert_eq!(kept, sent);
        let entries = machine.history().entries();
        let asked: usize = entries.iter().map(|entry| entry.message.tool_requests.len()).sum();
        let results = entries.iter().filter(|entry| entry.message.role == Role::Tool).count();
        let open = machine.open.unsaid().len() + machine.open.said();
        prop_assert_eq!(asked, results + open, "one result for each request, or it is still open");
    }
}
