//! What is told, and how much of it.

use agents::AgentKind;
use agents::run::{RunEvent, RunOccurrence};
use jiff::Timestamp;
use routing_core::model::TokenUsage;
use routing_core::{NodeId, RunId};

use super::{Steps, Story};
use crate::layout::columns_of;
use crate::palette::Palette;
use crate::report::Detail;

fn tell(story: &mut Story, event: RunEvent, columns: Option<usize>) -> Vec<String> {
    let occurrence = RunOccurrence {
        replayed: false,
        run: RunId::generate(),
        sequence: 1,
        at: Timestamp::from_second(0).unwrap(),
        event,
    };
    story.tell(&occurrence, columns)
}

fn story(detail: Detail, steps: Steps) -> Story {
    let mut story = Story::new(Palette::PLAIN, detail, steps);
    let spawned = RunEvent::AgentSpawned {
        node: NodeId::new("root").unwrap(),
        parent: None,
        kind: AgentKind::Orchestrator,
    };
    tell(&mut story, spawned, None);
    story
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
        kind: AgentKind::Orchestrator,
        step: 1,
        field: "collectorRequest",
        summary: "all is well".to_owned(),
        usage: TokenUsage::default(),
        corrections: 0,
    }
}

#[test]
fn lines_fit_the_screen_and_keep_their_indent() {
    let mut story = story(Detail::Usual, Steps::Seen);
    for columns in 40..120 {
        let lines = tell(&mut story, told(&"word ".repeat(30)), Some(columns));
        assert!(
            lines[0].starts_with("   0.0s  ✉ Orchestrator  is told: word"),
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
        &mut story(Detail::Usual, Steps::Told),
        told(&long),
        Some(80),
    );
    assert!(usual.len() <= 5, "{usual:?}");
    assert!(usual.last().unwrap().ends_with('…'), "{usual:?}");
    let log = tell(&mut story(Detail::Usual, Steps::Told), told(&long), None);
    assert!(log.len() == 1 && columns_of(&log[0]) < 1_100);
    let all = tell(&mut story(Detail::Much, Steps::Told), told(&long), Some(80));
    assert!(all.len() > 500);
}

#[test]
fn steps_are_told_where_no_tree_shows_them() {
    let lines = tell(
        &mut story(Detail::Usual, Steps::Told),
        step_finished(),
        None,
    );
    assert_eq!(
        lines,
        ["   0.0s  ✓ Orchestrator  step 1, collectorRequest: all is well"]
    );
    assert!(
        tell(
            &mut story(Detail::Usual, Steps::Seen),
            step_finished(),
            None
        )
        .is_empty()
    );
    assert!(
        tell(
            &mut story(Detail::Little, Steps::Told),
            step_finished(),
            None
        )
        .is_empty()
    );
}
