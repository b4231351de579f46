//! What supervisors ask for.

use async_nats::{HeaderMap, Message};
use futures_util::StreamExt as _;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::scene::{Scene, Server};

/// What a supervisor wants of a run's orchestrator.
fn request_event(run: &str, id: &str) -> Value {
    json!({"eventId": id, "timestamp": "2026-11-25T10:00:00Z",
        "nodeId": format!("{run}/orchestrator"), "sourceAgentType": "ORCHESTRATOR",
        "rerouteToAgentType": "DISCOVERY_ORCHESTRATOR", "interruptType": "HUMAN_REVIEW",
        "reason": "Look at the folder first", "choices": [], "confirmationItems": [],
        "contextForDecision": ""})
}

fn cloud_event(id: &str, kind: &str, data: &Value) -> Value {
    json!({"specversion": "1.0", "id": id, "source": "/supervisors/ada", "type": kind,
        "datacontenttype": "application/json", "data": data})
}

fn rerouting(run: &str, id: &str) -> Value {
    cloud_event(
        id,
        "dev.irq.interrupt.request_event.v1",
        &request_event(run, id),
    )
}

fn headers(token: Option<&str>, more: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        headers.insert("Authorization", format!("Bearer {token}"));
    }
    for (name, value) in more {
        headers.insert(*name, *value);
    }
    headers
}

const STRUCTURED: (&str, &str) = ("Content-Type", "application/cloudevents+json");

/// A broker, a slow run, and a supervisor with a token.
struct Desk {
    scene: Scene,
    server: Server,
    client: async_nats::Client,
    token: String,
    run: String,
}

impl Desk {
    async fn new() -> Option<Self> {
        let scene = Scene::new()?;
        let address = format!("nats://{}", scene.nats.address());
        let server = scene.serve_at(&address, &["--pace", "20"]);
        let run = scene.start(&server).await;
        scene
            .until(&server, &format!("/v1/runs/{run}/tree"), |_tree| Some(()))
            .await;
        Some(Self {
            client: scene.supervisor().await,
            token: scene.token_of("ada", "supervisor"),
            scene,
            server,
            run,
        })
    }

    async fn asks(&self, verb: &str, headers: HeaderMap, body: &Value) -> Message {
        let subject = format!("irq.v1.local.cmd.{verb}");
        let body = body.to_string().into();
        let asked = self.client.request_with_headers(subject, headers, body);
        asked.await.unwrap()
    }

    async fn interrupts(&self) -> Vec<Value> {
        let page = self.scene.get(&self.server, "/v1/interrupts").await;
        page["interrupts"].as_array().unwrap().clone()
    }
}

fn json_of(message: &Message) -> Value {
    serde_json::from_slice(&message.payload).unwrap()
}

fn header<'m>(message: &'m Message, name: &str) -> Option<&'m str> {
    message
        .headers
        .as_ref()?
        .get(name)
        .map(|value| value.as_str())
}

#[tokio::test]
async fn a_reroute_is_admitted_once_and_answered_as_over_rest() {
    let Some(desk) = Desk::new().await else {
        return;
    };
    let event = rerouting(&desk.run, "evt-1");
    let with_token = || headers(Some(&desk.token), &[STRUCTURED]);
    let first = desk.asks("reroute", with_token(), &event).await;
    let answer = json_of(&first);
    assert_eq!(answer["accepted"], 1, "{answer}");
    assert_eq!(header(&first, "Content-Type"), Some("application/json"));
    assert_eq!(header(&first, "Nats-Service-Error-Code"), None);
    // Sent again, over any way, it is the same one.
    let again = desk.asks("reroute", with_token(), &event).await;
    let over_rest = desk
        .scene
        .post_event(&desk.server, Some(&desk.token), &event)
        .await;
    assert_eq!(over_rest.0, StatusCode::ACCEPTED);
    let interrupt = answer["results"][0]["interrupt_id"].clone();
    for answer in [json_of(&again), over_rest.1] {
        assert_eq!(answer["results"][0]["interrupt_id"], interrupt);
    }
    // In the binary mode too, with the attributes as another client writes them.
    let attributes = [
        ("ce-specversion", "1.0"),
        ("ce-type", "dev.irq.interrupt.request_event.v1"),
        ("CE-Id", "evt-1"),
        ("ce-source", "/supervisors/ada"),
        ("ce-datacontenttype", "application/json"),
    ];
    let binary = headers(Some(&desk.token), &attributes);
    let binary = desk.asks("reroute", binary, &event["data"]).await;
    assert_eq!(json_of(&binary)["results"][0]["interrupt_id"], interrupt);
    assert_eq!(desk.interrupts().await.len(), 1);
    // The supervisor hears what became of it.
    desk.scene.is_published().await;
    let heard = desk.scene.heard().await;
    let told = |name: &str| {
        let is_it = |subject: &str| subject.contains(&desk.run) && subject.ends_with(name);
        heard.iter().filter(|one| is_it(&one.subject)).count()
    };
    assert_eq!(
        (told("reroute.pending"), told("interrupt.requested")),
        (1, 1)
    );
}

