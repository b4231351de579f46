//! Nothing that an agent proposed counts as said by a person: by REST, on the page, by a policy.

use interrupt_router::AnswerForm;
use interrupts::life::{Admission, Interrupt, Role, State};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::page::{Browser, hidden};
use crate::scene::{asked, awaiting, open_choice, question, running};

/// What a decision over REST comes to.
async fn decide(house: &House, asked: &Interrupt, body: &Value) -> Result<Value, Value> {
    let path = format!("/v1/interrupts/{}/decisions", asked.id);
    let sent = house
        .post("reviewer", &path, body)
        .header("If-Match", format!("\"{}\"", asked.version))
        .send();
    let response = sent.await.unwrap();
    if response.status() == StatusCode::CREATED {
        return Ok(response.json().await.unwrap());
    }
    Err(problem(response, StatusCode::UNPROCESSABLE_ENTITY).await)
}

/// "Delete the production database?", with an agent that has answered it already.
fn suggested(run: &interrupts::store::Run) -> Admission {
    let mut content = asked("Delete the production database?");
    content["choices"] = json!([]);
    content["confirmationItems"][0]["defaultValue"] = json!(true);
    Admission {
        content: content.to_string(),
        ..question(run, "Delete the production database?")
    }
}

#[tokio::test]
async fn a_question_with_choices_is_answered_by_a_choice_or_by_words() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let confirmed = json!({"confirmations": {"cost": true}});
    for body in [
        json!({"decision": "approve", "payload": confirmed}),
        json!({"decision": "respond", "payload": confirmed}),
        json!({"decision": "approve", "message": "  ", "payload": confirmed}),
    ] {
        let asked = open_choice(&*house.store, &run).await;
        let refused = decide(&house, &asked, &body).await.unwrap_err();
        assert_eq!(
            refused["errors"][0]["pointer"], "/payload/selectedChoices",
            "{body}: {refused}"
        );
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains("expand, narrow"), "{detail}");
    }
    for body in [
        json!({"decision": "respond", "message": "neither"}),
        json!({"decision": "respond", "payload": {"selectedChoices": ["narrow"]}}),
        json!({"decision": "reject"}),
        json!({"decision": "ignore"}),
    ] {
        let asked = open_choice(&*house.store, &run).await;
        decide(&house, &asked, &body).await.unwrap();
    }
}

#[tokio::test]
async fn a_confirmation_is_said_by_the_person_who_approves_and_a_default_says_nothing() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = awaiting(&*house.store, suggested(&run)).await;
    let refused = decide(&house, &asked, &json!({"decision": "approve"})).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused["errors"][0]["pointer"], "/payload/confirmations");
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let path = format!("/review/{}", asked.id);
    let (_, page) = browser.get(&path).await;
    assert!(page.contains("The agent suggests yes"), "{page}");
    assert!(!page.contains(" checked"), "nothing is preset: {page}");
    // One press, with all that the page sends by itself.
    for decision in ["respond", "approve"] {
        let fields: Vec<(&str, String)> = ["version", "key", "shown_target", "shown_digest"]
            .map(|name| (name, hidden(&page, name)))
            .into();
        let mut fields: Vec<(&str, &str)> = fields
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        fields.push(("decision", decision));
        let refused = browser.post(&path, &fields).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }
    let row = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(row.state, State::AwaitingReview);
    let said = json!({"decision": "approve", "payload": {"confirmations": {"cost": false}}});
    decide(&house, &asked, &said).await.unwrap();
}

/// A question whose agent says what an answer is.
async fn formed(house: &House, run: &interrupts::store::Run, form: AnswerForm) -> Interrupt {
    let wants_choice = matches!(form, AnswerForm::OneOf | AnswerForm::AnyOf);
    let mut content = asked("Which oven?");
    content["confirmationItems"] = json!([]);
    content["answerForm"] = json!(form);
    if !wants_choice {
        content["choices"] = json!([]);
    }
    let admission = Admission {
        content: content.to_string(),
        ..question(run, "Which oven?")
    };
    awaiting(&*house.store, admission.answered_in(Some(form))).await
}

#[tokio::test]
async fn what_can_be_decided_follows_from_what_an_answer_is() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let approve = || json!({"decision": "approve"});
    let words = || json!({"decision": "respond", "message": "the old one"});
    let chosen =
        |values: Value| json!({"decision": "respond", "payload": {"selectedChoices": values}});
    // What is said, and the place that is wrong with it; the empty text is the verdict itself.
    let table = [
        (AnswerForm::OneOf, chosen(json!(["expand"])), None),
        (
            AnswerForm::OneOf,
            chosen(json!(["expand", "narrow"])),
            Some("/payload/selectedChoices"),
        ),
        (AnswerForm::OneOf, words(), Some("/payload/selectedChoices")),
        (AnswerForm::OneOf, approve(), Some("")),
        (AnswerForm::AnyOf, chosen(json!(["expand", "narrow"])), None),
        (AnswerForm::AnyOf, words(), None),
        (AnswerForm::AnyOf, approve(), Some("")),
        (AnswerForm::Words, words(), None),
        (
            AnswerForm::Words,
            json!({"decision": "respond", "message": " "}),
            Some("/payload/text"),
        ),
        (AnswerForm::Words, approve(), Some("")),
        (AnswerForm::YesOrNo, approve(), None),
        (AnswerForm::YesOrNo, words(), Some("")),
        (AnswerForm::YesOrNo, json!({"decision": "reject"}), None),
    ];
    for (form, body, wrong) in table {
        let asked = formed(&house, &run, form).await;
        let path = format!("/v1/interrupts/{}", asked.id);
        let shown = house.get("reviewer", &path).send().await.unwrap();
        let shown: Value = shown.json().await.unwrap();
        assert_eq!(shown["answer_form"], form.name());
        let decision = &body["decision"];
        let offered = shown["allowed_decisions"].as_array().unwrap();
        assert_eq!(
            offered.contains(decision),
            wrong != Some(""),
            "{form:?} {body}"
        );
        match (decide(&house, &asked, &body).await, wrong) {
            (Ok(_), None) => {}
            (Err(refused), Some("")) => {
                assert_eq!(refused["code"], "decision-not-allowed", "{form:?} {body}")
            }
            (Err(refused), Some(place)) => assert_eq!(
                refused["errors"][0]["pointer"], place,
                "{form:?} {body}: {refused}"
            ),
            (told, _) => panic!("{form:?} {body}: {told:?}"),
        }
    }
}

#[tokio::test]
async fn the_page_offers_what_an_answer_can_be() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    for (form, has, has_not) in [
        (
            AnswerForm::OneOf,
            "type=\"radio\" id=\"choice-0\"",
            "value=\"approve\"",
        ),
        (
            AnswerForm::AnyOf,
            "type=\"checkbox\" id=\"choice-0\"",
            "value=\"approve\"",
        ),
        (AnswerForm::Words, ">Answer</button>", "value=\"approve\""),
        (AnswerForm::YesOrNo, ">Yes</button>", "value=\"respond\""),
    ] {
        let asked = formed(&house, &run, form).await;
        let (_, page) = browser.get(&format!("/review/{}", asked.id)).await;
        assert!(page.contains(has), "{form:?}: {page}");
        assert!(!page.contains(has_not), "{form:?}: {page}");
    }
}
