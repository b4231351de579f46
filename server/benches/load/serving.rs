//! The process that serves, and the store without it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use control::{TokenOrder, issue_token};
use interrupt_router::DecisionId;
use interrupts::life::{Actor, Choosing, Interrupt, Judge, Role, Verdict};
use interrupts::store::{Interrupts, Store};
use interrupts::{ActorName, NoNotifier};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use server::ServerConfig;
use store::{SqliteStore, StoreSettings};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::scene::{open_question, running};

/// The argument of the process that serves.
pub(crate) const SERVES: &str = "serves";
/// How many questions a run asks.
const OF_A_RUN: usize = 100;

/// The process that serves.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    client: Client,
    _folder: tempfile::TempDir,
}

/// Serves a store with so many questions, until it is killed. Says first where, and a token.
pub(crate) async fn serve(store: &Path, questions: usize) {
    let store = SqliteStore::open(store, StoreSettings::default()).await;
    let store: Arc<dyn Store> = Arc::new(store.unwrap());
    asked(&*store, questions).await;
    let order = TokenOrder {
        name: ActorName::new("load").unwrap(),
        role: Role::Operator,
        lifetime: None,
        once: false,
        scope: None,
        by: None,
    };
    let token = issue_token(&*store, order).await.unwrap().secret;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{} {token}", listener.local_addr().unwrap());
    let mut config = ServerConfig::new(store, Arc::new(NoNotifier));
    config.catalogues = agents::catalogue::built_in();
    config.limits.requests_per_second = u32::MAX.try_into().unwrap();
    config.limits.request_burst = u32::MAX.try_into().unwrap();
    config.limits.requests_at_once = usize::MAX;
    server::serve(listener, config, CancellationToken::new())
        .await
        .unwrap();
}

/// So many open questions, a hundred of each run.
async fn asked(store: &dyn Store, questions: usize) -> Vec<Interrupt> {
    let mut asked = Vec::with_capacity(questions);
    for first in (0..questions).step_by(OF_A_RUN) {
        let run = running(store, None).await;
        for _question in first..questions.min(first + OF_A_RUN) {
            asked.push(open_question(store, &run).await);
        }
    }
    asked
}

/// A store in a file that has as many questions as the server's, with nothing around it.
pub(crate) struct Bare {
    store: SqliteStore,
    questions: Vec<Interrupt>,
    _folder: tempfile::TempDir,
}

impl Bare {
    pub(crate) async fn with(questions: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bare.db");
        let store = SqliteStore::open(path, StoreSettings::default()).await;
        let store = store.unwrap();
        let questions = asked(&store, questions).await;
        Self {
            store,
            questions,
            _folder: folder,
        }
    }

    /// Decides a question, and says how long that took.
    pub(crate) async fn decide(&self, index: usize) -> Duration {
        let question = &self.questions[index];
        let judge = Judge::Person {
            actor: Actor {
                name: ActorName::new("load").unwrap(),
                role: Role::Operator,
            },
            version: question.version,
            shown: question.review.as_ref().unwrap().shown,
        };
        let choosing = Choosing {
            id: DecisionId::generate(),
            verdict: Verdict::Respond,
            target: None,
            content: Some(json!({"text": "look further"}).to_string()),
        };
        let begun = Instant::now();
        let decided = self.store.decide(question.id, judge, choosing).await;
        decided.unwrap();
        begun.elapsed()
    }
}

impl Server {
    /// Starts the other process, and waits until it serves.
    pub(crate) fn start(questions: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(SERVES)
            .arg(folder.path().join("load.db"))
            .arg(questions.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let (address, token) = line.trim().split_once(' ').unwrap();
        Self {
            child,
            address: address.to_owned(),
            token: token.to_owned(),
            client: tls::client().build().unwrap(),
            _folder: folder,
        }
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        let request = self.client.get(format!("http://{}{path}", self.address));
        request.bearer_auth(&self.token)
    }

    /// All questions, with their versions.
    pub(crate) async fn questions(&self) -> Vec<(String, u64)> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/v1/interrupts?status=open&limit=500{cursor}");
            let page: Value = self.get(&path).send().await.unwrap().json().await.unwrap();
            for question in page["interrupts"].as_array().unwrap() {
                let id = question["id"].as_str().unwrap().to_owned();
                all.push((id, question["version"].as_u64().unwrap()));
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }

    /// A decision on a question.
    pub(crate) fn decide(&self, (id, version): &(String, u64)) -> RequestBuilder {
        let address = format!("http://{}/v1/interrupts/{id}/decisions", self.address);
        self.client
            .post(address)
            .bearer_auth(&self.token)
            .header("if-match", format!("\"{version}\""))
            .json(&json!({"decision": "respond", "message": "look further"}))
    }

    /// Something that the feed tells of: a message to an agent.
    pub(crate) fn happen(&self, agent: &str) -> RequestBuilder {
        let agent = agent.replace('/', "%2F");
        let address = format!("http://{}/v1/agents/{agent}/messages", self.address);
        let request = self.client.post(address).bearer_auth(&self.token);
        request.json(&json!({"text": "look there"}))
    }

    /// The memory of the process that serves, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        let kilobytes: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kilobytes << 10
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.child.kill();
        let _buried = self.child.wait();
    }
}