#[tokio::test]
async fn what_rest_refuses_is_refused_with_the_same_problem() {
    let Some(desk) = Desk::new().await else {
        return;
    };
    let reviewer = desk.scene.token_of("kim", "reviewer");
    let event = rerouting(&desk.run, "evt-1");
    let mut unknown = event.clone();
    unknown["data"]["rerouteToAgentType"] = "NO_SUCH_AGENT".into();
    let wrong = format!("{}x", desk.token);
    for (token, event) in [
        (None, &event),
        (Some(wrong.as_str()), &event),
        (Some(reviewer.as_str()), &event),
        (Some(desk.token.as_str()), &unknown),
        (Some(desk.token.as_str()), &json!({"specversion": "1.0"})),
    ] {
        let answer = desk
            .asks("reroute", headers(token, &[STRUCTURED]), event)
            .await;
        let (status, problem) = desk.scene.post_event(&desk.server, token, event).await;
        assert!(status.is_client_error(), "{problem}");
        assert_eq!(json_of(&answer), problem);
        assert_eq!(
            header(&answer, "Content-Type"),
            Some("application/problem+json")
        );
        let code = header(&answer, "Nats-Service-Error-Code");
        assert_eq!(code, Some(status.as_str()), "{problem}");
    }
    // A subject is for what it says alone.
    let answer = desk
        .asks("decide", headers(Some(&desk.token), &[STRUCTURED]), &event)
        .await;
    let problem = json_of(&answer);
    assert!(
        problem["hint"].as_str().unwrap().contains("cmd.reroute"),
        "{problem}"
    );
    assert_eq!(desk.interrupts().await, Vec::<Value>::new());
}

#[tokio::test]
async fn tokens_that_are_none_are_tried_so_often_and_hold_up_no_other() {
    let Some(scene) = Scene::new() else { return };
    let address = format!("nats://{}", scene.nats.address());
    let server = scene.serve_at(&address, &["--failures-per-minute", "2"]);
    let run = scene.start_asking(&server).await;
    scene.question(&server).await;
    let desk = Desk {
        client: scene.supervisor().await,
        token: scene.token_of("ada", "supervisor"),
        scene,
        server,
        run,
    };
    let event = rerouting(&desk.run, "evt-1");
    let wrong = format!("{}x", desk.token);
    let mut codes = Vec::new();
    for _attempt in 0..4 {
        let answer = desk
            .asks("reroute", headers(Some(&wrong), &[STRUCTURED]), &event)
            .await;
        codes.push(
            header(&answer, "Nats-Service-Error-Code")
                .unwrap()
                .to_owned(),
        );
    }
    assert_eq!(codes, ["401", "401", "429", "429"]);
    let answer = desk
        .asks("reroute", headers(Some(&desk.token), &[STRUCTURED]), &event)
        .await;
    assert_eq!(json_of(&answer)["accepted"], 1);
}

