//! The unified handler over the interrupts of all seventeen kinds of agents, in each type that ends in a route.

use std::sync::Arc;

use agents::AgentKind;
use agents::catalogue::{RecordKind, SchemaQuery, records, schema};
use agents::records::{InterruptRequest, InterruptRouting};
use async_trait::async_trait;
use interrupt_router::ask::Asker;
use interrupt_router::handler::{OperationContext, Resolution, UnifiedInterruptHandler};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::schema::Dialect;
use interrupt_router::{
    AgentType, Blackboard, InterruptId, InterruptRoutes, InterruptType, NodeId, Outcome, Routing,
    RunId, SealedInterrupt, StopScope,
};
use llm::{JsonSchemaConstraints, Pace, RehearsalConfig, RehearsalModel};
use serde_json::json;

use crate::sample::one_of_property;

/// Has nothing to add, and resumes what is paused with new input.
struct Agreeable;

#[async_trait]
impl Reviewer for Agreeable {
    async fn answer(&self, _: &Question, _: &StopScope) -> Result<Outcome<Answer>, ReviewError> {
        Ok(Outcome::Completed(Answer {
            text: Some("go on".to_owned()),
            ..Answer::default()
        }))
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Ok(Outcome::Completed(Resume {
            input: Some("go on".to_owned()),
        }))
    }
}

fn handler() -> UnifiedInterruptHandler<InterruptRequest, InterruptRouting> {
    let config = RehearsalConfig {
        seed: 5,
        pace: Pace::Unlimited,
        facts: Vec::new(),
        script: None,
    };
    let asker = Asker {
        model: Arc::new(RehearsalModel::new(config)),
        constraints: Arc::new(JsonSchemaConstraints::new()),
        corrections: 3,
    };
    UnifiedInterruptHandler::new(asker, Agreeable)
}

/// An interrupt as a model of this kind of agent could write it.
fn interrupt(kind: AgentKind, interrupt_type: InterruptType) -> InterruptRequest {
    let record = records()
        .iter()
        .find(|record| record.kind == RecordKind::AgentAnswer(kind))
        .unwrap();
    let full = schema(record.name, &SchemaQuery::new(Dialect::JsonSchema)).unwrap();
    let mut payload = one_of_property(full.value(), "interruptRequest");
    payload["type"] = json!(interrupt_type);
    serde_json::from_value(json!({ "kind": kind, "request": payload })).unwrap()
}

async fn resolve(
    handler: &UnifiedInterruptHandler<InterruptRequest, InterruptRouting>,
    request: InterruptRequest,
) -> Resolution<InterruptRouting> {
    let context = OperationContext {
        interrupt: InterruptId::generate(),
        run: RunId::generate(),
        node: &NodeId::new("node").unwrap(),
        turn: 1,
        blackboard: &Blackboard::new(),
        conversation: &[],
        scope: &StopScope::new(),
    };
    let outcome = handler.handle_unified_interrupt(request, context).await;
    outcome.unwrap().completed().unwrap()
}

#[tokio::test]
async fn every_kind_in_every_type_that_goes_on_leaves_along_its_origin_route_alone() {
    let handler = handler();
    let going_on = [
        InterruptType::HumanReview,
        InterruptType::AgentReview,
        InterruptType::Pause,
    ];
    for kind in AgentKind::ALL {
        for interrupt_type in going_on {
            let request = interrupt(*kind, interrupt_type);
            assert_eq!(request.kind(), *kind);
            let resolution = resolve(&handler, request).await;
            let Resolution::Routed(routed) = resolution else {
                panic!("{kind}: {resolution:?}")
            };
            let expected = InterruptRouting::route_to(kind.origin_route());
            assert_eq!(
                routed.routing.set_routes().single(),
                Some(expected),
                "{kind}, {interrupt_type}"
            );
        }
    }
}

#[tokio::test]
async fn every_kind_that_stops_or_prunes_ends_and_goes_nowhere() {
    let handler = handler();
    for kind in AgentKind::ALL {
        for interrupt_type in [InterruptType::Stop, InterruptType::Prune] {
            let request = interrupt(*kind, interrupt_type);
            let raised = (interrupt_type, request.details().reason);
            let ended = match resolve(&handler, request).await {
                Resolution::Stopped { reason, .. } => (InterruptType::Stop, reason),
                Resolution::Pruned { reason, .. } => (InterruptType::Prune, reason),
                routed @ (Resolution::Routed(_)
                | Resolution::Declined(_)
                | Resolution::Branched { .. }) => {
                    panic!("{kind}, {interrupt_type}: {routed:?}")
                }
            };
            assert_eq!(ended, raised, "{kind}");
        }
    }
}
