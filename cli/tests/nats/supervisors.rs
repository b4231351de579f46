//! Supervisors in other languages: the examples, with public packages alone.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use tests::nats::installed;

use crate::scene::Scene;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name)
}

/// Runs a supervisor beside a run whose orchestrator asks a little later, answers that question, and returns what the
/// supervisor has said by its end.
async fn supervises(mut supervisor: Command) -> Option<String> {
    let scene = Scene::new()?;
    let address = format!("nats://{}", scene.nats.address());
    let server = scene.serve_at(&address, &["--pace", "20"]);
    let run = scene.start_asking(&server).await;
    let mut child = supervisor
        .args([
            &format!("{run}/orchestrator"),
            "ORCHESTRATOR",
            "PLANNING_ORCHESTRATOR",
        ])
        .env("NATS_URL", &address)
        .env("IRQ_TOKEN", scene.token_of("ada", "supervisor"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let question = scene.question(&server).await;
    let decision = json!({"specversion": "1.0", "id": "1", "source": "/people/kim",
        "type": "dev.irq.command.decide.v1", "data": {"interrupt_id": question["id"],
        "version": question["version"], "decision": "respond",
        "payload": {"selectedChoices": ["left"]}}});
    let reviewer = scene.token_of("kim", "reviewer");
    let decided = scene.post_event(&server, Some(&reviewer), &decision).await;
    assert!(decided.0.is_success(), "{}", decided.1);
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let interrupt = question["id"].as_str().unwrap();
    assert!(
        said.starts_with(&format!("accepted: {interrupt}\n")),
        "{said}"
    );
    Some(said)
}

/// Whether these come one after the other.
fn in_order(said: &str, names: &[&str]) -> bool {
    let places = names.iter().map(|name| said.find(&format!("\n{name} ")));
    let places: Option<Vec<usize>> = places.collect();
    places.is_some_and(|places| places.is_sorted())
}

const TOLD: [&str; 4] = [
    "reroute.pending",
    "reroute.bound",
    "interrupt.opened",
    "reroute.consumed",
];

#[tokio::test]
async fn a_supervisor_in_python_reroutes_an_agent_and_hears_what_became_of_it() {
    let mut python = Command::new(installed().join("python/bin/python"));
    python.arg(example("python/supervisor_nats.py"));
    let Some(said) = supervises(python).await else {
        return;
    };
    assert!(in_order(&said, &TOLD), "{said}");
}

#[tokio::test]
async fn a_supervisor_in_typescript_reroutes_an_agent_and_hears_what_became_of_it() {
    // A module finds packages beside itself.
    let program = installed().join("node/supervisor-nats.mjs");
    if program.parent().unwrap().exists() {
        std::fs::copy(example("typescript/supervisor-nats.mjs"), &program).unwrap();
    }
    let mut node = Command::new("node");
    node.arg(program);
    let Some(said) = supervises(node).await else {
        return;
    };
    assert!(in_order(&said, &TOLD), "{said}");
}
