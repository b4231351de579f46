//! Runs that are cut off and go on: whatever was recorded is not done again, and the end is the same.

use std::sync::{Arc, Mutex};

use agents::run::{RunEvent, RunReport, RunStatus};
use async_trait::async_trait;
use interrupts::EffectId;
use interrupts::life::{RunState, State};
use interrupts::store::{CheckpointId, Filter, NewRun, Page, Store};
use jiff::Timestamp;
use routing_core::model::{ModelCall, Purpose};
use routing_core::reroute::RerouteState;
use routing_core::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use routing_core::{EventId, Outcome, RunId, StopMode, StopReason, StopScope, StopSource};
use serde_json::{Value, json};
use store::{MemoryStore, StoreSettings};

use crate::models::{Part, Playing, Reply};
use crate::mortal::{Death, Mortal};
use crate::stage::{Stage, assert_completed};

const ALL: Page = Page {
    after: 0,
    limit: 10_000,
};

/// Answers every question in the same way, whoever asks.
struct Steady;

#[async_trait]
impl Reviewer for Steady {
    async fn answer(
        &self,
        question: &Question,
        _: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        Ok(Outcome::Completed(Answer {
            text: Some(format!("decided for {}", question.node)),
            ..Answer::default()
        }))
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume::default()))
    }
}

/// Nobody is there.
struct Nobody;

#[async_trait]
impl Reviewer for Nobody {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

fn place(call: &ModelCall) -> String {
    let caller = &call.caller;
    let purpose = match caller.purpose {
        Purpose::Step => "step",
        Purpose::Resolution => "resolution",
        Purpose::Review => "review",
    };
    let (node, turn, correction) = (&caller.node, caller.turn, caller.correction);
    format!("{node}#{turn}/{purpose}/{correction}")
}

/// Looks at each call whether its result is recorded already.
struct Watchful {
    store: Arc<dyn Store>,
    /// The places that were asked for although their results were there.
    repeated: Arc<Mutex<Vec<String>>>,
    calls: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Part for Watchful {
    async fn play(&self, call: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        let place = place(call);
        let effect = EffectId::in_run(call.caller.run, &place);
        let fork = EffectId::in_run(call.caller.run, &format!("{place}@{}", call.caller.run));
        let entry = match self.store.effect(fork).await.unwrap() {
            Some(of_a_fork) => Some(of_a_fork),
            None => self.store.effect(effect).await.unwrap(),
        };
        if entry.is_none_or(|entry| entry.result.is_some()) {
            self.repeated.lock().unwrap().push(place.clone());
        }
        self.calls.lock().unwrap().push(place);
        None
    }
}

/// A store, and the lives of one run in it.
struct Lives {
    store: Arc<dyn Store>,
    run: RunId,
    repeated: Arc<Mutex<Vec<String>>>,
    calls: Arc<Mutex<Vec<String>>>,
    script: fn(Stage) -> Stage,
    reviewer: Arc<dyn Reviewer>,
}

/// What a run leaves, without what names it.
#[derive(Debug, PartialEq)]
struct Left {
    status: RunStatus,
    interrupts: Vec<Value>,
    steps: u32,
    usage: routing_core::model::TokenUsage,
}

fn left(report: &RunReport) -> Left {
    let nameless = |record| {
        let mut record = serde_json::to_value(record).unwrap();
        record["interrupt"] = Value::Null;
        record
    };
    let mut interrupts: Vec<_> = report.interrupts.iter().map(nameless).collect();
    // Workers side by side take their turns in any order.
    interrupts.sort_by_key(|record| record["node"].to_string());
    Left {
        status: report.status.clone(),
        interrupts,
        steps: report.steps,
        usage: report.usage,
    }
}

impl Lives {
    fn of(script: fn(Stage) -> Stage, run: RunId) -> Self {
        Self {
            store: Arc::new(MemoryStore::new(StoreSettings::default())),
            run,
            repeated: Arc::default(),
            calls: Arc::default(),
            script,
            reviewer: Arc::new(Steady),
        }
    }