#[tokio::test]
async fn a_command_without_an_answer_is_admitted_once() {
    let Some(desk) = Desk::new().await else {
        return;
    };
    let event = rerouting(&desk.run, "evt-1").to_string();
    // A stream of the supervisor's own takes commands down for later.
    let jetstream = async_nats::jetstream::new(desk.client.clone());
    let stream = async_nats::jetstream::stream::Config {
        name: "COMMANDS".to_owned(),
        subjects: vec!["irq.v1.local.cmd.*".to_owned()],
        ..Default::default()
    };
    jetstream.create_stream(stream).await.unwrap();
    let subject = "irq.v1.local.cmd.reroute";
    for _time in 0..2 {
        let headers = headers(Some(&desk.token), &[STRUCTURED]);
        let published = desk
            .client
            .publish_with_headers(subject, headers, event.clone().into());
        published.await.unwrap();
    }
    let headers = headers(Some(&desk.token), &[STRUCTURED]);
    let published = jetstream.publish_with_headers(subject, headers, event.into());
    published.await.unwrap().await.unwrap();
    desk.scene
        .until(&desk.server, "/v1/interrupts", |page| {
            (!page["interrupts"].as_array().unwrap().is_empty()).then_some(())
        })
        .await;
    // What comes after them is answered after them; with the stream gone, by the server alone.
    jetstream.delete_stream("COMMANDS").await.unwrap();
    let last = desk.asks("reroute", HeaderMap::new(), &Value::Null).await;
    assert_eq!(header(&last, "Nats-Service-Error-Code"), Some("401"));
    assert_eq!(desk.interrupts().await.len(), 1);
}

#[tokio::test]
async fn a_question_is_answered_over_the_bus_once() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    let run = scene.start_asking(&server).await;
    let question = scene.question(&server).await;
    let desk = Desk {
        client: scene.supervisor().await,
        token: scene.token_of("ada", "supervisor"),
        scene,
        server,
        run,
    };
    let with_token = || headers(Some(&desk.token), &[STRUCTURED]);
    let id = &question["id"];
    let decision = json!({"interrupt_id": id, "version": question["version"],
        "decision": "respond", "payload": {"selectedChoices": ["left"]}});
    let event = cloud_event("c-1", "dev.irq.command.decide.v1", &decision);
    for _time in 0..2 {
        let answer = json_of(&desk.asks("decide", with_token(), &event).await);
        assert_eq!(&answer["results"][0]["interrupt_id"], id, "{answer}");
    }
    desk.scene.ends(&desk.server, &desk.run).await;
}

#[tokio::test]
async fn an_agent_is_stopped_over_the_bus_and_its_run_goes_on_over_it() {
    let Some(desk) = Desk::new().await else {
        return;
    };
    let with_token = || headers(Some(&desk.token), &[STRUCTURED]);
    let stop = json!({"agent_id": format!("{}/orchestrator", desk.run), "mode": "immediate",
        "scope": "run", "reason": "wait a moment"});
    let stop = cloud_event("c-1", "dev.irq.command.interrupt.v1", &stop);
    let answer = json_of(&desk.asks("interrupt", with_token(), &stop).await);
    assert!(answer["results"][0]["interrupt_id"].is_string(), "{answer}");
    let path = format!("/v1/runs/{}", desk.run);
    let has = |status: &'static str| move |run: &Value| (run["status"] == status).then_some(());
    desk.scene.until(&desk.server, &path, has("paused")).await;
    let resume = json!({"run_id": desk.run});
    let resume = cloud_event("c-2", "dev.irq.command.resume.v1", &resume);
    let answer = json_of(&desk.asks("resume", with_token(), &resume).await);
    assert_eq!(
        answer["results"][0]["run_id"],
        desk.run.as_str(),
        "{answer}"
    );
    desk.scene.until(&desk.server, &path, has("running")).await;
}

#[tokio::test]
async fn several_servers_share_the_commands() {
    let Some(desk) = Desk::new().await else {
        return;
    };
    let _other = desk.scene.serve();
    let inbox = desk.client.new_inbox();
    let mut answers = desk.client.subscribe(inbox.clone()).await.unwrap();
    let headers = headers(Some(&desk.token), &[STRUCTURED]);
    let event = rerouting(&desk.run, "evt-1").to_string();
    let subject = "irq.v1.local.cmd.reroute";
    let sent =
        desk.client
            .publish_with_reply_and_headers(subject, inbox.clone(), headers, event.into());
    sent.await.unwrap();
    let first = answers.next().await.unwrap();
    assert_eq!(json_of(&first)["accepted"], 1);
    // What comes after this came after any second answer.
    for _server in 0..20 {
        let asked = desk.asks("reroute", HeaderMap::new(), &Value::Null).await;
        assert_eq!(header(&asked, "Nats-Service-Error-Code"), Some("401"));
    }
    desk.client.publish(inbox, "last".into()).await.unwrap();
    let next = answers.next().await.unwrap();
    assert_eq!(next.payload.as_ref(), b"last");
}
