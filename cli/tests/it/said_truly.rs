//! What is said and counted is so: calls that were not made, interrupts that were, who did what, and by which process.

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{end, interrupt, lines, script, spawn, workspace};
use crate::screen::on_a_terminal;

/// Prices at which the first call costs more than the budget of a cent.
const PRICES: &str = "[prices.rehearsal]\ninput = \"3\"\noutput = \"15000\"\n";

#[test]
fn calls_that_a_budget_refused_were_not_made() {
    let place = Place::new();
    let prices = place.keeping.path().join("prices.toml");
    std::fs::write(&prices, PRICES).unwrap();
    let prices = prices.to_str().unwrap();
    let budget = ["--json", "--budget-usd", "0.01", "--prices", prices];
    let ended = place.end_of_run(&budget).exits_with(8);
    let events = ended.events();
    let called: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"].as_str().unwrap().contains("llm.call"))
        .filter(|event| event["type"] != "dev.irq.llm.call_started.v1")
        .collect();
    assert!(!called.is_empty(), "{events:#?}");
    for event in called {
        assert_eq!(event["type"], "dev.irq.llm.call_cancelled.v1", "{event:#}");
        assert_eq!(event["data"]["tokens_may_be_billed"], false, "{event:#}");
    }
    let run = place.only_run();
    let resumed = place.end(&["resume", &run, "--no-input"]).exits_with(8);
    let told = resumed.error_output;
    assert!(told.contains("0 steps"), "{told}");
    assert!(told.contains("interrupt"), "{told}");
    let shown = place.end(&["ps", "-v", "--json"]).exits_with(0);
    let steps = &lines(&shown.output)[0]["progress"]["steps"];
    assert_eq!(steps["total"], 0, "{steps}");
    let counted = place.end(&["stats", "--json"]).exits_with(0).output;
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert_eq!(counted["runs"][0]["steps"]["total"], 0, "{counted:#}");
    let summary = place.end(&["replay", &run, "--summary", "--json"]);
    let summary: Value = serde_json::from_str(&summary.exits_with(0).output).unwrap();
    for end in ["answered", "cut_short", "not_billed", "unknown"] {
        assert_eq!(summary["calls"][end], 0, "{summary:#}");
    }
}

#[test]
fn a_run_that_was_interrupted_has_an_interrupt_and_its_history_names_people_and_no_processes() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "20"]));
    place.wait_for_steps(1);
    let run = place.only_run();
    let busy = place.end(&["resume", &run]).exits_with(4);
    let own = format!(
        "is running in another process (pid {}, started ",
        child.id()
    );
    assert!(busy.error_output.contains(&own), "{busy:#?}");
    place
        .end(&["interrupt", &run, "--mode", "immediate"])
        .exits_with(0);
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(told.contains(" · 1 interrupt · "), "{told}");
    let history = place.end(&["history"]).exits_with(0).output;
    let replay = place.end(&["replay", &run]).exits_with(0).output;
    for line in history.lines() {
        // POSITION, WHEN and WHO, each in its column.
        let who = line.chars().skip(32).take(12).collect::<String>();
        assert_ne!(who.trim(), "-", "{line}");
    }
    for shown in [&history, &replay] {
        for inside in ["irq-", "→ delivered", "acknowledge:", "require_review"] {
            assert!(!shown.contains(inside), "{inside} in {shown}");
        }
    }
}

#[test]
fn the_newest_runs_are_listed_first_everywhere() {
    let place = Place::new();
    for _run in 0..2 {
        place.end_of_run(&[]).exits_with(0);
    }
    let listed = lines(&place.end(&["ps", "--all", "--json"]).exits_with(0).output);
    let times: Vec<&str> = listed
        .iter()
        .map(|run| run["created_at"].as_str().unwrap())
        .collect();
    assert!(times[0] > times[1], "{times:?}");
    let counted = place.end(&["stats", "--json"]).exits_with(0).output;
    let counted: Value = serde_json::from_str(&counted).unwrap();
    let order = counted["runs"].as_array().unwrap().iter();
    let order: Vec<&Value> = order.map(|run| &run["run"]).collect();
    let ids: Vec<&Value> = listed.iter().map(|run| &run["id"]).collect();
    assert_eq!(order, ids);
}

#[test]
fn a_reviewer_is_the_user_whom_the_system_knows_and_not_whom_the_environment_says() {
    let place = Place::new();
    let mut doctor = place.irq(&["doctor"]);
    let told = end(doctor.env("USER", "boss").env("LOGNAME", "boss")).output;
    let named = std::process::Command::new("id")
        .arg("-un")
        .output()
        .unwrap();
    let named = String::from_utf8(named.stdout).unwrap();
    let words = format!("decisions here are {}'s", named.trim());
    assert!(told.contains(&words), "{told}");
}

#[test]
fn whoever_leaves_a_question_with_ctrl_d_is_told_that_it_waits() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut command = crate::program::run_in(folder.path());
    command.args(["--no-color", "--script"]).arg(script);
    let mut screen = on_a_terminal(command);
    screen.exp_string("> ").unwrap();
    screen.send("\x04").unwrap();
    screen.flush().unwrap();
    let rest = screen.exp_eof().unwrap();
    assert!(rest.contains("1 interrupt waits for an answer"), "{rest}");
    assert!(!rest.contains("nobody"), "{rest}");
}