    fn stage(&self, store: Arc<dyn Store>) -> Stage {
        let mut stage = (self.script)(Stage::new());
        stage.run = self.run;
        stage.store = store;
        stage.reviewer = Some(Arc::clone(&self.reviewer));
        let part = Watchful {
            store: Arc::clone(&self.store),
            repeated: Arc::clone(&self.repeated),
            calls: Arc::clone(&self.calls),
        };
        let model = Playing::new(part, stage.rehearsal());
        stage.played_by(model)
    }

    /// One life that ends by itself.
    async fn live(&self) -> RunReport {
        self.stage(Arc::clone(&self.store)).execute().await
    }

    /// The life after a death. A run that had ended by then is only shown.
    async fn go_on(&self) -> RunReport {
        let run = self.store.run(self.run).await.unwrap();
        let mut stage = self.stage(Arc::clone(&self.store));
        stage.watched = run.is_some_and(|run| run.state.is_final());
        stage.execute().await
    }

    /// One life that dies at an operation; `None` where it died.
    async fn die(&self, death: Death) -> (Option<RunReport>, usize) {
        let mortal = Mortal::new(Arc::clone(&self.store), death);
        let stage = self.stage(Arc::clone(&mortal) as Arc<dyn Store>);
        let (run, scope) = (stage.run(), StopScope::new());
        let report = tokio::select! {
            biased;
            () = mortal.died() => None,
            report = run.execute(&scope) => Some(report),
        };
        (report, mortal.operations())
    }

    /// What the store says that all nodes of the run have used.
    async fn tokens(&self) -> u64 {
        let nodes = self.store.nodes(Some(self.run), ALL).await.unwrap();
        nodes.iter().map(|(_, node)| node.tokens).sum()
    }

