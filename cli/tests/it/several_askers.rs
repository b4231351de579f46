//! Several ask for the pause of one run of a server: it stands as long as one of them does, and each is heard.

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::program::{Ended, end, irq};
use crate::serving::Installation;

/// Goes on by itself with whatever it may, as soon as that is allowed.
const RESUMES: &str = "[[rule]]\nresume = \"at once\"\n";

/// What a command does beside the server's store, as an operator of that name.
fn beside(installation: &Installation, name: &str, arguments: &[&str]) -> Ended {
    end(irq()
        .args(arguments)
        .env("IRQ_STORE", installation.store())
        .env("IRQ_USER", name))
}

/// Somebody with a token of his own.
struct Holder<'all> {
    installation: &'all Installation,
    client: Client,
    token: String,
}

impl<'all> Holder<'all> {
    fn of(installation: &'all Installation, name: &str, role: &[&str]) -> Self {
        let create = [&["token", "create", "--name", name, "--role"][..], role].concat();
        let made = beside(installation, "root", &create).exits_with(0);
        Self {
            installation,
            client: tls::client().build().unwrap(),
            token: made.output.trim().to_owned(),
        }
    }

    fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        let address = self.installation.address(path);
        self.client
            .request(method, address)
            .bearer_auth(&self.token)
    }

    async fn pauses(&self, run: &str, reason: &str) -> (StatusCode, Value) {
        let path = format!("/v1/agents/{run}%2Forchestrator/interrupts");
        let body = json!({"type": "PAUSE", "scope": "run", "reason": reason});
        let answer = self.ask(Method::POST, &path).json(&body).send().await;
        let answer = answer.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    async fn takes_back(&self, id: &str) -> (StatusCode, Value) {
        let path = format!("/v1/interrupts/{id}");
        let answer = self.ask(Method::DELETE, &path).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }
}

async fn begun(installation: &Installation) -> String {
    let order = json!({"goal": "Describe the bakery"});
    let started = installation.post("/v1/runs", &order).send().await.unwrap();
    let started: Value = started.json().await.unwrap();
    let run = started["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}");
    installation
        .until(&path, |run| (run["status"] == "running").then_some(()))
        .await;
    run
}

async fn is_paused(installation: &Installation, run: &str) {
    let path = format!("/v1/runs/{run}");
    installation
        .until(&path, |run| {
            (run["status"] == "paused" && run["executing"] == false).then_some(())
        })
        .await;
}

fn text<'json>(value: &'json Value, pointer: &str) -> &'json str {
    value.pointer(pointer).and_then(Value::as_str).unwrap()
}

