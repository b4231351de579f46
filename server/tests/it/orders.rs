//! An order is the same one over every way in: REST, the socket and CloudEvents read the same fields by the same rules.

use std::sync::Arc;

use interrupt_router::InterruptType;
use interrupts::life::{ExpiryOutcome, Interrupt};
use interrupts::manager::StopNote;
use interrupts::policy::{Policy, Vocabulary};
use interrupts::store::Run;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::House;
use crate::scene::{DISCOVERY, running};
use crate::socket::Socket;

/// The ways in.
const WAYS: [&str; 3] = ["rest", "socket", "event"];

/// What comes of a CloudEvent.
async fn published(house: &House, event: &Value) -> Value {
    let sent = house.client.post(house.url("/v1/events"));
    let sent = sent.header("content-type", "application/cloudevents+json");
    let sent = sent.bearer_auth(&house.tokens["supervisor"]);
    let answer = sent.body(event.to_string()).send().await.unwrap();
    let answer: Value = answer.json().await.unwrap();
    answer.pointer("/results/0").unwrap_or(&answer).clone()
}

/// Sends an order to an agent or a run over a way in. Returns the answer: of a refusal, its problem.
pub(crate) async fn sent(house: &House, way: &str, verb: &str, of: &Value, body: &Value) -> Value {
    let with = |first: &Value| {
        let mut all = first.clone();
        let members = body.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(members);
        all
    };
    let text = |name: &str| of[name].as_str().unwrap().replace('/', "%2F");
    let answer: Value = match way {
        "rest" => {
            let path = match verb {
                "interrupt" => format!("/v1/agents/{}/interrupts", text("agent_id")),
                _ => format!("/v1/runs/{}/{verb}", text("run_id")),
            };
            let response = house.post("supervisor", &path, body).send().await.unwrap();
            let is_refused = !response.status().is_success();
            let answer: Value = response.json().await.unwrap();
            return match is_refused {
                true => answer,
                false => json!({"interrupt_id": answer["id"], "run_id": answer["run_id"]}),
            };
        }
        "socket" => {
            let mut payload = with(of);
            if verb == "interrupt" {
                payload["thread_id"] = "any".into();
                payload["run_id"] = text("agent_id").split("%2F").next().unwrap().into();
            }
            let mut socket = Socket::open(house, "supervisor").await;
            let frame = json!({"type": verb, "payload": payload});
            socket.send(&frame.to_string()).await;
            socket.receive_a(&format!("{verb}_ack")).await["payload"].take()
        }
        _ => {
            let event = json!({"specversion": "1.0", "source": "/tests", "data": with(of),
                "id": body.to_string(), "type": format!("dev.irq.command.{verb}.v1")});
            published(house, &event).await
        }
    };
    match answer.get("problem") {
        Some(problem) => problem.clone(),
        None => answer,
    }
}

/// The interrupt that an answer names.
async fn asked(house: &House, answer: &Value) -> Interrupt {
    let id = answer["interrupt_id"].as_str();
    let id = id.unwrap_or_else(|| panic!("{answer}")).parse().unwrap();
    house.store.interrupt(id).await.unwrap().unwrap()
}

fn agent(run: &Run) -> Value {
    json!({"agent_id": format!("{}/{DISCOVERY}", run.id)})
}

#[tokio::test]
async fn a_stop_keeps_all_that_it_says_over_every_way_in() {
    for way in WAYS {
        let house = House::open().await;
        let run = running(&*house.store, None).await;
        let body = json!({"type": "PRUNE", "mode": "graceful", "scope": "agent", "reason": "enough",
            "message": "thank you", "deadline_ms": 5000, "metadata": {"ticket": 7}});
        let answer = sent(&house, way, "interrupt", &agent(&run), &body).await;
        let stop = asked(&house, &answer).await;
        assert_eq!(stop.interrupt_type, InterruptType::Prune, "{way}");
        assert_eq!(stop.reason, "enough", "{way}");
        let note: StopNote = serde_json::from_str(&stop.content).unwrap();
        let kept = json!({"message": "thank you", "metadata": {"ticket": 7}});
        assert_eq!(
            (note.limit_ms, note.metadata),
            (Some(5000), Some(kept)),
            "{way}"
        );
    }
}

