//! Each test tells what happened and compares the picture.

use agents::plan_execute::{PlanNews, PlanProgress, PlanStepStarted};
use engine::run::{RunEvent, RunOccurrence};
use expect_test::{Expect, expect};
use interrupt_router::model::TokenUsage;
use interrupt_router::{
    InterruptDetails, InterruptId, InterruptType, NodeId, RunId, StopMode, StopReason, StopSource,
};
use interrupts::store::NodeActivity;
use jiff::Timestamp;
use planning::PlanRole;

use serde_json::{Value, json};

use super::{AgentTree, Picture};
use crate::layout::columns_of;
use crate::palette::Palette;

struct Tale {
    tree: AgentTree,
    run: RunId,
    sequence: u64,
    second: i64,
}

impl Tale {
    fn new() -> Self {
        Self {
            tree: AgentTree::default(),
            run: RunId::generate(),
            sequence: 0,
            second: 0,
        }
    }

    fn tell(&mut self, event: RunEvent) {
        self.sequence += 1;
        self.tree.apply(&RunOccurrence {
            replayed: false,
            run: self.run,
            sequence: self.sequence,
            at: Timestamp::from_second(self.second).unwrap(),
            event,
        });
    }

    fn agent(&mut self, path: &str, kind: &'static str) -> NodeId {
        let node = NodeId::new(path).unwrap();
        let parent = node.parent();
        self.tell(RunEvent::AgentSpawned {
            node: node.clone(),
            parent,
            kind,
        });
        node
    }

    fn step(&mut self, node: &NodeId, kind: &'static str, step: u32) {
        self.status(node, kind, NodeActivity::Running);
        self.tell(RunEvent::StepStarted {
            node: node.clone(),
            kind,
            step,
            turn: 1,
        });
    }

    fn work(&mut self, node: &NodeId, kind: &'static str, step: u32, summary: &str) {
        self.step(node, kind, step);
        self.second += 1;
        self.tell(RunEvent::StepFinished {
            node: node.clone(),
            kind,
            step,
            field: "agentResult",
            summary: summary.to_owned(),
            usage: TokenUsage {
                input: Some(900),
                output: Some(100),
            },
            corrections: 0,
        });
        self.status(node, kind, NodeActivity::Completed);
    }

    fn status(&mut self, node: &NodeId, kind: &'static str, status: NodeActivity) {
        self.tell(RunEvent::AgentStatusChanged {
            node: node.clone(),
            kind,
            status,
        });
    }

    fn picture(&self, columns: usize, rows: usize) -> String {
        let picture = Picture {
            columns,
            rows,
            palette: Palette::PLAIN,
            now: Timestamp::from_second(self.second + 2).unwrap(),
            frame: Some(0),
            hears_escape: false,
        };
        let mut lines = picture.tree(&self.tree);
        for line in &lines {
            assert!(columns_of(line) <= columns, "{line}");
        }
        lines.push(picture.totals(&self.tree));
        let totals = lines.last().map_or(0, |line| columns_of(line));
        assert!(totals <= columns, "the totals take {totals} columns");
        lines.join("\n")
    }

    #[track_caller]
    fn check(&self, columns: usize, rows: usize, expected: &Expect) {
        expected.assert_eq(&self.picture(columns, rows));
    }
}

/// An orchestrator, a discovery with three workers, of which the second asks and the third works.
fn discovery() -> Tale {
    let mut tale = Tale::new();
    let root = tale.agent("root", "ORCHESTRATOR");
    tale.step(&root, "ORCHESTRATOR", 1);
    let dispatch = tale.agent("root/dispatch", "DISCOVERY_DISPATCH");
    tale.status(&dispatch, "DISCOVERY_DISPATCH", NodeActivity::Running);
    let workers: Vec<NodeId> = (1..=3)
        .map(|number| {
            let path = format!("root/dispatch/worker-{number}");
            tale.agent(&path, "DISCOVERY_AGENT")
        })
        .collect();
    tale.work(&workers[0], "DISCOVERY_AGENT", 2, "all is \u{1b}[2J well");
    tale.step(&workers[1], "DISCOVERY_AGENT", 3);
    tale.tell(RunEvent::InterruptRaised {
        interrupt: InterruptId::generate(),
        node: workers[1].clone(),
        kind: "DISCOVERY_AGENT",
        details: InterruptDetails::new(InterruptType::HumanReview, "which way?"),
        payload: serde_json::Value::Null,
    });
    tale.status(&workers[1], "DISCOVERY_AGENT", NodeActivity::WaitingReview);
    tale.step(&workers[2], "DISCOVERY_AGENT", 4);
    tale.tell(RunEvent::AnswerChunk {
        node: workers[2].clone(),
        text: "x".repeat(1_234),
    });
    tale
}

#[test]
fn the_totals_say_what_the_next_ctrl_c_does() {
    for (mode, expected) in [
        (StopMode::Graceful, "stopping · Ctrl+C stops now"),
        (StopMode::Immediate, "stopping now · Ctrl+C leaves"),
        // A softer request later changes nothing.
        (StopMode::Graceful, "stopping now · Ctrl+C leaves"),
    ] {
        let mut tale = discovery();
        if expected.contains("leaves") {
            tale.tell(stopping(StopMode::Immediate));
        }
        tale.tell(stopping(mode));
        let shown = tale.picture(100, 20);
        assert!(shown.ends_with(expected), "{shown}");
    }
}

