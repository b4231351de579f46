//! Asking a model: constraints beyond types, fences, answers that were cut off.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use routing_core::answer::{AnswerError, AnswerFault, ConstraintCheck, TypesOnly};
use routing_core::ask::{AskError, Asker, CorrectionObserver};
use routing_core::context::{DecoratorChain, LlmCallContext, RouteSnapshot};
use routing_core::model::{
    Caller, Dialect, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply, Purpose, Role,
    TokenUsage,
};
use routing_core::schema::AnswerSchema;
use routing_core::{Outcome, Route, Routing, RunId, StopScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::{ScriptedModel, node};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Paint {
    #[schemars(regex(pattern = r"^#[0-9a-f]{6}$"))]
    colour: String,
}

#[derive(Debug, Clone, PartialEq, Routing)]
struct PaintRouting {
    #[route(marker = PaintRoute)]
    paint: Option<Paint>,
}

/// Knows the one pattern, and keeps what it was given.
#[derive(Default)]
struct Hexadecimal(Mutex<Vec<String>>);

impl ConstraintCheck for Hexadecimal {
    fn check(&self, schema: &AnswerSchema, answer: &[u8]) -> Result<(), AnswerError> {
        assert!(schema.text().contains("[0-9a-f]"), "{}", schema.text());
        let given: serde_json::Value = serde_json::from_slice(answer).unwrap();
        self.0.lock().unwrap().push(given.to_string());
        let colour = given["paint"]["colour"].as_str().unwrap();
        if colour.len() == 7 && colour.starts_with('#') {
            return Ok(());
        }
        Err(AnswerError::new(
            AnswerFault::Constraint,
            "$.paint.colour",
            "no hexadecimal colour",
        ))
    }
}

fn context() -> LlmCallContext<PaintRouting> {
    let caller = Caller {
        run: RunId::generate(),
        node: node("painter"),
        agent_type: "PAINTER",
        purpose: Purpose::Step,
        turn: 1,
        correction: 0,
    };
    let snapshot = RouteSnapshot {
        origin: Some(PaintRoute::id()),
        ..RouteSnapshot::default()
    };
    DecoratorChain::default().decorate(LlmCallContext::new(caller, Vec::new(), snapshot))
}

#[tokio::test]
async fn a_constraint_that_types_do_not_express_is_checked_and_corrected() {
    let constraints = Arc::new(Hexadecimal::default());
    let model = ScriptedModel::saying(&[
        r#"{"paint":{"colour":"reddish"}}"#,
        "```json\n{\"paint\":{\"colour\":\"#ff0000\"}}\n```",
    ]);
    let asker = Asker {
        model: Arc::clone(&model) as _,
        constraints: Arc::clone(&constraints) as _,
        corrections: 1,
    };
    let asked = asker
        .ask(&context(), &(), &StopScope::new())
        .await
        .unwrap()
        .completed()
        .unwrap();
    assert_eq!(asked.routing.paint.unwrap().colour, "#ff0000");
    assert_eq!(asked.corrections, 1);
    let told = model.calls.lock().unwrap()[1]
        .messages
        .last()
        .unwrap()
        .text
        .clone();
    assert!(
        told.contains("path: $.paint.colour\nreason: no hexadecimal colour"),
        "{told}"
    );
    assert_eq!(constraints.0.lock().unwrap().len(), 2);
}

/// Counts the corrections that it is told of.
#[derive(Default)]
struct Counted(Mutex<Vec<u32>>);

impl CorrectionObserver for Counted {
    fn corrected(&self, correction: u32, _error: &AnswerError) {
        self.0.lock().unwrap().push(correction);
    }
}

#[tokio::test]
async fn a_wrong_answer_stands_in_the_conversation_and_an_empty_one_does_not() {
    let (wrong, right) = (r#"{"paint":{}}"#, r#"{"paint":{"colour":"red"}}"#);
    let model = ScriptedModel::saying(&[wrong, " \n", right]);
    let asker = Asker {
        model: Arc::clone(&model) as _,
        constraints: Arc::new(TypesOnly),
        corrections: 2,
    };
    let observer = Counted::default();
    let asked = asker
        .ask(&context(), &observer, &StopScope::new())
        .await
        .unwrap();
    assert_eq!(asked.completed().unwrap().corrections, 2);
    assert_eq!(*observer.0.lock().unwrap(), [1, 2]);
    let calls = model.calls.lock().unwrap();
    let corrections: Vec<_> = calls.iter().map(|call| call.caller.correction).collect();
    assert_eq!(corrections, [0, 1, 2]);
    let roles: Vec<_> = calls[2].messages.iter().map(|said| said.role).collect();
    // Providers refuse a conversation with an empty message.
    assert_eq!(roles, [Role::Assistant, Role::User, Role::User]);
    assert_eq!(&*calls[2].messages[0].text, wrong);
}

/// Says that its answer was cut off, though what there is can be read.
struct CutOff;

#[async_trait]
impl LanguageModel for CutOff {
    fn name(&self) -> &'static str {
        "cut off"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(
        &self,
        _call: ModelCall,
        _scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let text = r##"{"paint":{"colour":"#ff"##.to_owned();
        let usage = TokenUsage {
            input: Some(3),
            output: Some(2),
        };
        Ok(Outcome::Completed(ModelReply {
            tool_requests: Vec::new(),
            text,
            usage,
            cut_off: true,
        }))
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_told_as_that_and_asked_for_again() {
    let asker = Asker {
        model: Arc::new(CutOff),
        constraints: Arc::new(TypesOnly),
        corrections: 2,
    };
    let error = asker
        .ask(&context(), &(), &StopScope::new())
        .await
        .unwrap_err();
    let AskError::Spent { attempts } = error else {
        panic!("{error}")
    };
    assert_eq!(attempts.len(), 3);
    for attempt in attempts {
        assert_eq!(attempt.error.fault(), AnswerFault::CutOff);
        assert!(
            attempt.error.reason().contains("cut off after 23 bytes"),
            "{}",
            attempt.error
        );
    }
}

/// Says what costs three tokens to read and two to write: first nonsense, then what fits.
struct Costly(Mutex<u32>);

#[async_trait]
impl LanguageModel for Costly {
    fn name(&self) -> &'static str {
        "costly"
    }

    fn dialect(&self) -> Dialect {
        Dialect::JsonSchema
    }

    async fn call(
        &self,
        _call: ModelCall,
        _scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        let mut calls = self.0.lock().unwrap();
        *calls += 1;
        let text = if *calls == 1 {
            "nonsense"
        } else {
            r#"{"paint":{"colour":"red"}}"#
        };
        let usage = TokenUsage {
            input: Some(3),
            output: Some(2),
        };
        Ok(Outcome::Completed(ModelReply {
            tool_requests: Vec::new(),
            text: text.to_owned(),
            usage,
            cut_off: false,
        }))
    }
}

#[tokio::test]
async fn what_all_tries_cost_is_summed() {
    let asker = Asker {
        model: Arc::new(Costly(Mutex::default())),
        constraints: Arc::new(TypesOnly),
        corrections: 1,
    };
    let asked = asker
        .ask(&context(), &(), &StopScope::new())
        .await
        .unwrap()
        .completed()
        .unwrap();
    let expected = TokenUsage {
        input: Some(6),
        output: Some(4),
    };
    assert_eq!(asked.usage, expected);
}
