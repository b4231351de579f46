//! The worker protocol: an orchestrator in any language, over HTTP, against the real program.

mod effects;
mod leases;
mod questions;
mod registering;
mod routes;
mod stops;
mod verdicts;

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::program::{end, irq};
use crate::serving::{Installation, Server};

/// The workflow of these tests.
const WORKFLOW: &str = "support-desk";

/// A worker of a workflow, and people who decide.
struct Desk {
    installation: Installation,
    server: Option<Server>,
    worker: String,
    client: Client,
}

/// What came back: the status, and the body.
#[derive(Debug)]
struct Told {
    status: StatusCode,
    body: Value,
}

impl Told {
    async fn by(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Self { status, body }
    }

    /// The body, where the request was carried out.
    #[track_caller]
    fn fine(self) -> Value {
        assert!(self.status.is_success(), "{self:?}");
        self.body
    }

    /// The problem, where it was refused so.
    #[track_caller]
    fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        assert_eq!(self.body["code"], code, "{self:?}");
        let hint = self.body["hint"].as_str().unwrap_or_default();
        assert!(!hint.is_empty(), "{self:?}");
        self.body
    }
}

/// Three kinds, each with a route; a fourth whose answers only come back.
fn workflow() -> Value {
    let request = |field: &str| {
        json!({"type": "object", "additionalProperties": false, "required": [field],
            "properties": {field: {"type": "string", "maxLength": 100}, "note": {"type": "string", "maxLength": 100}}})
    };
    json!({
        "kinds": [
            {"name": "ORCHESTRATOR", "origin": "ORCHESTRATOR"},
            {"name": "REFUNDS", "origin": "REFUNDS"},
            {"name": "LEGAL", "origin": "LEGAL"},
            {"name": "SCRIBE"},
        ],
        "routes": [
            {"name": "ORCHESTRATOR", "field": "next", "schema": request("step")},
            {"name": "REFUNDS", "field": "refund", "schema": request("amount")},
            {"name": "LEGAL", "field": "legal", "schema": request("matter")},
        ],
    })
}

impl Desk {
    /// A server, and a worker that has registered its workflow.
    async fn open() -> Self {
        let installation = Installation::new();
        let worker = token_of(&installation, WORKFLOW);
        let server = Some(installation.serve());
        let client = tls::client().pool_max_idle_per_host(0).build().unwrap();
        let desk = Self {
            installation,
            server,
            worker,
            client,
        };
        let path = format!("/v1/workflows/{WORKFLOW}");
        desk.put(&path, &workflow()).await.fine();
        desk
    }

    /// The server dies, and another one is started at its address.
    fn dies_and_comes_back(&mut self) {
        self.server.take().unwrap().kill();
        self.server = Some(self.installation.serve());
    }

    async fn asks(&self, token: &str, method: Method, path: &str, body: Option<&Value>) -> Told {
        let request = self.client.request(method, self.installation.address(path));
        let request = request.bearer_auth(token);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        Told::by(request).await
    }

    /// A request with a key of its own.
    async fn keyed(&self, key: &str, path: &str, body: &Value) -> Told {
        let request = self.client.post(self.installation.address(path));
        let request = request.header("Idempotency-Key", key);
        Told::by(request.bearer_auth(&self.worker).json(body)).await
    }

    /// The worker `first` takes a run, in a try with this key.
    async fn tries(&self, key: &str, path: &str) -> Told {
        self.keyed(key, path, &json!({"worker": "first"})).await
    }

    async fn put(&self, path: &str, body: &Value) -> Told {
        self.asks(&self.worker, Method::PUT, path, Some(body)).await
    }

    async fn post(&self, path: &str, body: &Value) -> Told {
        self.asks(&self.worker, Method::POST, path, Some(body))
            .await
    }

    async fn get(&self, path: &str) -> Told {
        self.asks(&self.worker, Method::GET, path, None).await
    }

    async fn delete(&self, path: &str) -> Told {
        self.asks(&self.worker, Method::DELETE, path, None).await
    }

