//! The live feed as server-sent events: no gap, no doubling, and a stated answer where a position is gone.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use interrupts::ActorName;
use interrupts::life::{Actor, ReviewChange, Role, RunState};
use interrupts::store::Store;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use server::RunEvents;
use store::{SqliteStore, StoreSettings};

use crate::house::{House, problem};
use crate::rules_told::told_over_events;
use crate::scene::{open_question, running};

/// A stream as a browser reads it.
pub(crate) struct Events {
    response: futures_util::stream::BoxStream<'static, reqwest::Result<Vec<u8>>>,
    text: String,
}

/// One event.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) data: Value,
}

impl Events {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let response = response
            .bytes_stream()
            .map(|chunk| chunk.map(|chunk| chunk.to_vec()))
            .boxed();
        Self {
            response,
            text: String::new(),
        }
    }

    /// The next block of the stream as it is; `None` at its end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let block = self.text[..end].to_owned();
                self.text.drain(..end + 2);
                return Some(block);
            }
            let chunk = tokio::time::timeout(Duration::from_secs(20), self.response.next());
            let chunk = chunk.await.unwrap()?.ok()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            let block = self.block().await?;
            let field = |name: &str| {
                block
                    .lines()
                    .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
                    .map(str::to_owned)
            };
            if let Some(data) = field("data") {
                return Some(Told {
                    id: field("id"),
                    event: field("event"),
                    data: serde_json::from_str(&data).unwrap(),
                });
            }
        }
    }
}

pub(crate) async fn stream(house: &House, query: &str, last: Option<&str>) -> Response {
    let mut request = house.get("viewer", &format!("/v1/events{query}"));
    if let Some(last) = last {
        request = request.header("Last-Event-ID", last);
    }
    request.send().await.unwrap()
}

fn name(told: &Told) -> String {
    told.data["type"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn events_are_cloud_events_on_one_line_with_their_position_as_id() {
    let house = House::open().await;
    let mut events = Events::of(stream(&house, "", None).await);
    assert_eq!(events.block().await.unwrap(), "retry: 2000");
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let mut names = Vec::new();
    loop {
        let told = events.next().await.unwrap();
        let id = told.id.clone().unwrap();
        assert_eq!(id.len(), 16);
        assert_eq!(told.data["sequence"], id.as_str());
        assert_eq!(told.data["id"], id.as_str());
        assert_eq!(told.data["specversion"], "1.0");
        assert_eq!(told.data["source"], format!("/irq/local/runs/{}", run.id));
        assert_eq!(told.event, None);
        let name = name(&told);
        let opened = name == "dev.irq.interrupt.opened.v1";
        names.push(name);
        if opened {
            assert_eq!(
                told.data["subject"],
                format!(
                    "agents/{}/orchestrator/discovery/interrupts/{}",
                    run.id, asked.id
                )
            );
            assert_eq!(told.data["data"]["state"], "awaiting_review");
            break;
        }
    }
    for expected in [
        "dev.irq.run.running.v1",
        "dev.irq.agent.status_changed.v1",
        "dev.irq.interrupt.requested.v1",
        "dev.irq.interrupt.acknowledged.v1",
    ] {
        assert!(
            names.iter().any(|name| name == expected),
            "{expected} in {names:?}"
        );
    }
}

#[tokio::test]
async fn a_reader_who_comes_back_gets_each_event_once_though_the_server_was_started_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let (mut seen, mut last) = (Vec::new(), None::<String>);
    let mut expected = 0;
    for round in 0..3 {
        let store: Arc<dyn Store> = Arc::new(
            SqliteStore::open(&path, StoreSettings::default())
                .await
                .unwrap(),
        );
        let house = House::over(Arc::clone(&store), |_| {}).await;
        let mut events = Events::of(stream(&house, "?after_seq=0", last.as_deref()).await);
        let run = running(&*store, None).await;
        for _ in 0..20 {
            open_question(&*store, &run).await;
        }
        expected = store
            .outbox(interrupts::store::Page {
                after: 0,
                limit: 100_000,
            })
            .await
            .unwrap()
            .len();
        // It goes away in the middle of what there is, and comes back to another process.
        let stop = if round == 2 { expected } else { expected - 17 };
        while seen.len() < stop {
            let told = events.next().await.unwrap();
            last.clone_from(&told.id);
            seen.push(told.id.unwrap());
        }
        drop(events);
        house.close().await;
    }
    let positions: Vec<String> = (1..=expected)
        .map(|number| format!("{number:016}"))
        .collect();
    assert_eq!(seen, positions);
}

#[tokio::test]
async fn the_same_event_has_the_same_bytes_whenever_it_is_told() {
    let house = House::open().await;
    let mut live = Events::of(stream(&house, "", None).await);
    live.block().await.unwrap();
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let mut told_live = Vec::new();
    loop {
        let block = live.block().await.unwrap();
        let done = block.contains("interrupt.opened");
        told_live.push(block);
        if done {
            break;
        }
    }
    house
        .store
        .raise_mode(asked.id, asked.requested_by.clone(), asked.mode)
        .await
        .ok();
    // Another server over the same store has nothing at hand and reads it all again.
    let other = House::over(Arc::clone(&house.store), |_| {}).await;
    let mut replayed = Events::of(stream(&other, "?after_seq=0", None).await);
    replayed.block().await.unwrap();
    for told in told_live {
        assert_eq!(replayed.block().await.unwrap(), told);
    }
}

#[tokio::test]
async fn a_position_that_is_gone_is_answered_with_where_to_look_and_the_stream_goes_on() {
    let house = House::open().await;
    running(&*house.store, None).await;
    let mut events = Events::of(stream(&house, "", Some("0000000000999999")).await);
    let reset = events.next().await.unwrap();
    assert_eq!(name(&reset), "dev.irq.stream.reset.v1");
    assert_eq!(reset.data["data"]["reason"], "retention");
    assert_eq!(reset.data["data"]["snapshot"][0], "/v1/runs");
    let run = running(&*house.store, None).await;
    let next = events.next().await.unwrap();
    assert_eq!(name(&next), "dev.irq.run.created.v1");
    assert_eq!(next.data["data"]["run_id"], run.id.to_string());
    assert!(next.id > reset.id);
}

#[tokio::test]
async fn a_reader_gets_what_he_wants_and_nothing_else() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let other = running(&*house.store, None).await;
    let query = format!(
        "?after_seq=0&topics=interrupt.opened,run.*&run_id={}&named=1",
        run.id
    );
    let mut events = Events::of(stream(&house, &query, None).await);
    open_question(&*house.store, &other).await;
    open_question(&*house.store, &run).await;
    let mut names = Vec::new();
    for _ in 0..3 {
        let told = events.next().await.unwrap();
        assert_eq!(told.data["data"]["run_id"], run.id.to_string());
        names.push(told.event.unwrap());
    }
    assert_eq!(names, ["run.created", "run.running", "interrupt.opened"]);
    for bad in ["?topics=*.a", "?after_seq=x", "?run_id=none", "?odd=1"] {
        let status = stream(&house, bad, None).await.status();
        assert!(status.is_client_error(), "{bad}: {status}");
    }
}

