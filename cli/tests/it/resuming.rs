//! Runs that go on in another process: after a death, after Ctrl+C, after a limit, as a fork.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, end, last_of_run, lines, spawn};

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap()
}

fn quiet(command: &mut Command) -> Child {
    command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What a run has said at its end, without what differs from run to run.
fn result(output: &str) -> String {
    output
        .lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_killed_run_goes_on_where_it_stood_and_ends_like_one_that_was_left_alone() {
    let undisturbed = Place::new();
    let whole = end(&mut undisturbed.run(&[])).exits_with(0);
    let killed = Place::new();
    let mut child = quiet(&mut killed.run(&["--pace", "60"]));
    killed.wait_for_steps(3);
    child.kill().unwrap();
    child.wait().unwrap();
    let run = killed.only_run();
    let before = killed.journal(&run);
    let resumed = killed.end(&["resume", &run, "--no-input"]).exits_with(0);
    // The rehearsal speaks of the folder by its files, so both speak of the same.
    assert_eq!(result(&resumed.output), result(&whole.output));
    let after = killed.journal(&run);
    assert!(
        after.len() > before.len(),
        "{} {}",
        after.len(),
        before.len()
    );
    assert_eq!(killed.runs()[0]["state"], "completed");
    killed
        .end(&["resume", &run])
        .exits_with(4)
        .says("it has ended");
}

#[test]
fn no_agent_of_a_run_whose_process_has_died_is_said_to_work() {
    for workflow in ["agents", "plan-execute"] {
        let place = Place::new();
        let mut child = quiet(&mut place.run(&["--workflow", workflow, "--pace", "60"]));
        place.wait_for_call();
        let working = |row: &Value| {
            let agents = row["agents"].as_array().unwrap();
            let works = |agent: &&Value| agent["status"] == "running";
            agents.iter().filter(works).count()
        };
        assert!(working(&place.runs()[0]) > 0, "{:#?}", place.runs());
        child.kill().unwrap();
        child.wait().unwrap();
        // Its lease holds for some time yet, and its process is known to be gone.
        let row = place.runs().remove(0);
        assert_eq!(
            (&row["state"], &row["is_owned"]),
            (&json!("running"), &json!(false))
        );
        assert_eq!(working(&row), 0, "{row:#}");
        let is_ready = |agent: &Value| agent["status"] == "ready";
        assert!(
            row["agents"].as_array().unwrap().iter().any(is_ready),
            "{row:#}"
        );
        let shown = place.end(&["ps"]).exits_with(0).output;
        assert!(shown.contains("no process runs it"), "{shown}");
        assert!(!shown.contains("works"), "{shown}");
        let progress = lines(&place.end(&["ps", "-v", "--json"]).exits_with(0).output);
        let plan = progress[0]["progress"]["plan"].as_array().unwrap();
        assert!(
            plan.iter().all(|it| it["activity"] != "running"),
            "{plan:#?}"
        );
    }
}

#[test]
fn ctrl_c_names_the_checkpoint_and_the_command_and_the_command_goes_on() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(2);
    kill_process(pid(&child), Signal::INT).unwrap();
    let stopped: Ended = child.wait_with_output().unwrap().into();
    let stopped = stopped.exits_with(130);
    let run = place.only_run();
    let command = format!("Resume with: irq resume {run}");
    assert!(stopped.error_output.contains(&command), "{stopped:#?}");
    assert!(
        stopped
            .error_output
            .contains("Checkpoint 1 of it is saved."),
        "{stopped:#?}"
    );
    assert_eq!(place.runs()[0]["state"], "paused");
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert_eq!(place.runs()[0]["state"], "completed");
    // The pause was decided by whoever resumed it.
    place.end(&["history", "--verify"]).exits_with(0);
    assert_eq!(place.end(&["review", "--json"]).exits_with(0).output, "");
}

#[test]
fn new_input_reaches_the_agent_that_has_the_turn() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(1);
    kill_process(pid(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap();
    let run = place.only_run();
    let resumed = place
        .end(&[
            "resume",
            &run,
            "--message",
            "Mind the oven",
            "--no-input",
            "--json",
        ])
        .exits_with(0);
    let told: Vec<Value> = resumed
        .events()
        .into_iter()
        .filter(|event| event["type"] == "dev.irq.llm.call_started.v1")
        .filter(|event| event["data"]["reads"].to_string().contains("Mind the oven"))
        .collect();
    assert_eq!(told.len(), 1, "{resumed:#?}");
}

#[test]
fn a_run_that_another_process_has_is_not_taken_from_it() {
    let place = Place::new();
    let mut child = quiet(&mut place.run(&["--pace", "5"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    place
        .end(&["resume", &run])
        .exits_with(4)
        .says("is running in another process");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn another_terminal_stops_a_run_and_is_told_when_it_has_stopped() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "20"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    let wait = [
        "--mode",
        "immediate",
        "--wait",
        "--timeout",
        "30s",
        "--json",
    ];
    let mut arguments = vec!["interrupt", run.as_str(), "--reason", "enough"];
    arguments.extend(wait);
    let asked = place.end(&arguments).exits_with(0);
    let asked: Value = serde_json::from_str(&asked.output).unwrap();
    assert_eq!(asked["state"], "awaiting_review");
    let stopped: Ended = child.wait_with_output().unwrap().into();
    let stopped = stopped.exits_with(5);
    assert!(stopped.error_output.contains("enough"), "{stopped:#?}");
    // Exit code 5 promises what can be decided.
    assert_eq!(
        stopped.output,
        format!("{}\n", asked["id"].as_str().unwrap())
    );
}

#[test]
fn the_last_event_of_a_run_that_another_terminal_has_paused_names_its_pause() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "20", "--json"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    let asked = place
        .end(&["interrupt", &run, "--mode", "immediate", "--wait", "--json"])
        .exits_with(0);
    let asked: Value = serde_json::from_str(&asked.output).unwrap();
    let stopped: Ended = child.wait_with_output().unwrap().into();
    let stopped = stopped.exits_with(5);
    let events = stopped.events();
    let last = last_of_run(&events);
    assert_eq!(last["type"], "dev.irq.run.paused.v1", "{last:#}");
    let open = last["data"]["open_interrupts"].as_array().unwrap();
    assert_eq!(open, std::slice::from_ref(&asked["id"]));
}

#[test]
fn a_stop_of_another_terminal_ends_a_run_for_good() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "20"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    place
        .end(&[
            "interrupt",
            &run,
            "--type",
            "stop",
            "--mode",
            "immediate",
            "--wait",
        ])
        .exits_with(0);
    let ended: Ended = child.wait_with_output().unwrap().into();
    ended.exits_with(6);
    assert_eq!(place.runs()[0]["state"], "cancelled");
}

#[test]
fn a_budget_needs_a_price_and_pauses_the_run_when_it_is_spent() {
    let place = Place::new();
    let prices = place.keeping.path().join("prices.toml");
    std::fs::write(
        &prices,
        "currency = \"USD\"\n\n[prices.rehearsal]\ninput = 1.0\noutput = 2.0\n",
    )
    .unwrap();
    let refused = place
        .irq(&[
            "run",
            "x",
            "--model",
            "openai:gpt-5-mini",
            "--budget-usd",
            "1",
        ])
        .env("OPENAI_API_KEY", "no-key")
        .arg("--workspace")
        .arg(place.folder.path())
        .output()
        .unwrap();
    Ended::from(refused).exits_with(2).says("price");
    // Enough for a call or two: a call reserves what its longest answer may cost.
    let spent = end(place
        .run(&["--budget-usd", "0.02", "--prices"])
        .arg(&prices))
    .exits_with(8);
    assert!(
        spent.error_output.contains("Resume with: irq resume"),
        "{spent:#?}"
    );
    let run = place.only_run();
    let answers = || place.told(&run, "model_call").len();
    let answered = answers();
    // What was spent before the resume counts, and the limit is the run's.
    let refused = place.end(&["resume", &run, "--no-input"]).exits_with(8);
    assert!(
        refused.error_output.contains("of the budget of 0.02 USD"),
        "{refused:#?}"
    );
    assert_eq!(answers(), answered, "no call was made");
    // More money, at the prices that the run has kept.
    place
        .end(&["resume", &run, "--no-input", "--budget-usd", "50"])
        .exits_with(0);
}

#[test]
fn a_fork_goes_on_from_a_checkpoint_and_leaves_the_first_run_alone() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(2);
    kill_process(pid(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap();
    let first = place.only_run();
    place
        .end(&["fork", &first, "--at", "99"])
        .exits_with(3)
        .says("no checkpoint");
    place
        .end(&["fork", &first, "--at", "1", "--no-input"])
        .exits_with(0);
    let runs = place.runs();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let state = |id: &str| {
        let run = runs.iter().find(|run| run["id"] == id).unwrap();
        run["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&first), "paused");
    let fork = runs.iter().find(|run| run["id"] != first.as_str()).unwrap();
    assert_eq!(fork["state"], "completed");
    assert_eq!(fork["forked_from"], format!("{first}/1"));
}

#[test]
fn a_question_waits_in_the_store_and_its_answer_is_carried_out_after_a_resume() {
    let place = Place::new();
    let script = crate::program::example_script("tour.json");
    let waiting = end(place.run(&["--script"]).arg(&script).env("IRQ_USER", "ada")).exits_with(5);
    let run = place.only_run();
    assert!(waiting.error_output.contains(&run), "{waiting:#?}");
    for _question in 0..10 {
        let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
        let Some(question) = open.first() else {
            break;
        };
        let id = question["id"].as_str().unwrap();
        place
            .end(&["review", id, "--decision", "respond", "--message", "go on"])
            .exits_with(0);
        let resumed = place.end(&["resume", &run, "--no-input"]);
        if resumed.code == Some(0) {
            break;
        }
        resumed.exits_with(5);
    }
    assert_eq!(place.runs()[0]["state"], "completed");
    place.end(&["history", "--verify"]).exits_with(0);
}

#[test]
fn a_run_whose_folder_is_gone_says_so_and_can_still_go_on_later() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "60"]));
    place.wait_for_steps(1);
    kill_process(pid(&child), Signal::INT).unwrap();
    child.wait_with_output().unwrap();
    let run = place.only_run();
    let away = place.folder.path().with_extension("away");
    std::fs::rename(place.folder.path(), &away).unwrap();
    place.end(&["resume", &run]).exits_with(3);
    std::fs::rename(&away, Path::new(place.folder.path())).unwrap();
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
}

#[test]
fn a_fork_that_has_not_begun_keeps_the_run_that_it_goes_on_from() {
    let place = Place::new();
    let steps = serde_json::json!([{
        "agent": "DISCOVERY_ORCHESTRATOR", "turn": 1,
        "interrupt": {
            "type": "BRANCH", "reason": "both ways", "choices": [],
            "confirmationItems": [], "contextForDecision": "two ways lead there",
        },
    }]);
    let script = crate::program::script(place.keeping.path(), &steps);
    end(place.run(&["--script"]).arg(&script)).exits_with(0);
    let by_state = |state: &str| {
        let mut runs = place.runs();
        runs.retain(|run| run["state"] == state);
        let ids = runs
            .iter()
            .map(|run| run["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let (first, branch) = (by_state("completed"), by_state("created"));
    assert_eq!((first.len(), branch.len()), (1, 1), "{:?}", place.runs());
    let purge = || {
        let purged = place.end(&["purge", "--older-than", "1ms", "--yes", "--json"]);
        lines(&purged.exits_with(0).output)[0]["runs"].clone()
    };
    assert_eq!(purge(), serde_json::json!([]));
    place
        .end(&["resume", &branch[0], "--no-input"])
        .exits_with(0);
    let purged = purge();
    let mut gone: Vec<_> = purged.as_array().unwrap().iter().collect();
    gone.sort_by_key(|id| **id == branch[0]);
    assert_eq!(gone, [&first[0], &branch[0]]);
}
