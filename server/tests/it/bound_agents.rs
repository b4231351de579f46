//! The token of an agent: bound to a run, or to an agent of it, and everything else is not there for its holder.

use control::{AskInterrupts, AskJournal, AskRuns};
use interrupts::life::Role;
use interrupts::store::{Filter, NewToken, Page, Run};
use interrupts::{ActorName, Digest};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::feed::Events;
use crate::house::{House, agent, problem};
use crate::rights::{all_operations, gaps, record_path};
use crate::scene::{DISCOVERY, awaiting, checkpoint, question, running};
use crate::socket::Socket;

/// What stands in everything that an agent's own run keeps, and in everything that the others' keep.
const OWN: &str = "the oven of its own";
const OTHERS: &str = "the secret recipe";

/// Two runs that each ask a question, the second with a name, a message and a checkpoint.
async fn two_runs(house: &House) -> (Run, Run) {
    let own = running(&*house.store, Some("own-thread")).await;
    awaiting(&*house.store, question(&own, OWN)).await;
    let other = running(&*house.store, Some("others-thread")).await;
    awaiting(&*house.store, question(&other, OTHERS)).await;
    let path = format!("/v1/agents/{}%2Forchestrator/messages", other.id);
    let sent = house.post("admin", &path, &json!({"text": OTHERS}));
    assert_eq!(sent.send().await.unwrap().status(), StatusCode::ACCEPTED);
    checkpoint(&*house.store, &other).await;
    (own, other)
}

/// Whether a text tells anything of a run: its id, its name, or what is said in it.
fn tells_of(text: &str, run: &Run) -> bool {
    [run.id.to_string().as_str(), OTHERS]
        .iter()
        .any(|told| text.contains(told))
}

/// A body that the operation would carry out.
fn body_of(method: &Method, path: &str, run: &Run) -> Option<(&'static str, Value)> {
    let address = format!("{}/{DISCOVERY}", run.id);
    let event = json!({
        "eventId": format!("evt-{method}"), "timestamp": "2026-11-22T06:00:00Z", "nodeId": address,
        "sourceAgentType": "DISCOVERY_ORCHESTRATOR", "interruptType": "HUMAN_REVIEW",
        "reason": "look at this", "choices": [], "confirmationItems": [], "contextForDecision": "",
    });
    if *method != Method::POST {
        return None;
    }
    Some(match path {
        "/v1/interrupt-requests" => ("application/json", event),
        "/v1/events" => (
            "application/cloudevents+json",
            json!({"specversion": "1.0", "id": "1", "source": "/test", "type": "dev.irq.command.interrupt.v1",
                "data": {"agent_id": address, "reason": "stop it"}}),
        ),
        _ => ("application/json", json!({})),
    })
}

