//! Asking a model: constraints beyond types, fences, answers that were cut off.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::answer::{AnswerError, AnswerFault, ConstraintCheck};
use interrupt_router::ask::{AskError, Asker};
use interrupt_router::context::{
    Decorator as _, FilterPropertiesDecorator, LlmCallContext, RouteSnapshot,
};
use interrupt_router::model::{
    Dialect, LanguageModel, ModelCall, ModelCaller, ModelError, ModelReply, PartialReply, Purpose,
    Role, TokenUsage, TurnForm,
};
use interrupt_router::schema::AnswerSchema;
use interrupt_router::{Outcome, Route, RouteSet, Routing, RunId, StopScope};
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
    let caller = ModelCaller {
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
    FilterPropertiesDecorator.decorate(LlmCallContext::new(caller, Vec::new(), snapshot))
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
        .ask(&context(), &|_, _| {}, &StopScope::new())
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

#[tokio::test]
async fn a_wrong_answer_is_explained_and_not_repeated() {
    let (wrong, right) = (r#"{"paint":{}}"#, r#"{"paint":{"colour":"red"}}"#);
    let model = ScriptedModel::saying(&[wrong, " \n", right]);
    let asker = Asker {
        model: Arc::clone(&model) as _,
        constraints: Arc::new(()),
        corrections: 2,
    };
    let counted = Mutex::new(Vec::new());
    let count = |correction, _error: &AnswerError| counted.lock().unwrap().push(correction);
    let asked = asker
        .ask(&context(), &count, &StopScope::new())
        .await
        .unwrap();
    assert_eq!(asked.completed().unwrap().corrections, 2);
    assert_eq!(*counted.lock().unwrap(), [1, 2]);
    let calls = model.calls.lock().unwrap();
    let corrections: Vec<_> = calls.iter().map(|call| call.caller.correction).collect();
    assert_eq!(corrections, [0, 1, 2]);
    let roles: Vec<_> = calls[2].messages.iter().map(|said| said.role).collect();
    assert_eq!(roles, [Role::User, Role::User]);
    for said in &calls[2].messages {
        assert!(said.text.contains("path: ") && said.text.contains("`paint`"));
        assert!(!said.text.contains(wrong), "{}", said.text);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Wood {
    species: String,
}

#[derive(Debug, Clone, PartialEq, Routing)]
struct WorkRouting {
    /// Gives it a
    /// colour.
    #[route(marker = WorkPaintRoute)]
    paint: Option<Paint>,
    /// Builds it anew.
    #[route(marker = WorkWoodRoute)]
    wood: Option<Wood>,
    /// Sends it away.
    #[route(marker = WorkThrowRoute)]
    throw: Option<Wood>,
}

fn work() -> LlmCallContext<WorkRouting> {
    let mut context = LlmCallContext::new(
        context().caller,
        vec![interrupt_router::model::Message::user("What now?")],
        RouteSnapshot::default(),
    );
    context.form = TurnForm::RouteFirst;
    context
}

fn asker(model: &Arc<ScriptedModel>, corrections: u32) -> Asker {
    Asker {
        model: Arc::clone(model) as _,
        constraints: Arc::new(()),
        corrections,
    }
}

#[tokio::test]
async fn the_route_is_chosen_first_and_then_its_request_is_filled_in() {
    let model = ScriptedModel::saying(&[r#"{"route":"wood"}"#, r#"{"wood":{"species":"oak"}}"#]);
    let asked = asker(&model, 0)
        .ask(&work(), &|_, _| {}, &StopScope::new())
        .await
        .unwrap()
        .completed()
        .unwrap();
    assert_eq!(asked.routing.wood.unwrap().species, "oak");
    assert_eq!(asked.text, r#"{"wood":{"species":"oak"}}"#);
    let calls = model.calls.lock().unwrap();
    let purposes: Vec<_> = calls.iter().map(|call| call.caller.purpose).collect();
    assert_eq!(purposes, [Purpose::Route, Purpose::Step]);
    // The first offers names and nothing else, the second that one request alone.
    assert_eq!(
        calls[0].schema_text(),
        r#"{"type":"object","properties":{"route":{"type":"string","enum":["paint","wood","throw"]}},"required":["route"],"additionalProperties":false}"#
    );
    let last = &calls[0].messages.last().unwrap().text;
    assert!(
        last.contains("- `paint`: Gives it a colour.\n- `wood`: Builds it anew."),
        "{last}"
    );
    assert_eq!(
        calls[1].schema_text(),
        WorkWoodRoute::schema(Dialect::JsonSchema).text()
    );
    assert!(!calls[1].schema_text().contains("colour"));
    // What was asked in the first step does not stand in the second.
    assert_eq!(calls[1].messages.len(), 2);
}

#[tokio::test]
async fn whatever_the_first_step_says_the_second_takes_that_route_and_no_other() {
    let model = ScriptedModel::saying(&[
        r#"{"route":"nowhere"}"#,
        r#"{"route":"wood"}"#,
        r#"{"paint":{"colour":"red"}}"#,
        r#"{"wood":{"species":"oak"},"paint":{"colour":"red"}}"#,
        r#"{"wood":{"species":"oak"}}"#,
    ]);
    let asked = asker(&model, 2)
        .ask(&work(), &|_, _| {}, &StopScope::new())
        .await
        .unwrap()
        .completed()
        .unwrap();
    assert_eq!(asked.routing.wood.unwrap().species, "oak");
    assert_eq!(asked.corrections, 3, "of both steps");
    let calls = model.calls.lock().unwrap();
    let told = &calls[1].messages.last().unwrap().text;
    assert!(
        told.contains("path: $.route\nreason: `nowhere` is no route")
            && told.contains("`paint`, `wood`, `throw`"),
        "{told}"
    );
    let corrections: Vec<_> = calls.iter().map(|call| call.caller.correction).collect();
    assert_eq!(corrections, [0, 1, 0, 1, 2]);
}

#[tokio::test]
async fn a_route_that_is_withheld_is_not_offered_and_not_taken() {
    let model = ScriptedModel::saying(&[
        r#"{"route":"throw"}"#,
        r#"{"route":"paint"}"#,
        r#"{"paint":{"colour":"red"}}"#,
    ]);
    let mut context = work();
    context.withheld = RouteSet::of::<WorkThrowRoute>();
    let asked = asker(&model, 1)
        .ask(&context, &|_, _| {}, &StopScope::new())
        .await
        .unwrap();
    assert!(asked.completed().unwrap().routing.paint.is_some());
    assert!(
        !model.calls.lock().unwrap()[0]
            .schema_text()
            .contains("throw")
    );
    // What leads forward is named first.
    context.forward = Some(WorkWoodRoute::id());
    let model = ScriptedModel::saying(&[r#"{"route":"wood"}"#, r#"{"wood":{"species":"oak"}}"#]);
    asker(&model, 0)
        .ask(&context, &|_, _| {}, &StopScope::new())
        .await
        .unwrap();
    let told = model.calls.lock().unwrap()[0]
        .messages
        .last()
        .unwrap()
        .text
        .clone();
    assert!(told.find("`wood`") < told.find("`paint`"), "{told}");
    // Where nothing would be left, all of it is.
    context.withheld = RouteSet::ALL;
    assert_eq!(context.offered(), RouteSet::ALL);
}

#[test]
fn a_grammar_allows_exactly_one_route_and_bounds_every_text() {
    let schema = WorkRouting::schemas().full(Dialect::Grammar);
    let branches = schema.value()["anyOf"].as_array().unwrap();
    assert_eq!(branches.len(), 3);
    for branch in branches {
        assert_eq!(branch["required"].as_array().unwrap().len(), 1);
        assert_eq!(branch["additionalProperties"], false);
    }
    let narrowed = WorkWoodRoute::schema(Dialect::Grammar);
    assert!(
        narrowed.text().contains(r#""maxLength":400"#),
        "{}",
        narrowed.text()
    );
    // It bounds what is asked for, and not what is taken.
    assert!(
        !narrowed
            .constraints_schema()
            .to_string()
            .contains("maxLength")
    );
}

/// What a worker of the shop writes down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Order {
    /// Who ordered it.
    customer: String,
    /// What is made.
    pieces: Vec<Piece>,
    #[serde(default)]
    urgent: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Piece {
    /// How
    /// many.
    count: u32,
    finish: Finish,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Finish {
    Oil,
    Wax,
}

#[derive(Debug, Clone, PartialEq, Routing)]
struct OrderRouting {
    #[route(marker = OrderRoute)]
    order: Option<Order>,
    #[route(marker = OrderPaintRoute)]
    paint: Option<Paint>,
}

/// A model that a grammar holds to the schema, and that sees nothing of it.
struct Held(Arc<ScriptedModel>);

#[async_trait]
impl LanguageModel for Held {
    fn name(&self) -> &'static str {
        "held"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Grammar
    }

    async fn call(
        &self,
        call: ModelCall,
        scope: &StopScope,
    ) -> Result<Outcome<ModelReply, PartialReply>, ModelError> {
        self.0.call(call, scope).await
    }
}

#[tokio::test]
async fn a_model_that_does_not_see_its_schema_is_told_the_fields_of_its_request() {
    let answer = r#"{"order":{"customer":"Ada","pieces":[{"count":2,"finish":"Oil"}]}}"#;
    let model = ScriptedModel::saying(&[r#"{"route":"order"}"#, answer]);
    let asker = Asker {
        model: Arc::new(Held(Arc::clone(&model))),
        constraints: Arc::new(()),
        corrections: 0,
    };
    let mut context =
        LlmCallContext::<OrderRouting>::new(context().caller, Vec::new(), RouteSnapshot::default());
    context.form = TurnForm::RouteFirst;
    asker
        .ask(&context, &|_, _| {}, &StopScope::new())
        .await
        .unwrap();
    let calls = model.calls.lock().unwrap();
    let told = &calls[1].messages.last().unwrap().text;
    assert_eq!(
        **told,
        *"[step]\nThe fields of `order`:\n- `customer` (text): Who ordered it.\n\
          - `pieces` (list, each object): What is made.\n  - `count` (whole number): How many.\n  \
          - `finish` (one of \"Oil\", \"Wax\")\n- `urgent` (true or false, may be left out)"
    );
    // A number is bounded on both sides by what its type takes.
    let schema = calls[1].schema_text();
    assert!(
        schema.contains(r#""minimum":0,"#) && schema.contains(r#""maximum":999999999"#),
        "{schema}"
    );
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
        constraints: Arc::new(()),
        corrections: 2,
    };
    let error = asker
        .ask(&context(), &|_, _| {}, &StopScope::new())
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
        constraints: Arc::new(()),
        corrections: 1,
    };
    let asked = asker
        .ask(&context(), &|_, _| {}, &StopScope::new())
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