    /// A run that a worker owns.
    async fn run(&self) -> Run<'_> {
        let path = format!("/v1/workflows/{WORKFLOW}/runs");
        let created = self.post(&path, &json!({"input": {"order": 17}})).await;
        let id = created.fine()["run_id"].as_str().unwrap().to_owned();
        self.takes(&id, "first").await
    }

    async fn takes(&self, run: &str, worker: &str) -> Run<'_> {
        let path = format!("/v1/work/{run}/lease");
        let taken = self.post(&path, &json!({"worker": worker})).await.fine();
        Run {
            desk: self,
            id: run.to_owned(),
            epoch: taken["epoch"].as_u64().unwrap(),
        }
    }

    /// A person decides what waits.
    async fn decides(&self, interrupt: &Value, decision: &Value) -> Told {
        let path = format!("/v1/interrupts/{}", interrupt.as_str().unwrap());
        let shown = self.installation.get(&path).send().await.unwrap();
        let version = shown.headers()["etag"].clone();
        let path = format!("{path}/decisions");
        let decided = self.installation.post(&path, decision);
        let decided = decided.header("if-match", version).send().await.unwrap();
        let status = decided.status();
        let body = decided.json().await.unwrap();
        Told { status, body }
    }

    /// A person withdraws what waits.
    async fn withdraws(&self, interrupt: &Value) {
        let path = format!("/v1/interrupts/{}", interrupt.as_str().unwrap());
        let shown = self.installation.get(&path).send().await.unwrap();
        let withdrawn = self.installation.delete(&path);
        let withdrawn = withdrawn.header("if-match", shown.headers()["etag"].clone());
        assert!(withdrawn.send().await.unwrap().status().is_success());
    }

    /// A supervisor wants the agent for refunds to ask, and the answer to go to LEGAL.
    async fn event(&self, run: &str, id: &str) {
        let event = json!({"eventId": id, "timestamp": "2026-11-25T10:00:00Z",
            "nodeId": format!("{run}/root/refunds"), "sourceAgentType": "REFUNDS",
            "rerouteToAgentType": "LEGAL", "interruptType": "HUMAN_REVIEW", "reason": "Let legal look",
            "choices": [], "confirmationItems": [], "contextForDecision": ""});
        self.directs("/v1/interrupt-requests", &event).await.fine();
    }

    /// A person asks for something.
    async fn directs(&self, path: &str, body: &Value) -> Told {
        let sent = self.installation.post(path, body).send().await.unwrap();
        let status = sent.status();
        let body = sent.json().await.unwrap();
        Told { status, body }
    }
}

/// The token of a worker.
fn token_of(installation: &Installation, workflow: &str) -> String {
    let mut create = irq();
    create.args(["token", "create", "--name", workflow, "--role", "worker"]);
    create.args(["--workflow", workflow]);
    let made = end(create.env("IRQ_STORE", installation.store())).exits_with(0);
    made.output.trim().to_owned()
}

/// A run that a worker owns in an epoch.
struct Run<'d> {
    desk: &'d Desk,
    id: String,
    epoch: u64,
}

impl Run<'_> {
    fn path(&self, rest: &str) -> String {
        let sign = if rest.contains('?') { '&' } else { '?' };
        format!("/v1/work/{}/{rest}{sign}epoch={}", self.id, self.epoch)
    }

    async fn put(&self, rest: &str, body: &Value) -> Told {
        self.desk.put(&self.path(rest), body).await
    }

    async fn post(&self, rest: &str, body: &Value) -> Told {
        self.desk.post(&self.path(rest), body).await
    }

    async fn get(&self, rest: &str) -> Told {
        self.desk.get(&self.path(rest)).await
    }

    /// An agent of a kind asks.
    async fn asks(&self, key: &str, kind: &str) -> Value {
        let told = self.put(&format!("questions/{key}"), &question(kind)).await;
        told.fine()
    }

    /// How it stands.
    async fn stands(&self) -> Value {
        self.desk.get(&format!("/v1/work/{}", self.id)).await.fine()
    }
}

/// What an agent of a kind asks.
fn question(kind: &str) -> Value {
    let agent = match kind {
        "ORCHESTRATOR" => "root".to_owned(),
        other => format!("root/{}", other.to_lowercase()),
    };
    json!({"agent_id": agent, "kind": kind, "reason": format!("What shall {kind} do?"),
        "choices": [{"value": "yes", "label": "Pay"}, {"value": "no"}]})
}
