//! The lives of one run: each ends by itself, is stopped, or dies, and the next one goes on.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use engine::run::{RunReport, RunStatus};
use interrupt_router::model::{ModelCall, Purpose, TurnForm};
use interrupt_router::reroute::RerouteState;
pub(crate) use interrupt_router::review::NoReviewer;
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{Outcome, RunId, StopScope};
use interrupts::EffectId;
use interrupts::life::{RunState, State};
use interrupts::store::{Filter, Page, Store};
use serde_json::{Value, json};
use store::{MemoryStore, StoreSettings};

use crate::models::{Part, Playing, Reply};
use crate::stage::Stage;
use engine::testing::{Death, Mortal};

pub(crate) const ALL: Page = Page {
    after: 0,
    limit: 10_000,
};

/// Answers every question in the same way, whoever asks.
pub(crate) struct Steady;

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

pub(crate) fn place(call: &ModelCall) -> String {
    let caller = &call.caller;
    let purpose = match caller.purpose {
        Purpose::Step => "step",
        Purpose::Route => "route",
        Purpose::Resolution => "resolution",
        Purpose::Review => "review",
        Purpose::Conversation => "conversation",
    };
    let (node, turn, correction) = (&caller.node, caller.turn, caller.correction);
    format!("{node}#{turn}/{purpose}/{correction}")
}

/// Looks at each call whether its result is recorded already.
pub(crate) struct Watchful {
    store: Arc<dyn Store>,
    /// How it is asked.
    form: TurnForm,
    /// The places that were asked for although their results were there.
    repeated: Arc<Mutex<Vec<String>>>,
    calls: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Part for Watchful {
    fn turn_form(&self) -> TurnForm {
        self.form
    }

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
pub(crate) struct Lives {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) run: RunId,
    pub(crate) repeated: Arc<Mutex<Vec<String>>>,
    pub(crate) calls: Arc<Mutex<Vec<String>>>,
    pub(crate) script: fn(Stage) -> Stage,
    pub(crate) reviewer: Arc<dyn Reviewer>,
    /// How the model of the next life is asked.
    pub(crate) form: TurnForm,
}

/// What a run leaves, without what names it.
#[derive(Debug, PartialEq)]
pub(crate) struct Left {
    pub(crate) status: RunStatus,
    pub(crate) interrupts: Vec<Value>,
    pub(crate) steps: u32,
    pub(crate) usage: interrupt_router::model::TokenUsage,
}

pub(crate) fn left(report: &RunReport) -> Left {
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
    pub(crate) fn of(script: fn(Stage) -> Stage, run: RunId) -> Self {
        Self {
            store: Arc::new(MemoryStore::new(StoreSettings::default())),
            run,
            repeated: Arc::default(),
            calls: Arc::default(),
            script,
            reviewer: Arc::new(Steady),
            form: TurnForm::OneStep,
        }
    }

    /// The lives of a run whose turns are asked in this form.
    pub(crate) fn in_form(self, form: TurnForm) -> Self {
        Self { form, ..self }
    }

    pub(crate) fn stage(&self, store: Arc<dyn Store>) -> Stage {
        let mut stage = (self.script)(Stage::new());
        stage.run = self.run;
        stage.store = store;
        stage.reviewer = Some(Arc::clone(&self.reviewer));
        let part = Watchful {
            store: Arc::clone(&self.store),
            form: self.form,
            repeated: Arc::clone(&self.repeated),
            calls: Arc::clone(&self.calls),
        };
        let model = Playing::new(part, stage.rehearsal());
        stage.played_by(model)
    }

    /// One life that ends by itself.
    pub(crate) async fn live(&self) -> RunReport {
        self.stage(Arc::clone(&self.store)).execute().await
    }

    /// The life after a death; `None` where the run had ended by then.
    pub(crate) async fn go_on(&self) -> Option<RunReport> {
        match self.has_ended().await {
            true => None,
            false => Some(self.live().await),
        }
    }

    pub(crate) async fn has_ended(&self) -> bool {
        let run = self.store.run(self.run).await.unwrap();
        run.is_some_and(|run| run.state.is_final())
    }

    /// One life that dies at an operation; `None` where it died.
    pub(crate) async fn die(&self, death: Death) -> (Option<RunReport>, usize) {
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
    pub(crate) async fn tokens(&self) -> u64 {
        let nodes = self.store.nodes(Some(self.run), ALL).await.unwrap();
        nodes.iter().map(|(_, node)| node.tokens).sum()
    }

    /// What every store must hold once the run is done.
    pub(crate) async fn check(&self, what: &dyn std::fmt::Debug) {
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

pub(crate) fn supervisor(agent: &str, to: &str) -> Value {
    json!({ "supervisor": {
        "when": { "agent": agent, "turn": 1 },
        "event": { "interruptType": "HUMAN_REVIEW", "reason": "over budget", "rerouteToAgentType": to },
    } })
}

/// Questions, a pause, a reviewing model and a reroute.
pub(crate) fn asked_about(stage: Stage) -> Stage {
    stage
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .interrupts("DISCOVERY_AGENT", 1, "HUMAN_REVIEW")
        .interrupts("DISCOVERY_COLLECTOR", 1, "PAUSE")
        .scripted(supervisor("PLANNING_ORCHESTRATOR", "TICKET_ORCHESTRATOR"))
        .interrupts("TICKET_ORCHESTRATOR", 1, "AGENT_REVIEW")
}

/// The same, and workers that ask side by side.
pub(crate) fn eventful(stage: Stage) -> Stage {
    asked_about(stage).interrupts("TICKET_AGENT", 1, "PRUNE")
}
