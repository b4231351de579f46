//! What is shown, and how much of it.

use engine::run::{RunEvent, RunOccurrence};
use interrupt_router::model::{ModelCaller, Purpose, TokenUsage};
use interrupt_router::{NodeId, RunId};
use jiff::Timestamp;

use super::{EventPrinter, Steps};
use crate::layout::columns_of;
use crate::model::{Unanswered, UnansweredCall};
use crate::palette::Palette;
use crate::report::Detail;

fn tell(printer: &mut EventPrinter, event: RunEvent, columns: Option<usize>) -> Vec<String> {
    let occurrence = RunOccurrence {
        replayed: false,
        run: RunId::generate(),
        sequence: 1,
        at: Timestamp::from_second(0).unwrap(),
        event,
    };
    printer.tell(&occurrence, columns)
}

fn printer(detail: Detail, steps: Steps) -> EventPrinter {
    let mut printer = EventPrinter::new(Palette::PLAIN, detail, steps);
    let spawned = RunEvent::AgentSpawned {
        node: NodeId::new("root").unwrap(),
        parent: None,
        kind: "ORCHESTRATOR",
    };
    tell(&mut printer, spawned, None);
    printer
}

fn told(text: &str) -> RunEvent {
    RunEvent::MessageAdded {
        node: NodeId::new("root").unwrap(),
        text: text.to_owned(),
    }
}

fn step_finished() -> RunEvent {
    RunEvent::StepFinished {
        node: NodeId::new("root").unwrap(),
        kind: "ORCHESTRATOR",
        step: 1,
        field: "collectorRequest",
        summary: "all is well".to_owned(),
        usage: TokenUsage::default(),
        corrections: 0,
    }
}

#[test]
fn lines_fit_the_screen_and_keep_their_indent() {
    let mut printer = printer(Detail::Usual, Steps::Seen);
    for columns in 40..120 {
        let lines = tell(&mut printer, told(&"word ".repeat(30)), Some(columns));
        assert!(
            lines[0].starts_with("   0.0s  ✉ Orchestrator  reads: word"),
            "{lines:?}"
        );
        assert!(lines.len() > 1, "{lines:?}");
        assert!(
            lines.iter().all(|line| columns_of(line) <= columns),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("           word"), "{lines:?}");
    }
}

#[test]
fn long_words_are_cut_unless_all_is_asked_for() {
    let long = "word ".repeat(10_000);
    let usual = tell(
        &mut printer(Detail::Usual, Steps::Told),
        told(&long),
        Some(80),
    );
    assert!(usual.len() <= 5, "{usual:?}");
    let end = usual.last().unwrap();
    assert!(end.ends_with("… (50006 characters)"), "{usual:?}");
    let log = tell(&mut printer(Detail::Usual, Steps::Told), told(&long), None);
    assert!(log.len() == 1 && columns_of(&log[0]) < 1_100);
    let all = tell(
        &mut printer(Detail::Much, Steps::Told),
        told(&long),
        Some(80),
    );
    assert!(all.len() > 500);
}

#[test]
fn steps_are_told_where_no_tree_shows_them() {
    let lines = tell(
        &mut printer(Detail::Usual, Steps::Told),
        step_finished(),
        None,
    );
    assert_eq!(
        lines,
        ["   0.0s  ✓ Orchestrator  step 1, collectorRequest: all is well"]
    );
    assert!(
        tell(
            &mut printer(Detail::Usual, Steps::Seen),
            step_finished(),
            None
        )
        .is_empty()
    );
    assert!(
        tell(
            &mut printer(Detail::Little, Steps::Told),
            step_finished(),
            None
        )
        .is_empty()
    );
}

fn unanswered(why: Unanswered) -> UnansweredCall {
    UnansweredCall {
        caller: ModelCaller {
            run: RunId::generate(),
            node: NodeId::new("root").unwrap(),
            agent_type: "ORCHESTRATOR",
            purpose: Purpose::Step,
            turn: 1,
            correction: 0,
        },
        at: Timestamp::from_second(0).unwrap(),
        why,
    }
}

#[test]
fn what_had_arrived_of_an_interrupted_answer_stays_and_is_marked() {
    let cancelled = |text: &str| unanswered(Unanswered::Interrupted(text.to_owned()));
    for steps in [Steps::Told, Steps::Seen] {
        let printer = printer(Detail::Usual, steps);
        let lines = printer.tell_unanswered(&cancelled("{\"half of\u{1b}[2J"), None);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("[partial]: {\"half of"), "{lines:?}");
        assert!(!lines[0].contains('\u{1b}'), "{lines:?}");
        assert!(
            printer.tell_unanswered(&cancelled(" "), None).is_empty(),
            "nothing had arrived"
        );
        // Of a long one as much as fits into a line.
        let lines = printer.tell_unanswered(&cancelled(&"word ".repeat(2_000)), None);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].chars().count() < 300, "{}", lines[0].len());
    }
}

#[test]
fn an_answer_that_was_given_up_is_no_interruption_and_told_only_where_all_is() {
    let why = "the answer is wrong already: no such field".to_owned();
    let call = unanswered(Unanswered::GivenUp(why));
    assert!(
        printer(Detail::Usual, Steps::Told)
            .tell_unanswered(&call, None)
            .is_empty()
    );
    let lines = printer(Detail::Much, Steps::Told).tell_unanswered(&call, None);
    assert!(lines[0].contains("begins its answer again"), "{lines:?}");
}

#[test]
fn what_of_a_tool_may_still_run_is_shown_whatever_it_wrote() {
    use tools::{
        CallEnd, CallId, ContainmentReport, Mechanism, ProcessKey, ToolMessage, ToolOutput,
    };
    let report = ContainmentReport {
        mechanism: Mechanism::Sweep,
        verified: false,
        forced: true,
        leftovers: 1,
        survivors: vec![ProcessKey {
            pid: 4711,
            started: 1,
        }],
        took: None,
    };
    let output = ToolOutput {
        containment: Some(report),
        ..ToolOutput::done("word ".repeat(10_000))
    };
    let ended = RunEvent::ToolEnded {
        node: NodeId::new("root").unwrap(),
        message: Box::new(ToolMessage {
            call: CallId::new("1"),
            tool: "shell".to_owned(),
            edited: None,
            words: None,
            said: None,
            end: CallEnd::Finished { output },
        }),
    };
    let mut printer = printer(Detail::Usual, Steps::Told);
    let shown = tell(&mut printer, ended, None).join(" ");
    assert!(
        shown.ends_with("[Something of it may still run: processes 4711 did not die]"),
        "{shown}"
    );
}
