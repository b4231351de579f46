//! What is said to a fork of a run that was over: it is read before the fork ends.

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, interrupt, lines, script, spawn};

const WORDS: &str = "add a validation step";

/// The run that is none of these.
fn another(place: &Place, known: &[&str]) -> String {
    let runs = place.runs();
    let ids = runs.iter().map(|row| row["id"].as_str().unwrap());
    let mut others = ids.filter(|id| !known.contains(id));
    others.next().unwrap().to_owned()
}

fn times_told(ended: &Ended) -> usize {
    let is_it = |event: &Value| {
        event["type"] == "dev.irq.llm.call_started.v1"
            && event["data"]["reads"].to_string().contains(WORDS)
    };
    ended.events().iter().filter(|it| is_it(it)).count()
}

fn times_in_the_journal(place: &Place, run: &str) -> usize {
    let journal = place.journal(run);
    let calls = journal.iter().filter(|it| it["what"] == "effect_begun");
    calls.count()
}

#[test]
fn the_last_agent_of_a_run_that_was_over_reads_what_is_said_to_its_fork() {
    let place = Place::new();
    place.end_of_run(&[]).exits_with(0);
    let run = place.only_run();
    let fork = ["fork", &run, "--message", WORDS, "--no-input", "--json"];
    let ended = place.end(&fork).exits_with(0);
    assert_eq!(times_told(&ended), 1, "{ended:#?}");
    let fork = another(&place, &[&run]);
    let before = times_in_the_journal(&place, &run);
    assert!(times_in_the_journal(&place, &fork) > before);
    // Nothing was said to this one, so it is over as it was.
    place
        .end(&["fork", &fork, "--no-input", "--json"])
        .exits_with(0);
    let again = another(&place, &[&run, &fork]);
    let last = |id: &str| place.end(&["replay", id, "--summary"]).exits_with(0);
    assert!(!last(&again).output.is_empty());
}

#[test]
fn a_plan_that_was_over_is_made_anew_with_what_is_said_to_its_fork() {
    let place = Place::new();
    let workflow = ["--workflow", "plan-execute"];
    place.end_of_run(&workflow).exits_with(0);
    let run = place.only_run();
    place
        .end(&["fork", &run, "--message", WORDS, "--no-input"])
        .exits_with(0);
    let fork = another(&place, &[&run]);
    let plan = |id: &str| -> Value {
        let ended = place.end(&["plan", id, "--json"]).exits_with(0);
        serde_json::from_str(&ended.output).unwrap()
    };
    let (before, after) = (plan(&run), plan(&fork));
    assert_eq!(after["state"], "completed");
    let versions = |plan: &Value| plan["version"].as_u64().unwrap();
    assert!(versions(&after) > versions(&before), "{after:#}");
    let newest = after["versions"].as_array().unwrap();
    assert!(newest.iter().any(|it| it["request"] == WORDS), "{after:#}");
    let done = |plan: &Value| plan["completed_steps"].as_u64().unwrap();
    assert!(done(&after) > done(&before), "{after:#}");
    // Nothing was said to this one.
    place.end(&["fork", &fork, "--no-input"]).exits_with(0);
    let again = another(&place, &[&run, &fork]);
    assert_eq!(versions(&plan(&again)), versions(&after));
}

#[test]
fn an_agent_that_has_ended_its_run_reads_what_is_said_to_a_fork_of_it() {
    for ends in ["STOP", "PRUNE"] {
        let place = Place::new();
        let script = script(place.keeping.path(), &json!([interrupt(ends)]));
        let script = script.to_str().unwrap();
        place.end_of_run(&["--script", script]).exits_with(6);
        let run = place.only_run();
        // Nobody has said anything, so a fork would be over as well.
        place
            .end(&["fork", &run, "--no-input"])
            .exits_with(4)
            .says(&format!("irq fork {run} --message TEXT"));
        assert_eq!(place.runs().len(), 1, "nothing was forked");
        let fork = ["fork", &run, "--message", WORDS, "--no-input", "--json"];
        let ended = place.end(&fork).exits_with(0);
        assert_eq!(times_told(&ended), 1, "{ends}: {ended:#?}");
    }
}

#[test]
fn nothing_is_said_to_a_fork_of_a_run_that_a_worker_has_ended_where_nobody_would_read_it() {
    let place = Place::new();
    let mut ends = interrupt("STOP");
    ends["agent"] = json!("DISCOVERY_AGENT");
    let steps = json!([interrupt("HUMAN_REVIEW"), ends]);
    let script = script(place.keeping.path(), &steps);
    place
        .end_of_run(&["--script", script.to_str().unwrap()])
        .exits_with(5);
    let run = place.only_run();
    let list = |what: &[&str]| lines(&place.end(what).exits_with(0).output);
    let before = list(&["checkpoints", &run, "--json"]).len();
    let questions = list(&["review", "--json"]);
    let question = questions[0]["id"].as_str().unwrap();
    place
        .end(&[
            "review",
            question,
            "--decision",
            "approve",
            "--message",
            "yes",
        ])
        .exits_with(0);
    place.end(&["resume", &run, "--no-input"]).exits_with(6);

    let fork = |at: &Value, more: &[&str]| {
        let at = at["number"].to_string();
        place.end(&[&["fork", &run, "--at", &at, "--no-input"][..], more].concat())
    };
    let mut checkpoints = list(&["checkpoints", &run, "--json"]);
    checkpoints.sort_by_key(|it| it["number"].as_u64());
    let words = ["--message", WORDS];
    let last = checkpoints.last().unwrap();
    for ended in [fork(last, &words), fork(last, &[])] {
        let ended = ended.exits_with(4).says("worked beside others");
        ended.says(&format!("irq fork {run} --at N"));
    }
    assert_eq!(place.runs().len(), 1, "nothing was forked");
    // Before that everybody is there still.
    fork(&checkpoints[before - 1], &words).exits_with(5);
    assert_eq!(place.runs().len(), 2);
}

#[test]
fn a_plan_that_was_given_up_goes_on_in_a_fork_with_what_is_said_to_it() {
    let place = Place::new();
    let mut command = place.run(&["--workflow", "plan-execute", "--pace", "60"]);
    let child = spawn(&mut command);
    place.wait_for_call();
    let run = place.only_run();
    place
        .end(&["interrupt", &run, "--type", "STOP", "--wait"])
        .exits_with(0);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(6));
    place
        .end(&["fork", &run, "--no-input"])
        .exits_with(4)
        .says(&format!("irq fork {run} --message TEXT"));
    assert_eq!(place.runs().len(), 1, "nothing was forked");
    place
        .end(&["fork", &run, "--message", WORDS, "--no-input"])
        .exits_with(0);
    let fork = another(&place, &[&run]);
    let plan = place.end(&["plan", &fork, "--json"]).exits_with(0).output;
    assert!(plan.contains(WORDS), "{plan}");
}
