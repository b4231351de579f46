//! The plan on the page of a review, as a browser without scripts uses it: a change is shown before it is applied.

use interrupts::life::{Role, State, Verdict};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, token};
use crate::page::{Browser, hidden};
use crate::scene::held_plan;

#[tokio::test]
async fn the_review_shows_the_plan_with_how_much_is_done_and_what_is_next() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let browser = Browser::of(&house, "ada", Role::Reviewer).await;
    let (status, page) = browser.get(&format!("/review/{}", pause.id)).await;
    assert_eq!(status, StatusCode::OK);
    for part in [
        "The plan: 1 of 3 done",
        "Done: </span>knead",
        "smooth dough",
        "Next: </span>bake &lt;b&gt;hot&lt;/b&gt;",
    ] {
        assert!(page.contains(part), "no `{part}` in {page}");
    }
    assert!(!page.contains("plan-preview"), "nothing is proposed");
}

#[tokio::test]
async fn a_change_is_shown_as_a_diff_and_just_that_change_is_applied() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let browser = Browser::of(&house, "ada", Role::Reviewer).await;
    let path = format!("/review/{}", pause.id);
    let (_status, page) = browser.get(&path).await;
    let wanted = "sell\r\ncool\r\n\r\nbake <b>hot</b>\r\n";
    let version = hidden(&page, "version");
    let fields = [
        ("decision", "preview_plan"),
        ("version", &version),
        ("plan", wanted),
    ];
    let response = browser.post(&path, &fields).await;
    assert_eq!(response.status(), StatusCode::OK);
    let shown = response.text().await.unwrap();
    for part in [
        "data-change=\"added\"",
        "New: </strong>cool",
        "Moved, was",
        "Next would be",
    ] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(!shown.contains("data-change=\"removed\""), "{shown}");
    let open = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(open.state, State::AwaitingReview, "it was only shown");
    let (_rest, form) = shown.split_once("id=\"apply\"").unwrap();
    let apply = [
        ("decision", "modify_plan"),
        ("version", &hidden(form, "version")),
        ("shown_digest", &hidden(form, "shown_digest")),
        ("key", &hidden(form, "key")),
        ("plan", "sell\ncool\nbake <b>hot</b>"),
        ("previewed", &hidden(form, "previewed")),
    ];
    let response = browser.post(&path, &apply).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let decided = house.store.interrupt(pause.id).await.unwrap().unwrap();
    let decision = decided.decision.unwrap();
    assert_eq!(decision.verdict, Verdict::ModifyPlan);
    let content: Value = serde_json::from_str(&decision.content.unwrap()).unwrap();
    assert_eq!(content["plan"], json!(["sell", "cool", "bake <b>hot</b>"]));
}

#[tokio::test]
async fn another_change_than_the_one_that_was_shown_is_not_applied() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let browser = Browser::of(&house, "ada", Role::Reviewer).await;
    let path = format!("/review/{}", pause.id);
    let fields = [("decision", "preview_plan"), ("plan", "sell")];
    let shown = browser.post(&path, &fields).await.text().await.unwrap();
    let (_rest, form) = shown.split_once("id=\"apply\"").unwrap();
    let apply = [
        ("decision", "modify_plan"),
        ("version", &hidden(form, "version")),
        ("shown_digest", &hidden(form, "shown_digest")),
        ("key", &hidden(form, "key")),
        ("plan", "give it all away"),
        ("previewed", &hidden(form, "previewed")),
    ];
    let response = browser.post(&path, &apply).await;
    assert_eq!(response.status(), StatusCode::PRECONDITION_FAILED);
    let page = response.text().await.unwrap();
    assert!(page.contains("look at it again"), "{page}");
    let open = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(open.state, State::AwaitingReview);
}

#[tokio::test]
async fn an_edited_plan_is_not_thrown_away_by_going_on() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let browser = Browser::of(&house, "ada", Role::Reviewer).await;
    let path = format!("/review/{}", pause.id);
    let (_, page) = browser.get(&path).await;
    let steps = page.split_once("id=\"steps\"").unwrap().1;
    assert!(steps.contains("form=\"decision\""), "{steps}");
    let bound: Vec<(&str, String)> = ["version", "key", "shown_target", "shown_digest"]
        .map(|name| (name, hidden(&page, name)))
        .into();
    let send = async |decision: &str, plan: &str| {
        let mut fields: Vec<(&str, &str)> = bound
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        fields.extend([("decision", decision), ("plan", plan)]);
        browser.post(&path, &fields).await
    };
    for decision in ["resume", "respond"] {
        let refused = send(decision, "sell\nclean up").await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let page = refused.text().await.unwrap();
        assert!(page.contains("the edit is not applied"), "{page}");
        assert!(
            page.contains("id=\"apply\"") && page.contains("clean up"),
            "{page}"
        );
    }
    let open = house.store.interrupt(pause.id).await.unwrap().unwrap();
    assert_eq!(open.state, State::AwaitingReview);
    let resumed = send("resume", "bake <b>hot</b>\r\nsell").await;
    assert_eq!(resumed.status(), StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn steps_of_a_request_are_checked_against_the_plan() {
    let house = House::open().await;
    let (_run, pause) = held_plan(&*house.store).await;
    let secret = token(&*house.store, "ada", Role::Reviewer).await;
    let decide = async |payload: Value| {
        let request = house
            .client
            .post(house.url(&format!("/v1/interrupts/{}/decisions", pause.id)))
            .bearer_auth(&secret)
            .header("If-Match", format!("\"{}\"", pause.version))
            .json(&json!({"decision": "modify_plan", "payload": payload}));
        request.send().await.unwrap().status()
    };
    let unfit = StatusCode::UNPROCESSABLE_ENTITY;
    assert_eq!(decide(json!({"plan": ["a", " "]})).await, unfit);
    assert_eq!(decide(json!({"plan": "a"})).await, unfit);
    assert_eq!(decide(json!({"plan": ["a"], "steps": 1})).await, unfit);
    assert!(decide(json!({"plan": ["a"]})).await.is_success());
}
