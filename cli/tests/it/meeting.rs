//! Stops that meet a run while it asks, or once nobody runs it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use interrupts::OwnerName;
use interrupts::store::Delivery;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, lines, script, spawn, until};

/// How many stops meet a run at how many moments around its question.
const MEETINGS: u64 = 12;

fn asking(place: &Place) -> PathBuf {
    let choice = |name: &str| json!({"label": name, "value": name, "description": "a way"});
    let question = json!({"agent": "DISCOVERY_ORCHESTRATOR", "turn": 1, "interrupt": {
        "type": "HUMAN_REVIEW", "reason": "which way?", "choices": [choice("left"), choice("right")],
        "confirmationItems": [], "contextForDecision": "two ways"}});
    script(place.folder.path(), &json!([question]))
}

/// A run that asked and left, since nobody was there.
fn waiting(place: &Place) -> String {
    place
        .end_of_run(&["--script", asking(place).to_str().unwrap()])
        .exits_with(5);
    place.only_run()
}

fn interrupts(place: &Place, run: &str) -> Vec<Value> {
    let journal = place.end(&["ps", run, "--json", "-v"]).exits_with(0);
    let rows = lines(&journal.output);
    let ids = rows.iter().flat_map(|row| {
        let interrupts = row["interrupts"].as_array();
        interrupts.cloned().unwrap_or_default()
    });
    ids.collect()
}

fn shown(place: &Place, interrupt: &Value) -> Value {
    let id = interrupt["id"].as_str().unwrap();
    let shown = place.end(&["review", id, "--json"]).exits_with(0);
    lines(&shown.output).remove(0)
}

fn agent<'run>(run: &'run Value, name: &str) -> &'run Value {
    let agents = run["agents"].as_array().unwrap();
    let mut found = agents
        .iter()
        .filter(|agent| agent["agent_id"].as_str().unwrap().ends_with(name));
    found.next().unwrap()
}

#[test]
fn an_agent_that_waits_for_an_answer_is_pruned_when_its_run_goes_on() {
    for kind in ["PRUNE", "STOP"] {
        let place = Place::new();
        let run = waiting(&place);
        let discovery = format!("{run}/orchestrator/discovery");
        let made = place
            .end(&["interrupt", &discovery, "--type", kind])
            .exits_with(0);
        assert!(made.output.contains("reaches its agent once"), "{made:#?}");
        let asked = place.end(&["review", "--json"]).exits_with(0);
        let asked = lines(&asked.output).remove(0);
        // Its parent goes on without it: the agent that it starts in its place asks the same.
        place.end(&["resume", &run, "--no-input"]).exits_with(5);
        let row = place.runs().remove(0);
        assert_eq!(agent(&row, "/discovery")["status"], "pruned", "{row:#}");
        assert_eq!(shown(&place, &asked)["state"], "cancelled");
        let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
        assert_eq!(open.len(), 1, "{open:#?}");
        place.end(&["history", "--verify"]).exits_with(0);
    }
}

#[test]
fn no_agent_of_a_run_that_waits_is_said_to_work_or_to_be_paused() {
    let place = Place::new();
    let run = waiting(&place);
    let stand = || {
        let row = place.runs().remove(0);
        assert_eq!(row["state"], "waiting", "{row:#}");
        let status = |name: &str| agent(&row, name)["status"].as_str().unwrap().to_owned();
        (status("orchestrator"), status("/discovery"))
    };
    let expected = ("ready".to_owned(), "waiting_review".to_owned());
    assert_eq!(stand(), expected);
    let shown = place.end(&["ps", &run]).exits_with(0);
    assert!(!shown.output.contains("works"), "{shown:#?}");
    let pause = place.end(&["interrupt", &run, "--json"]).exits_with(0);
    let pause = lines(&pause.output).remove(0)["id"].clone();
    let row = place.runs().remove(0);
    assert_eq!(agent(&row, "orchestrator")["status"], "paused", "{row:#}");
    let withdraw = ["withdraw", pause.as_str().unwrap()];
    place.end(&withdraw).exits_with(0);
    assert_eq!(stand(), expected);
}

#[test]
fn a_pause_of_a_run_that_asked_and_left_goes_before_its_question() {
    let place = Place::new();
    let run = waiting(&place);
    let question = lines(&place.end(&["review", "--json"]).exits_with(0).output).remove(0);
    let pause = place.end(&["interrupt", &run, "--json"]).exits_with(0);
    let pause = lines(&pause.output).remove(0);
    assert_eq!(pause["state"], "awaiting_review");
    let held = shown(&place, &question);
    assert_eq!(held["held_by"], pause["id"], "{held:#}");
    let id = question["id"].as_str().unwrap();
    let answer = ["review", id, "--decision", "respond", "--message", "left"];
    place.end(&answer).exits_with(4).says("is held");
    // Resumed unchanged, the question is shown again, and can be answered.
    place.end(&["resume", &run, "--no-input"]).exits_with(5);
    assert_eq!(shown(&place, &question)["held_by"], Value::Null);
    place.end(&answer).exits_with(0);
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
}