    /// What every store must hold once the run is done.
    async fn check(&self, what: &dyn std::fmt::Debug) {
        let repeated = self.repeated.lock().unwrap().clone();
        assert!(repeated.is_empty(), "{what:?}: asked again: {repeated:?}");
        let run = self.store.run(self.run).await.unwrap().unwrap();
        assert_eq!(run.state, RunState::Completed, "{what:?}");
        let unknown = self.store.unknown_effects(self.run, ALL).await.unwrap();
        assert!(unknown.is_empty(), "{what:?}: {unknown:#?}");
        let filter = Filter {
            run: Some(self.run),
            ..Filter::default()
        };
        for (_, interrupt) in self.store.interrupts(&filter, ALL).await.unwrap() {
            let state = interrupt.state;
            assert!(
                matches!(state, State::Resolved | State::Rerouted),
                "{what:?}: {state} {interrupt:#?}"
            );
            if let Some(bound) = &interrupt.bound {
                let row = self.store.reroute(&bound.event).await.unwrap().unwrap();
                let decision = interrupt.decision.as_ref().unwrap().id;
                let expected = RerouteState::Consumed {
                    interrupt: interrupt.id,
                    decision,
                };
                assert_eq!(row.state, expected, "{what:?}");
            }
        }
        self.store.verify_audit().await.unwrap();
    }
}

fn supervisor(agent: &str, to: &str) -> Value {
    json!({ "supervisor": {
        "when": { "agent": agent, "turn": 1 },
        "event": { "interruptType": "HUMAN_REVIEW", "reason": "over budget", "rerouteToAgentType": to },
    } })
}

/// Questions, a pause, a reviewing model, a reroute, and workers that ask side by side.
fn eventful(stage: Stage) -> Stage {
    stage
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .interrupts("DISCOVERY_AGENT", 1, "HUMAN_REVIEW")
        .interrupts("DISCOVERY_COLLECTOR", 1, "PAUSE")
        .scripted(supervisor("PLANNING_ORCHESTRATOR", "TICKET_ORCHESTRATOR"))
        .interrupts("TICKET_ORCHESTRATOR", 1, "AGENT_REVIEW")
        .interrupts("TICKET_AGENT", 1, "PRUNE")
}

/// The deaths that one in so many operations gets, at this remainder.
async fn sweep(kind: fn(usize) -> Death, every: usize, from: usize) {
    let run = RunId::generate();
    let undisturbed = Lives::of(eventful, run);
    let (report, operations) = undisturbed.die(Death::Never).await;
    let expected = report.unwrap();
    assert_completed(&expected);
    assert!(expected.interrupts.len() >= 6, "{:#?}", expected.interrupts);
    let expected = left(&expected);
    undisturbed.check(&"undisturbed").await;
    for at in (from..operations).step_by(every) {
        let death = kind(at);
        let lives = Lives::of(eventful, run);
        let (report, _) = lives.die(death).await;
        let report = match report {
            Some(report) => report,
            None => lives.go_on().await,
        };
        let found = left(&report);
        assert_eq!(
            (found.steps, found.usage),
            (expected.steps, expected.usage),
            "{death:?}"
        );
        assert_eq!(found, expected, "{death:?}");
        assert_eq!(lives.tokens().await, expected.usage.total(), "{death:?}");
        lives.check(&death).await;
    }
}

/// How many of the deaths this build tries: all of them where that is asked for.
fn every() -> usize {
    match std::env::var("SWEEP") {
        Ok(every) => every.parse().unwrap(),
        Err(_) => 8,
    }
}

#[tokio::test]
async fn a_death_before_any_operation_of_the_store_changes_nothing() {
    sweep(Death::Before, every(), 0).await;
}

#[tokio::test]
async fn a_death_after_any_operation_of_the_store_changes_nothing() {
    sweep(Death::After, every(), 3).await;
}

#[tokio::test]
async fn a_run_that_dies_again_and_again_comes_to_the_same_end() {
    let run = RunId::generate();
    let expected = left(&Lives::of(eventful, run).live().await);
    for stride in [11, 17, 40] {
        let lives = Lives::of(eventful, run);
        let mut deaths = 0;
        let report = loop {
            let death = if deaths % 2 == 0 {
                Death::Before(stride + deaths)
            } else {
                Death::After(stride + deaths)
            };
            if let (Some(report), _) = lives.die(death).await {
                break report;
            }
            deaths += 1;
        };
        assert!(deaths >= 3, "it died {deaths} times only");
        assert_eq!(left(&report), expected, "after {deaths} deaths");
        lives.check(&deaths).await;
    }
}

/// Asks for a stop of the run at one of its calls.
struct Stopping {
    at: usize,
    mode: StopMode,
    scope: StopScope,
    seen: Mutex<usize>,
}

#[async_trait]
impl Part for Stopping {
    async fn play(&self, _: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        let mut seen = self.seen.lock().unwrap();
        if *seen == self.at {
            self.scope.stop(StopReason {
                source: StopSource::User,
                mode: self.mode,
                message: "enough".to_owned(),
                timestamp: Timestamp::UNIX_EPOCH,
            });
        }
        *seen += 1;
        None
    }
}

async fn stopped_at_each_call(mode: StopMode) {
    let run = RunId::generate();
    let undisturbed = Lives::of(eventful, run);
    let expected = left(&undisturbed.live().await);
    let calls = undisturbed.calls.lock().unwrap().len();
    let mut paid_more = false;
    for at in (0..calls).step_by(2) {
        let lives = Lives::of(eventful, run);
        let scope = StopScope::new();
        let mut stage = eventful(Stage::new());
        stage.run = run;
        stage.store = Arc::clone(&lives.store);
        stage.reviewer = Some(Arc::new(Steady));
        let part = Stopping {
            at,
            mode,
            scope: scope.clone(),
            seen: Mutex::new(0),
        };
        let model = Playing::new(part, stage.rehearsal());
        let stage = stage.played_by(model);
        let first = stage.run().execute(&scope).await;
        if matches!(first.status, RunStatus::Completed { .. }) {
            continue;
        }
        let paused = RunStatus::Paused {
            reason: "enough".to_owned(),
        };
        assert_eq!(first.status, paused, "{at}");
        let row = lives.store.run(run).await.unwrap().unwrap();
        assert_eq!(row.state, RunState::Paused, "{at}");
        assert!(row.lease.is_none(), "it was given up");
        let checkpoint = first.checkpoint.unwrap();
        let last = lives.store.last_checkpoint(run).await.unwrap().unwrap();
        assert_eq!(last.id, checkpoint, "{at}");
        let mut found = left(&lives.live().await);
        if mode == StopMode::Immediate {
            // What had arrived of the answer that was cut short was paid for, too.
            assert!(found.usage.output >= expected.usage.output, "{at}");
            paid_more |= found.usage.output > expected.usage.output;
            found.usage = expected.usage;
        }
        assert_eq!(found, expected, "{mode:?} at {at}");
        lives.check(&at).await;
    }
    assert_eq!(paid_more, mode == StopMode::Immediate);
}

#[tokio::test]
async fn a_graceful_stop_at_any_call_is_resumed_to_the_same_end() {
    stopped_at_each_call(StopMode::Graceful).await;
}

#[tokio::test]
async fn an_immediate_stop_at_any_call_is_resumed_to_the_same_end() {
    stopped_at_each_call(StopMode::Immediate).await;
}

#[tokio::test]
async fn a_fork_of_any_checkpoint_repeats_nothing_before_it_and_ends_alike() {
    fn script(stage: Stage) -> Stage {
        // A supervisor's event is another run's own.
        let mut stage = eventful(stage);
        stage.script.retain(|step| step.get("supervisor").is_none());
        stage
    }
    let lives = Lives::of(script, RunId::generate());
    let report = lives.live().await;
    let all = lives.calls.lock().unwrap().len();
    let checkpoints = lives.store.checkpoints(lives.run, ALL).await.unwrap();
    assert!(checkpoints.len() > 3, "{checkpoints:#?}");
    let mut before = usize::MAX;
    for checkpoint in checkpoints {
        let fork = RunId::generate();
        let new = NewRun {
            id: fork,
            alias: None,
            content: "{}".to_owned(),
        };
        lives.store.fork_run(checkpoint.id, new).await.unwrap();
        lives.calls.lock().unwrap().clear();
        let mut stage = lives.stage(Arc::clone(&lives.store));
        stage.run = fork;
        let forked = stage.execute().await;
        assert_eq!(forked.status, report.status, "{}", checkpoint.id);
        // Steps that were not done by then leave their numbers free.
        assert!(forked.steps >= report.steps, "{}", checkpoint.id);
        let calls = lives.calls.lock().unwrap().len();
        assert!(
            calls < all && calls <= before,
            "{calls} of {all}, {before} before"
        );
        before = calls;
        let parent = forked.checkpoint.map(|CheckpointId { run, .. }| run);
        assert_eq!(parent, Some(fork));
    }
    assert!(lives.repeated.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_question_that_nobody_answered_is_answered_when_the_run_is_resumed() {
    let mut lives = Lives::of(eventful, RunId::generate());
    lives.reviewer = Arc::new(Nobody);
    let waiting = lives.live().await;
    let RunStatus::Waiting { interrupts, .. } = &waiting.status else {
        panic!("{:#?}", waiting.status)
    };
    let row = lives.store.run(lives.run).await.unwrap().unwrap();
    assert_eq!(row.state, RunState::Waiting);
    let open = lives.store.interrupt(interrupts[0]).await.unwrap().unwrap();
    assert_eq!(open.state, State::AwaitingReview);
    lives.reviewer = Arc::new(Steady);
    let report = lives.live().await;
    assert_completed(&report);
    assert_eq!(report.interrupts[0].interrupt, interrupts[0]);
    lives.check(&"waiting").await;
}

#[tokio::test]
async fn new_input_of_a_resumed_run_reaches_the_node_that_has_the_turn_once() {
    let mut lives = Lives::of(eventful, RunId::generate());
    lives.reviewer = Arc::new(Nobody);
    let _waiting = lives.live().await;
    lives.reviewer = Arc::new(Steady);
    let mut stage = lives.stage(Arc::clone(&lives.store));
    stage.input = Some("keep it short".to_owned());
    assert_completed(&stage.execute().await);
    let told = stage.log.messages();
    let inputs: Vec<_> = told
        .iter()
        .filter(|(_, text)| text.contains("keep it short"))
        .collect();
    assert_eq!(inputs.len(), 1, "{inputs:?}");
    lives.check(&"input").await;
}

#[tokio::test]
async fn a_replay_shows_what_was_recorded_and_does_nothing() {
    let mut lives = Lives::of(eventful, RunId::generate());
    let first = lives.stage(Arc::clone(&lives.store));
    assert_completed(&first.execute().await);
    let rows = lives.store.outbox(ALL).await.unwrap().len();
    lives.calls.lock().unwrap().clear();
    lives.reviewer = Arc::new(Nobody);
    let mut again = lives.stage(Arc::clone(&lives.store));
    again.watched = true;
    let report = again.execute().await;
    assert_completed(&report);
    assert!(lives.calls.lock().unwrap().is_empty());
    assert_eq!(lives.store.outbox(ALL).await.unwrap().len(), rows);
    assert_eq!(again.log.steps().len(), first.log.steps().len());
    let told = again.log.told.lock().unwrap();
    let live: Vec<_> = told.iter().filter(|told| !told.replayed).collect();
    assert!(
        live.iter().all(|told| matches!(
            told.event,
            RunEvent::AgentFinished { .. } | RunEvent::Completed { .. }
        )),
        "{live:#?}"
    );
}

#[tokio::test]
async fn what_was_told_before_is_told_again_as_replayed() {
    let lives = Lives::of(eventful, RunId::generate());
    let (report, operations) = lives.die(Death::Never).await;
    assert!(report.is_some());
    let lives = Lives::of(eventful, lives.run);
    let (died, _) = lives.die(Death::Before(operations / 2)).await;
    assert!(died.is_none());
    let stage = lives.stage(Arc::clone(&lives.store));
    assert_completed(&stage.execute().await);
    let told = stage.log.told.lock().unwrap();
    let finished = |replayed| {
        told.iter()
            .filter(|told| told.replayed == replayed)
            .filter(|told| matches!(told.event, RunEvent::StepFinished { .. }))
            .count()
    };
    assert!(finished(true) > 0 && finished(false) > 0);
    let times: Vec<_> = told
        .iter()
        .filter(|told| told.replayed)
        .map(|told| told.at)
        .collect();
    assert!(!times.is_empty());
}

#[tokio::test]
async fn an_event_that_was_published_and_not_read_is_read_when_the_run_is_resumed() {
    fn script(stage: Stage) -> Stage {
        stage.scripted(supervisor("PLANNING_ORCHESTRATOR", "TICKET_ORCHESTRATOR"))
    }
    let run = RunId::generate();
    let expected = left(&Lives::of(script, run).live().await);
    let event = EventId::try_from(format!("{run}/script/0")).unwrap();
    let probe = Lives::of(script, run);
    let (_, operations) = probe.die(Death::Never).await;
    let mut seen = 0;
    for at in 0..operations {
        let lives = Lives::of(script, run);
        lives.die(Death::After(at)).await;
        let pending = lives.store.reroute(&event).await.unwrap();
        if pending.is_none_or(|row| row.state != RerouteState::Pending) {
            continue;
        }
        seen += 1;
        assert_eq!(left(&lives.live().await), expected, "{at}");
        lives.check(&at).await;
    }
    assert!(
        seen > 1,
        "no death fell between the event and its interrupt"
    );
}
