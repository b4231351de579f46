//! Agents that agents launch.

use std::sync::Arc;

use engine::run::{RunEvent, RunStatus};
use interrupt_router::{StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;
use serde_json::json;

use super::bench::*;
use crate::stage::{Stage, assert_completed};

fn launches(then: Vec<Vec<interrupt_router::model::ToolRequest>>) -> Asking {
    let launch = asks(
        "l",
        "launch_agent",
        &json!({"agent": "DISCOVERY_AGENT", "task": "look into the store"}),
    );
    Asking {
        scripts: vec![
            (WORKER, vec![vec![launch, takes("work", "beside", 0)]]),
            ("/launched-1-0-0-0", then),
        ],
        words: "",
    }
}

fn allowed() -> serde_json::Value {
    json!({"otherwise": "allow", "agents": {"DISCOVERY_AGENT": ["work"]}})
}

fn child() -> String {
    format!("{WORKER}/launched-1-0-0-0")
}

#[tokio::test]
async fn a_launched_agent_is_in_the_tree_and_its_answer_is_the_tools_result() {
    let done = Arc::new(Done::default());
    let asking = launches(vec![vec![takes("work", "below", 0)]]);
    let (stage, calls) = stage(asking, &done, allowed(), Arc::new(Decider::default()));
    assert_completed(&stage.execute().await);
    let spawned = stage.log.events().into_iter().any(|event| {
        matches!(event, RunEvent::AgentSpawned { node, parent: Some(parent), .. }
            if node.as_str() == child() && parent.as_str() == WORKER)
    });
    assert!(spawned);
    assert_eq!(done.count("below finished"), 1);
    let results = results(&calls, WORKER);
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(
        results[0].contains("findings") || results[0].starts_with('{'),
        "{results:?}"
    );
    let calls = calls.lock().unwrap();
    let below = calls
        .iter()
        .find(|call| call.caller.node.as_str() == child())
        .unwrap();
    let said = below
        .messages
        .iter()
        .any(|it| it.text.contains("look into the store"));
    assert!(said, "it is told its task");
}

fn stop() -> StopReason {
    StopReason {
        source: StopSource::User,
        mode: StopMode::Graceful,
        message: "enough".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

/// Stops the run once a call is at work.
struct StopsAt {
    scope: StopScope,
    call: &'static str,
}

impl engine::run::RunObserver for StopsAt {
    fn observe(&self, occurrence: &engine::run::RunOccurrence) {
        if let RunEvent::ToolProgress { call, .. } = &occurrence.event
            && call == self.call
        {
            self.scope.stop(stop());
        }
    }
}

async fn executed(stage: &mut Stage, scope: &StopScope, call: &'static str) -> RunStatus {
    stage.observers = vec![Arc::new(StopsAt {
        scope: scope.clone(),
        call,
    })];
    let report = stage.run().execute(scope).await;
    stage.observers.clear();
    report.status
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_passes_on_to_the_launched_agent_and_the_run_goes_on_where_both_stood() {
    let done = Arc::new(Done::default());
    let below = || {
        vec![
            vec![takes("work", "first", 0)],
            vec![takes("work", "long", 60_000)],
        ]
    };
    let (mut first, _) = stage(
        launches(below()),
        &done,
        allowed(),
        Arc::new(Decider::default()),
    );
    let scope = StopScope::new();
    let status = executed(&mut first, &scope, "long").await;
    let reason = "enough".to_owned();
    assert_eq!(status, RunStatus::Paused { reason });
    assert_eq!(done.running.load(std::sync::atomic::Ordering::SeqCst), 0);
    assert_eq!(done.count("long finished"), 0);
    let (second, calls) = resumed(first, launches(below()));
    assert_completed(&second.execute().await);
    // The leaf was interrupted and knows it; what had ended before was not done again.
    let leaf = results(&calls, "/launched-1-0-0-0");
    assert_eq!(leaf[0], "all of first");
    assert!(
        leaf[1].starts_with("Tool execution interrupted by the user"),
        "{leaf:?}"
    );
    assert_eq!(done.count("first started"), 1);
    assert_eq!(done.count("beside started"), 1);
    // Its launcher has the answer that it came to.
    let results = results(&calls, WORKER);
    assert!(results[0].starts_with('{'), "{results:?}");
    assert_eq!(results[1], "all of beside");
}

#[tokio::test]
async fn a_question_of_a_launched_agent_makes_the_run_wait_and_its_answer_lets_all_go_on() {
    let done = Arc::new(Done::default());
    let below = || vec![vec![takes("once", "asked", 0)]];
    let permissions = json!({
        "rules": [{"tool": "once", "then": "ask"}], "otherwise": "allow",
        "agents": {"DISCOVERY_AGENT": ["once"]},
    });
    let nobody = Arc::new(Decider::default());
    let (mut first, _) = stage(launches(below()), &done, permissions, nobody);
    let report = first.execute().await;
    let RunStatus::Waiting { questions, .. } = &report.status else {
        panic!("{report:#?}");
    };
    assert_eq!(questions[0].node.as_str(), child());
    first.reviewer = Some(Decider::choosing("approve"));
    let (second, calls) = resumed(first, launches(below()));
    assert_completed(&second.execute().await);
    assert_eq!(results(&calls, "/launched-1-0-0-0"), ["all of asked"]);
    assert_eq!(done.count("asked started"), 1);
    assert_eq!(done.count("beside started"), 1);
}

#[tokio::test]
async fn agents_launch_agents_only_so_deep() {
    let done = Arc::new(Done::default());
    let again = asks(
        "m",
        "launch_agent",
        &json!({"agent": "DISCOVERY_AGENT", "task": "deeper"}),
    );
    let mut permissions = allowed();
    permissions["agents"]["DISCOVERY_AGENT"] = json!(["*"]);
    permissions["launch_depth"] = json!(1);
    let (stage, calls) = stage(
        launches(vec![vec![again]]),
        &done,
        permissions,
        Arc::new(Decider::default()),
    );
    assert_completed(&stage.execute().await);
    let results = results(&calls, "/launched-1-0-0-0");
    assert!(
        results[0].contains("there is no tool `launch_agent`"),
        "{results:?}"
    );
}