#[tokio::test]
async fn the_stream_of_a_run_ends_with_it_and_says_so_to_whoever_comes_back() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let query = format!("?run_id={}", run.id);
    let mut events = Events::of(stream(&house, &query, None).await);
    events.block().await.unwrap();
    house
        .store
        .change_run(run.id, run.epoch, RunState::Completed, None)
        .await
        .unwrap();
    let mut last = None;
    while let Some(told) = events.next().await {
        last = told.id;
    }
    let again = stream(&house, &query, last.as_deref()).await;
    assert_eq!(again.status(), StatusCode::NO_CONTENT);
    let from_start = stream(&house, &format!("{query}&after_seq=0"), None).await;
    let mut from_start = Events::of(from_start);
    let mut names = Vec::new();
    while let Some(told) = from_start.next().await {
        names.push(name(&told));
    }
    assert_eq!(names.last().unwrap(), "dev.irq.run.completed.v1");
}

#[tokio::test]
async fn a_quiet_stream_shows_that_it_lives() {
    let house = House::with(|config| {
        config.limits.heartbeat = Duration::from_millis(20);
    })
    .await;
    let mut events = Events::of(stream(&house, "", None).await);
    assert_eq!(events.block().await.unwrap(), "retry: 2000");
    assert_eq!(events.block().await.unwrap(), ": alive");
}

#[tokio::test]
async fn streams_are_told_when_the_server_stops_and_requests_are_finished() {
    let house = House::open().await;
    let mut events = Events::of(stream(&house, "", None).await);
    events.block().await.unwrap();
    let drained = house.close().await;
    assert_eq!(drained.cut, 0);
    let farewell = events.block().await.unwrap();
    assert!(farewell.contains("draining"), "{farewell}");
    assert_eq!(events.block().await, None);
}

