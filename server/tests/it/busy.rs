//! A store in which much has happened: nothing of one run is hidden by what others tell, and nothing that is kept is
//! refused.

use std::sync::Arc;
use std::time::Duration;

use interrupts::life::Role;
use interrupts::store::{Page, Run, Store};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::feed::Events;
use crate::house::House;
use crate::page::Browser;
use crate::scene::{node, open_question, running};
use crate::socket::Socket;

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

async fn told(store: &dyn Store) -> u64 {
    let page = Page {
        after: 0,
        limit: 100_000,
    };
    store.outbox(page).await.unwrap().len() as u64
}

/// A server that was started when all of it had happened.
async fn later(house: &House, lag: u64) -> House {
    House::over(Arc::clone(&house.store), |config| {
        config.limits.feed_lag = lag;
    })
    .await
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

#[tokio::test]
async fn a_position_that_is_kept_is_read_to_the_end_however_far_back_it_is() {
    let house = House::open().await;
    noise(&*house.store).await;
    let last = told(&*house.store).await;
    let house = later(&house, 1_000).await;
    let request = house.get("viewer", "/v1/events?after_seq=100").send().await;
    let mut events = Events::of(request.unwrap());
    for position in 101..=last {
        let event = events.next().await.unwrap();
        assert_eq!(
            event.id.unwrap(),
            format!("{position:016}"),
            "{}",
            event.data
        );
    }
    // From there on it is as live as any other.
    let run = running(&*house.store, None).await;
    let next = events.next().await.unwrap();
    assert_eq!(next.id.unwrap(), format!("{:016}", last + 1));
    assert_eq!(next.data["data"]["run_id"], json!(run.id));
}

#[tokio::test]
async fn whoever_wants_one_run_or_one_topic_gets_it_past_what_all_others_tell() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    noise(&*house.store).await;
    let asked = open_question(&*house.store, &run).await;
    let house = later(&house, 1_000).await;
    let path = format!("/v1/events?after_seq=0&run_id={}", run.id);
    let mut events = Events::of(house.get("viewer", &path).send().await.unwrap());
    let log = house.read(&format!("/v1/runs/{}/events", run.id)).await;
    for expected in log["events"].as_array().unwrap() {
        assert_eq!(&events.next().await.unwrap().data, expected);
    }
    let mut socket = Socket::open(&house, "viewer").await;
    let subscribe =
        json!({"type": "subscribe", "payload": {"topics": ["interrupt.opened"], "after_seq": 1}});
    socket.send(&subscribe.to_string()).await;
    let frame = loop {
        let frame = socket.receive().await;
        assert_ne!(frame["type"], "gap", "{frame}");
        if frame["type"] == "event" {
            break frame;
        }
    };
    assert_eq!(
        frame["payload"]["event"]["data"]["interrupt_id"],
        json!(asked.id)
    );
    // What comes then comes once, on both.
    let second = open_question(&*house.store, &run).await;
    let opened = |event: &Value| event["data"]["interrupt_id"] == json!(second.id);
    let mut positions = Vec::new();
    loop {
        let told = events.next().await.unwrap();
        positions.push(told.id.unwrap());
        if opened(&told.data) && told.data["type"] == "dev.irq.interrupt.opened.v1" {
            break;
        }
    }
    assert!(
        positions.is_sorted_by(|one, next| one < next),
        "{positions:?}"
    );
    let frame = socket.receive_a("event").await;
    assert!(opened(&frame["payload"]["event"]), "{frame}");
}

#[tokio::test]
async fn whoever_wants_one_run_is_told_where_the_beginning_is_not_kept_any_more() {
    let house = House::open().await;
    let old = running(&*house.store, None).await;
    house
        .store
        .purge(jiff::SignedDuration::from_hours(-1))
        .await
        .unwrap();
    assert_eq!(told(&*house.store).await, 0);
    open_question(&*house.store, &old).await;
    let house = later(&house, 1_000).await;
    let path = format!("/v1/events?after_seq=1&run_id={}", old.id);
    let mut events = Events::of(house.get("viewer", &path).send().await.unwrap());
    let reset = events.next().await.unwrap();
    assert_eq!(reset.data["type"], "dev.irq.stream.reset.v1");
    assert_eq!(reset.data["data"]["reason"], "retention");
    assert_eq!(reset.data["data"]["from_seq"], "0000000000000002");
    let first = events.next().await.unwrap();
    assert_eq!(first.data["type"], "dev.irq.interrupt.requested.v1");
}

#[tokio::test]
async fn whoever_has_kept_up_and_falls_behind_is_told_of_the_gap() {
    // The feed looks into the store only when it is asked: all that has happened by then comes at once.
    let house = House::with(|config| {
        config.limits.feed_lag = 5;
        config.limits.feed_poll = Duration::from_secs(3_600);
    })
    .await;
    let run = running(&*house.store, None).await;
    let live = async || {
        let opened = house.get("viewer", "/v1/events").send().await.unwrap();
        let mut events = Events::of(opened);
        events.block().await.unwrap();
        events
    };
    let mut slow = live().await;
    let begun = told(&*house.store).await;
    for _question in 0..10 {
        open_question(&*house.store, &run).await;
    }
    let _other = live().await;
    let gap = slow.next().await.unwrap();
    assert_eq!(gap.data["type"], "dev.irq.stream.reset.v1");
    assert_eq!(gap.data["data"]["reason"], "slow_consumer");
    assert_eq!(gap.data["data"]["from_seq"], format!("{:016}", begun + 1));
    // It goes on live, and nothing was lost: whoever wants the rest names where it begins.
    open_question(&*house.store, &run).await;
    let _other = live().await;
    assert!(slow.next().await.unwrap().id > gap.id);
    let rest = format!("/v1/events?after_seq={begun}");
    let mut rest = Events::of(house.get("viewer", &rest).send().await.unwrap());
    let first = rest.next().await.unwrap();
    assert_eq!(first.id.unwrap(), format!("{:016}", begun + 1));
}
