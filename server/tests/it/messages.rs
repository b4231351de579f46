//! Messages over REST and on the page: listed with what became of them, and taken back while nobody has read them.

use interrupts::life::Role;
use interrupts::store::MessageState;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::page::Browser;
use crate::scene::running;

/// Sends messages to the first agent of a run; the address of its messages.
async fn sent(house: &House, run: interrupt_router::RunId, texts: &[&str]) -> String {
    let path = format!("/v1/agents/{run}%2Forchestrator/messages");
    for text in texts {
        let sent = house.post("supervisor", &path, &json!({"text": text}));
        let sent = sent.send().await.unwrap();
        assert_eq!(sent.status(), StatusCode::ACCEPTED);
    }
    path
}

fn take_back(house: &House, role: &str, path: &str) -> reqwest::RequestBuilder {
    house.delete(role, path)
}

#[tokio::test]
async fn a_message_is_taken_back_while_nobody_has_read_it() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let path = sent(&house, run.id, &["first", "second", "third"]).await;
    let gone = take_back(&house, "supervisor", &format!("{path}/2"));
    let gone = gone.send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::OK);
    let gone: Value = gone.json().await.unwrap();
    assert_eq!(
        (&gone["state"], &gone["withdrawn_by"]),
        (&json!("withdrawn"), &json!("supervisor"))
    );
    let again = take_back(&house, "admin", &format!("{path}/2"));
    let again: Value = again.send().await.unwrap().json().await.unwrap();
    assert_eq!(again, gone, "it stays as it is");

    let read = house.store.read_messages(run.id, run.epoch, &[1, 2]).await;
    assert_eq!(read, Ok(vec![1]));
    let late = take_back(&house, "supervisor", &format!("{path}/1"));
    let late = problem(late.send().await.unwrap(), StatusCode::CONFLICT).await;
    assert_eq!(late["code"], "already-read");

    let all = house.read(&path).await;
    let states: Vec<_> = all["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["state"])
        .collect();
    assert_eq!(states, ["read", "withdrawn", "waiting"]);
    let waiting = house.read(&format!("{path}?state=waiting")).await;
    assert_eq!(waiting["messages"][0]["text"], "third");
    assert_eq!(waiting["messages"].as_array().unwrap().len(), 1);
    let part = house.read(&format!("{path}?limit=2")).await;
    assert_eq!(part["next_cursor"], "2");
    let rest = house.read(&format!("{path}?limit=2&cursor=2")).await;
    assert_eq!(rest["messages"][0]["text"], "third");
}

#[tokio::test]
async fn what_is_no_message_of_the_agent_is_said_to_be_so() {
    let house = House::open().await;
    let (run, other) = (
        running(&*house.store, None).await,
        running(&*house.store, None).await,
    );
    let path = sent(&house, run.id, &["hello"]).await;
    let elsewhere = format!("/v1/agents/{}%2Forchestrator/messages/1", other.id);
    for path in [
        elsewhere,
        format!("{path}/2"),
        format!("{path}/{}", u64::MAX),
    ] {
        let none = take_back(&house, "supervisor", &path);
        let none = problem(none.send().await.unwrap(), StatusCode::NOT_FOUND).await;
        assert_eq!(none["code"], "message-not-found", "{path}");
    }
    let wrong = take_back(&house, "supervisor", &format!("{path}/first"));
    let wrong = problem(wrong.send().await.unwrap(), StatusCode::BAD_REQUEST).await;
    assert_eq!(wrong["parameter"], "message");
    // Another agent of the same run has not got it either.
    let sibling = format!(
        "/v1/agents/{}%2Forchestrator%2Fdiscovery/messages/1",
        run.id
    );
    let none = take_back(&house, "supervisor", &sibling);
    problem(none.send().await.unwrap(), StatusCode::NOT_FOUND).await;
    let page = interrupts::store::Page { after: 0, limit: 9 };
    let kept = house.store.messages(run.id, page).await.unwrap();
    assert!(kept[0].state.is_waiting());
}

#[tokio::test]
async fn the_page_of_a_run_shows_what_is_not_read_and_takes_it_back() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    sent(&house, run.id, &["mind <b>the</b> yeast"]).await;
    let address = format!("/runs/{}", run.id);
    let browser = Browser::of(&house, "ada", Role::Supervisor).await;
    let (_, page) = browser.get(&address).await;
    assert!(page.contains("mind &lt;b&gt;the&lt;/b&gt; yeast"), "{page}");
    let button = format!("{address}/messages/1/withdraw");
    assert!(page.contains(&button), "{page}");
    let watching = Browser::of(&house, "vic", Role::Observer).await;
    let (_, watched) = watching.get(&address).await;
    assert!(watched.contains("yeast") && !watched.contains(&button));
    let refused = watching.post(&button, &[]).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);

    let done = browser.post(&button, &[]).await;
    assert_eq!(done.status(), StatusCode::SEE_OTHER);
    let part = interrupts::store::Page { after: 0, limit: 9 };
    let kept = house.store.messages(run.id, part).await.unwrap();
    assert!(matches!(kept[0].state, MessageState::Withdrawn { .. }));
    let (_, page) = browser.get(&address).await;
    assert!(!page.contains("yeast"), "{page}");
}