#[tokio::test]
async fn a_ticket_opens_one_stream_and_no_second_and_nothing_else() {
    let house = House::open().await;
    let ticket = house
        .post("viewer", "/v1/tickets", &json!({}))
        .send()
        .await
        .unwrap();
    let ticket: Value = ticket.json().await.unwrap();
    let ticket = ticket["ticket"].as_str().unwrap();
    let elsewhere = house
        .client
        .get(house.url(&format!("/v1/runs?ticket={ticket}")));
    problem(elsewhere.send().await.unwrap(), StatusCode::UNAUTHORIZED).await;
    let open = |path: String| house.client.get(house.url(&path)).send();
    let first = open(format!("/v1/events?ticket={ticket}")).await.unwrap();
    Events::of(first).block().await.unwrap();
    let second = open(format!("/v1/events?ticket={ticket}")).await.unwrap();
    problem(second, StatusCode::UNAUTHORIZED).await;
}

#[tokio::test]
async fn the_log_of_a_run_is_read_in_parts_and_as_lines() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    let (mut after, mut seen) = ("0".to_owned(), 0);
    loop {
        let part = house
            .read(&format!(
                "/v1/runs/{}/events?after_seq={after}&limit=2",
                run.id
            ))
            .await;
        let events = part["events"].as_array().unwrap();
        for event in events {
            assert_eq!(event["source"], format!("/irq/local/runs/{}", run.id));
        }
        seen += events.len();
        let next = part["after_seq"].as_str().unwrap().to_owned();
        if next == after {
            break;
        }
        after = next;
    }
    let lines = house
        .get("viewer", &format!("/v1/runs/{}/events", run.id))
        .header("Accept", "application/x-ndjson")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert_eq!(lines.lines().count(), seen);
}

#[tokio::test]
async fn whoever_has_lost_his_right_to_look_is_not_told_any_more() {
    let house = House::with(|config| {
        // It is no heartbeat that ends the stream.
        config.limits.heartbeat = Duration::from_secs(600);
    })
    .await;
    let mut events = Events::of(stream(&house, "", None).await);
    events.block().await.unwrap();
    let digest = interrupts::Digest::of(house.tokens["viewer"].as_bytes());
    house.store.revoke_token(digest, None).await.unwrap();
    while let Some(block) = events.block().await {
        assert_eq!(block, ": alive");
    }
}

#[tokio::test]
async fn a_run_that_stands_still_says_why_and_what_somebody_can_decide() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let held = open_question(&*house.store, &run).await;
    let other = open_question(&*house.store, &run).await;
    let system = Actor {
        name: ActorName::new("system").unwrap(),
        role: Role::System,
    };
    let hold = ReviewChange::Hold { by: other.id };
    let held = house.store.review(held.id, system, held.version, hold);
    let held = held.await.unwrap();
    for (state, reason) in [
        (RunState::Paused, "the disk is full"),
        (RunState::Running, "somebody goes on with it"),
    ] {
        let changed = house
            .store
            .change_run(run.id, run.epoch, state, Some(reason.to_owned()));
        changed.await.unwrap();
    }
    let told = told_over_events(&house, "topics=run.*", 4).await;
    assert_eq!(told[2]["type"], "dev.irq.run.paused.v1");
    assert_eq!(told[2]["data"]["reason"], "the disk is full");
    let open = json!([other.id, held.id]);
    assert_eq!(told[2]["data"]["open_interrupts"], open, "{}", told[2]);
    // One that works names none.
    assert_eq!(told[3]["type"], "dev.irq.run.running.v1");
    assert_eq!(told[3]["data"].get("open_interrupts"), None);
}

#[tokio::test]
async fn that_a_run_rests_is_withheld_from_its_own_process_until_its_execution_has_ended() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let store: Arc<dyn Store> = house.store.clone();
    let mut events = RunEvents::from_now(store, run.id).await.unwrap();
    let mut seen = async |state: RunState, has_ended| {
        let changed = house.store.change_run(run.id, run.epoch, state, None);
        changed.await.unwrap();
        let lines = events.next(has_ended).await.unwrap();
        let types = lines.iter().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["type"].as_str().unwrap().to_owned()
        });
        types.collect::<Vec<_>>()
    };
    assert!(seen(RunState::Paused, false).await.is_empty());
    let resumed = ["dev.irq.run.paused.v1", "dev.irq.run.running.v1"];
    assert_eq!(seen(RunState::Running, false).await, resumed);
    assert_eq!(
        seen(RunState::Paused, true).await,
        ["dev.irq.run.paused.v1"]
    );
}
