//! The workflow with a model: every effect performed, to the end.

use std::sync::{Arc, Mutex};

use agents::plan_execute::PlanAgents;
use async_trait::async_trait;
use interrupt_router::ask::Asker;
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::schema::check_limits;
use interrupt_router::{NodeId, Outcome, Routing, RunId, StopScope};
use jiff::Timestamp;
use llm::{JsonSchemaConstraints, RehearsalConfig, RehearsalModel};
use planning::{FactKind, Phase, PlanEffect, PlanEnd, PlanEvent, PlanExecute, RetryPolicy};

use crate::scene::{interrupt, modify, tasks};

/// The rehearsal model, with a list of what it was asked.
struct Listening {
    model: RehearsalModel,
    calls: Mutex<Vec<ModelCall>>,
}

#[async_trait]
impl LanguageModel for Listening {
    fn name(&self) -> &str {
        "listening"
    }

    fn dialect(&self) -> Dialect {
        self.model.dialect()
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.calls.lock().unwrap().push(call.clone());
        self.model.call(call, scope).await
    }
}

/// A run: the workflow, its desk, and the events that a person adds after certain steps.
struct Run {
    state: PlanExecute,
    desk: PlanAgents,
    model: Arc<Listening>,
    facts: Vec<FactKind>,
    turn: u32,
}

impl Run {
    fn new(dialect: Dialect) -> Self {
        let model = RehearsalModel::new(RehearsalConfig::default()).with_dialect(dialect);
        let model = Arc::new(Listening {
            model,
            calls: Mutex::default(),
        });
        Self {
            state: PlanExecute::new("Write the manual", RetryPolicy::default()),
            desk: PlanAgents {
                recorder: None,
                asker: Asker {
                    model: Arc::<Listening>::clone(&model),
                    constraints: Arc::new(JsonSchemaConstraints::new()),
                    corrections: 1,
                },
                run: RunId::generate(),
                root: NodeId::root(),
            },
            model,
            facts: Vec::new(),
            turn: 0,
        }
    }

    /// Runs until the workflow ends or waits for a person.
    async fn go_on(&mut self, event: PlanEvent) {
        let mut next = Some(event);
        while let Some(event) = next.take() {
            let turn = self.state.after(&event, Timestamp::UNIX_EPOCH).unwrap();
            self.state = turn.state;
            for effect in turn.effects {
                next = next.or(self.perform(effect).await);
            }
        }
    }

    async fn perform(&mut self, effect: PlanEffect) -> Option<PlanEvent> {
        let scope = StopScope::new();
        self.turn += 1;
        match effect {
            PlanEffect::AskModel(asking) => {
                let asked = self.desk.ask(&self.state, &asking, self.turn, &scope);
                Some(asked.await.unwrap())
            }
            PlanEffect::RunStep(step) => {
                let done = self.desk.run_step(&self.state, &step, self.turn, &scope);
                Some(done.await.unwrap())
            }
            PlanEffect::Record(fact) => {
                self.facts.push(fact.kind);
                None
            }
            PlanEffect::Checkpoint { .. }
            | PlanEffect::AskPerson(_)
            | PlanEffect::HoldQuestion
            | PlanEffect::WithdrawQuestion
            | PlanEffect::Wait(_)
            | PlanEffect::End(_) => None,
        }
    }

    fn last_call(&self) -> String {
        let calls = self.model.calls.lock().unwrap();
        let messages = calls.last().map(|call| call.messages.clone());
        let texts = messages.into_iter().flatten().map(|message| message.text);
        texts.collect::<Vec<_>>().join("\n")
    }
}

#[tokio::test]
async fn the_rehearsal_model_plays_it_to_its_end_in_every_dialect() {
    for dialect in Dialect::ALL {
        let mut run = Run::new(dialect);
        run.go_on(PlanEvent::Start).await;
        let Phase::Ended(PlanEnd::Completed { response }) = run.state.phase() else {
            panic!("{dialect:?}: {:?}", run.state.phase());
        };
        assert!(!response.is_empty());
        let plan = run.state.plan();
        assert!(plan.finished().len() >= 2 && plan.left().is_empty());
    }
}

#[tokio::test]
async fn a_forced_replan_shows_the_model_the_request_the_plan_and_the_finished_steps() {
    let mut run = Run::new(Dialect::JsonSchema);
    // The interrupt is there before the first step, so that the plan stands and nothing is done.
    run.state = run
        .state
        .after(&interrupt("look"), Timestamp::UNIX_EPOCH)
        .unwrap()
        .state;
    run.go_on(PlanEvent::Start).await;
    assert!(matches!(run.state.phase(), Phase::Held(_)));
    run.go_on(PlanEvent::Edit {
        tasks: tasks(&["the one planned task", "another"]),
    })
    .await;
    run.go_on(modify("add a validation step")).await;
    // The rehearsal writes a plan of its own, without the steps that the person applied: he is asked.
    assert!(run.facts.contains(&FactKind::OpenSteps));
    run.go_on(PlanEvent::ApplySuggestion).await;
    run.go_on(PlanEvent::Resume).await;
    assert!(matches!(run.state.phase(), Phase::Ended(_)));
    let calls = run.model.calls.lock().unwrap().clone();
    let replan = calls
        .iter()
        .map(|call| {
            let texts: Vec<_> = call.messages.iter().map(|message| &*message.text).collect();
            texts.join("\n")
        })
        .find(|text| text.contains("add a validation step"))
        .unwrap();
    assert!(replan.contains("the one planned task"), "{replan}");
    assert!(replan.contains("Finished steps: []"), "{replan}");
    assert!(replan.contains("Of these a person wants"), "{replan}");
    assert!(run.facts.contains(&FactKind::ModificationRequested));
    assert!(run.facts.contains(&FactKind::Completed));
    let last = run.last_call();
    let asks = "A person has this to say";
    assert!(replan.contains(asks), "{replan}");
    assert!(
        !last.contains(asks),
        "a request is carried out once: {last}"
    );
}

#[tokio::test]
async fn a_stopped_call_comes_back_as_such() {
    let run = Run::new(Dialect::JsonSchema);
    let scope = StopScope::new();
    scope.stop(interrupt_router::StopReason {
        source: interrupt_router::StopSource::User,
        mode: interrupt_router::StopMode::Immediate,
        message: "now".to_owned(),
        timestamp: Timestamp::UNIX_EPOCH,
    });
    let asking = planning::PlanningCall::Plan;
    let event = run.desk.ask(&run.state, &asking, 1, &scope).await.unwrap();
    assert_eq!(event, PlanEvent::CallStopped);
}

#[test]
fn the_schemas_keep_every_providers_limits() {
    fn check<R: Routing>() {
        for dialect in Dialect::ALL {
            let schema = R::schemas().full(dialect);
            let broken: Vec<_> = check_limits(schema)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert!(broken.is_empty(), "{}: {broken:?}", schema.name());
        }
    }
    check::<agents::plan_execute::PlannerRouting>();
    check::<agents::plan_execute::ExecutorRouting>();
    check::<agents::plan_execute::ReplannerRouting>();
}
