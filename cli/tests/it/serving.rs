//! `irq serve`, `irq token`, `irq doctor`: the installation, from outside.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr};
use std::time::{Duration, Instant};

use interrupts::store::Store;
use reqwest::{Client, RequestBuilder, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use store::{StoreLocation, StoreSettings};
use tempfile::TempDir;
use tests::auditor::{Evidence, audit};
use tests::postgres::{is_asked_for, own_store};

use crate::program::{end, interrupt, irq, lines, spawn, workspace};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A store, a folder to speak about, a port, and a token for it.
pub(crate) struct Installation {
    /// Of its own, or the one that the store is in.
    workspace: Option<TempDir>,
    pub(crate) folder: TempDir,
    store: PathBuf,
    port: u16,
    pub(crate) token: String,
    client: Client,
}

/// A server that runs.
pub(crate) struct Server {
    child: Child,
    errors: BufReader<ChildStderr>,
    pub(crate) page: String,
}

impl Installation {
    pub(crate) fn new() -> Self {
        Self::in_folders(tempfile::tempdir().unwrap(), Some(workspace()))
    }

    /// One whose agents look into the folder that its store is in.
    fn with_its_store_in_the_workspace() -> Self {
        Self::in_folders(workspace(), None)
    }

    /// One whose store is in the PostgreSQL server that the tests have; none where they have no server.
    pub(crate) fn in_postgres() -> Option<Self> {
        let store = own_store()?.into();
        Some(Self::over(
            tempfile::tempdir().unwrap(),
            Some(workspace()),
            store,
        ))
    }

    /// One whose store is in this server.
    pub(crate) fn in_database(address: &str) -> Self {
        Self::over(
            tempfile::tempdir().unwrap(),
            Some(workspace()),
            address.into(),
        )
    }

    /// The same, over another store.
    pub(crate) fn with_store(self, store: PathBuf) -> Self {
        Self { store, ..self }
    }

    fn in_folders(folder: TempDir, workspace: Option<TempDir>) -> Self {
        // The same tests prove the same of another store.
        let store = match is_asked_for() {
            true => own_store().unwrap().into(),
            false => folder.path().join("irq.db"),
        };
        Self::over(folder, workspace, store)
    }

    fn over(folder: TempDir, workspace: Option<TempDir>, store: PathBuf) -> Self {
        let made = end(irq()
            .args(["token", "create", "--name", "script", "--role", "admin"])
            .env("IRQ_STORE", &store))
        .exits_with(0);
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self {
            workspace,
            folder,
            store,
            port: free.local_addr().unwrap().port(),
            token: made.output.trim().to_owned(),
            // A connection to a server that was killed must not be used for the next one.
            client: tls::client().pool_max_idle_per_host(0).build().unwrap(),
        }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.store.clone()
    }

    /// Starts a worker, and waits until it has begun.
    pub(crate) fn work(&self, arguments: &[&str]) -> Server {
        self.begin("worker", arguments)
    }

    /// Starts a server, and waits until it has said where it is.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// As [`Installation::serve`], with more arguments.
    pub(crate) fn serve_with(&self, arguments: &[&str]) -> Server {
        self.serve_at(self.port, arguments)
    }

    /// Starts another server over the same store, at an address of its own.
    pub(crate) fn serve_beside(&self) -> Server {
        self.serve_beside_with(&[])
    }

    /// As [`Installation::serve_beside`], with more arguments.
    pub(crate) fn serve_beside_with(&self, arguments: &[&str]) -> Server {
        self.serve_at(0, arguments)
    }

    fn serve_at(&self, port: u16, arguments: &[&str]) -> Server {
        let listen = format!("--listen=127.0.0.1:{port}");
        let arguments: Vec<_> = [listen.as_str()].iter().chain(arguments).copied().collect();
        self.begin("serve", &arguments)
    }

    fn begin(&self, name: &str, arguments: &[&str]) -> Server {
        let mut command = irq();
        command
            .arg(name)
            .args(arguments)
            .env("IRQ_STORE", self.store());
        if name == "serve" {
            let workspace = self.workspace.as_ref().unwrap_or(&self.folder);
            command.arg("--workspace").arg(workspace.path());
        }
        let mut child = spawn(&mut command);
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut page = String::new();
        output.read_line(&mut page).unwrap();
        if page.is_empty() {
            let mut told = String::new();
            errors.read_to_string(&mut told).unwrap();
            panic!("it did not start: {told}");
        }
        let page = page.trim().to_owned();
        Server {
            child,
            errors,
            page,
        }
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.address(path)).bearer_auth(&self.token)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(self.address(path));
        request.bearer_auth(&self.token).json(body)
    }

    pub(crate) fn delete(&self, path: &str) -> RequestBuilder {
        let request = self.client.delete(self.address(path));
        request.bearer_auth(&self.token)
    }

    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Starts a run whose orchestrator asks one question.
    pub(crate) async fn start_asking(&self) -> String {
        self.start_asking_at(&self.address("/v1/runs")).await
    }

    /// The same, at another server of the same store.
    pub(crate) async fn start_asking_beside(&self, server: &Server) -> String {
        self.start_asking_at(&format!("{}/v1/runs", server.address()))
            .await
    }

    async fn start_asking_at(&self, address: &str) -> String {
        let script = json!({"version": 1, "steps": [interrupt("HUMAN_REVIEW")]});
        let order = json!({"goal": "Describe the bakery", "options": {"script": script}});
        let started = self.client.post(address).bearer_auth(&self.token);
        let started = started.json(&order).send().await.unwrap();
        assert_eq!(started.status(), StatusCode::CREATED);
        let run: Value = started.json().await.unwrap();
        run["run_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn json(&self, path: &str) -> Value {
        let response = self.get(path).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {response:?}");
        response.json().await.unwrap()
    }

    /// As [`Installation::json`], of another server of the same store.
    pub(crate) async fn json_beside(&self, server: &Server, path: &str) -> Value {
        let request = self.client.get(format!("{}{path}", server.address()));
        let response = request.bearer_auth(&self.token).send().await.unwrap();
        response.json().await.unwrap()
    }

    /// A page of another server, which is entered with the address that it has printed.
    pub(crate) async fn page_beside(&self, server: &Server, path: &str) -> String {
        let redirect = reqwest::redirect::Policy::none();
        let client = tls::client().redirect(redirect).build().unwrap();
        let entered = client.get(server.page()).send().await.unwrap();
        let cookie = entered.headers()["set-cookie"].to_str().unwrap();
        let page = client.get(format!("{}{path}", server.address()));
        let page = page.header("cookie", cookie.split(';').next().unwrap());
        page.send().await.unwrap().text().await.unwrap()
    }

    /// Looks until something is there.
    pub(crate) async fn until<T>(&self, path: &str, find: impl Fn(&Value) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            let value = self.json(path).await;
            if let Some(found) = find(&value) {
                return found;
            }
            assert!(Instant::now() < end, "{path} stays {value:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The ids of the questions that wait, once there are so many.
    pub(crate) async fn questions(&self, count: usize) -> Vec<String> {
        self.until("/v1/interrupts?status=open", |page| {
            let open = page["interrupts"].as_array().unwrap();
            let ids: Vec<String> = open
                .iter()
                .filter(|it| it["state"] == "awaiting_review" && it["type"] == "HUMAN_REVIEW")
                .map(|it| it["id"].as_str().unwrap().to_owned())
                .collect();
            (ids.len() == count).then_some(ids)
        })
        .await
    }

    pub(crate) async fn decide(&self, interrupt: &str) -> reqwest::Result<StatusCode> {
        let path = format!("/v1/interrupts/{interrupt}");
        let shown = self.get(&path).send().await?;
        let version = shown.headers()["etag"].clone();
        let decision = json!({"decision": "respond", "payload": {"selectedChoices": ["left"]}});
        let decided = self
            .post(&format!("{path}/decisions"), &decision)
            .header("if-match", version)
            .header("idempotency-key", format!("key-{interrupt}"))
            .send()
            .await?;
        Ok(decided.status())
    }

    pub(crate) async fn ends(&self, run: &str) -> String {
        self.until(&format!("/v1/runs/{run}"), |run| {
            let status = run["status"].as_str().unwrap();
            matches!(status, "completed" | "failed" | "cancelled").then(|| status.to_owned())
        })
        .await
    }
}

impl Server {
    /// The address that it has printed, with which its page is entered once.
    pub(crate) fn page(&self) -> &str {
        &self.page
    }

    pub(crate) fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Whether it holds a lock on a file, as the kernel's list says.
    fn has_locked(&self, file: &Path) -> bool {
        let inode = std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
        let (pid, inode) = (self.child.id().to_string(), format!(":{inode}"));
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|lock| {
            let fields: Vec<&str> = lock.split_whitespace().collect();
            fields.contains(&pid.as_str()) && fields.iter().any(|field| field.ends_with(&inode))
        })
    }

    /// Waits for its end: the exit code, and what it has told.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let mut told = String::new();
        self.errors.read_to_string(&mut told).unwrap();
        (self.child.wait().unwrap().code(), told)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn terminate(self) -> (Option<i32>, String) {
        self.ends_after(&[Signal::TERM])
    }

    /// Sends it signals one after the other, and waits for its end: the exit code, and what it has told.
    pub(crate) fn ends_after(self, signals: &[Signal]) -> (Option<i32>, String) {
        for signal in signals {
            self.send(*signal);
            // Two that are under way at once are one.
            std::thread::sleep(Duration::from_millis(20));
        }
        self.ended()
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        let (address, _launch) = self.page.split_once("/?").unwrap();
        address
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that fails leaves no server behind; one that has ended already is only buried.
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}

pub(crate) async fn open(path: &Path) -> std::sync::Arc<dyn Store> {
    let location: StoreLocation = path.to_str().unwrap().parse().unwrap();
    location.open(StoreSettings::default()).await.unwrap()
}

#[tokio::test]
async fn a_question_is_answered_over_the_network_and_the_agent_goes_on() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let questions = installation.questions(1).await;
    let first = installation.decide(&questions[0]).await.unwrap();
    assert_eq!(first, StatusCode::CREATED);
    assert_eq!(installation.ends(&run).await, "completed");
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
}

/// A look into a SQLite file unlocks it, and the next process that opens it cuts off what the first has mapped.
#[tokio::test]
async fn a_store_in_the_folder_that_agents_look_into_is_not_looked_into() {
    let installation = Installation::with_its_store_in_the_workspace();
    let server = installation.serve();
    for round in 1..=5 {
        let run = installation.start_asking().await;
        assert_eq!(installation.questions(round).await.len(), round);
        assert!(
            server.has_locked(&installation.folder.path().join("irq.db-shm")),
            "whoever opens the store now takes it for abandoned"
        );
        let mut listing = irq();
        listing.args(["ps", "--json"]);
        let listed = end(listing.env("IRQ_STORE", installation.store())).exits_with(0);
        assert!(listed.output.contains(&run), "round {round}: {listed:?}");
    }
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    let mut verifying = irq();
    verifying.args(["history", "--verify"]);
    end(verifying.env("IRQ_STORE", installation.store())).exits_with(0);
}

#[tokio::test]
async fn the_printed_address_lets_one_person_in_once_and_is_not_logged() {
    let installation = Installation::new();
    let server = installation.serve();
    let client = tls::client()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let first = client.get(&server.page).send().await.unwrap();
    assert_eq!(first.status(), StatusCode::SEE_OTHER);
    assert_eq!(first.headers()["location"], "/");
    let second = client.get(&server.page).send().await.unwrap();
    assert_eq!(second.status(), StatusCode::UNAUTHORIZED);
    let secret = server.page.split("launch=").nth(1).unwrap().to_owned();
    let (_code, told) = server.terminate();
    assert!(!told.contains(&secret), "{told}");
    assert!(!told.contains(&installation.token), "{told}");
}

#[tokio::test]
async fn a_server_that_is_stopped_lets_its_runs_go_and_the_next_one_goes_on() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    let (code, told) = server.terminate();
    assert_eq!(code, Some(0), "{told}");
    let ps = end(irq()
        .args(["ps", "--json"])
        .env("IRQ_STORE", installation.store()))
    .exits_with(0);
    let row = &lines(&ps.output)[0];
    assert_eq!(row["state"], "running", "{row:#}");
    assert_eq!(row["is_owned"], false, "{row:#}");
    let open = row["open_interrupts"].as_array().unwrap();
    assert_eq!(open.len(), 1, "the question alone: {row:#}");

    let server = installation.serve();
    let decided = installation.decide(&question).await.unwrap();
    assert_eq!(decided, StatusCode::CREATED);
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn what_was_answered_while_no_server_ran_is_carried_on_by_the_next_one() {
    let installation = Installation::new();
    let server = installation.serve();
    let run = installation.start_asking().await;
    let question = installation.questions(1).await.remove(0);
    server.kill();
    let payload = r#"{"selectedChoices":["left"]}"#;
    end(irq()
        .args([
            "review",
            &question,
            "--decision",
            "respond",
            "--payload",
            payload,
        ])
        .env("IRQ_STORE", installation.store()))
    .exits_with(0);
    let server = installation.serve();
    assert_eq!(installation.ends(&run).await, "completed");
    server.kill();
}

#[tokio::test]
async fn killed_during_decisions_it_loses_none_and_applies_none_twice() {
    const RUNS: usize = 6;
    let installation = Installation::new();
    let server = installation.serve();
    let mut runs = Vec::new();
    for _run in 0..RUNS {
        runs.push(installation.start_asking().await);
    }
    let questions = installation.questions(RUNS).await;
    let (first, later) = questions.split_at(2);
    let mut acknowledged = Vec::new();
    for question in first {
        assert!(installation.decide(question).await.unwrap().is_success());
        acknowledged.push(question.clone());
    }
    // The rest is under way when the process dies; of each, the answer came or it did not.
    let under_way = futures_util::future::join_all(later.iter().map(async |question| {
        let answer = installation.decide(question).await;
        (
            question.clone(),
            answer.is_ok_and(|status| status.is_success()),
        )
    }));
    let killed = async { server.kill() };
    let (answers, ()) = tokio::join!(under_way, killed);
    acknowledged.extend(
        answers
            .iter()
            .filter(|(_, is)| *is)
            .map(|(id, _)| id.clone()),
    );

    let decided_by_then = {
        let store = open(&installation.store()).await;
        let mut decided = Vec::new();
        for question in &acknowledged {
            let row = store.interrupt(question.parse().unwrap()).await.unwrap();
            decided.push(row.unwrap().decision.unwrap().id);
        }
        decided
    };
    let server = installation.serve();
    for question in &questions {
        let again = installation.decide(question).await.unwrap();
        // The same request again is answered as it was the first time.
        assert!(again.is_success(), "{question}: {again}");
    }
    for run in &runs {
        assert_eq!(installation.ends(run).await, "completed", "{run}");
    }
    server.kill();
    let store = open(&installation.store()).await;
    for (question, decision) in acknowledged.iter().zip(decided_by_then) {
        let row = store.interrupt(question.parse().unwrap()).await.unwrap();
        assert_eq!(row.unwrap().decision.unwrap().id, decision, "{question}");
    }
    let evidence = Evidence {
        store: &*store,
        attempts: &[],
        calls: &[],
    };
    let report = audit(&evidence).await.unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    assert_eq!(report.decisions, RUNS);
}

#[tokio::test]
async fn an_order_is_refused_with_the_field_that_is_wrong() {
    let installation = Installation::new();
    let server = installation.serve();
    for (options, field) in [
        (json!({"workspace": "/etc"}), "workspace"),
        (json!({"model": "opnai:x"}), "model"),
        (json!({"base_url": "http://127.0.0.1:1"}), "base_url"),
        (json!({"script": {"version": 7}}), "script"),
    ] {
        let order = json!({"goal": "x", "options": options});
        let refused = installation.post("/v1/runs", &order).send().await.unwrap();
        assert_eq!(
            refused.status(),
            StatusCode::UNPROCESSABLE_ENTITY,
            "{field}"
        );
        let refused: Value = refused.json().await.unwrap();
        let pointer = format!("/options/{field}");
        assert_eq!(refused["errors"][0]["pointer"], *pointer, "{refused}");
        assert!(
            refused["detail"].as_str().unwrap().contains(field),
            "{refused}"
        );
    }
    server.kill();
}

#[test]
fn other_machines_are_let_in_only_where_that_was_said_and_a_token_exists() {
    let folder = tempfile::tempdir().unwrap();
    let serve = |arguments: &[&str]| {
        end(irq()
            .args(["serve", "--listen", "0.0.0.0:0"])
            .args(arguments)
            .env("IRQ_STORE", folder.path().join("irq.db")))
    };
    serve(&[])
        .exits_with(2)
        .says("can be reached from other machines")
        .says("--tls-cert");
    serve(&["--behind-proxy"])
        .exits_with(2)
        .says("no token exists");
}

#[test]
fn tokens_are_made_listed_and_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let token = |arguments: &[&str]| {
        end(irq()
            .arg("token")
            .args(arguments)
            .env("IRQ_STORE", folder.path().join("irq.db")))
    };
    let create = ["create", "--name", "ada", "--role", "viewer"];
    let made = token(&[&create[..], &["--lifetime", "2h", "--json"]].concat());
    let made = lines(&made.exits_with(0).output).remove(0);
    let secret = made["secret"].as_str().unwrap();
    assert_eq!(made["role"], "viewer");
    let listed = token(&["list", "--json"]).exits_with(0);
    assert!(!listed.output.contains(secret), "{listed:#?}");
    assert_eq!(lines(&listed.output)[0]["id"], made["id"]);
    let id = made["id"].as_str().unwrap();
    token(&["revoke", id]).exits_with(0);
    assert!(token(&["list", "--json"]).exits_with(0).output.is_empty());
    let all = token(&["list", "--all"]).exits_with(0);
    assert!(all.output.contains("revoked"), "{all:#?}");
    token(&["revoke", "0000"])
        .exits_with(3)
        .says("there is no token");
    token(&["create", "--name", "x", "--role", "system"]).exits_with(2);
}

#[test]
fn the_token_of_an_agent_is_made_for_a_run_or_an_agent_of_it_and_for_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("irq.db");
    let run = |arguments: &[&str]| end(irq().args(arguments).env("IRQ_STORE", &store));
    run(&["run", "--quiet", "Describe the oven"]).exits_with(0);
    let listed = run(&["ps", "--all", "--json"]).exits_with(0);
    let id = lines(&listed.output)[0]["id"].as_str().unwrap().to_owned();
    let create = |more: &[&str]| {
        let named = ["token", "create", "--name", "oven", "--json"];
        run(&[&named[..], more].concat())
    };
    create(&["--role", "agent"])
        .exits_with(2)
        .says("bound to a run")
        .says("--run RUN");
    create(&["--run", &id]).exits_with(2).says("--role agent");
    create(&["--role", "agent", "--run", "run_00"]).exits_with(3);
    let made = create(&["--role", "agent", "--run", &id]).exits_with(0);
    assert_eq!(lines(&made.output)[0]["run_id"], *id);
    let made = create(&["--role", "agent", "--run", &id, "--agent", "orchestrator"]);
    let made = lines(&made.exits_with(0).output).remove(0);
    assert_eq!(made["agent_id"], format!("{id}/orchestrator"));
    let table = run(&["token", "list"]).exits_with(0);
    assert!(
        table.output.contains(&format!("{id}/orchestrator")),
        "{table:#?}"
    );
    let history = run(&["history"]).exits_with(0);
    assert!(
        history
            .output
            .contains(&format!("bound to {id}/orchestrator")),
        "{history:#?}"
    );
}