#[test]
fn a_question_is_shown_again_with_the_end_of_its_pause_while_nobody_runs_the_run() {
    for end in [&["withdraw"][..], &["review", "--decision", "resume"]] {
        let place = Place::new();
        let run = waiting(&place);
        let question = lines(&place.end(&["review", "--json"]).exits_with(0).output).remove(0);
        let pause = place.end(&["interrupt", &run, "--json"]).exits_with(0);
        let pause = lines(&pause.output).remove(0);
        let pause = pause["id"].as_str().unwrap();
        let id = question["id"].as_str().unwrap();
        let answer = ["review", id, "--decision", "respond", "--message", "left"];
        let held = place.end(&answer).exits_with(4).says("is held");
        assert!(held.error_output.contains(pause), "{held:#?}");
        let ending: Vec<&str> = end[..1]
            .iter()
            .chain([&pause])
            .chain(&end[1..])
            .copied()
            .collect();
        assert_eq!(place.runs()[0]["state"], "paused", "{end:?}");
        place.end(&ending).exits_with(0);
        assert_eq!(shown(&place, &question)["held_by"], Value::Null, "{end:?}");
        // All that it needs is the answer.
        assert_eq!(place.runs()[0]["state"], "waiting", "{end:?}");
        place.end(&answer).exits_with(0);
        place.end(&["resume", &run, "--no-input"]).exits_with(0);
        place.end(&["history", "--verify"]).exits_with(0);
    }
}

/// How long a resume waits for whoever has the run.
const PATIENCE: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_resume_waits_for_whoever_has_a_run_that_stands_still_only_for_a_moment() {
    let place = Place::new();
    let run = waiting(&place);
    let store = crate::serving::open(&place.store()).await;
    let id = run.parse().unwrap();
    let owner = Delivery {
        owner: OwnerName::new("somebody-for-a-moment").unwrap(),
        lease: SignedDuration::from_secs(600),
        lost: None,
    };
    loop {
        let epoch = store.own_run(id, owner.clone()).await.unwrap().epoch;
        let began = Instant::now();
        let mut resumes = spawn(&mut place.irq(&["resume", &run, "--no-input"]));
        let mut told = BufReader::new(resumes.stderr.take().unwrap());
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        assert!(
            line.contains("(somebody-for-a-moment); waiting for it"),
            "{line}"
        );
        store.release_run(id, epoch).await.unwrap();
        let held = began.elapsed();
        std::io::copy(&mut told, &mut std::io::sink()).unwrap();
        let ended = resumes.wait_with_output().unwrap();
        if ended.status.code() == Some(5) {
            // It has asked its question again.
            return;
        }
        // This process was too slow for a moment, and the resume was right to give up: that says nothing.
        assert!(held >= PATIENCE, "{held:?}: {ended:?}");
    }
}

#[test]
fn an_agent_of_a_run_that_nobody_runs_is_paused_at_once() {
    let place = Place::new();
    let run = waiting(&place);
    let discovery = format!("{run}/orchestrator/discovery");
    let pause = place
        .end(&["interrupt", &discovery, "--json", "--wait"])
        .exits_with(0);
    assert_eq!(lines(&pause.output)[0]["state"], "awaiting_review");
    assert_eq!(place.runs()[0]["state"], "paused");
}

#[test]
fn a_branch_of_a_run_that_nobody_runs_can_be_resumed_like_the_run_itself() {
    let place = Place::new();
    let run = waiting(&place);
    let made = place
        .end(&["interrupt", &run, "--type", "BRANCH"])
        .exits_with(0);
    assert!(made.output.contains("BRANCH applied"), "{made:#?}");
    let runs = place.runs();
    assert_eq!(runs.len(), 2, "{runs:#?}");
    let branch = runs.iter().find(|row| row["id"] != run.as_str()).unwrap();
    let branch = branch["id"].as_str().unwrap();
    assert!(
        made.output.contains(&format!("irq resume {branch}")),
        "{made:#?}"
    );
    for one in [&run, branch] {
        place.end(&["resume", one, "--no-input"]).exits_with(5);
    }
    // Each asks by itself.
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(open.len(), 2, "{open:#?}");
}