fn stopping(mode: StopMode) -> RunEvent {
    RunEvent::Stopping {
        reason: StopReason {
            source: StopSource::User,
            mode,
            message: "Ctrl+C".to_owned(),
            timestamp: Timestamp::UNIX_EPOCH,
        },
    }
}

#[test]
fn the_tree_shows_who_works_who_waits_and_for_what() {
    discovery().check(
        80,
        20,
        &expect![[r#"
        ⠋ Orchestrator           step 1      3.0s  asks its model
        └ ⠋ Discovery dispatch
          ├ ✓ Discovery agent 1  step 2      1.0s  all is \u{1b}[2J well
          ├ ? Discovery agent 2  step 3      2.0s  HUMAN_REVIEW: which way?
          └ ⠋ Discovery agent 3  step 4      2.0s  the model answers, 1.2k characters
        3 working · 1 waiting · 1 done · step 4 · 1.0k tokens · 3.0s   Ctrl+C stops"#]],
    );
}

#[test]
fn what_has_ended_is_folded_where_there_is_no_room() {
    let mut tale = discovery();
    let dispatch = NodeId::new("root/dispatch").unwrap();
    for number in 2..=3 {
        let worker = dispatch.child(&format!("worker-{number}")).unwrap();
        tale.work(&worker, "DISCOVERY_AGENT", number + 1, "done");
    }
    tale.work(&dispatch, "DISCOVERY_DISPATCH", 5, "gathered");
    tale.check(
        60,
        3,
        &expect![[r#"
        ⠋ Orchestrator          step 1      6.0s  asks its model
        └ ✓ Discovery dispatch  step 5      1.0s  (+3 done) gathered
        1 working · 4 done · step 5 · 4.0k tokens · 6.0s"#]],
    );
}

#[test]
fn whoever_waits_stays_longest_where_even_that_is_too_much() {
    discovery().check(
        80,
        3,
        &expect![[r#"
            ⠋ Orchestrator           step 1      3.0s  asks its model
              … 3 more agents
              ├ ? Discovery agent 2  step 3      2.0s  HUMAN_REVIEW: which way?
            3 working · 1 waiting · 1 done · step 4 · 1.0k tokens · 3.0s   Ctrl+C stops"#]],
    );
}

#[test]
fn no_line_is_wider_than_the_screen() {
    let tale = discovery();
    for columns in 40..130 {
        tale.picture(columns, 20);
    }
}

/// A plan whose first steps are done.
fn plan_of(done: &[&str], left: &[&str]) -> RunEvent {
    // A step has the same name in all versions of a plan.
    let known = ["knead", "bake", "sell", "give away"];
    let step = |task: &&str| {
        let id = known.iter().position(|other| other == task);
        json!({"id": id, "task": task})
    };
    let finished = done.iter().map(|task| {
        let mut step = step(task);
        step["result"] = json!("as it should be");
        step
    });
    let rest = left.iter().map(step);
    let read = |steps: Vec<Value>| serde_json::from_value(Value::Array(steps)).unwrap();
    let left = serde_json::from_value(Value::Array(rest.collect())).unwrap();
    PlanNews::Progress(PlanProgress {
        done: read(finished.collect()),
        left,
    })
    .into()
}

#[test]
fn a_plan_is_a_tree_of_its_steps_with_the_one_under_way() {
    let mut tale = Tale::new();
    tale.tell(plan_of(&["knead"], &["bake", "sell"]));
    tale.second = 3;
    let started = PlanStepStarted {
        node: NodeId::new("root/executor").unwrap(),
        role: PlanRole::Executor,
        step: 4,
        task: Some("bake".to_owned()),
    };
    tale.tell(PlanNews::StepStarted(started).into());
    tale.check(
        70,
        10,
        &expect![[r#"
        ⠋ Plan 1/3
        ├ ✓ knead                     as it should be
        ├ ⠋ bake    step 4      2.0s  asks its model
        └ ○ sell
        1 working · 1 ready · 1 done · step 4 · 5.0s   Ctrl+C stops"#]],
    );
    // A step that goes leaves no row behind.
    tale.tell(plan_of(&["knead", "bake"], &["give away"]));
    let fact = json!({
        "kind": "user_escape", "reason": "let me look", "time": "2026-01-01T00:00:00Z",
        "current_plan": ["give away"], "completed_steps": 2, "total_steps": 3,
    });
    tale.tell(PlanNews::Fact(serde_json::from_value(fact).unwrap()).into());
    tale.check(
        70,
        10,
        &expect![[r#"
        ‖ Plan 2/3                       paused: let me look
        ├ ✓ knead                        as it should be
        ├ ✓ bake       step 4      0.0s  as it should be
        └ ○ give away
        1 waiting · 1 ready · 2 done · step 4 · 5.0s   Ctrl+C stops"#]],
    );
}