#[tokio::test]
async fn a_limit_outside_of_its_bounds_is_refused_over_every_way_in() {
    let house = House::open().await;
    let run = running(&*house.store, None).await;
    for way in WAYS {
        for limit in [0_u64, 2_147_483_648] {
            let body = json!({"deadline_ms": limit});
            let refused = sent(&house, way, "interrupt", &agent(&run), &body).await;
            assert_eq!(refused["code"], "invalid-body", "{way}: {refused}");
            assert_eq!(refused["status"], StatusCode::UNPROCESSABLE_ENTITY.as_u16());
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains("deadline_ms"), "{way}: {detail}");
        }
    }
}

/// What a stop says of its limit.
fn limit_of(stop: &Interrupt) -> Option<u64> {
    let note: StopNote = serde_json::from_str(&stop.content).unwrap();
    note.limit_ms
}

#[tokio::test]
async fn a_policy_sets_the_terms_of_stops_and_events_over_every_way_in() {
    let policy = "[[rule]]\ntype = \"PAUSE\"\ngrace = \"7s\"\n[[rule]]\ntype = \"HUMAN_REVIEW\"\n\
        review_limit = \"1h\"\non_expiry = \"cancel\"\n";
    let policy = Arc::new(Policy::from_toml(policy, &Vocabulary::default()).unwrap());
    for way in WAYS {
        let house = House::with(|config| config.policy = Arc::clone(&policy)).await;
        let run = running(&*house.store, None).await;
        let graceful = sent(&house, way, "interrupt", &agent(&run), &json!({})).await;
        let stop = asked(&house, &graceful).await;
        assert_eq!(limit_of(&stop), Some(7000), "{way}");
        let run = running(&*house.store, None).await;
        let at_once = json!({"mode": "immediate", "deadline_ms": 5});
        let at_once = sent(&house, way, "interrupt", &agent(&run), &at_once).await;
        assert_eq!(limit_of(&asked(&house, &at_once).await), None, "{way}");
    }
    let request = |id: &str, run: &Run| {
        json!({"eventId": id, "timestamp": "2026-11-22T06:00:00Z", "nodeId": agent(run)["agent_id"],
            "sourceAgentType": "DISCOVERY_ORCHESTRATOR", "interruptType": "HUMAN_REVIEW", "reason": "look",
            "choices": [], "confirmationItems": [], "contextForDecision": ""})
    };
    let house = House::with(|config| config.policy = policy).await;
    let run = running(&*house.store, None).await;
    let plain = request("evt-1", &run);
    let path = "/v1/interrupt-requests";
    let plain = house.post("supervisor", path, &plain).send().await.unwrap();
    let plain: Value = plain.json().await.unwrap();
    let event = json!({"specversion": "1.0", "source": "/tests", "id": "1", "data": request("evt-2", &run),
        "type": "dev.irq.interrupt.request_event.v1"});
    let event = published(&house, &event).await;
    let plain = json!({"interrupt_id": plain["interrupt"]["id"]});
    for answer in [&plain, &event] {
        let question = asked(&house, answer).await;
        assert!(question.deadline.is_some(), "{answer}");
        assert_eq!(question.on_expiry, ExpiryOutcome::Cancel);
    }
}

#[tokio::test]
async fn a_resume_is_checked_over_every_way_in() {
    for way in WAYS {
        let house = House::open().await;
        let run = running(&*house.store, None).await;
        let of = json!({"run_id": run.id.to_string()});
        for (body, detail) in [
            (json!({"input": "  "}), "$.input: the input is empty"),
            (
                json!({"checkpoint": 1, "accept_catalogue": true}),
                "$.accept_catalogue: not together with a checkpoint",
            ),
        ] {
            let refused = sent(&house, way, "resume", &of, &body).await;
            assert_eq!(refused["code"], "invalid-body", "{way}: {refused}");
            assert_eq!(refused["detail"], detail, "{way}");
        }
        assert!(house.launcher.resumed.lock().await.is_empty(), "{way}");
        assert_eq!(
            house.store.run(run.id).await.unwrap().unwrap().state,
            run.state
        );
    }
}