#[test]
fn a_stop_of_an_agent_of_a_plan_ends_its_run_for_none_can_be_left_out() {
    let question = json!({"agent": "EXECUTOR", "turn": 2, "interrupt": {
        "type": "HUMAN_REVIEW", "reason": "which oven?", "choices": [], "confirmationItems": [],
        "contextForDecision": "there are two"}});
    for kind in ["STOP", "PRUNE"] {
        let place = Place::new();
        let script = script(place.folder.path(), &json!([question]));
        let script = script.to_str().unwrap();
        let plan = ["--workflow", "plan-execute", "--script", script];
        place.end_of_run(&plan).exits_with(5);
        let executor = format!("{}/root/executor", place.only_run());
        let stop = [
            "interrupt",
            &executor,
            "--type",
            kind,
            "--wait",
            "--timeout",
            "30s",
        ];
        let stopped = place.end(&stop).exits_with(0);
        assert!(stopped.output.contains("applied"), "{stopped:#?}");
        assert_eq!(place.runs()[0]["state"], "cancelled");
    }
}

#[test]
fn a_stop_of_an_agent_of_a_plan_takes_hold_while_another_one_works() {
    for (kind, state) in [("PAUSE", "paused"), ("STOP", "cancelled")] {
        let place = Place::new();
        let plan = ["--workflow", "plan-execute", "--pace", "8"];
        let child = spawn(&mut place.run(&plan));
        // The planner has made the plan by then, and works no more.
        place.wait_for_steps(2);
        let planner = format!("{}/root/planner", place.only_run());
        let stop = ["interrupt", &planner, "--type", kind, "--mode", "immediate"];
        let wait = ["--wait", "--timeout", "60s"];
        place.end(&[&stop[..], &wait[..]].concat()).exits_with(0);
        child.wait_with_output().unwrap();
        assert_eq!(place.runs()[0]["state"], state);
    }
}

#[test]
fn an_agent_that_is_stopped_ends_and_its_run_goes_on() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(2);
    let run = place.only_run();
    let discovery = format!("{run}/orchestrator/discovery");
    let stop = ["interrupt", &discovery, "--type", "STOP", "--wait"];
    // It is waited for until it has taken hold; that it was carried out is recorded right after.
    let stopped = place.end(&stop).exits_with(0);
    let said = ["STOP acknowledged", "STOP applied"];
    assert!(
        said.iter().any(|said| stopped.output.contains(said)),
        "{stopped:#?}"
    );
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let row = place.runs().remove(0);
    let left = row["agents"].as_array().unwrap().iter().filter(|agent| {
        let address = agent["agent_id"].as_str().unwrap();
        format!("{address}/").starts_with("orchestrator/discovery/")
    });
    for agent in left {
        let status = agent["status"].as_str().unwrap();
        assert!(["pruned", "completed"].contains(&status), "{agent:#}");
    }
}

#[test]
fn an_agent_is_pruned_and_no_whole_run() {
    let place = Place::new();
    let run = waiting(&place);
    let discovery = format!("{run}/orchestrator/discovery");
    place
        .end(&["interrupt", &discovery, "--type", "PRUNE", "--scope", "run"])
        .exits_with(2)
        .says("concerns an agent");
}

#[test]
fn the_agents_of_a_run_that_is_stopped_are_cancelled_with_it() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(2);
    let run = place.only_run();
    let stop = [
        "interrupt",
        &run,
        "--type",
        "STOP",
        "--mode",
        "immediate",
        "--wait",
    ];
    place.end(&stop).exits_with(0);
    child.wait_with_output().unwrap();
    let row = place.runs().remove(0);
    assert_eq!(row["state"], "cancelled");
    for agent in row["agents"].as_array().unwrap() {
        let status = agent["status"].as_str().unwrap();
        assert!(["cancelled", "completed"].contains(&status), "{agent:#}");
    }
}

#[test]
fn no_stop_that_meets_a_run_while_it_stops_to_ask_is_left_undone() {
    for meeting in 0..MEETINGS {
        let place = Place::new();
        let script = asking(&place);
        let asks = spawn(&mut place.run(&["--script", script.to_str().unwrap()]));
        place.wait_for_steps(1);
        std::thread::sleep(Duration::from_millis(meeting * 15));
        let run = place.only_run();
        let kind = if meeting % 2 == 0 { "PAUSE" } else { "STOP" };
        let stop = [
            "interrupt",
            &run,
            "--type",
            kind,
            "--wait",
            "--timeout",
            "30s",
            "--json",
        ];
        let stopped = place.end(&stop).exits_with(0);
        asks.wait_with_output().unwrap();
        let stop = lines(&stopped.output).remove(0);
        let (state, run) = match kind {
            "PAUSE" => ("awaiting_review", "paused"),
            _ => ("resolved", "cancelled"),
        };
        assert_eq!(stop["state"], state, "{meeting}: {stop:#}");
        assert_eq!(place.runs()[0]["state"], run, "{meeting}");
        let open = interrupts(&place, place.runs()[0]["id"].as_str().unwrap());
        assert!(
            open.iter().all(|one| one["state"] != "delivered"),
            "{meeting}: {open:#?}"
        );
    }
}

