//! `irq run --server`: a run that a server executes, followed from here.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rexpect::session::PtySession;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, end, interrupt, irq, lines, script, spawn};
use crate::screen::{on_a_terminal, press};
use crate::served::Served;

/// A server over a store of its own.
struct House {
    served: Served,
    folder: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        Self::paced("0")
    }

    /// A house whose runs take their time.
    fn paced(pace: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = Served::paced(&folder.path().join("irq.db"), pace);
        Self { served, folder }
    }

    /// A script in which the orchestrator asks one question.
    fn asking(&self) -> PathBuf {
        script(self.folder.path(), &json!([interrupt("HUMAN_REVIEW")]))
    }

    fn run(&self, arguments: &[&str]) -> Command {
        let mut command = self.served.irq(&["run", "Describe the bakery"]);
        command.args(arguments);
        command
    }

    /// Starts a run that asks, and waits until it does. Returns the run and its question.
    fn waiting(&self) -> (String, String) {
        let asking = self.asking();
        let started = end(self.run(&["--detach", "--script"]).arg(asking)).exits_with(0);
        let run = started.output.trim().to_owned();
        let followed = self.served.end(&["resume", &run, "--no-input"]);
        let question = followed.exits_with(5).output.trim().to_owned();
        (run, question)
    }
}

/// The lines that a child says to people, until one has this text.
fn until(child: &mut Child, text: &str) -> BufReader<std::process::ChildStderr> {
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    loop {
        let mut line = String::new();
        assert!(
            errors.read_line(&mut line).unwrap() > 0,
            "no `{text}` in {told}"
        );
        told.push_str(&line);
        if line.contains(text) {
            return errors;
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn a_run_is_started_on_the_server_and_its_result_is_printed_here() {
    let house = House::new();
    let ended = end(&mut house.run(&[])).exits_with(0);
    assert!(ended.output.starts_with("✓ completed run_"), "{ended:#?}");
    // What came of it is more than that it ended.
    assert!(ended.output.lines().count() > 3, "{ended:#?}");
    assert!(
        ended.error_output.contains("✓ Orchestrator  step 1, "),
        "{ended:#?}"
    );
    let runs = house.served.end(&["ps", "--all", "--json"]).exits_with(0);
    assert_eq!(lines(&runs.output)[0]["state"], "completed");
}

/// What is told of a run but for when, where, and in which order its agents took their turns; and what it has taken.
fn told_of(ended: &Ended) -> (Vec<String>, String) {
    let moments = ended.error_output.lines().filter_map(|line| {
        let (time, what) = line.trim_start().split_once("s  ")?;
        time.parse::<f64>().ok()?;
        let (who, what) = what.split_once("  ").unwrap_or(("", what));
        let what = what.split_once(", ").map_or(what, |(_step, what)| what);
        // What is wrong with an answer is known where the run is executed.
        let refused = what.starts_with("correction ");
        let what = what
            .split_once(':')
            .filter(|_| refused)
            .map_or(what, |(refused, _why)| refused);
        // How sure a reviewing model has to be is known there alone, too; how sure it was is told with its decision.
        let is_told = |text: &str| !text.starts_with(['▶', '◇']);
        (is_told(who) && is_told(what)).then(|| format!("{who}: {what}"))
    });
    let mut moments: Vec<String> = moments.collect();
    moments.sort();
    let figures = ended
        .output
        .lines()
        .find(|line| line.contains(" tokens read"));
    let (figures, _time) = figures.unwrap().rsplit_once(" · ").unwrap();
    (moments, figures.to_owned())
}

#[test]
fn a_run_on_a_server_is_told_in_the_words_of_one_that_is_executed_here() {
    let house = House::new();
    let mut asks = interrupt("AGENT_REVIEW");
    asks["agent"] = json!("DISCOVERY_ORCHESTRATOR");
    // An answer that does not fit, though it sets one field, and an interrupt that a model reviews.
    let steps = json!([
        {"agent": "ORCHESTRATOR", "turn": 1, "correction": 0, "answer": {"discoveryOrchestratorRequest": {}}},
        asks,
        {"agent": "DISCOVERY_ORCHESTRATOR", "turn": 1, "purpose": "review",
         "answer": {"selectedChoices": ["left"], "text": "left", "confirmations": [], "confidence": 95}},
    ]);
    let script = script(house.folder.path(), &steps);
    let script = ["--script", script.to_str().unwrap()];
    let there = end(house.run(&["--no-input"]).args(script)).exits_with(0);
    let here = Place::new().end_of_run(&script).exits_with(0);
    let (moments, figures) = told_of(&there);
    assert!(moments.len() > 8, "{there:#?}");
    assert!(
        there.error_output.contains("does not fit, correction 1"),
        "{there:#?}"
    );
    assert!(
        there.error_output.contains("a reviewing model decided"),
        "{there:#?}"
    );
    assert_eq!((moments, figures), told_of(&here));
}

#[test]
fn the_events_of_the_server_are_printed_for_programs_each_once() {
    let house = House::new();
    let ended = end(&mut house.run(&["--json"])).exits_with(0);
    let events = lines(&ended.output);
    let sequences: Vec<&str> = events
        .iter()
        .map(|event| event["sequence"].as_str().unwrap())
        .collect();
    let mut sorted = sequences.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sequences, sorted);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"dev.irq.run.completed.v1"), "{kinds:?}");
    assert!(kinds.contains(&"dev.irq.llm.call_finished.v1"), "{kinds:?}");
}

