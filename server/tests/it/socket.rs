//! The WebSocket: the fixed messages byte for byte, subscriptions with cursors, and manners.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use interrupts::life::{Evidence, RunState};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::house::House;
use crate::scene::{checkpoint, delivery, open_choice, open_question, running};

/// A client of the socket.
pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(house: &House, role: &str) -> Self {
        let mut request = format!("ws://{}/v1/ws", house.address)
            .into_client_request()
            .unwrap();
        let bearer = HeaderValue::try_from(format!("Bearer {}", house.tokens[role])).unwrap();
        request.headers_mut().insert("authorization", bearer);
        let (socket, _response) = connect_async(request).await.unwrap();
        let mut socket = Self(socket);
        assert_eq!(socket.receive().await["type"], "welcome");
        socket
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text.to_owned())).await.unwrap();
    }

    /// The text of the next frame; `None` where the socket was closed.
    pub(crate) async fn text(&mut self) -> Option<String> {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(20), self.0.next());
            match next.await.unwrap()? {
                Ok(Message::Text(text)) => return Some(text.to_string()),
                Ok(Message::Close(frame)) => {
                    return frame.map(|frame| format!("close {} {}", frame.code, frame.reason));
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let text = self.text().await.unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"))
    }

    /// The next frame of a type.
    pub(crate) async fn receive_a(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.receive().await;
            if frame["type"] == kind {
                return frame;
            }
        }
    }
}

