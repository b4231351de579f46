//! Runs whose model or limit fails them: paused with all that is known of it, and resumed later.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::program::{end, irq, last_of_run, lines, run_in, workspace};
use crate::server;

/// A command on the store of a test.
fn on(store: &Path, arguments: &[&str]) -> Command {
    let mut command = irq();
    command.env("IRQ_STORE", store).args(arguments);
    command
}

/// The only run of a store.
fn run(store: &Path) -> Value {
    let listed = end(&mut on(store, &["ps", "--all", "--json"])).exits_with(0);
    lines(&listed.output).remove(0)
}

/// The system's own stops that wait to be resumed.
fn stops(store: &Path) -> Vec<Value> {
    lines(
        &end(&mut on(store, &["review", "--json"]))
            .exits_with(0)
            .output,
    )
}

#[test]
fn a_model_that_is_not_there_pauses_the_run_and_its_whole_error_is_kept() {
    let folder = workspace();
    let store = folder.path().join("irq.db");
    let ended = end(run_in(folder.path())
        .env("IRQ_STORE", &store)
        .args(["--model", "openai:m", "--no-input", "--base-url"])
        .arg(format!("http://{}/v1", server::nobody())))
    .exits_with(69)
    .says("cannot reach the model");
    assert!(ended.error_output.contains("irq resume run_"), "{ended:#?}");

    let run = run(&store);
    assert_eq!(run["state"], "paused", "{run:#}");
    let stops = stops(&store);
    assert_eq!(stops.len(), 1, "{stops:#?}");
    let stop = &stops[0];
    assert_eq!(stop["type"], "PAUSE", "{stop:#}");
    assert_eq!(stop["source"], "system", "{stop:#}");
    let kept = &stop["content"];
    assert_eq!(kept["cause"], "system_error", "{stop:#}");
    let known = &kept["metadata"];
    assert_eq!(known["node"], "orchestrator", "{stop:#}");
    assert!(known["causes"].as_array().unwrap().len() > 1, "{stop:#}");
    assert!(
        known["hint"].as_str().unwrap().contains("--base-url"),
        "{stop:#}"
    );
}

#[test]
fn a_run_that_hit_its_step_limit_goes_on_with_a_higher_one() {
    let folder = workspace();
    let store = folder.path().join("irq.db");
    end(run_in(folder.path())
        .env("IRQ_STORE", &store)
        .args(["--no-input", "--max-steps", "3"]))
    .exits_with(8);
    let paused = run(&store);
    assert_eq!(paused["state"], "paused", "{paused:#}");
    assert_eq!(stops(&store)[0]["content"]["cause"], "budget");
    let id = paused["id"].as_str().unwrap().to_owned();
    let progress = || {
        let shown = end(&mut on(&store, &["ps", "--all", "-v", "--json"])).exits_with(0);
        lines(&shown.output).remove(0)["progress"].clone()
    };
    let before = progress();
    assert_eq!(
        before["steps"],
        serde_json::json!({"completed": 3, "total": 3, "most": 3})
    );
    assert_eq!(before["interrupt"]["type"], "PAUSE", "{before:#}");
    assert_eq!(before["interrupt"]["source"], "system", "{before:#}");
    assert!(
        before["interrupt"]["reason"]
            .as_str()
            .unwrap()
            .contains("3 steps"),
        "{before:#}"
    );
    assert_eq!(before["plan"][0]["node"], "orchestrator", "{before:#}");

    // The same limit is hit again, without a step more.
    end(&mut on(&store, &["resume", &id, "--no-input"])).exits_with(8);
    end(&mut on(
        &store,
        &["resume", &id, "--no-input", "--max-steps", "200"],
    ))
    .exits_with(0);
    assert_eq!(run(&store)["state"], "completed");
    assert!(stops(&store).is_empty(), "what paused it was resumed");
    let after = progress();
    let steps = |name: &str| after["steps"][name].as_u64().unwrap();
    assert!(steps("completed") > 3, "{after:#}");
    assert_eq!(steps("completed"), steps("total"), "{after:#}");
    assert_eq!(after["interrupt"]["state"], "resolved", "{after:#}");
    let shown = end(&mut on(&store, &["ps", "--all", "-v"])).exits_with(0);
    assert!(shown.output.contains("steps completed"), "{shown:#?}");
}

#[test]
fn a_run_that_can_go_on_is_told_as_paused_with_what_waits_whatever_stopped_it() {
    let nobody = format!("http://{}/v1", server::nobody());
    let limited: &[&str] = &["--max-steps", "3"];
    let unreachable: &[&str] = &["--model", "openai:m", "--base-url", &nobody];
    for workflow in ["agents", "plan-execute"] {
        let folder = workspace();
        let store = folder.path().join("irq.db");
        let ended = end(run_in(folder.path())
            .env("IRQ_STORE", &store)
            .args(["--workflow", workflow, "--no-input", "--json"])
            .args(limited))
        .exits_with(8);
        told_as_paused(&ended.events(), &store, "3 steps");
    }
    let folder = workspace();
    let store = folder.path().join("irq.db");
    let ended = end(run_in(folder.path())
        .env("IRQ_STORE", &store)
        .args(["--no-input", "--json"])
        .args(unreachable))
    .exits_with(69);
    told_as_paused(&ended.events(), &store, "reach");
}

/// The last event says that the run is paused, why, and which interrupt holds it.
#[track_caller]
fn told_as_paused(events: &[Value], store: &Path, why: &str) {
    let last = last_of_run(events);
    assert_eq!(last["type"], "dev.irq.run.paused.v1", "{last:#}");
    assert!(last["data"]["reason"].as_str().unwrap().contains(why));
    let open = last["data"]["open_interrupts"].as_array().unwrap();
    let held: Vec<Value> = stops(store).iter().map(|it| it["id"].clone()).collect();
    assert_eq!(*open, held, "{last:#}");
    let is_failed = |event: &&Value| event["type"] == "dev.irq.run.failed.v1";
    assert!(!events.iter().any(|event| is_failed(&event)), "{events:#?}");
}