#[test]
fn whoever_waits_for_a_stop_lets_it_take_hold_once_the_process_of_its_run_has_died() {
    for (kind, state) in [("PAUSE", "paused"), ("STOP", "cancelled")] {
        let place = Place::new();
        let mut owner = spawn(&mut place.run(&["--pace", "1"]));
        place.wait_for_call();
        let run = place.only_run();
        let stop = [
            "interrupt",
            &run,
            "--type",
            kind,
            "--wait",
            "--timeout",
            "60s",
        ];
        let waits = spawn(&mut place.irq(&stop));
        until("the stop is delivered", || {
            place.runs()[0]["state"] == "stopping"
        });
        owner.kill().unwrap();
        owner.wait().unwrap();
        let died = Instant::now();
        let waited: Ended = waits.wait_with_output().unwrap().into();
        let waited = waited.exits_with(0);
        assert!(died.elapsed() < Duration::from_secs(10), "{waited:#?}");
        assert_eq!(place.runs()[0]["state"], state, "{waited:#?}");
    }
}

#[test]
fn where_only_a_resume_lets_a_stop_take_hold_it_is_named() {
    let place = Place::new();
    let mut owner = spawn(&mut place.run(&["--pace", "1"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    owner.kill().unwrap();
    owner.wait().unwrap();
    let worker = place.runs()[0]["agents"][0]["agent_id"].clone();
    let agent = format!("{run}/{}", worker.as_str().unwrap());
    let ask = ["interrupt", &agent, "--type", "HUMAN_REVIEW"];
    let wait = [&ask[..], &["--wait", "--timeout", "300ms"]].concat();
    let waited = place.end(&wait).exits_with(7);
    let words = "No process runs it now: the interrupt reaches its agent once the run is resumed.";
    assert!(waited.output.contains(words), "{waited:#?}");
    let hint = format!("irq resume {run}");
    assert!(waited.error_output.contains(&hint), "{waited:#?}");
}

/// A run whose process died at work, after so many of its steps.
fn died_at_work(place: &Place, steps: u64) -> String {
    let mut owner = spawn(&mut place.run(&["--pace", "20"]));
    place.wait_for_steps(steps);
    let run = place.only_run();
    // A step is shown a moment before its call is recorded.
    let begun = || {
        let moments = place.journal(&run);
        let is_call = |it: &&Value| it["kind"] == "model_call" && it["what"] == "effect_begun";
        moments.iter().filter(is_call).count() as u64
    };
    while begun() < steps {
        assert!(owner.try_wait().unwrap().is_none(), "it has ended");
    }
    owner.kill().unwrap();
    owner.wait().unwrap();
    run
}

#[test]
fn a_branch_of_a_run_whose_process_died_has_all_that_was_done() {
    let place = Place::new();
    let run = died_at_work(&place, 3);
    let done = place.told(&run, "model_call");
    assert!(!done.is_empty());
    let made = place
        .end(&["interrupt", &run, "--type", "BRANCH"])
        .exits_with(0);
    assert!(made.output.contains("BRANCH applied"), "{made:#?}");
    let runs = place.runs();
    let branch = runs.iter().find(|row| row["id"] != run.as_str()).unwrap();
    let branch = branch["id"].as_str().unwrap();
    let places = |moments: &[Value]| -> Vec<Value> {
        moments
            .iter()
            .map(|moment| moment["place"].clone())
            .collect()
    };
    let taken_over = places(&place.told(branch, "model_call"));
    assert_eq!(taken_over, places(&done));
    for one in [branch, &run] {
        place.end(&["resume", one, "--no-input"]).exits_with(0);
    }
    place.end(&["history", "--verify"]).exits_with(0);
}

#[test]
fn a_run_whose_process_died_has_a_checkpoint_once_a_stop_of_it_has_taken_hold() {
    let place = Place::new();
    let run = died_at_work(&place, 2);
    let saved = || {
        lines(
            &place
                .end(&["checkpoints", &run, "--json"])
                .exits_with(0)
                .output,
        )
    };
    let before = saved().len();
    place.end(&["interrupt", &run, "--wait"]).exits_with(0);
    let saved = saved();
    assert_eq!(saved.len(), before + 1, "{saved:#?}");
    let last = saved
        .iter()
        .max_by_key(|one| one["number"].as_u64())
        .unwrap();
    assert!(last["content"]["steps"].as_u64().unwrap() >= 2, "{last:#}");
    let at = last["number"].to_string();
    place
        .end(&["fork", &run, "--at", &at, "--no-input"])
        .exits_with(0);
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
}
