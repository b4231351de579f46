//! Limits hold for a whole run, whichever processes execute it, and what was used before is known.

use std::process::Stdio;

use serde_json::Value;

use crate::place::Place;
use crate::program::{end, last_of_run, lines, spawn};

#[test]
fn a_time_limit_counts_the_work_of_processes_before_and_a_resume_may_raise_it() {
    let place = Place::new();
    let limited = end(&mut place.run(&["--pace", "20", "--timeout", "1s"])).exits_with(8);
    assert!(
        limited.error_output.contains("Resume with: irq resume"),
        "{limited:#?}"
    );
    let run = place.only_run();
    place
        .end(&["resume", &run, "--no-input", "--pace", "20"])
        .exits_with(8);
    let raised = ["resume", &run, "--no-input", "--timeout", "10m"];
    place.end(&raised).exits_with(0);
}

#[test]
fn a_raised_limit_is_kept_with_the_run() {
    let place = Place::new();
    end(&mut place.run(&["--max-steps", "2"])).exits_with(8);
    let run = place.only_run();
    let raised = ["resume", &run, "--no-input", "--max-steps", "4"];
    place.end(&raised).exits_with(8);
    // Without a word about it the last one holds.
    place.end(&["resume", &run, "--no-input"]).exits_with(8);
    let shown = place.end(&["ps", "--all", "-v", "--json"]).exits_with(0);
    let steps = lines(&shown.output).remove(0)["progress"]["steps"].clone();
    assert_eq!(
        steps,
        serde_json::json!({"completed": 4, "total": 4, "most": 4})
    );
}

#[test]
fn a_limit_below_the_steps_that_a_run_took_is_told_with_all_of_them() {
    const TOLD: &str =
        "the run has taken 4 steps in all, and its limit, which counts all of them, is 2";
    let place = Place::new();
    end(&mut place.run(&["--max-steps", "4"]))
        .exits_with(8)
        .says("the run has taken 4 steps, which is its limit");
    let run = place.only_run();
    let lowered = ["resume", &run, "--no-input", "--max-steps", "2"];
    place
        .end(&lowered)
        .exits_with(8)
        .says(TOLD)
        .says("--max-steps above 4");
    let told = place
        .end(&[&lowered[..], &["--json"]].concat())
        .exits_with(8);
    let events = told.events();
    let last = last_of_run(&events);
    assert_eq!(last["type"], "dev.irq.run.paused.v1", "{last:#}");
    assert_eq!(last["data"]["reason"], TOLD, "{last:#}");
    let stops = place.end(&["review", "--json"]).exits_with(0);
    let steps = lines(&stops.output).pop().unwrap()["content"]["metadata"]["steps"].clone();
    assert_eq!(steps, serde_json::json!({"taken": 4, "limit": 2}));
}

#[test]
fn what_a_call_cost_whose_process_died_is_recorded_as_unknown() {
    let place = Place::new();
    let mut child = place
        .run(&["--pace", "5"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    place.wait_for_call();
    child.kill().unwrap();
    child.wait().unwrap();
    let run = place.only_run();
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    let tries = place.told(&run, "model_attempt");
    let ends: Vec<&Value> = tries.iter().map(|told| &told["content"]["ended"]).collect();
    assert_eq!(ends, ["unknown", "answered"], "{tries:#?}");
    assert_eq!(tries[0]["place"], "orchestrator#1/step/0/attempt/1");
}

#[test]
fn what_had_arrived_of_an_interrupted_answer_is_recorded_with_its_cost() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "40"]));
    place.wait_for_call();
    let run = place.only_run();
    place
        .end(&["interrupt", &run, "--mode", "immediate", "--wait"])
        .exits_with(0);
    child.wait_with_output().unwrap();
    let tries = place.told(&run, "model_attempt");
    assert_eq!(tries.len(), 1, "{tries:#?}");
    assert_eq!(tries[0]["content"]["ended"], "cut_short", "{tries:#?}");
    assert!(tries[0]["content"]["text"].is_string(), "{tries:#?}");
    let used = &tries[0]["content"]["usage"];
    assert!(used["output"].is_u64(), "the rehearsal counts: {tries:#?}");
}

#[test]
fn a_limit_of_this_process_pauses_the_run_and_says_what_was_measured() {
    for (limit, amount, words) in [
        ("--max-memory", "1MiB", "of memory, the limit is 1 MiB"),
        ("--max-cpu-time", "1ms", "of processor time are used"),
    ] {
        let place = Place::new();
        let stopped = end(&mut place.run(&["--pace", "20", limit, amount])).exits_with(8);
        assert!(stopped.error_output.contains(words), "{stopped:#?}");
        let run = place.only_run();
        let stop = lines(&place.end(&["review", "--json"]).exits_with(0).output).remove(0);
        assert_eq!(stop["content"]["cause"], "resource", "{stop:#}");
        // It is this process's own limit: the next one has none.
        place.end(&["resume", &run, "--no-input"]).exits_with(0);
    }
}

#[test]
fn the_progress_of_a_run_is_told_across_its_processes() {
    let place = Place::new();
    end(&mut place.run(&["--max-steps", "3"])).exits_with(8);
    let run = place.only_run();
    let summary = || {
        let told = place
            .end(&["replay", &run, "--summary", "--json"])
            .exits_with(0);
        lines(&told.output).remove(0)
    };
    let before = summary();
    assert_eq!(before["steps"]["completed"], 3, "{before:#}");
    assert_eq!(before["interrupt"]["type"], "PAUSE", "{before:#}");
    assert_eq!(before["calls"]["answered"], 3, "{before:#}");
    let raised = ["resume", &run, "--no-input", "--max-steps", "200"];
    place.end(&raised).exits_with(0);
    let after = summary();
    let answered = after["calls"]["answered"].as_u64().unwrap();
    assert!(answered > 3, "{after:#}");
    assert!(!after["plan"].as_array().unwrap().is_empty(), "{after:#}");
    let stats = place.end(&["stats", "--json"]).exits_with(0);
    let stats: Value = serde_json::from_str(&stats.output).unwrap();
    assert_eq!(stats["runs"][0], after, "{stats:#}");
    let text = place
        .end(&["replay", &run, "--summary"])
        .exits_with(0)
        .output;
    for words in [
        "completed",
        "steps ",
        "worked ",
        "PAUSE of orchestrator at ",
        "plan ",
    ] {
        assert!(text.contains(words), "no `{words}` in {text}");
    }
    assert!(place.end(&["stats"]).exits_with(0).output.contains(&run));
}