#[test]
fn a_run_that_asks_ends_with_its_question_where_nobody_answers_and_goes_on_when_somebody_does() {
    let house = House::new();
    let (run, question) = house.waiting();
    let shown = house.served.json(&["review", &question, "--json"]);
    assert_eq!(shown["state"], "awaiting_review");
    // Whoever follows it sees it go on.
    let mut following = spawn(&mut house.served.irq(&["resume", &run, "--no-input"]));
    let code = following.wait().unwrap().code();
    assert_eq!(code, Some(5));
    let payload = r#"{"selectedChoices":["left"]}"#;
    house
        .served
        .end(&[
            "review",
            &question,
            "--decision",
            "respond",
            "--payload",
            payload,
        ])
        .exits_with(0);
    let ended = house
        .served
        .end(&["interrupt", &run, "--wait", "--timeout", "30s"]);
    // It has ended, or is stopped: it went on without anybody here.
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
}

#[test]
fn what_the_server_does_not_take_is_said_before_anything_is_started() {
    let house = House::new();
    let ended = end(&mut house.run(&["--workspace", "../.."])).exits_with(2);
    ended.says("options.workspace");
    let ended = end(&mut house.run(&["--base-url", "http://127.0.0.1:1/v1"])).exits_with(2);
    ended.says("base_url");
    let ended = end(&mut house.run(&["--pace", "5"])).exits_with(2);
    ended.says("--pace is the server's to say");
    for limit in [["--max-memory", "1GiB"], ["--max-cpu-time", "90s"]] {
        let ended = end(&mut house.run(&limit)).exits_with(2);
        ended.says(&format!("{} is the server's to say", limit[0]));
    }
    let ended = end(&mut house.run(&["--timeout", "1500ms"])).exits_with(2);
    ended.says("--timeout counts whole seconds on a server");
    let viewer = house.served.token("victor", "viewer");
    let mut command = house
        .served
        .irq_as(&viewer, &["run", "Describe the bakery"]);
    end(&mut command).exits_with(77).says("right to direct");
    let runs = house.served.end(&["ps", "--all", "--json"]).exits_with(0);
    assert_eq!(runs.output, "");
}

