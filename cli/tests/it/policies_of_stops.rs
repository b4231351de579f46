//! Policies of stops: how long a graceful one may last, and pauses that end by themselves.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{end, interrupt, lines, script, spawn};
use crate::seed::Seed;
use crate::server;

fn policy(place: &Place, text: &str) -> std::path::PathBuf {
    let path = place.folder.path().join("policy.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// The stops that wait to be resumed.
fn stops(place: &Place) -> Vec<Value> {
    lines(&place.end(&["review", "--json"]).exits_with(0).output)
}

#[test]
fn the_grace_of_a_policy_holds_for_a_limit() {
    let place = Place::new();
    let policy = policy(&place, "[[rule]]\nsource = \"system\"\ngrace = \"300ms\"\n");
    // A step lasts for minutes, so a stop that stayed graceful would, too.
    let limited = end(place
        .run(&["--pace", "1", "--timeout", "300ms", "--policy"])
        .arg(&policy))
    .exits_with(8);
    let stop = stops(&place).remove(0);
    assert_eq!(stop["mode"], "immediate", "{limited:#?} {stop:#}");
    assert_eq!(stop["source"], "system", "{stop:#}");
    assert_eq!(stop["content"]["limit_ms"], 300, "{stop:#}");
}

#[test]
fn the_grace_of_a_policy_holds_for_a_signal() {
    let place = Place::new();
    let policy = policy(&place, "[[rule]]\nsource = \"user\"\ngrace = \"300ms\"\n");
    let child = spawn(place.run(&["--pace", "1", "--policy"]).arg(&policy));
    place.wait_for_call();
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    let stopped: crate::program::Ended = child.wait_with_output().unwrap().into();
    stopped.exits_with(130);
    let stop = stops(&place).remove(0);
    assert_eq!(stop["mode"], "immediate", "{stop:#}");
    assert_eq!(stop["source"], "user", "{stop:#}");
}

#[test]
fn a_pause_of_an_agent_ends_by_itself_after_the_time_that_the_policy_names() {
    let place = Place::new();
    let policy = policy(
        &place,
        "[[rule]]\ntype = \"PAUSE\"\nsource = \"programmatic\"\nresume = \"1s\"\nresume_input = \"go on\"\n",
    );
    let script = script(place.folder.path(), &json!([interrupt("PAUSE")]));
    let ended = end(place
        .run(&["--script"])
        .arg(&script)
        .arg("--policy")
        .arg(&policy))
    .exits_with(0);
    assert!(
        ended.error_output.contains("It goes on by itself at "),
        "{ended:#?}"
    );
    let run = place.only_run();
    assert_eq!(place.runs()[0]["state"], "completed");
    let told = place.end(&["replay", &run, "--json"]).exits_with(0);
    assert!(told.output.contains("go on"), "the agent is told");
}

#[test]
fn a_pause_of_the_system_is_tried_again_until_somebody_leaves() {
    let place = Place::new();
    let policy = policy(
        &place,
        "[[rule]]\ntype = \"PAUSE\"\nsource = \"system\"\nresume = \"1s\"\n",
    );
    let url = format!("http://{}/v1", server::nobody());
    let child = spawn(
        place
            .run(&["--model", "openai:m", "--base-url", &url, "--policy"])
            .arg(&policy),
    );
    let begun = Instant::now();
    let pauses = || {
        if !place.store().exists() {
            return Vec::new();
        }
        let rows = lines(&place.end(&["history", "--json"]).output);
        let interrupts = rows
            .into_iter()
            .filter_map(|row| row["interrupt"].as_str().map(str::to_owned));
        interrupts
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    };
    while pauses().len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", pauses());
        std::thread::sleep(Duration::from_millis(50));
    }
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    let left: crate::program::Ended = child.wait_with_output().unwrap().into();
    assert!(matches!(left.code, Some(69 | 130)), "{left:#?}");
    assert_eq!(place.runs()[0]["state"], "paused");
}

#[test]
fn a_limit_that_was_reached_is_not_waited_for() {
    let place = Place::new();
    let policy = policy(&place, "[[rule]]\ntype = \"PAUSE\"\nresume = \"1s\"\n");
    end(place.run(&["--max-steps", "2", "--policy"]).arg(&policy)).exits_with(8);
    assert_eq!(stops(&place).len(), 1);
    let agents = place.runs()[0]["agents"].as_array().unwrap().clone();
    assert!(!agents.is_empty());
    for agent in agents {
        assert_ne!(agent["status"], "running", "its run is paused: {agent}");
    }
}

#[test]
fn questions_of_one_run_are_shown_together_where_the_policy_says_so() {
    let seed = Seed::new();
    let (first, second) = (seed.run(), seed.run());
    let asked = [&first, &second, &first].map(|run| seed.question(run).id.to_string());
    let listed = |policy: Option<&str>, arguments: &[&str]| {
        let mut command = seed.irq(arguments);
        if let Some(policy) = policy {
            let path = seed.folder.path().join("policy.toml");
            std::fs::write(&path, policy).unwrap();
            command.env("IRQ_POLICY", path);
        }
        end(&mut command).exits_with(0).output
    };
    let batches = |policy| {
        let rows = lines(&listed(policy, &["review", "--json"]));
        let row = |row: &Value| {
            (
                row["id"].as_str().unwrap().to_owned(),
                row["batch"].as_u64(),
            )
        };
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let [one, two, three] = asked;
    let alone = [&one, &two, &three].map(|id| (id.clone(), None));
    assert_eq!(batches(None), alone);
    let together = "[default]\nbatch = \"together\"\n";
    let shared = [(&one, Some(1)), (&three, Some(1)), (&two, None)];
    let shared = shared.map(|(id, batch)| (id.clone(), batch));
    assert_eq!(batches(Some(together)), shared);
    let text = listed(Some(together), &["review"]);
    let heading = format!("2 questions of {}, to be answered together", first.id);
    assert!(text.contains(&heading), "{text}");
    let next = listed(
        Some(together),
        &["review", "--next", "--no-input", "--json"],
    );
    let next: Vec<Value> = lines(&next);
    assert_eq!(next.len(), 2, "{next:#?}");
}