#[tokio::test]
async fn the_fixed_message_is_answered_in_the_fixed_form() {
    let house = House::open().await;
    let run = running(&*house.store, Some("thread-123")).await;
    let mut socket = Socket::open(&house, "supervisor").await;
    socket
        .send(r#"{"type":"interrupt","payload":{"thread_id":"thread-123","reason":"user_interrupt"},"id":"msg-001"}"#)
        .await;
    let text = socket.text().await.unwrap();
    assert!(
        text.starts_with(
            r#"{"type":"interrupt_ack","id":"msg-001","payload":{"success":true,"thread_id":"thread-123","#
        ),
        "{text}"
    );
    let ack: Value = serde_json::from_str(&text).unwrap();
    let payload = &ack["payload"];
    assert_eq!(payload["state"], "requested");
    assert_eq!(payload["scope"], "run");
    assert_eq!(
        payload["affected"],
        json!([
            format!("{}/orchestrator", run.id),
            format!("{}/orchestrator/discovery", run.id)
        ])
    );
    assert_eq!(payload["seq"].as_str().unwrap().len(), 16);
    // It is recorded: that is what the answer means.
    let id = payload["interrupt_id"].as_str().unwrap().parse().unwrap();
    let recorded = house.store.interrupt(id).await.unwrap().unwrap();
    assert_eq!(recorded.reason, "user_interrupt");
    assert_eq!(recorded.requested_by.name.as_str(), "supervisor");
}

#[tokio::test]
async fn whoever_interrupts_is_told_when_it_took_hold_and_was_saved() {
    let house = House::open().await;
    let run = running(&*house.store, Some("thread-123")).await;
    let mut socket = Socket::open(&house, "supervisor").await;
    socket
        .send(r#"{"type":"interrupt","payload":{"thread_id":"thread-123","reason":"user_interrupt"},"id":"1"}"#)
        .await;
    let ack = socket.receive_a("interrupt_ack").await;
    let id = ack["payload"]["interrupt_id"].as_str().unwrap();
    let interrupt = id.parse().unwrap();
    let delivered = house.store.deliver(interrupt, delivery()).await.unwrap();
    let update = socket.receive_a("interrupt_update").await;
    assert_eq!(update["payload"]["state"], "delivered");
    house
        .store
        .acknowledge(interrupt, delivered.epoch, Evidence::Boundary)
        .await
        .unwrap();
    let update = socket.receive_a("interrupt_update").await;
    assert_eq!(update["payload"]["interrupt_id"], id);
    assert_eq!(update["payload"]["state"], "applied");
    assert!(update["payload"]["at"].is_string() && update["payload"]["latency_ms"].is_u64());
    checkpoint(&*house.store, &run).await;
    let update = socket.receive_a("interrupt_update").await;
    assert_eq!(update["payload"]["state"], "checkpointed");
}

#[tokio::test]
async fn what_cannot_be_read_gets_an_error_and_the_socket_stays() {
    let house = House::open().await;
    let mut socket = Socket::open(&house, "supervisor").await;
    let deep = format!(
        r#"{{"type":"ping","payload":{}1{}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    for (bad, id) in [
        ("no json", Value::Null),
        ("{}", Value::Null),
        (r#"["interrupt"]"#, Value::Null),
        (r#"{"type":"dance","id":"a"}"#, json!("a")),
        (r#"{"type":"interrupt","type":"ping","id":"b"}"#, json!("b")),
        (
            r#"{"type":"subscribe","payload":{"odd":1},"id":"c"}"#,
            json!("c"),
        ),
        (r#"{"type":"subscribe","payload":[],"id":"d"}"#, json!("d")),
        (
            r#"{"type":"ping","payload":{"t":99999999999999999999},"id":"e"}"#,
            json!("e"),
        ),
        (&deep, Value::Null),
    ] {
        socket.send(bad).await;
        let error = socket.receive().await;
        assert_eq!(error["type"], "error", "{bad}");
        assert_eq!(error["id"], id, "{bad}");
        assert!(error["payload"]["code"].is_string(), "{error}");
    }
    socket.0.send(Message::binary(vec![0, 1])).await.unwrap();
    assert_eq!(socket.receive().await["type"], "error");
    socket
        .send(r#"{"type":"ping","payload":{"t":7},"id":"f"}"#)
        .await;
    let pong = socket.text().await.unwrap();
    assert_eq!(pong, r#"{"type":"pong","id":"f","payload":{"t":7}}"#);
    socket
        .send(r#"{"type":"interrupt","payload":{"thread_id":"nothing","reason":"x"},"id":"g"}"#)
        .await;
    let text = socket.text().await.unwrap();
    assert!(
        text.starts_with(
            r#"{"type":"interrupt_ack","id":"g","payload":{"success":false,"thread_id":"nothing","problem":{"#
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_subscriber_with_a_cursor_gets_every_event_after_it_across_connections() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let (mut after, mut seen) = (0_u64, Vec::new());
    for _ in 0..4 {
        for _ in 0..5 {
            open_question(&*house.store, &run).await;
        }
        let mut socket = Socket::open(&house, "viewer").await;
        let subscribe = json!({"type": "subscribe", "id": "s", "payload": {"after_seq": after}});
        socket.send(&subscribe.to_string()).await;
        let subscribed = socket.receive_a("subscribed").await;
        assert_eq!(
            subscribed["payload"]["replay_from"],
            format!("{after:016}").as_str()
        );
        for _ in 0..9 {
            let event = socket.receive_a("event").await;
            assert_eq!(
                event["payload"]["event"]["sequence"],
                event["payload"]["seq"]
            );
            after = event["payload"]["seq"].as_str().unwrap().parse().unwrap();
            seen.push(after);
        }
    }
    assert_eq!(seen, (1..=36).collect::<Vec<u64>>());
}

#[tokio::test]
async fn two_subscriptions_of_one_socket_are_told_apart_and_ended_apart() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let mut socket = Socket::open(&house, "viewer").await;
    for topic in ["interrupt.opened", "interrupt.requested"] {
        let subscribe = json!({"type": "subscribe", "payload": {"topics": [topic]}});
        socket.send(&subscribe.to_string()).await;
        socket.receive_a("subscribed").await;
    }
    open_question(&*house.store, &run).await;
    let mut told = [
        socket.receive_a("event").await,
        socket.receive_a("event").await,
    ];
    told.sort_by_key(|frame| frame["payload"]["seq"].to_string());
    let types: Vec<_> = told
        .iter()
        .map(|frame| {
            let payload = &frame["payload"];
            (
                payload["subscription_id"].clone(),
                payload["event"]["type"].clone(),
            )
        })
        .collect();
    assert_eq!(
        types[0],
        (json!("sub_2"), json!("dev.irq.interrupt.requested.v1"))
    );
    assert_eq!(
        types[1],
        (json!("sub_1"), json!("dev.irq.interrupt.opened.v1"))
    );
    socket
        .send(r#"{"type":"unsubscribe","payload":{"subscription_id":"sub_2"}}"#)
        .await;
    socket.receive_a("unsubscribed").await;
    open_question(&*house.store, &run).await;
    let event = socket.receive_a("event").await;
    assert_eq!(event["payload"]["subscription_id"], "sub_1");
}

#[tokio::test]
async fn a_decision_over_the_socket_is_the_same_as_one_by_request() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let mut socket = Socket::open(&house, "reviewer").await;
    let decision = |version: u64| {
        json!({"type": "decision", "id": "d", "payload": {
            "interrupt_id": asked.id.to_string(), "version": version, "decision": "respond",
            "payload": {"selectedChoices": ["narrow"]}}})
    };
    socket.send(&decision(1).to_string()).await;
    let refused = socket.receive_a("decision_ack").await;
    assert_eq!(refused["payload"]["success"], false);
    assert_eq!(refused["payload"]["problem"]["code"], "stale-version");
    socket.send(&decision(asked.version).to_string()).await;
    let decided = socket.receive_a("decision_ack").await;
    assert_eq!(decided["payload"]["success"], true, "{decided}");
    let shown = house.read(&format!("/v1/interrupts/{}", asked.id)).await;
    assert_eq!(
        shown["decision"]["decision_id"],
        decided["payload"]["decision_id"]
    );
    assert_eq!(shown["decision"]["by"], "reviewer");
}

#[tokio::test]
async fn every_frame_that_the_description_names_is_taken() {
    let house = House::open().await;
    let api = house.read("/openapi.json").await;
    let about = api["paths"]["/v1/ws"]["get"]["description"].as_str();
    let frames = about.unwrap().lines().filter_map(|line| {
        let named = line.strip_prefix("- `")?;
        Some(named.split('`').next().unwrap())
    });
    let mut socket = Socket::open(&house, "admin").await;
    let unknown = "is no type of a frame";
    let mut taken = 0;
    // Nothing is answered to a pong.
    for frame in frames.filter(|frame| *frame != "pong").chain(["shout"]) {
        let sent = json!({"type": frame, "id": "1", "payload": {}}).to_string();
        socket.send(&sent).await;
        let answer = socket.text().await.unwrap();
        assert_eq!(answer.contains(unknown), frame == "shout", "{answer}");
        taken += 1;
    }
    assert!(taken > 6, "{taken}");
}

#[tokio::test]
async fn a_role_is_as_narrow_over_the_socket_as_by_request() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let cases = [
        (
            "viewer",
            json!({"type": "interrupt", "payload": {"thread_id": run.id.to_string(), "reason": ""}}),
        ),
        (
            "agent",
            json!({"type": "decision", "payload": {"interrupt_id": asked.id.to_string(),
            "version": asked.version, "decision": "approve"}}),
        ),
        (
            "reviewer",
            json!({"type": "cancel", "payload": {"run_id": run.id.to_string()}}),
        ),
        (
            "reviewer",
            json!({"type": "resume", "payload": {"run_id": run.id.to_string()}}),
        ),
    ];
    for (role, frame) in cases {
        let mut socket = Socket::open(&house, role).await;
        socket.send(&frame.to_string()).await;
        let reply = socket.receive().await;
        assert_eq!(reply["payload"]["success"], false, "{role}: {reply}");
        assert_eq!(
            reply["payload"]["problem"]["code"], "forbidden",
            "{role}: {reply}"
        );
    }
    let kept = house.store.run(run.id).await.unwrap().unwrap();
    assert_eq!(kept.state, RunState::Running);
}

#[tokio::test]
async fn a_client_is_told_when_the_server_stops() {
    let house = House::open().await;
    let mut socket = Socket::open(&house, "viewer").await;
    house.tell_to_stop();
    let farewell = socket.text().await.unwrap();
    assert_eq!(farewell, r#"close 1001 {"retry_after_ms":2000}"#);
    drop(socket);
    assert_eq!(house.close().await.cut, 0);
}

#[tokio::test]
async fn a_message_that_is_too_large_ends_that_socket_alone() {
    let house = House::with(|config| config.limits.message_bytes = 1_000).await;
    let store = Arc::clone(&house.store);
    let mut other = Socket::open(&house, "viewer").await;
    other.send(r#"{"type":"subscribe","payload":{}}"#).await;
    other.receive_a("subscribed").await;
    let mut socket = Socket::open(&house, "viewer").await;
    socket.send(&"x".repeat(2_000)).await;
    let end = socket.text().await.unwrap();
    assert!(end.starts_with("close 1009 "), "{end}");
    running(&*store, None).await;
    assert_eq!(other.receive().await["type"], "event");
}

#[tokio::test]
async fn a_socket_that_cannot_be_read_is_told_why_however_much_is_still_sent() {
    let house = House::open().await;
    let mut socket = Socket::open(&house, "viewer").await;
    socket.send(&"x".repeat(1_000_000)).await;
    let end = socket.text().await.unwrap();
    assert!(end.starts_with("close 1009 "), "{end}");
    let mut socket = Socket::open(&house, "viewer").await;
    let broken = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
    socket.0.send(Message::Frame(broken)).await.unwrap();
    let end = socket.text().await.unwrap();
    assert!(end.starts_with("close 1007 "), "{end}");
    let mut socket = Socket::open(&house, "viewer").await;
    let unbegun = Frame::message(vec![b'x'], OpCode::Data(Data::Continue), true);
    socket.0.send(Message::Frame(unbegun)).await.unwrap();
    let end = socket.text().await.unwrap();
    assert!(end.starts_with("close 1002 "), "{end}");
}

#[tokio::test]
async fn a_socket_ends_when_the_token_that_opened_it_is_revoked() {
    let house = House::with(|config| {
        // It is no heartbeat that ends it.
        config.limits.heartbeat = Duration::from_secs(600);
    })
    .await;
    let mut socket = Socket::open(&house, "admin").await;
    let digest = interrupts::Digest::of(house.tokens["admin"].as_bytes());
    house.store.revoke_token(digest, None).await.unwrap();
    let end = socket.text().await.unwrap();
    assert_eq!(end, "close 1008 the token does not hold any more");
}

#[tokio::test]
async fn nothing_is_done_for_a_socket_whose_token_was_revoked() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    let asked = open_choice(&*house.store, &run).await;
    let mut socket = Socket::open(&house, "reviewer").await;
    let digest = interrupts::Digest::of(house.tokens["reviewer"].as_bytes());
    house.store.revoke_token(digest, None).await.unwrap();
    // Before anybody has had the time to look.
    let decision = json!({"type": "decision", "id": "d", "payload": {
        "interrupt_id": asked.id.to_string(), "version": asked.version, "decision": "respond",
        "payload": {"selectedChoices": ["narrow"]}}});
    socket.send(&decision.to_string()).await;
    let end = socket.text().await.unwrap();
    assert_eq!(end, "close 1008 the token does not hold any more");
    let stands = house.store.interrupt(asked.id).await.unwrap().unwrap();
    assert_eq!(stands.decision, None);
}
