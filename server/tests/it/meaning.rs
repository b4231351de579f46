//! What is said at any way in means the same to the code that asked: each form of question, each verdict, each way.

use interrupts::life::{Interrupt, Role};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tests::saying::{FORMS, Said, in_form};

use crate::house::House;
use crate::page::{Browser, hidden};
use crate::scene::{awaiting, question, running};
use crate::socket::Socket;

/// The ways in by which a person decides.
const WAYS: [&str; 5] = ["rest", "batch", "socket", "event", "page"];

/// A question of this form that waits.
async fn asked(house: &House, form: Option<&str>) -> Interrupt {
    let run = running(&*house.store, None).await;
    let mut admission = question(&run, "shall it be done?");
    let content: Value = serde_json::from_str(&admission.content).unwrap();
    admission.content = in_form(content, form).to_string();
    awaiting(&*house.store, admission).await
}

/// Says it over a way in; whether it was taken.
async fn say(
    house: &House,
    way: &str,
    (asked, form): (&Interrupt, Option<&str>),
    said: Said,
) -> bool {
    let id = asked.id.to_string();
    let mut body =
        json!({"decision": said.verdict(), "payload": {"selectedChoices": said.choices(form)}});
    if let Some(words) = said.words() {
        body["message"] = words.into();
    }
    if said == Said::Elsewhere {
        body["reroute_to"] = "TICKET_ORCHESTRATOR".into();
    }
    let mut named = body.clone();
    named["interrupt_id"] = id.clone().into();
    named["version"] = asked.version.into();
    match way {
        "rest" => {
            let path = format!("/v1/interrupts/{id}/decisions");
            let sent = house.post("reviewer", &path, &body);
            let sent = sent.header("If-Match", format!("\"{}\"", asked.version));
            is_taken(sent.send().await.unwrap())
        }
        "batch" => {
            let body = json!({"decisions": [named]});
            let sent = house.post("reviewer", "/v1/interrupts:decide", &body);
            let told: Value = sent.send().await.unwrap().json().await.unwrap();
            told["decided"] == 1
        }
        "socket" => {
            let mut socket = Socket::open(house, "reviewer").await;
            let frame = json!({"type": "decision", "payload": named});
            socket.send(&frame.to_string()).await;
            socket.receive_a("decision_ack").await["payload"]["success"] == true
        }
        "event" => {
            let event = json!({"specversion": "1.0", "source": "/tests", "id": id, "data": named,
                "type": "dev.irq.command.decide.v1"});
            let sent = house.client.post(house.url("/v1/events"));
            let sent = sent.header("content-type", "application/cloudevents+json");
            let sent = sent.bearer_auth(&house.tokens["reviewer"]);
            is_taken(sent.body(event.to_string()).send().await.unwrap())
        }
        _ => is_taken(pressed(house, (&id, form), said).await),
    }
}

/// The button that says it is pressed on the page, or would be if it was there.
async fn pressed(house: &House, (id, form): (&str, Option<&str>), said: Said) -> Response {
    let browser = Browser::of(house, "alex", Role::Reviewer).await;
    let path = format!("/review/{id}");
    let (_, page) = browser.get(&path).await;
    let hidden = ["version", "shown_digest", "key"].map(|name| (name, hidden(&page, name)));
    let mut fields: Vec<(&str, &str)> = hidden.iter().map(|(name, it)| (*name, &**it)).collect();
    fields.push(("decision", said.verdict()));
    fields.extend(said.choices(form).iter().map(|choice| ("choice", *choice)));
    fields.extend(said.words().map(|words| ("text", words)));
    if said == Said::Elsewhere {
        fields.push(("reroute_to", "TICKET_ORCHESTRATOR"));
    }
    browser.post(&path, &fields).await
}

fn is_taken(response: Response) -> bool {
    let status = response.status();
    assert!(!status.is_server_error(), "{status}");
    status.is_success() || status == StatusCode::SEE_OTHER
}

#[tokio::test]
async fn what_is_said_means_the_same_over_every_way_in_and_a_no_is_never_a_yes() {
    let house = House::open().await;
    for way in WAYS {
        for form in FORMS {
            for said in Said::ALL {
                let of = format!("{way}, {form:?}, {said:?}");
                let asked = asked(&house, form).await;
                let is_taken = say(&house, way, (&asked, form), said).await;
                let now = house.store.interrupt(asked.id).await.unwrap().unwrap();
                let told = now.decided_as();
                assert_eq!(told, said.meaning(form), "{of}");
                assert_eq!(is_taken, told.is_some(), "{of}: what the person is told");
                if said.words() == Some("too dear") {
                    let kept = now.decision.unwrap().content.unwrap();
                    assert!(kept.contains("too dear"), "{of}: {kept}");
                    assert!(!kept.contains("narrow"), "{of}: {kept}");
                }
            }
        }
    }
}