#[tokio::test]
async fn neither_an_agent_nor_a_policy_undoes_the_pause_that_a_person_has_joined() {
    let installation = Installation::new();
    let policy = installation.folder.path().join("policy.toml");
    std::fs::write(&policy, RESUMES).unwrap();
    let policy = policy.to_str().unwrap();
    let server = installation.serve_with(&["--pace", "300", "--policy", policy]);
    let ada = Holder::of(&installation, "ada", &["supervisor"]);
    let run = begun(&installation).await;
    let agent = Holder::of(&installation, "agent-7", &["agent", "--run", &run]);

    let (status, first) = agent.pauses(&run, "I want to think").await;
    assert_eq!(status, StatusCode::ACCEPTED, "{first:#}");
    assert_eq!(first["source"], "programmatic");
    let id = text(&first, "/id").to_owned();
    let (status, joined) = ada.pauses(&run, "wait for the numbers").await;
    assert_eq!(status, StatusCode::OK, "{joined:#}");
    assert_eq!(text(&joined, "/id"), id);
    assert_eq!(joined["source"], "user");
    assert_eq!(joined["requested_by"], "ada");
    assert_eq!(joined["reason"], "wait for the numbers");
    assert_eq!(text(&joined, "/askings/0/reason"), "I want to think");
    assert_eq!(text(&joined, "/askings/1/id"), format!("{id}.2"));
    assert_eq!(text(&joined, "/askings/1/source"), "user");
    assert!(!text(&joined, "/askings/1/requested_at").is_empty());

    // The agent cannot take back what she asks, and what it asks itself does not set the run going.
    let (status, refused) = agent.takes_back(&format!("{id}.2")).await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{refused:#}");
    let (status, back) = agent.takes_back(&id).await;
    assert_eq!(status, StatusCode::OK, "{back:#}");
    assert_eq!(text(&back, "/askings/0/withdrawn/by"), "agent-7");
    is_paused(&installation, &run).await;

    // The policy lets another run go on that an agent alone has paused, and not this one.
    let other = begun(&installation).await;
    let others = Holder::of(&installation, "agent-8", &["agent", "--run", &other]);
    let (_status, paused) = others.pauses(&other, "I want to think, too").await;
    let path = format!("/v1/interrupts/{}", text(&paused, "/id"));
    installation
        .until(&path, |it| (it["state"] == "resolved").then_some(()))
        .await;
    let row = installation.json(&format!("/v1/runs/{run}")).await;
    assert_eq!(row["status"], "paused", "{row:#}");
    let stands = installation.json(&format!("/v1/interrupts/{id}")).await;
    assert_eq!(stands["state"], "awaiting_review", "{stands:#}");

    // Who asked, and why, is said beside the store and in the audit.
    let review = beside(&installation, "ada", &["review", &id]).exits_with(0);
    let history = beside(&installation, "ada", &["history", "--run", &run]).exits_with(0);
    for words in ["I want to think", "wait for the numbers"] {
        assert!(review.output.contains(words), "{review:#?}");
        assert!(history.output.contains(words), "{history:#?}");
    }
    let verified = ["history", "--verify"];
    beside(&installation, "ada", &verified).exits_with(0);
    beside(&installation, "ada", &["resume", &run]).exits_with(0);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn a_pause_that_all_have_taken_back_lets_the_run_go_on_in_a_new_turn() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "300"]);
    let ada = Holder::of(&installation, "ada", &["supervisor"]);
    let run = begun(&installation).await;
    let agent = Holder::of(&installation, "agent-7", &["agent", "--run", &run]);
    let (_status, asked) = agent.pauses(&run, "I want to think").await;
    let id = text(&asked, "/id").to_owned();
    ada.pauses(&run, "wait for the numbers").await;
    is_paused(&installation, &run).await;
    // She has to say whose asking she means where it is none of hers.
    let bob = beside(&installation, "bob", &["withdraw", &id]).exits_with(4);
    assert!(bob.error_output.contains(&format!("{id}.1")), "{bob:#?}");
    let bob = beside(&installation, "bob", &["withdraw", &format!("{id}.1")]).exits_with(0);
    assert!(bob.output.contains("ada"), "{bob:#?}");
    let (status, ended) = ada.takes_back(&id).await;
    assert_eq!(status, StatusCode::OK, "{ended:#}");
    assert_eq!(ended["state"], "cancelled", "{ended:#}");
    assert_eq!(text(&ended, "/askings/0/withdrawn/by"), "bob");
    assert_eq!(installation.ends(&run).await, "completed");
    let history = beside(&installation, "ada", &["history", "--run", &run]).exits_with(0);
    assert!(history.output.contains("of agent-7"), "{history:#?}");
    server.kill();
}

#[tokio::test]
async fn a_stop_of_a_run_is_not_taken_back_once_its_process_was_told() {
    let installation = Installation::new();
    let server = installation.serve_with(&["--pace", "20"]);
    let ada = Holder::of(&installation, "ada", &["supervisor"]);
    let run = begun(&installation).await;
    let path = format!("/v1/agents/{run}%2Forchestrator/interrupts");
    let body = json!({"type": "STOP", "scope": "run", "reason": "enough"});
    let stop = ada.ask(Method::POST, &path).json(&body).send().await;
    let stop: Value = stop.unwrap().json().await.unwrap();
    let id = text(&stop, "/id").to_owned();
    installation
        .until(&format!("/v1/interrupts/{id}"), |it| {
            (it["state"] != "requested").then_some(())
        })
        .await;
    let (status, refused) = ada.takes_back(&id).await;
    assert_eq!(status, StatusCode::CONFLICT, "{refused:#}");
    // It may have been carried out by then.
    let code = text(&refused, "/code");
    assert!(
        ["not-cancelable", "already-resolved"].contains(&code),
        "{refused:#}"
    );
    assert_eq!(installation.ends(&run).await, "cancelled");
    server.kill();
}
