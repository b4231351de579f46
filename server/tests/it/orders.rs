//! An order is the same one over every way in: REST, the socket and CloudEvents read the same fields by the same rules.

use interrupts::life::Interrupt;
use interrupts::manager::StopNote;
use interrupts::store::Run;
use reqwest::StatusCode;
use routing_core::InterruptType;
use serde_json::{Value, json};

use crate::house::House;
use crate::scene::{DISCOVERY, running};
use crate::socket::Socket;

/// The ways in.
const WAYS: [&str; 3] = ["rest", "socket", "event"];

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
            let sent = house.post("supervisor", "/v1/events", &event);
            let sent = sent.header("content-type", "application/cloudevents+json");
            let mut answer: Value = sent.send().await.unwrap().json().await.unwrap();
            let result = answer["results"][0].take();
            if result.is_null() { answer } else { result }
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
