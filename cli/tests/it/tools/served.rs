//! Runs of a server with tools: asked over REST, and told in the feed and the figures.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tests::processes::working_in;

use super::Place;
use super::stopping::{STUBBORN, wait_until_nobody_works_in};
use crate::program::spawn;

/// A server with tools for the folder of a place.
struct Served {
    server: Child,
    client: Client,
    port: String,
    token: String,
}

impl Served {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let store = place.keeping.path().join("irq.db");
        let made = place.end(&["token", "create", "--name", "script", "--role", "admin"]);
        let token = made.exits_with(0).output.trim().to_owned();
        let mut command = place.irq(&["serve", "--listen", "127.0.0.1:0", "--workspace"]);
        command.arg(place.folder.path()).arg("--tools");
        command.arg(place.folder.path()).env("IRQ_STORE", &store);
        let mut server = spawn(command.args(arguments));
        let mut page = String::new();
        BufReader::new(server.stdout.take().unwrap())
            .read_line(&mut page)
            .unwrap();
        let port = page.trim().rsplit(':').next().unwrap();
        let port = port.chars().take_while(char::is_ascii_digit).collect();
        Self {
            server,
            client: tls::client().build().unwrap(),
            port,
            token,
        }
    }

    fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    async fn send(&self, request: RequestBuilder) -> Response {
        request.bearer_auth(&self.token).send().await.unwrap()
    }

    async fn read(&self, path: &str) -> Value {
        let answered = self.send(self.client.get(self.address(path))).await;
        answered.json().await.unwrap()
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        self.send(self.client.post(self.address(path)).json(body))
            .await
    }

    /// Starts a run and returns its id.
    async fn run(&self, goal: &str) -> String {
        let started = self.post("/v1/runs", &json!({ "goal": goal })).await;
        assert_eq!(started.status(), 201);
        let started: Value = started.json().await.unwrap();
        started["run_id"].as_str().unwrap().to_owned()
    }

    async fn decide(&self, question: &Value, decision: &Value) {
        let path = format!("/v1/interrupts/{}", question["id"].as_str().unwrap());
        let shown = self.read(&path).await;
        let request = self.client.post(self.address(&format!("{path}/decisions")));
        let request = request
            .header("If-Match", format!("\"{}\"", shown["version"]))
            .json(decision);
        assert_eq!(self.send(request).await.status(), 201);
    }

    /// The data of the first event of the run with this name about the shell, once it is told.
    async fn told(&self, run: &str, name: &str) -> Value {
        let begun = Instant::now();
        loop {
            let told = self.read(&format!("/v1/runs/{run}/events?limit=500")).await;
            let name = format!("dev.irq.{name}.v1");
            let found = told["events"].as_array().unwrap().iter();
            let mut found = found.filter(|it| it["type"] == name && it["data"]["tool"] == "shell");
            if let Some(event) = found.next() {
                return event["data"].clone();
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "no {name}: {told}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends it a signal.
    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.server.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end, which it was told of.
    fn end_having_been_told(mut self) {
        assert!(self.server.wait().unwrap().success());
    }

    fn end(mut self) {
        self.signal(Signal::TERM);
        self.server.wait().unwrap();
    }
}

#[tokio::test]
async fn a_served_run_asks_over_rest_and_goes_on_with_the_answer() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let run = served.run("Note it with `echo served >> made.txt`").await;
    let question = place.open_question();
    let path = format!("/v1/interrupts/{}", question["id"].as_str().unwrap());
    let shown = served.read(&path).await;
    assert_eq!(shown["kind"], "permission", "{shown}");
    let schema = &shown["response_schema"]["properties"]["editedRequest"];
    assert!(schema["properties"]["command"].is_object(), "{schema}");
    let listed = served.read("/v1/agents?limit=500").await;
    let mut agents = listed["agents"].as_array().unwrap().iter();
    let agent = agents.find(|it| it["agent_id"] == shown["agent_id"]);
    assert_eq!(agent.unwrap()["status"], "waiting_review", "{listed}");
    served
        .decide(&question, &json!({"decision": "approve"}))
        .await;
    let begun = Instant::now();
    while place.text("made.txt").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never ran");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(place.text("made.txt").unwrap(), "served\n");
    let started = served.told(&run, "tool.started").await;
    let finished = served.told(&run, "tool.finished").await;
    assert_eq!(started["call_id"], finished["call_id"]);
    assert_eq!(finished["outcome"], "finished");
    assert!(started.get("outcome").is_none(), "it was not known then");
    served.end();
}

#[tokio::test]
async fn a_denied_call_is_told_as_denied_and_never_as_started() {
    let place = Place::new();
    let served = Served::start(&place, &[]);
    let run = served.run("Note it with `echo served >> made.txt`").await;
    let question = place.open_question();
    served
        .decide(&question, &json!({"decision": "reject", "message": "no"}))
        .await;
    let finished = served.told(&run, "tool.finished").await;
    assert_eq!(finished["outcome"], "denied");
    let said = finished["message"].as_str().unwrap();
    assert!(said.contains("a person says: no"), "{said}");
    let told = served
        .read(&format!("/v1/runs/{run}/events?limit=500"))
        .await;
    let told = told["events"].as_array().unwrap().iter();
    let mut started = told.filter(|it| it["type"] == "dev.irq.tool.started.v1");
    assert!(started.all(|it| it["data"]["tool"] != "shell"));
    served.end();
}

#[tokio::test]
async fn an_interrupted_call_is_told_in_the_feed_and_counted() {
    let place = Place::new();
    let allowed = place.all_allowed();
    let served = Served::start(&place, &["--permissions", &allowed]);
    let run = served.run(&format!("Do `{STUBBORN}`")).await;
    served.told(&run, "tool.started").await;
    let cancel = json!({"mode": "immediate", "reason": "enough"});
    let cancelled = served
        .post(&format!("/v1/runs/{run}/cancel"), &cancel)
        .await;
    assert_eq!(cancelled.status(), 202);
    let interrupted = served.told(&run, "tool.interrupted").await;
    assert_eq!(interrupted["interrupted_by"], "user", "{interrupted}");
    assert_eq!(interrupted["left_behind"], false);
    let said = interrupted["message"].as_str().unwrap();
    assert!(
        said.starts_with("Tool execution interrupted by the user"),
        "{said}"
    );
    let figures = served.send(served.client.get(served.address("/metrics")));
    let figures = figures.await.text().await.unwrap();
    let counted = r#"tool_interrupts_total{tool="shell",reason="user"} 1"#;
    assert!(figures.contains(counted), "{figures}");
    wait_until_nobody_works_in(place.folder.path());
    served.end();
}

#[tokio::test]
async fn calls_that_a_servers_end_cuts_off_are_told_so_and_the_next_server_does_nothing_twice() {
    for signals in [&[Signal::TERM][..], &[Signal::TERM, Signal::TERM]] {
        let place = Place::new();
        let allowed = place.all_allowed();
        let served = Served::start(&place, &["--permissions", &allowed]);
        let goal = format!("Do `echo one >> log.txt` and `{STUBBORN}`");
        let run = served.run(&goal).await;
        let begun = Instant::now();
        while working_in(place.folder.path()).is_empty()
            || place.text("log.txt").as_deref() != Some("one\n")
        {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for signal in signals {
            served.signal(*signal);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        served.end_having_been_told();
        wait_until_nobody_works_in(place.folder.path());
        let open = place.end(&["review", "--json"]).exits_with(0).output;
        assert_eq!(open, "", "no one is asked about it");
        let next = Served::start(&place, &["--permissions", &allowed]);
        let interrupted = next.told(&run, "tool.interrupted").await;
        assert_eq!(interrupted["interrupted_by"], "system", "{interrupted}");
        let begun = Instant::now();
        while next.read(&format!("/v1/runs/{run}")).await["status"] != "completed" {
            assert!(begun.elapsed() < Duration::from_secs(60), "it stands");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(place.text("log.txt").as_deref(), Some("one\n"), "once");
        let replayed = place.end(&["replay", &run]).exits_with(0).output;
        let calls = replayed.matches("calls a tool: shell").count();
        assert_eq!(calls, 2, "each once: {replayed}");
        next.end();
    }
}