#[tokio::test]
async fn of_another_run_no_operation_shows_anything_and_none_does_anything() {
    let house = House::open().await;
    let (own, other) = two_runs(&house).await;
    let asked = house.store.interrupts(&of(&other), FIRST).await.unwrap();
    let secret = agent(&*house.store, "agent", own.id, None).await;
    let before = house.store.audit(FIRST).await.unwrap().len();
    let api = server::openapi();
    let mut tried = 0;
    for (method, path, operation) in all_operations(&api, &gaps(&other, &asked[0].1)) {
        if operation["x-right"].is_null() || path == "/v1/ws" {
            continue;
        }
        // A stream has no end while its run works; those of the others are refused before.
        let paths = match &*path {
            "/v1/events" if method == Method::GET => vec![
                format!("{path}?run_id={}", other.id),
                format!("{path}?agent_id={}%2Forchestrator", other.id),
                format!("{path}?run_id=others-thread"),
            ],
            _ => vec![
                path.clone(),
                path.replace(&other.id.to_string(), "others-thread"),
                format!("{path}?run_id={}", other.id),
                format!("{path}?agent_id={}%2Forchestrator", other.id),
            ],
        };
        for path in paths {
            let bare = path.split('?').next().unwrap_or_default();
            let request = house.client.request(method.clone(), house.url(&path));
            let mut request = request.bearer_auth(&secret);
            if let Some((kind, body)) = body_of(&method, bare, &other) {
                let body = body.to_string();
                request = request.header("content-type", kind).body(body);
            }
            let response = request.send().await.unwrap();
            let status = response.status();
            let text = response.text().await.unwrap();
            let named = [&*other.id.to_string(), "others-thread"];
            let place = if bare.starts_with("/v1/records/") {
                &*path
            } else {
                bare
            };
            let named = named.iter().any(|name| place.contains(name));
            // What was asked for by name may be said again in the refusal, and nowhere else.
            assert!(
                !text.contains(OTHERS) && (!named || !status.is_success()) && status.as_u16() < 500,
                "{method} {path}: {status} {text}"
            );
            assert!(
                !status.is_success() || !tells_of(&text, &other),
                "{method} {path}: {text}"
            );
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
    let rows = house.store.audit(FIRST).await.unwrap();
    let done = &rows[before..];
    assert!(
        done.iter().all(|row| !tells_of(&row.entry, &other)),
        "something was done to the other run: {done:?}"
    );
}

#[tokio::test]
async fn what_is_not_within_reach_is_refused_as_what_does_not_exist() {
    let house = House::open().await;
    let (own, other) = two_runs(&house).await;
    let secret = agent(&*house.store, "agent", own.id, None).await;
    let asked = house.store.interrupts(&of(&other), FIRST).await.unwrap();
    let asked = asked[0].1.id.to_string();
    let nothing = "run_00000000000000000000000000000000";
    let pairs = [
        (
            format!("/v1/runs/{}", other.id),
            other.id.to_string(),
            format!("/v1/runs/{nothing}"),
            nothing,
        ),
        (
            format!("/v1/interrupts/{asked}"),
            asked,
            "/v1/interrupts/int_00000000000000000000000000000000".to_owned(),
            "int_00000000000000000000000000000000",
        ),
        (
            "/v1/runs/others-thread".to_owned(),
            "others-thread".to_owned(),
            "/v1/runs/no-thread".to_owned(),
            "no-thread",
        ),
    ];
    for (path, named, absent, unnamed) in pairs {
        let read = async |path: &str| {
            let read = house.client.get(house.url(path)).bearer_auth(&secret);
            problem(read.send().await.unwrap(), StatusCode::NOT_FOUND).await
        };
        let beyond = read(&path).await.to_string().replace(&named, "it");
        assert_eq!(
            beyond,
            read(&absent).await.to_string().replace(unnamed, "it"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn its_own_run_is_listed_read_and_interrupted() {
    let house = House::open().await;
    let (own, other) = two_runs(&house).await;
    let secret = agent(&*house.store, "agent", own.id, None).await;
    let read = async |path: &str| {
        let read = house.client.get(house.url(path)).bearer_auth(&secret);
        let read = read.send().await.unwrap();
        assert_eq!(read.status(), StatusCode::OK, "{path}");
        read.text().await.unwrap()
    };
    for path in [
        "/v1/runs",
        "/v1/agents",
        "/v1/interrupts?status=open",
        "/v1/history",
        &record_path(&AskRuns {
            states: Vec::new(),
            page: FIRST,
        }),
        &record_path(&AskInterrupts {
            filter: Filter::default(),
            page: FIRST,
        }),
        "/v1/runs/own-thread",
        "/v1/runs/own-thread/events",
        "/v1/whoami",
    ] {
        let text = read(path).await;
        assert!(
            text.contains(&own.id.to_string()) && !tells_of(&text, &other),
            "{path}: {text}"
        );
    }
    // The id of an agent is enough, for there is one run.
    let agents: Value =
        serde_json::from_str(&read("/v1/agents/orchestrator%2Fdiscovery").await).unwrap();
    assert_eq!(agents["agent_id"], format!("{}/{DISCOVERY}", own.id));
    let pause = house
        .client
        .post(house.url("/v1/agents/orchestrator%2Fdiscovery/interrupts"));
    let pause = pause.bearer_auth(&secret).json(&json!({"reason": "wait"}));
    assert_eq!(pause.send().await.unwrap().status(), StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_token_that_is_bound_to_an_agent_reaches_that_and_what_it_started_and_not_its_run() {
    let house = House::open().await;
    let (own, _other) = two_runs(&house).await;
    let secret = agent(&*house.store, "agent", own.id, Some(DISCOVERY)).await;
    let status = async |method: Method, path: String| {
        let asked = house.client.request(method, house.url(&path));
        let asked = asked.bearer_auth(&secret).json(&json!({}));
        asked.send().await.unwrap().status().as_u16()
    };
    let run = own.id;
    for (path, expected) in [
        (format!("/v1/agents/{run}%2Forchestrator"), 404),
        (format!("/v1/agents/{run}%2Forchestrator%2Fdiscovery"), 200),
        ("/v1/agents/orchestrator".to_owned(), 404),
        (format!("/v1/runs/{run}"), 200),
        (format!("/v1/runs/{run}/checkpoints"), 403),
        ("/v1/history".to_owned(), 403),
        (record_path(&AskJournal { run, page: FIRST }), 403),
        (format!("/v1/events?agent_id={run}%2Forchestrator"), 404),
    ] {
        assert_eq!(status(Method::GET, path.clone()).await, expected, "{path}");
    }
    for (agent, expected) in [("orchestrator", 404), ("orchestrator%2Fdiscovery", 202)] {
        let path = format!("/v1/agents/{run}%2F{agent}/interrupts");
        assert_eq!(status(Method::POST, path).await, expected, "{agent}");
    }
    let path = format!("/v1/agents/{run}%2Forchestrator%2Fdiscovery/interrupts");
    let whole = house.client.post(house.url(&path)).bearer_auth(&secret);
    let whole = whole.json(&json!({"scope": "run"})).send().await.unwrap();
    problem(whole, StatusCode::FORBIDDEN).await;
    let listed = house
        .client
        .get(house.url("/v1/agents"))
        .bearer_auth(&secret);
    let listed: Value = listed.send().await.unwrap().json().await.unwrap();
    assert_eq!(listed["agents"].as_array().unwrap().len(), 1, "{listed}");
    let tree = house
        .client
        .get(house.url(&format!("/v1/runs/{run}/tree")))
        .bearer_auth(&secret);
    let tree: Value = tree.send().await.unwrap().json().await.unwrap();
    assert_eq!(tree[0]["agent_id"], format!("{run}/{DISCOVERY}"), "{tree}");
}

#[tokio::test]
async fn the_feed_tells_a_bound_agent_of_its_own_run_over_a_stream_a_ticket_and_a_socket() {
    let mut house = House::open().await;
    let (own, other) = two_runs(&house).await;
    house.bind_agent(own.id).await;
    let ticket = house.post("agent", "/v1/tickets", &json!({}));
    let ticket: Value = ticket.send().await.unwrap().json().await.unwrap();
    let by_ticket = format!(
        "/v1/events?after_seq=0&ticket={}",
        ticket["ticket"].as_str().unwrap()
    );
    let streams = [
        house
            .get("agent", "/v1/events?after_seq=0")
            .send()
            .await
            .unwrap(),
        house
            .client
            .get(house.url(&by_ticket))
            .send()
            .await
            .unwrap(),
    ];
    let mut socket = Socket::open(&house, "agent").await;
    for refused in [
        json!({"type": "subscribe", "payload": {"run_id": other.id.to_string()}}),
        json!({"type": "subscribe", "payload": {"agent_id": format!("{}/orchestrator", other.id)}}),
        json!({"type": "interrupt", "payload": {"thread_id": "others-thread"}}),
        json!({"type": "interrupt", "payload": {"thread_id": "own-thread", "agent_id": format!("{}/orchestrator", other.id)}}),
    ] {
        socket.send(&refused.to_string()).await;
        let reply = socket.receive().await.to_string();
        assert!(reply.contains("not-found"), "{refused}: {reply}");
    }
    socket
        .send(&json!({"type": "subscribe", "payload": {"after_seq": 0}}).to_string())
        .await;
    socket.receive_a("subscribed").await;
    // Told after all that the other run has told.
    let last = awaiting(&*house.store, question(&own, "the last one"))
        .await
        .id
        .to_string();
    for stream in streams {
        let mut events = Events::of(stream);
        loop {
            let told = events.next().await.unwrap().data.to_string();
            assert!(!tells_of(&told, &other), "{told}");
            if told.contains(&last) {
                break;
            }
        }
    }
    loop {
        let told = socket.receive().await.to_string();
        assert!(!tells_of(&told, &other), "{told}");
        if told.contains(&last) {
            break;
        }
    }
}

#[tokio::test]
async fn the_token_of_an_agent_that_is_bound_to_nothing_reaches_nothing_and_is_told_the_remedy() {
    let house = House::open().await;
    let (own, _other) = two_runs(&house).await;
    // As an earlier version made it.
    let secret = format!("irq_{}", "5".repeat(64));
    let old = NewToken {
        digest: Digest::of(secret.as_bytes()),
        name: ActorName::new("old").unwrap(),
        role: Role::Requester,
        lifetime: None,
        once: false,
        of: None,
        scope: None,
        by: None,
    };
    house.store.put_token(old).await.unwrap();
    for path in [
        "/v1/runs",
        "/v1/whoami",
        "/v1/events",
        &format!("/v1/runs/{}", own.id),
    ] {
        let refused = house.client.get(house.url(path)).bearer_auth(&secret);
        let refused = problem(refused.send().await.unwrap(), StatusCode::FORBIDDEN).await;
        assert!(
            refused["hint"].as_str().unwrap().contains("--run RUN"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn the_token_of_an_agent_is_made_for_a_run_and_no_other_is_bound_to_one() {
    let house = House::open().await;
    let (own, other) = two_runs(&house).await;
    let make = async |body: Value| {
        let made = house.post("admin", "/v1/tokens", &body);
        made.send().await.unwrap()
    };
    let address = format!("{}/{DISCOVERY}", own.id);
    let (a, role) = ("a", "agent");
    for (body, status) in [
        (json!({"name": a, "role": role, "run_id": "no-thread"}), 404),
        (
            json!({"name": a, "role": role, "run_id": own.id, "agent_id": "nobody"}),
            404,
        ),
        (
            json!({"name": a, "role": role, "run_id": other.id, "agent_id": address}),
            422,
        ),
    ] {
        let refused = make(body).await;
        problem(refused, StatusCode::from_u16(status).unwrap()).await;
    }
    for body in [
        json!({"name": a, "role": role, "agent_id": address}),
        json!({"name": a, "role": role, "run_id": "own-thread", "agent_id": DISCOVERY}),
    ] {
        let made: Value = make(body).await.json().await.unwrap();
        assert_eq!(made["token"]["agent_id"], address, "{made}");
        let who = house.client.get(house.url("/v1/whoami"));
        let who = who.bearer_auth(made["secret"].as_str().unwrap());
        let who: Value = who.send().await.unwrap().json().await.unwrap();
        assert_eq!(
            (&who["run_id"], &who["agent_id"]),
            (&json!(own.id.to_string()), &json!(address))
        );
    }
}

#[tokio::test]
async fn an_agent_has_no_session_of_the_page() {
    let mut house = House::open().await;
    let (own, _other) = two_runs(&house).await;
    house.bind_agent(own.id).await;
    let form = [("token", house.tokens["agent"].as_str())];
    let refused = house.client.post(house.url("/session"));
    let refused = refused
        .header("Origin", house.url(""))
        .form(&form)
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert!(refused.headers().get("set-cookie").is_none());
    let page = house
        .get("agent", "/")
        .header("Accept", "text/html")
        .send()
        .await
        .unwrap();
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
}

const FIRST: Page = Page {
    after: 0,
    limit: 500,
};

fn of(run: &Run) -> interrupts::store::Filter {
    interrupts::store::Filter {
        run: Some(run.id),
        ..Default::default()
    }
}
