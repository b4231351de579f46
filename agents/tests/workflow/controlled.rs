//! Nodes that are stopped or cut off alone, from outside, and what a resumed run knows of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use engine::run::{RunControl, RunEvent, RunInbox, RunReport, RunStatus, RunStopOutcome};
use interrupt_router::model::ModelCall;
use interrupt_router::{NodeId, RunId, StopMode, StopReason, StopScope, StopSource};
use interrupts::life::{Evidence, RunState};
use interrupts::store::{CheckpointId, NodeActivity, Store};
use jiff::Timestamp;
use serde_json::json;

use crate::models::{Part, Playing, Reply};
use crate::stage::{Stage, assert_completed};

pub(crate) fn reason(mode: StopMode) -> StopReason {
    StopReason {
        source: StopSource::User,
        mode,
        message: "enough of this one".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    }
}

/// Scopes for each node, and the nodes that are to be cut off.
#[derive(Default)]
pub(crate) struct Scopes {
    pub(crate) run: StopScope,
    stopped: Mutex<HashMap<NodeId, StopMode>>,
    /// The scopes that were given out, which a later stop reaches too.
    given: Mutex<Vec<(NodeId, StopScope)>>,
    cut_off: Mutex<Vec<NodeId>>,
    confirmed: Mutex<Vec<NodeId>>,
    /// The nodes that came to their end by themselves, each with how the store says it stands then.
    ended: Mutex<Vec<(NodeId, Option<NodeActivity>)>>,
    ends: bool,
    /// Where the run is looked at when it concludes, and the state that it had then.
    seen_in: Option<(Arc<dyn Store>, RunId)>,
    concluded: Mutex<Vec<RunState>>,
}

impl Scopes {
    pub(crate) fn stop(&self, node: &str, mode: StopMode) {
        let node = NodeId::new(node).unwrap();
        for (given, scope) in &*self.given.lock().unwrap() {
            if given.is_within(&node) {
                scope.stop(reason(mode));
            }
        }
        self.stopped.lock().unwrap().insert(node, mode);
    }

    /// The nodes that were cut off, as far as that was said.
    pub(crate) fn confirmed(&self) -> Vec<String> {
        let confirmed = self.confirmed.lock().unwrap();
        confirmed.iter().map(ToString::to_string).collect()
    }

    pub(crate) fn cut(&self, node: &str) {
        // It is known before the stop wakes anybody.
        self.cut_off
            .lock()
            .unwrap()
            .push(NodeId::new(node).unwrap());
        self.stop(node, StopMode::Immediate);
    }
}

#[async_trait]
impl RunControl for Scopes {
    fn scope_of(&self, node: &NodeId) -> StopScope {
        let scope = self.run.child();
        for (stopped, mode) in &*self.stopped.lock().unwrap() {
            if node.is_within(stopped) {
                scope.stop(reason(*mode));
            }
        }
        let given = (node.clone(), scope.clone());
        self.given.lock().unwrap().push(given);
        scope
    }

    fn cut_off(&self, node: &NodeId) -> Option<String> {
        let nodes = self.cut_off.lock().unwrap();
        nodes.contains(node).then(|| "nobody needs it".to_owned())
    }

    async fn was_cut_off(&self, node: &NodeId) {
        self.confirmed.lock().unwrap().push(node.clone());
    }

    async fn has_ended(&self, node: &NodeId) {
        let row = match &self.seen_in {
            Some((store, run)) => store.node(*run, node).await.unwrap(),
            None => None,
        };
        let stands = row.map(|row| row.activity);
        self.ended.lock().unwrap().push((node.clone(), stands));
    }

    async fn concludes(&self) {
        if let Some((store, run)) = &self.seen_in {
            let row = store.run(*run).await.unwrap().unwrap();
            self.concluded.lock().unwrap().push(row.state);
        }
    }

    async fn stopped(&self, checkpoint: Option<CheckpointId>, _: Evidence) -> RunStopOutcome {
        assert!(checkpoint.is_some(), "the checkpoint comes first");
        if self.ends {
            RunStopOutcome::Cancelled
        } else {
            RunStopOutcome::Paused
        }
    }
}