#[test]
fn a_limit_that_a_server_would_not_hear_of_is_refused_with_the_way_to_change_it() {
    let house = House::new();
    let (run, question) = house.waiting();
    for command in ["resume", "fork"] {
        for limit in [
            ["--timeout", "60s"],
            ["--max-steps", "900"],
            ["--max-memory", "1GiB"],
        ] {
            let ended = house.served.end(&[command, &run, limit[0], limit[1]]);
            let ended = ended
                .exits_with(2)
                .says("cannot be changed through a server");
            ended.says(&format!("irq {command} {run} {} … --store", limit[0]));
        }
    }
    let waits = house.served.json(&["review", &question, "--json"]);
    assert_eq!(waits["state"], "awaiting_review", "{waits}");
}

#[test]
fn ctrl_c_asks_the_run_there_to_stop_and_it_can_be_resumed() {
    let house = House::paced("200");
    let mut child = spawn(&mut house.run(&[]));
    let mut errors = until(&mut child, "step 1, ");
    signal(&child, Signal::INT);
    let mut told = String::new();
    errors.read_to_string(&mut told).unwrap();
    let first = "Received interrupt. Finishing the current steps...";
    assert!(told.contains(first), "{told}");
    let way = told.lines().find(|line| line.contains("Resume with: "));
    let way = way.unwrap_or_else(|| panic!("{told}"));
    for part in ["irq resume ", " run_", " --server ", " --token-file "] {
        assert!(way.contains(part), "{way}");
    }
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told}");
    let ps = house.served.end(&["ps", "--json"]).exits_with(0);
    let run = lines(&ps.output).remove(0);
    assert_eq!(run["state"], "paused");
    let resumed = house.served.end(&["resume", run["id"].as_str().unwrap()]);
    resumed.exits_with(0);
}

#[test]
fn a_second_ctrl_c_stops_it_at_once_and_a_third_leaves() {
    let house = House::paced("1");
    let mut child = spawn(&mut house.run(&[]));
    let mut errors = until(&mut child, "step 1, ");
    for words in ["Received interrupt.", "Stopping now."] {
        signal(&child, Signal::INT);
        let mut told = String::new();
        while !told.contains(words) {
            assert!(
                errors.read_line(&mut told).unwrap() > 0,
                "no `{words}` in {told}"
            );
        }
    }
    let mut told = String::new();
    errors.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told}");
    let ps = house.served.end(&["ps", "--json"]).exits_with(0);
    assert_eq!(lines(&ps.output)[0]["state"], "paused");
}

#[test]
fn a_follower_misses_nothing_and_sees_nothing_twice_when_the_server_is_killed_or_stopped() {
    let mut house = House::paced("400");
    let mut child = spawn(&mut house.run(&["--json"]));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    let mut read = |told: &mut String, most: usize| {
        for _line in 0..most {
            output.read_line(told).unwrap();
        }
    };
    read(&mut told, 12);
    house.served.is_killed_and_comes_back();
    read(&mut told, 12);
    house.served.is_stopped_and_comes_back();
    output.read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let followed: Vec<Value> = lines(&told);
    let run = followed[0]["source"].as_str().unwrap();
    let run = run.rsplit('/').next().unwrap();
    // Somebody who reads all of it from the beginning sees the same.
    let again = end(house
        .served
        .irq(&["watch", "--json", "--run", run, "--after", "0"])
        .stdin(Stdio::null()))
    .exits_with(0);
    let again = lines(&again.output);
    let sequences = |events: &[Value]| -> Vec<String> {
        let sequence = |event: &Value| event["sequence"].as_str().unwrap().to_owned();
        events.iter().map(sequence).collect()
    };
    // What is noted down after a run has ended is not waited for.
    let (told, after_the_end) = again.split_at(followed.len());
    assert_eq!(sequences(told), sequences(&followed));
    let is_end = |event: &Value| event["type"] == "dev.irq.run.completed.v1";
    assert!(followed.iter().any(is_end), "{:?}", followed.last());
    assert!(after_the_end.len() < 4, "{after_the_end:?}");
    for (seen_again, seen) in told.iter().zip(&followed) {
        assert_eq!(seen_again, seen);
    }
}

