//! What is said with `irq resume --message` is read once, whatever happens before.

use std::io::{BufRead, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, end, interrupt, lines, script, spawn};

const WORDS: &str = "Mind the oven";

/// How often a resumed run has told an agent the words.
fn times_told(resumed: &Ended) -> usize {
    let is_it = |event: &Value| {
        event["type"] == "dev.irq.llm.call_started.v1"
            && event["data"]["reads"].to_string().contains(WORDS)
    };
    resumed.events().iter().filter(|it| is_it(it)).count()
}

/// A run that was killed while it called its model.
fn killed(place: &Place, workflow: &[&str]) -> String {
    let mut child = spawn(place.run(&["--pace", "60"]).args(workflow));
    place.wait_for_call();
    child.kill().unwrap();
    child.wait().unwrap();
    place.only_run()
}

/// Goes on with it, says the words, and is stopped before a turn begins that could read them.
fn resumed_and_stopped(place: &Place, run: &str) {
    let mut command = place.irq(&["resume", run, "--message", WORDS, "--pace", "30"]);
    let mut child = spawn(command.args(["--no-input", "-v"]));
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("asks its model") {
        assert!(errors.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    std::io::copy(&mut errors, &mut std::io::sink()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{seen}");
}

#[test]
fn input_outlives_a_stop_that_came_before_it_was_read() {
    let place = Place::new();
    let run = killed(&place, &[]);
    resumed_and_stopped(&place, &run);
    let resumed = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0);
    assert_eq!(times_told(&resumed), 1, "{resumed:#?}");
    let replayed = place.end(&["replay", &run, "--json"]).exits_with(0).output;
    assert!(replayed.contains(WORDS), "{replayed}");
}

#[test]
fn input_outlives_the_death_of_the_process_that_it_was_said_to() {
    let place = Place::new();
    let run = killed(&place, &[]);
    let mut command = place.irq(&["resume", &run, "--message", WORDS, "--pace", "20"]);
    let mut child = spawn(command.args(["--no-input", "-v"]));
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("asks its model") {
        assert!(errors.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0);
    assert_eq!(times_told(&resumed), 1, "{resumed:#?}");
}

#[test]
fn input_waits_while_its_run_waits_for_an_answer() {
    let place = Place::new();
    let script = script(place.keeping.path(), &json!([interrupt("HUMAN_REVIEW")]));
    end(place.run(&["--script"]).arg(script)).exits_with(5);
    let run = place.only_run();
    place
        .end(&["resume", &run, "--message", WORDS, "--no-input"])
        .exits_with(5);
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let question = open[0]["id"].as_str().unwrap();
    let answer = ["--decision", "respond", "--message", "left"];
    place
        .end(&[&["review", question][..], &answer].concat())
        .exits_with(0);
    let resumed = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0);
    assert_eq!(times_told(&resumed), 1, "{resumed:#?}");
}

#[test]
fn a_plan_takes_in_what_was_said_before_its_process_died() {
    let place = Place::new();
    let run = killed(&place, &["--workflow", "plan-execute"]);
    resumed_and_stopped(&place, &run);
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    let changed = place.journal(&run);
    let asked = changed.iter().filter(|it| it["kind"] == "input").count();
    assert!(asked > 0, "{changed:#?}");
    let plan = place.end(&["plan", &run, "--json"]).exits_with(0).output;
    assert!(plan.contains(WORDS), "{plan}");
}

/// A run that waits for an answer, and is paused twice.
fn paused_twice(place: &Place) -> String {
    let script = script(place.keeping.path(), &json!([interrupt("HUMAN_REVIEW")]));
    end(place.run(&["--script"]).arg(script)).exits_with(5);
    let run = place.only_run();
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let asker = format!("{run}/{}", open[0]["agent_id"].as_str().unwrap());
    for paused in [&run, &asker] {
        place.end(&["interrupt", paused]).exits_with(0);
    }
    run
}

/// Answers what a run asks, and goes on with it.
fn answered_and_resumed(place: &Place, run: &str) -> Ended {
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let of_run = open.iter().find(|asked| asked["run_id"] == run).unwrap();
    let question = of_run["id"].as_str().unwrap();
    let answer = [
        "review",
        question,
        "--decision",
        "respond",
        "--message",
        "left",
    ];
    place.end(&answer).exits_with(0);
    place
        .end(&["resume", run, "--no-input", "--json"])
        .exits_with(0)
}

#[test]
fn what_is_said_when_two_pauses_are_lifted_is_read_once() {
    let place = Place::new();
    let run = paused_twice(&place);
    place
        .end(&["resume", &run, "--message", WORDS, "--no-input"])
        .exits_with(5);
    assert_eq!(times_told(&answered_and_resumed(&place, &run)), 1);
}

#[test]
fn what_nobody_has_read_yet_goes_with_a_fork_too() {
    let place = Place::new();
    let run = paused_twice(&place);
    place
        .end(&["resume", &run, "--message", WORDS, "--no-input"])
        .exits_with(5);
    place.end(&["fork", &run, "--no-input"]).exits_with(5);
    let runs = place.runs();
    let fork = runs.iter().find(|row| row["id"] != run.as_str()).unwrap();
    let fork = fork["id"].as_str().unwrap().to_owned();
    let branch = place
        .end(&["interrupt", &run, "--type", "BRANCH"])
        .exits_with(0);
    let branch = branch
        .output
        .rsplit("irq resume ")
        .next()
        .unwrap()
        .trim()
        .to_owned();
    place.end(&["resume", &branch, "--no-input"]).exits_with(5);
    for one in [&fork, &branch, &run] {
        assert_eq!(times_told(&answered_and_resumed(&place, one)), 1, "{one}");
    }
}

/// A run that is paused, and whose pause was answered with words though nobody executes it.
fn told_while_it_stands(place: &Place) -> String {
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(2);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let run = place.only_run();
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    let pause = open[0]["id"].as_str().unwrap();
    let said = ["--decision", "respond", "--message", WORDS];
    place
        .end(&[&["review", pause][..], &said].concat())
        .exits_with(0);
    run
}

#[test]
fn what_was_said_to_a_run_that_stands_is_carried_out_there_before_anything_is_forked_off() {
    let place = Place::new();
    let run = told_while_it_stands(&place);
    let branching = place.end(&["interrupt", &run, "--type", "BRANCH"]);
    let told = branching.exits_with(0).output;
    let why = "No branch was made: the answer to int_";
    assert!(told.contains(why), "{told}");
    place
        .end(&["fork", &run, "--no-input"])
        .exits_with(4)
        .says("is not carried out yet")
        .says(&format!(
            "irq resume {run}; or fork it without that: irq fork {run} --drop-pending"
        ));
    let dropping = ["fork", &run, "--drop-pending", "--no-input", "--json"];
    let fork = place.end(&dropping).exits_with(0);
    assert_eq!(times_told(&fork), 0, "{fork:#?}");
    let resumed = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0);
    assert_eq!(times_told(&resumed), 1, "{resumed:#?}");
    // Carried out, it is part of what is forked off.
    place.end(&["fork", &run, "--no-input"]).exits_with(0);
}