pub(crate) type Act = Box<dyn Fn(&Scopes, &ModelCall) + Send + Sync>;

/// Does something to the scopes while a model is called.
struct Acting {
    scopes: Arc<Scopes>,
    act: Act,
}

#[async_trait]
impl Part for Acting {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        (self.act)(&self.scopes, call);
        None
    }
}

pub(crate) fn controlled(stage: Stage, scopes: &Arc<Scopes>, act: Act) -> Stage {
    let part = Acting {
        scopes: Arc::clone(scopes),
        act,
    };
    let model = Playing::new(part, stage.rehearsal());
    let mut stage = stage.played_by(model);
    stage.control = Some(Arc::clone(scopes) as Arc<dyn RunControl>);
    stage
}

/// The same run in another process, which nobody stops any more.
async fn resumed(stage: &Stage) -> (Stage, RunReport) {
    let mut again = Stage::new();
    again.run = stage.run;
    again.store = Arc::clone(&stage.store);
    again.script.clone_from(&stage.script);
    let report = again.execute().await;
    (again, report)
}

fn finished_steps(stage: &Stage, node: &str) -> usize {
    let events = stage.log.events();
    let finished = events.iter().filter(
        |event| matches!(event, RunEvent::StepFinished { node: it, .. } if it.as_str() == node),
    );
    finished.count()
}

const WORKERS: &str = "orchestrator/discovery/dispatch";

#[tokio::test]
async fn a_worker_that_is_stopped_alone_pauses_the_run_when_its_siblings_are_done() {
    let scopes = Arc::new(Scopes::default());
    let first = format!("{WORKERS}/worker-1");
    let act: Act = Box::new(move |scopes, call| {
        if call.caller.agent_type == "DISCOVERY_ORCHESTRATOR" {
            scopes.stop(&format!("{WORKERS}/worker-1"), StopMode::Graceful);
        }
    });
    let stage = controlled(Stage::new(), &scopes, act);
    let report = stage.execute().await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{:?}",
        report.status
    );
    assert_eq!(
        finished_steps(&stage, &first),
        0,
        "no child starts after the mark"
    );
    assert_eq!(finished_steps(&stage, &format!("{WORKERS}/worker-2")), 1);
    assert_eq!(finished_steps(&stage, WORKERS), 0);
    let (again, report) = resumed(&stage).await;
    assert_completed(&report);
    let lived = again.log.told.lock().unwrap();
    let live: Vec<_> = lived
        .iter()
        .filter(|told| !told.replayed)
        .filter_map(|told| match &told.event {
            RunEvent::StepStarted { node, .. } if node.as_str().starts_with(WORKERS) => {
                Some(node.to_string())
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        live,
        [first, WORKERS.to_owned()],
        "its siblings' results stand"
    );
}

/// Cuts a node off while an agent's model works, and follows the run through a resume.
async fn cut_off(node: &'static str, during: &'static str) {
    let scopes = Arc::new(Scopes::default());
    let act: Act = Box::new(move |scopes, call| {
        let is_due = call.caller.agent_type == during && scopes.cut_off.lock().unwrap().is_empty();
        if is_due {
            scopes.cut(node);
        }
        // The run stops later, so that there is something to resume.
        if call.caller.agent_type == "TICKET_ORCHESTRATOR" {
            scopes.run.stop(reason(StopMode::Graceful));
        }
    });
    let stage = controlled(Stage::new(), &scopes, act);
    let report = stage.execute().await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{:?}",
        report.status
    );
    let id = NodeId::new(node).unwrap();
    assert_eq!(*scopes.confirmed.lock().unwrap(), std::slice::from_ref(&id));
    let told = stage.log.messages();
    let parent = id.parent().unwrap();
    assert!(
        told.iter()
            .any(|(it, text)| *it == parent.as_str() && text.contains("nobody needs it")),
        "{told:?}"
    );
    let (again, report) = resumed(&stage).await;
    assert_completed(&report);
    let cut = again
        .log
        .events()
        .into_iter()
        .any(|event| matches!(event, RunEvent::CutOff { node: it, .. } if it == id));
    assert!(cut, "a resumed run goes the way that it went");
    assert_eq!(stage.log.messages(), again.log.messages()[..told.len()]);
}

