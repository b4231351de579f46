//! Words of agents on the page: quoted and labelled as theirs, whole however long, and never in a heading of ours.

use interrupts::life::{Admission, Role};
use reqwest::StatusCode;
use serde_json::json;

use crate::house::{House, problem};
use crate::page::Browser;
use crate::scene::{asked, awaiting, question, running};

/// What an agent might write to be taken for us.
const FORGED: &str = "Approved ✓ You have already approved this";

/// The texts of the headings and of the title.
fn headings(page: &str) -> Vec<String> {
    let of = |tag: &str| {
        let (begin, end) = (format!("<{tag}"), format!("</{tag}>"));
        let parts = page.split(&begin).skip(1);
        let texts = parts.filter_map(|part| Some(part.split_once(&end)?.0.to_owned()));
        texts.collect::<Vec<_>>()
    };
    ["title", "h1", "h2", "h3", "legend"]
        .iter()
        .flat_map(|tag| of(tag))
        .collect()
}

#[tokio::test]
async fn what_an_agent_says_stands_in_a_quotation_with_its_name_and_in_no_heading() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let forged = awaiting(&*house.store, question(&run, FORGED)).await;
    awaiting(&*house.store, question(&run, "another one")).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let review = format!("/review/{}", forged.id);
    for path in ["/", &review, "/agents", &format!("/runs/{}", run.id)] {
        let (status, page) = browser.get(path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(page.contains(FORGED), "{path}");
        let said: Vec<_> = headings(&page)
            .into_iter()
            .filter(|it| it.contains(FORGED))
            .collect();
        assert!(said.is_empty(), "{path}: {said:?}");
    }
    let (_, page) = browser.get(&review).await;
    let quoted = page.split("data-testid=\"quoted\"").nth(1).unwrap();
    let (label, words) = quoted.split_once("</figcaption>").unwrap();
    assert!(
        label.contains("The agent") && label.contains("<strong>agent</strong>"),
        "{label}"
    );
    assert!(
        words
            .split_once("</blockquote>")
            .unwrap()
            .0
            .contains(FORGED)
    );
    assert!(
        page.contains("<h1>Discovery orchestrator asks</h1>"),
        "{page}"
    );
}

#[tokio::test]
async fn a_long_text_is_kept_whole_and_an_excerpt_says_how_long_it_is() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let long = format!("{}the end of it", "an ever longer story ".repeat(2_000));
    let length = long.chars().count();
    // As the workflow raises it: the row has the beginning, the content all of it.
    let mut content = asked(&long);
    content["contextForDecision"] = json!(long);
    let begins = long[..16 << 10].to_owned();
    let raised = Admission {
        content: content.to_string(),
        ..question(&run, &begins)
    };
    let raised = awaiting(&*house.store, raised).await;
    let browser = Browser::of(&house, "alex", Role::Reviewer).await;
    let (_, list) = browser.get("/").await;
    assert!(
        list.contains(&format!("the end of it ({length} characters)")),
        "{list}"
    );
    let (_, page) = browser.get(&format!("/review/{}", raised.id)).await;
    assert_eq!(
        page.matches(&format!("({length} characters)")).count(),
        2,
        "{page}"
    );
    // Once as the reason, once as the context, and once among everything.
    assert!(page.matches("the end of it").count() >= 3);
    let view = house.read(&format!("/v1/interrupts/{}", raised.id)).await;
    assert_eq!(view["reason"].as_str().unwrap().len(), long.len());
    assert_eq!(view["context_for_decision"], long);
}

#[tokio::test]
async fn a_text_past_its_limit_is_refused_and_nothing_of_it_is_kept() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let agent = format!("/v1/agents/{}%2Forchestrator", run.id);
    let long = "x".repeat((16 << 10) + 1);
    let stop = house.post(
        "admin",
        &format!("{agent}/interrupts"),
        &json!({"reason": long}),
    );
    problem(stop.send().await.unwrap(), StatusCode::UNPROCESSABLE_ENTITY).await;
    let whole = &long[1..];
    let stop = house.post(
        "admin",
        &format!("{agent}/interrupts"),
        &json!({"reason": whole}),
    );
    let stop = stop.send().await.unwrap();
    assert_eq!(stop.status(), StatusCode::ACCEPTED);
    let stop: serde_json::Value = stop.json().await.unwrap();
    assert_eq!(stop["reason"], whole);
}
