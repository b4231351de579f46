//! A store in which much has happened: nothing of one run is hidden by what others tell, and nothing that is kept is
//! refused.

use interrupts::life::Role;
use interrupts::store::{Run, Store};
use reqwest::StatusCode;
use serde_json::json;

use crate::house::House;
use crate::page::Browser;
use crate::scene::{node, open_question, running};

/// A run with so many agents that whoever looks for another one's events does not come past them in one look.
async fn noise(store: &dyn Store) -> Run {
    let run = running(store, None).await;
    for part in 0..13 {
        let agents = 0..1_000;
        let agents =
            agents.map(|number| node(run.id, &format!("orchestrator/{part}-{number}"), "X"));
        store
            .put_nodes(run.id, run.epoch, agents.collect())
            .await
            .unwrap();
    }
    run
}

#[tokio::test]
async fn the_log_and_the_page_of_a_new_run_have_its_events_at_once() {
    let house = House::open().await;
    noise(&*house.store).await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let path = format!("/v1/runs/{}/events", run.id);
    let log = house.read(&path).await;
    let events = log["events"].as_array().unwrap();
    assert!(events.len() > 4, "{log}");
    assert_eq!(
        events.last().unwrap()["type"],
        "dev.irq.interrupt.opened.v1"
    );
    assert_eq!(log["more"], json!(false));
    // In parts, each of which says whether it is the last one.
    let (mut after, mut seen) = ("0".to_owned(), Vec::new());
    loop {
        let part = house
            .read(&format!("{path}?limit=2&after_seq={after}"))
            .await;
        seen.extend(part["events"].as_array().unwrap().clone());
        if part["more"] == json!(false) {
            break;
        }
        after = part["after_seq"].as_str().unwrap().to_owned();
    }
    assert_eq!(&seen, events);
    let lines = house.get("viewer", &format!("{path}?limit=2"));
    let lines = lines
        .header("Accept", "application/x-ndjson")
        .send()
        .await
        .unwrap();
    let next = lines.headers()["link"].to_str().unwrap();
    assert!(
        next.contains("rel=\"next\"") && next.contains("after_seq="),
        "{next}"
    );

    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (status, page) = browser.get(&format!("/runs/{}", run.id)).await;
    assert_eq!(status, StatusCode::OK);
    let timeline = page.split("id=\"timeline\"").nth(1).unwrap();
    let names: Vec<&str> = timeline
        .split("data-event=\"")
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect();
    assert_eq!(names.len(), events.len(), "{names:?}");
    assert_eq!(names[0], "interrupt.opened");
    assert!(page.contains(&format!("/review/{}", asked.id)));
}
