//! A model that will not go where the decision says never gets anywhere else.

use std::sync::Arc;

use agents::records::InterruptRouting;
use async_trait::async_trait;
use engine::run::{InterruptResult, RunEvent};
use interrupt_router::handler::FilledBy;
use interrupt_router::model::{ModelCall, Purpose};
use interrupt_router::review::{Answer, QuestionKind};
use interrupt_router::schema::Dialect;
use interrupt_router::{Routing, StopScope};
use serde_json::json;

use crate::models::{Part, Playing, Reply, reply};
use crate::stage::{Stage, assert_completed, target};

/// The fields of all routes but the one that the decision fixed.
fn others(target: &str) -> Vec<&'static str> {
    InterruptRouting::ROUTES
        .iter()
        .map(|route| route.field)
        .filter(|field| *field != target)
        .collect()
}

/// Answers each other route in turn, with a request that would fit it.
struct Elsewhere {
    rehearsal: llm::RehearsalModel,
}

#[async_trait]
impl Part for Elsewhere {
    async fn play(&self, call: &mut ModelCall, scope: &StopScope) -> Option<Reply> {
        use interrupt_router::model::{AnswerSchemaRef, LanguageModel};
        if call.caller.purpose != Purpose::Resolution {
            return None;
        }
        let others = others("discoveryOrchestratorRequest");
        let field = others[usize::try_from(call.caller.correction).unwrap() % others.len()];
        let route = interrupt_router::RouteId::<InterruptRouting>::from_field(field).unwrap();
        let mut wide = call.clone();
        let schema = InterruptRouting::schemas().narrowed(route, Dialect::JsonSchema);
        wide.schema = Some(AnswerSchemaRef::Fixed(schema));
        Some(self.rehearsal.call(wide, scope).await)
    }
}

#[tokio::test]
async fn none_of_the_thirteen_other_routes_is_ever_taken_and_a_person_is_asked() {
    let mut stage = Stage::new()
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .said("split it by folder")
        .answered(Answer {
            edited_request: Some(json!({ "goal": "by folder", "feedback": null })),
            ..Answer::default()
        });
    stage.limits.corrections = 12;
    let part = Elsewhere {
        rehearsal: stage.rehearsal(),
    };
    let model = Playing::new(part, stage.rehearsal());
    let calls = Arc::clone(&model.calls);
    let stage = stage.played_by(model);
    let report = stage.execute().await;
    assert_completed(&report);
    let tried = calls
        .lock()
        .unwrap()
        .iter()
        .filter(|call| call.caller.purpose == Purpose::Resolution)
        .count();
    assert_eq!(tried, 13);
    let mut refused: Vec<String> = stage
        .log
        .events()
        .iter()
        .filter_map(|event| match event {
            RunEvent::AnswerCorrected { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect();
    let mut expected: Vec<String> = others("discoveryOrchestratorRequest")
        .iter()
        .map(|field| format!("$.{field}"))
        .collect();
    refused.sort();
    expected.sort();
    assert_eq!(refused, expected);
    {
        let asked = stage.person.asked.lock().unwrap();
        assert!(matches!(
            asked[1].kind,
            QuestionKind::UnfilledRequest { .. }
        ));
        assert_eq!(asked[1].routes, ["DISCOVERY_ORCHESTRATOR"]);
    }
    assert_eq!(target(&report, 0), "DISCOVERY_ORCHESTRATOR");
    assert_eq!(stage.log.steps()[2], "orchestrator/discovery");
}

/// Answers a step with two fields set, and then with none.
struct Undecided;

#[async_trait]
impl Part for Undecided {
    async fn play(&self, call: &mut ModelCall, _scope: &StopScope) -> Option<Reply> {
        if call.caller.agent_type != "ORCHESTRATOR" || call.caller.correction > 1 {
            return None;
        }
        let both = json!({
            "collectorRequest": { "goal": "end" },
            "discoveryOrchestratorRequest": { "goal": "begin" },
        });
        let answers = [both.to_string(), "{}".to_owned()];
        Some(reply(
            answers[usize::try_from(call.caller.correction).unwrap()].clone(),
        ))
    }
}

#[tokio::test]
async fn two_fields_or_none_are_explained_and_asked_for_again() {
    let stage = Stage::new();
    let model = Playing::new(Undecided, stage.rehearsal());
    let stage = stage.played_by(model);
    assert_completed(&stage.execute().await);
    let reasons: Vec<String> = stage
        .log
        .events()
        .iter()
        .filter_map(|event| match event {
            RunEvent::AnswerCorrected { reason, .. } => Some(reason.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_asked_for_again_and_nothing_is_lost() {
    let stage = Stage::new()
        .interrupts("DISCOVERY_ORCHESTRATOR", 1, "HUMAN_REVIEW")
        .answered(Answer {
            reroute_to: Some("NOBODY".to_owned()),
            ..Answer::default()
        })
        .answered(Answer {
            edited_request: Some(json!({ "goal": 7 })),
            ..Answer::default()
        })
        .answered(Answer {
            edited_request: Some(json!({ "goal": "by folder" })),
            ..Answer::default()
        });
    let report = stage.execute().await;
    assert_completed(&report);
    let InterruptResult::Routed { filled_by, .. } = &report.interrupts[0].outcome else {
        panic!("{:?}", report.interrupts)
    };
    assert_eq!(*filled_by, FilledBy::Person);
    let asked = stage.person.asked.lock().unwrap();
    assert!(asked[1].problem.as_ref().unwrap().contains("NOBODY"));
    assert!(asked[2].problem.as_ref().unwrap().contains("goal"));
}