#[tokio::test]
async fn a_node_that_is_cut_off_at_work_is_told_to_its_parent_before_and_after_a_resume() {
    cut_off("orchestrator/discovery/collector", "DISCOVERY_COLLECTOR").await;
}

#[tokio::test]
async fn a_node_is_cut_off_with_all_below_it() {
    cut_off("orchestrator/planning", "PLANNING_COLLECTOR").await;
}

#[tokio::test]
async fn a_dispatch_is_cut_off_with_its_workers() {
    cut_off("orchestrator/planning/dispatch", "PLANNING_AGENT").await;
}

#[tokio::test]
async fn a_stop_that_ends_the_run_cancels_it() {
    let scopes = Arc::new(Scopes {
        ends: true,
        ..Scopes::default()
    });
    let act: Act = Box::new(|scopes, call| {
        if call.caller.agent_type == "PLANNING_ORCHESTRATOR" {
            scopes.run.stop(reason(StopMode::Graceful));
        }
    });
    let stage = controlled(Stage::new(), &scopes, act);
    let report = stage.execute().await;
    let expected = RunStatus::Cancelled {
        reason: "enough of this one".to_owned(),
        from_outside: true,
    };
    assert_eq!(report.status, expected);
    let row = stage.store.run(stage.run).await.unwrap().unwrap();
    assert_eq!(row.state, RunState::Cancelled);
}

#[tokio::test]
async fn what_belongs_to_a_run_is_recorded_before_it_is_over() {
    let stage = Stage::new();
    let scopes = Arc::new(Scopes {
        seen_in: Some((Arc::clone(&stage.store), stage.run)),
        ..Scopes::default()
    });
    let stage = controlled(stage, &scopes, Box::new(|_, _| {}));
    assert_completed(&stage.execute().await);
    assert_eq!(*scopes.concluded.lock().unwrap(), [RunState::Running]);
}

/// Stops a node gracefully while its own model works for the last time, and says what was told of its end.
async fn stopped_at_its_last_step(node: &'static str, during: &'static str) -> Vec<NodeActivity> {
    stopped_at_its_last_step_of(Stage::new(), node, during).await
}

async fn stopped_at_its_last_step_of(
    stage: Stage,
    node: &'static str,
    during: &'static str,
) -> Vec<NodeActivity> {
    let scopes = Arc::new(Scopes {
        seen_in: Some((Arc::clone(&stage.store), stage.run)),
        ..Scopes::default()
    });
    let act: Act = Box::new(move |scopes, call| {
        if call.caller.agent_type == during && call.caller.node.as_str() == node {
            scopes.stop(node, StopMode::Graceful);
        }
    });
    let stage = controlled(stage, &scopes, act);
    assert_completed(&stage.execute().await);
    let ended = scopes.ended.lock().unwrap();
    let of_node = ended.iter().filter(|(it, _)| it.as_str() == node);
    of_node.filter_map(|(_, stands)| *stands).collect()
}

#[tokio::test]
async fn a_worker_that_is_stopped_at_its_last_step_leaves_and_that_is_said() {
    let told = stopped_at_its_last_step(
        "orchestrator/discovery/dispatch/worker-1",
        "DISCOVERY_AGENT",
    );
    assert_eq!(told.await, [NodeActivity::Completed]);
}

#[tokio::test]
async fn an_agent_that_hands_over_at_its_last_step_leaves_and_that_is_said() {
    let told = stopped_at_its_last_step("orchestrator/discovery/collector", "DISCOVERY_COLLECTOR");
    assert_eq!(told.await, [NodeActivity::Completed]);
}

