//! A change of a plan that was applied and that the run has not carried out yet, when its person stops it again.

use serde_json::{Value, json};

use super::desk::{Desk, kinds, tasks, texts};
use crate::program::end;

const CONFLICT: i32 = 4;

/// The steps that are left, the one that is next included.
fn left(plan: &Value) -> Vec<String> {
    let all = plan["versions"].as_array().unwrap().last().unwrap();
    let left = texts(&all["plan"]).into_iter().map(str::to_owned);
    left.collect()
}

/// What was done in a run, by the tasks that its executor was given.
fn is_done(desk: &Desk, run: &str) -> Vec<String> {
    let plan = desk.plan(run);
    let done = tasks(&plan["done"]).into_iter().map(str::to_owned);
    done.collect()
}

#[test]
fn undo_takes_back_the_change_that_was_applied_last_though_nobody_has_carried_it_out() {
    let desk = Desk::new();
    let (run, before) = desk.changed_and_stopped_again();
    let undone = desk.json(&["plan", &run, "--undo"]);
    assert_eq!(left(&undone), before, "{undone:#}");
    assert_eq!(undone["can_redo"], true);
    assert_eq!(undone["decided"], Value::Null, "nothing is left of it");
    assert_eq!(undone["state"], "paused");
    let versions = undone["versions"].as_array().unwrap();
    let kinds: Vec<_> = versions.iter().map(|it| it["kind"].as_str()).collect();
    let ends_with = [Some("plan_changed"), Some("undone")];
    assert_eq!(kinds[kinds.len() - 2..], ends_with);
    // The pause that stands is all that holds the run.
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    let done = is_done(&desk, &run);
    assert_eq!(done[1..], before);
    // What was decided has one result.
    let journal = end(&mut desk.irq(&["replay", &run, "--json"])).exits_with(0);
    assert!(!journal.output.contains("not carried out"), "{journal:#?}");
    end(&mut desk.irq(&["history", "--verify"])).exits_with(0);
}

#[test]
fn what_was_just_applied_is_taken_back_and_made_again_without_another_interrupt() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let before = desk.plan(&run);
    desk.apply(&run, r#"["one", "two"]"#);
    let undone = desk.json(&["plan", &run, "--undo"]);
    let left_before: Vec<_> = left(&before).into_iter().skip(1).collect();
    assert_eq!(left(&undone), left_before, "one step of them is done");
    assert_eq!(undone["state"], "paused");
    let redone = desk.json(&["plan", &run, "--redo"]);
    assert_eq!(left(&redone), ["one", "two"]);
    // A change has to be decided: for that the run must stand still for a person again.
    let preview = end(&mut desk.irq(&["plan", &run, "--preview", r#"["three"]"#])).exits_with(0);
    assert!(preview.output.contains("irq interrupt"), "{preview:#?}");
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    assert_eq!(is_done(&desk, &run)[1..], ["one", "two"]);
    end(&mut desk.irq(&["history", "--verify"])).exits_with(0);
}

#[test]
fn what_undo_has_taken_back_before_it_was_carried_out_is_made_again_and_done() {
    let desk = Desk::new();
    let (run, _before) = desk.changed_and_stopped_again();
    desk.json(&["plan", &run, "--undo"]);
    let redone = desk.json(&["plan", &run, "--redo"]);
    assert_eq!(left(&redone), ["one", "two", "three"]);
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    assert_eq!(is_done(&desk, &run)[1..], ["one", "two", "three"]);
}

#[test]
fn a_second_change_is_shown_against_the_one_that_was_applied_and_wins() {
    let desk = Desk::new();
    let (run, _before) = desk.changed_and_stopped_again();
    let shown = desk.json(&["plan", &run, "--preview", r#"["one", "four"]"#]);
    let lines = shown["proposal"]["diff"].as_array().unwrap();
    let gone = lines.iter().filter(|line| line["change"] == "removed");
    let gone: Vec<_> = gone.map(|line| line["task"].as_str().unwrap()).collect();
    assert_eq!(gone, ["two", "three"], "{shown:#}");
    let digest = shown["proposal"]["digest"].as_str().unwrap();
    desk.json(&["plan", &run, "--apply", digest]);
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    assert_eq!(is_done(&desk, &run)[1..], ["one", "four"]);
}

#[test]
fn words_that_were_decided_and_not_carried_out_are_neither_taken_back_nor_lost() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let pause = desk.open()[0]["id"].as_str().unwrap().to_owned();
    let words = "add a validation step";
    let decide = ["--decision", "modify_plan", "--message", words];
    end(desk.irq(&["review", &pause]).args(decide)).exits_with(0);
    desk.stop_again(&run);
    let before = desk.plan(&run);
    for change in ["--undo", "--redo"] {
        end(&mut desk.irq(&["plan", &run, change]))
            .exits_with(CONFLICT)
            .says(&format!("irq resume {run}"));
    }
    assert_eq!(desk.plan(&run)["versions"], before["versions"]);
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    let told = desk.told(&run);
    assert!(kinds(&told).contains(&"modification_requested".to_owned()));
    assert!(told.iter().any(|fact| fact["reason"] == words), "{told:#?}");
}

#[test]
fn what_was_answered_about_a_failure_is_carried_out_though_a_pause_came_between() {
    let desk = Desk::new();
    let wrong = json!([{"agent": "EXECUTOR", "turn": 2, "answer": {"nonsense": true}}]);
    let path = crate::program::script(desk.folder.path(), &wrong);
    let mut command = desk.run();
    end(command.arg("--script").arg(path).arg("--no-input")).exits_with(5);
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let preview = desk.json(&["plan", &run, "--preview", r#"["sweep the floor"]"#]);
    let digest = preview["proposal"]["digest"].as_str().unwrap();
    desk.json(&["plan", &run, "--apply", digest]);
    desk.stop_again(&run);
    let undo = end(&mut desk.irq(&["plan", &run, "--undo"]));
    undo.exits_with(CONFLICT).says(&format!("irq resume {run}"));
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    assert_eq!(is_done(&desk, &run), ["sweep the floor"]);
}

#[test]
fn the_first_plan_of_a_run_is_not_taken_back() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let before = desk.plan(&run);
    assert_eq!(before["can_undo"], false, "{before:#}");
    for again in [false, true] {
        end(&mut desk.irq(&["plan", &run, "--undo"]))
            .exits_with(2)
            .says("there is nothing to undo");
        assert_eq!(
            desk.plan(&run)["versions"].as_array().unwrap().len(),
            if again { 3 } else { 1 }
        );
        if !again {
            desk.apply(&run, r#"["one"]"#);
            desk.stop_again(&run);
            desk.json(&["plan", &run, "--undo"]);
        }
    }
    let shown = end(&mut desk.irq(&["plan", &run])).exits_with(0).output;
    assert!(!shown.contains("--undo"), "{shown}");
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    let done = is_done(&desk, &run);
    assert_eq!(done, left(&before));
}

#[test]
fn nothing_is_forked_off_before_a_change_is_carried_out() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    desk.apply(&run, r#"["one", "two"]"#);
    end(&mut desk.irq(&["fork", &run, "--no-input"]))
        .exits_with(CONFLICT)
        .says("is not carried out yet")
        .says("--drop-pending");
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    assert_eq!(is_done(&desk, &run)[1..], ["one", "two"]);
    // Carried out, it is part of the plan.
    end(&mut desk.irq(&["fork", &run, "--no-input"])).exits_with(0);
    end(&mut desk.irq(&["history", "--verify"])).exits_with(0);
}
