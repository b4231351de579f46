//! An answer that is wrong already is given up: its connection is closed, and it is corrected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interrupt_router::ask::{Asker, ModelRouting};
use interrupt_router::context::{LlmCallContext, RouteSnapshot, Selection};
use interrupt_router::model::{Message, PartialReply};
use interrupt_router::{Outcome, Route, Routing, StopScope};
use llm::JsonSchemaConstraints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tests::providers::{Behaviour, ProviderDouble, Received, WireForm};

use crate::calls::{caller, double, model, stop_now};

/// How many words follow what is wrong already.
const LONG: usize = 400;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Search {
    query: String,
    most: u8,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Report {
    text: String,
}

#[derive(Debug, Clone, PartialEq, Routing)]
struct DeskRouting {
    #[route(marker = SearchRoute)]
    search: Option<Search>,
    #[route(marker = ReportRoute)]
    report: Option<Report>,
}

const RIGHT: &str = r#"{"search":{"query":"rust","most":3}}"#;

fn context(selection: Selection<DeskRouting>) -> LlmCallContext<DeskRouting> {
    let context = LlmCallContext::new(caller(), Vec::new(), RouteSnapshot::default());
    LlmCallContext {
        messages: vec![Message::user("Find it.")],
        selection,
        ..context
    }
}

/// A double whose first answer is wrong, and the others right.
async fn corrected(form: WireForm, first: Behaviour, wrong: String) -> ProviderDouble {
    let answers = AtomicUsize::new(0);
    let answer = move |_: &Received| match answers.fetch_add(1, Ordering::Relaxed) {
        0 => wrong.clone(),
        _ => RIGHT.to_owned(),
    };
    let behaviours = [first, Behaviour::Answers];
    ProviderDouble::answering(form, behaviours, answer)
        .await
        .unwrap()
}

async fn ask(
    double: &ProviderDouble,
    form: WireForm,
    selection: Selection<DeskRouting>,
    scope: &StopScope,
) -> Outcome<ModelRouting<DeskRouting>, PartialReply> {
    let asker = Asker {
        model: Arc::new(model(double, form)),
        constraints: Arc::new(JsonSchemaConstraints::default()),
        corrections: 1,
    };
    asker
        .ask(&context(selection), &|_, _| {}, scope)
        .await
        .unwrap()
}

/// What the model was told was wrong with its first answer.
fn correction(double: &ProviderDouble, form: WireForm) -> String {
    let received = double.received();
    form.user_texts(&received[1].body).last().unwrap().clone()
}

#[tokio::test]
async fn an_answer_that_is_no_json_is_ended_and_corrected() {
    for form in WireForm::ALL {
        // Would go on for ever.
        let double = corrected(form, Behaviour::Endless, String::new()).await;
        let only = Selection::Only(SearchRoute::id());
        let asked = ask(&double, form, only, &StopScope::new()).await;
        assert_eq!(asked.completed().unwrap().corrections, 1, "{form:?}");
        double.hang_ups().reached(1).await;
        assert_eq!(double.received_count(), 2);
        let told = correction(&double, form);
        assert!(told.contains("expected value"), "{told}");
    }
}

#[tokio::test]
async fn a_wrong_answer_costs_a_fraction_of_its_tokens() {
    let rest = "and so on. ".repeat(LONG / 3);
    let wrong_route = format!(r#"{{"report":{{"text":"{rest}"}}}}"#);
    let wrong_type = format!(r#"{{"search":{{"most":"three","query":"{rest}"}}}}"#);
    let unknown = format!(r#"{{"search":{{"most":3,"why":"{rest}","query":"q"}}}}"#);
    let two_routes =
        format!(r#"{{"search":{{"most":3,"query":"q"}},"report":{{"text":"{rest}"}}}}"#);
    let only = Selection::Only(SearchRoute::id());
    for (wrong, selection, reason) in [
        (wrong_route, only, "the route `report` is not allowed here"),
        (wrong_type, only, "path: $.search.most"),
        (unknown, only, "unknown field"),
        (two_routes, Selection::All, "2 fields are set"),
    ] {
        for form in WireForm::ALL {
            let slowly = Behaviour::AnswersSlowly(Duration::from_millis(2));
            let whole = wrong.len().div_ceil(5);
            let double = corrected(form, slowly, wrong.clone()).await;
            let asked = ask(&double, form, selection, &StopScope::new()).await;
            let asked = asked.completed().unwrap();
            assert_eq!((asked.corrections, asked.text.as_str()), (1, RIGHT));
            let told = correction(&double, form);
            assert!(told.contains(reason), "{told}");
            double.hang_ups().reached(1).await;
            let sent = double.blocks_sent();
            println!("{form:?}: {sent} events for both answers, {whole} for the wrong one alone");
            assert!(sent < whole / 3, "{form:?}: {sent} of {whole}");
        }
    }
}

#[tokio::test]
async fn a_right_answer_is_never_ended() {
    for form in WireForm::ALL {
        let double = ProviderDouble::answering(form, [Behaviour::Answers], |_| {
            format!("```json\n {RIGHT} \n```\n")
        });
        let double = double.await.unwrap();
        for selection in [Selection::Only(SearchRoute::id()), Selection::All] {
            let asked = ask(&double, form, selection, &StopScope::new()).await;
            assert_eq!(asked.completed().unwrap().corrections, 0);
        }
        assert_eq!(double.hang_ups().count(), 0);
    }
}

#[tokio::test]
async fn an_interrupt_from_outside_is_one_though_the_answer_is_wrong() {
    let form = WireForm::OpenAi;
    let double = double(form, [Behaviour::Endless]).await;
    let scope = StopScope::new();
    stop_now(&scope);
    let outcome = ask(&double, form, Selection::All, &scope).await;
    assert!(matches!(outcome, Outcome::Interrupted { reason, .. } if reason.message == "enough"));
    assert_eq!(double.received_count(), 0);
}