#[tokio::test]
async fn the_last_agent_of_a_run_leaves_and_that_is_said_before_the_run_is_over() {
    let told = stopped_at_its_last_step("orchestrator/collector", "ORCHESTRATOR_COLLECTOR");
    assert_eq!(told.await, [NodeActivity::Completed]);
}

#[tokio::test]
async fn an_agent_that_prunes_itself_leaves_and_that_is_said() {
    let stage = Stage::new().scripted(json!({
        "agent": "DISCOVERY_AGENT", "turn": 1, "node": "worker-1",
        "interrupt": { "type": "PRUNE", "reason": "nothing here" },
    }));
    let node = "orchestrator/discovery/dispatch/worker-1";
    let told = stopped_at_its_last_step_of(stage, node, "DISCOVERY_AGENT");
    assert_eq!(told.await, [NodeActivity::Pruned]);
}

/// Keeps all workers but the first from answering until the store says that the first has come to its end.
struct Waiting {
    store: Arc<dyn Store>,
    run: RunId,
}

#[async_trait]
impl Part for Waiting {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        let first = NodeId::new(format!("{WORKERS}/worker-1")).unwrap();
        if call.caller.agent_type == "DISCOVERY_AGENT" && call.caller.node != first {
            let is_told = async || {
                let row = self.store.node(self.run, &first).await.unwrap();
                row.is_some_and(|row| row.activity == NodeActivity::Completed)
            };
            while !is_told().await {
                tokio::task::yield_now().await;
            }
        }
        None
    }
}

#[tokio::test]
async fn that_a_worker_has_come_to_its_end_is_told_while_its_siblings_work() {
    let stage = Stage::new();
    let part = Waiting {
        store: Arc::clone(&stage.store),
        run: stage.run,
    };
    let model = Playing::new(part, stage.rehearsal());
    let stage = stage.played_by(model);
    let executed = tokio::time::timeout(Duration::from_secs(60), stage.execute());
    assert_completed(&executed.await.unwrap());
}

/// Looks into the table of a run that is executed, while an agent works.
struct Looking {
    inbox: Arc<OnceLock<RunInbox>>,
    during: &'static str,
    seen: Arc<Mutex<Vec<(bool, bool)>>>,
}

#[async_trait]
impl Part for Looking {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        if call.caller.agent_type == self.during {
            let inbox = self.inbox.get().unwrap();
            let earlier = NodeId::new("orchestrator/discovery").unwrap();
            let looked = (
                inbox.has_ended(&earlier),
                inbox.has_ended(&call.caller.node),
            );
            self.seen.lock().unwrap().push(looked);
        }
        None
    }
}

#[tokio::test]
async fn whoever_takes_a_stop_can_see_which_agents_have_ended() {
    let (inbox, seen) = (Arc::<OnceLock<RunInbox>>::default(), Arc::default());
    let part = Looking {
        inbox: Arc::clone(&inbox),
        during: "PLANNING_ORCHESTRATOR",
        seen: Arc::clone(&seen),
    };
    let stage = Stage::new();
    let model = Playing::new(part, stage.rehearsal());
    let run = stage.played_by(model).run();
    assert!(inbox.set(run.inbox()).is_ok());
    assert_completed(&run.execute(&StopScope::new()).await);
    assert_eq!(seen.lock().unwrap()[0], (true, false));
    let unknown = NodeId::new("orchestrator/nobody").unwrap();
    assert!(!inbox.get().unwrap().has_ended(&unknown));
}

#[tokio::test]
async fn of_a_node_that_is_cut_off_it_is_not_said_that_it_came_to_its_end() {
    let scopes = Arc::new(Scopes::default());
    let node = "orchestrator/discovery/collector";
    let act: Act = Box::new(move |scopes, call| {
        if call.caller.agent_type == "DISCOVERY_COLLECTOR" {
            scopes.cut(node);
        }
    });
    let stage = controlled(Stage::new(), &scopes, act);
    stage.execute().await;
    let ended = scopes.ended.lock().unwrap();
    assert!(
        !ended.iter().any(|(it, _)| it.as_str() == node),
        "{ended:?}"
    );
}