/// The program on a terminal of its own.
fn at_a_terminal(house: &House, arguments: &[&str]) -> PtySession {
    on_a_terminal(house.served.irq(arguments))
}

#[test]
fn a_question_is_answered_in_place_while_the_server_is_killed_and_comes_back() {
    let mut house = House::new();
    let asking = house.asking();
    let arguments = [
        "run",
        "Describe the bakery",
        "--script",
        asking.to_str().unwrap(),
    ];
    let mut screen = at_a_terminal(&house, &arguments);
    screen.exp_string("which way?").unwrap();
    screen.exp_string("? help").unwrap();
    house.served.is_killed_and_comes_back();
    screen.send_line("1").unwrap();
    screen.exp_string("completed").unwrap();
    screen.exp_eof().unwrap();
    let status = screen.process().wait().unwrap();
    assert!(format!("{status:?}").ends_with(", 0)"), "{status:?}");
}

#[test]
fn what_was_half_typed_when_somebody_else_decides_is_left_to_nobody() {
    let house = House::new();
    let run = house.run(&["--script", house.asking().to_str().unwrap()]);
    let mut shell = Command::new("sh");
    shell
        .args([
            "-c",
            "\"$@\"; echo the shell; IFS= read -r left; echo \"left: [$left]\"",
            "sh",
        ])
        .arg(run.get_program())
        .args(run.get_args());
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let mut screen = on_a_terminal(shell);
    screen.exp_string("? help").unwrap();
    press(&mut screen, "half an answer");
    let open = house.served.end(&["review", "--json"]).exits_with(0);
    let question = lines(&open.output)[0]["id"].as_str().unwrap().to_owned();
    let decide = [
        "review",
        &question,
        "--decision",
        "approve",
        "--message",
        "yes",
    ];
    house.served.end(&decide).exits_with(0);
    let told = format!("{question} was decided meanwhile: ada decided `approve`");
    screen.exp_string(&told).unwrap();
    screen.exp_string("the shell").unwrap();
    press(&mut screen, "\n");
    screen.exp_string("left: []").unwrap();
    screen.exp_eof().unwrap();
}

#[test]
fn a_run_that_hits_a_limit_there_names_what_allows_more() {
    let house = House::new();
    let hit = end(&mut house.run(&["--max-steps", "2", "--no-input"])).exits_with(8);
    let runs = house.served.end(&["ps", "--all", "--json"]).exits_with(0);
    let run = lines(&runs.output)[0]["id"].as_str().unwrap().to_owned();
    let hit = hit.says(&format!("irq resume {run} --max-steps NUMBER --store PATH"));
    let through_it = format!("irq resume {run} --server");
    assert!(!hit.error_output.contains(&through_it), "{hit:#?}");
    let store = house.folder.path().join("irq.db");
    let mut more = irq();
    more.args(["resume", &run, "--max-steps", "900", "--store"]);
    end(more.arg(store)).exits_with(0);
}

#[test]
fn programs_are_told_why_a_run_stands_still_and_what_is_open() {
    let house = House::new();
    let hit = end(&mut house.run(&["--json", "--max-steps", "2"])).exits_with(8);
    let is_of_run = |event: &Value| event["type"].as_str().unwrap().starts_with("dev.irq.run.");
    let mut events = lines(&hit.output).into_iter();
    let last = events.rfind(is_of_run).unwrap();
    assert_eq!(last["type"], "dev.irq.run.paused.v1", "{last}");
    assert!(
        last["data"]["reason"].as_str().unwrap().contains("step"),
        "{last}"
    );
    let open = last["data"]["open_interrupts"].as_array().unwrap();
    assert_eq!(open.len(), 1, "its pause: {last}");
}
