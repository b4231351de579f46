//! `irq plan`: previews, suggestions, undo and redo, and that nothing else is applied than what was previewed.

use serde_json::{Value, json};

use super::desk::{Desk, kinds, tasks, texts};
use crate::program::{end, end_with_input};
use crate::running::Running;

const CONFLICT: i32 = 4;

fn changes(preview: &Value) -> Vec<(&str, &str)> {
    let lines = preview["diff"].as_array().unwrap().iter();
    lines
        .map(|line| {
            (
                line["change"].as_str().unwrap(),
                line["task"].as_str().unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_plan_is_shown_with_what_is_done_and_what_is_next_in_another_process() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let plan = desk.plan(&run);
    assert_eq!(plan["completed_steps"], 1, "{plan:#}");
    assert_eq!(plan["state"], "paused");
    assert_eq!(plan["is_held"], true);
    assert_eq!(plan["version"], 1);
    assert_eq!(plan["done"].as_array().unwrap().len(), 1);
    assert!(plan["done"][0]["result"].as_str().is_some());
    assert_eq!(plan["proposal"], Value::Null);
    let left = plan["total_steps"].as_u64().unwrap() - 1;
    let next = plan["next"].as_array().unwrap().len() as u64;
    let now = u64::from(!plan["now"].is_null());
    assert_eq!(now + next, left);
    let shown = end(&mut desk.irq(&["plan", &run])).exits_with(0).output;
    for part in ["plan 1/", "✓", "let me look", "--suggest", "irq resume"] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
}

#[test]
fn a_preview_changes_nothing_and_what_it_showed_is_applied_by_its_digest() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let before = desk.plan(&run);
    let first = desk.left(&run).remove(0);
    let wanted = json!(["check the oven", first]).to_string();
    let preview = desk.json(&["plan", &run, "--preview", &wanted]);
    assert_eq!(preview["applied"], false);
    let proposal = &preview["proposal"];
    assert_eq!(proposal["completed_steps"], 1);
    assert!(changes(proposal).contains(&("added", "check the oven")));
    assert_eq!(proposal["next"]["task"], "check the oven");
    let looked_at = desk.plan(&run);
    assert_eq!(looked_at["now"], before["now"], "nothing is applied");
    assert_eq!(looked_at["version"], 1);
    assert_eq!(looked_at["proposal"]["digest"], proposal["digest"]);
    let digest = proposal["digest"].as_str().unwrap();
    let applied = desk.json(&["plan", &run, "--apply", &digest[..12]]);
    assert_eq!(applied["decision"]["decision"], "modify_plan");
    assert_eq!(applied["decision"]["payload"]["plan"], proposal["plan"]);
    let decided = desk.plan(&run);
    assert_eq!(decided["decided"]["decision"], "modify_plan");
    let shown = end(&mut desk.irq(&["plan", &run])).exits_with(0).output;
    assert!(
        shown.contains("carried out when the run goes on"),
        "{shown}"
    );
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let ended = desk.plan(&run);
    assert_eq!(ended["state"], "completed");
    assert_eq!(ended["decided"], Value::Null);
    let done = tasks(&ended["done"]);
    assert_eq!(done[1..3], ["check the oven", first.as_str()], "{done:?}");
    let told = kinds(&desk.told(&run));
    let at = |kind: &str| told.iter().position(|told| told == kind).unwrap();
    assert!(at("user_escape") < at("resumed"), "{told:?}");
}

#[test]
fn nothing_else_is_applied_than_what_was_previewed() {
    let desk = Desk::new();
    let (run, _before) = desk.changed_and_stopped_again();
    let seen = desk.json(&["plan", &run, "--preview", r#"["mine"]"#]);
    let seen = seen["proposal"]["digest"].as_str().unwrap().to_owned();
    // Somebody else proposes another change after it was looked at.
    desk.json(&["plan", &run, "--preview", r#"["theirs"]"#]);
    let stale = end(&mut desk.irq(&["plan", &run, "--apply", &seen[..12]]));
    stale.exits_with(CONFLICT).says("nothing was applied");
    // The same steps are another change once the plan beneath them has changed.
    desk.json(&["plan", &run, "--preview", r#"["mine"]"#]);
    desk.json(&["plan", &run, "--undo"]);
    let again = desk.json(&["plan", &run, "--preview", r#"["mine"]"#]);
    assert_ne!(again["proposal"]["digest"], seen.as_str());
    let stale = end(&mut desk.irq(&["plan", &run, "--apply", &seen[..12]]));
    stale.exits_with(CONFLICT).says("nothing was applied");
    // Without a digest a program applies nothing.
    let blind = end(&mut desk.irq(&["plan", &run, "--apply"]));
    blind.exits_with(2).says("say which change");
    let guessed = end(&mut desk.irq(&["plan", &run, "--apply", "0"]));
    guessed.exits_with(2).says("too short");
    assert_eq!(desk.open().len(), 1, "it still stands still");
}

#[test]
fn a_decision_about_the_plan_that_was_shown_before_is_refused() {
    let desk = Desk::new();
    let (run, _before) = desk.changed_and_stopped_again();
    let shown = desk.open()[0].clone();
    let version = shown["version"].as_u64().unwrap().to_string();
    desk.json(&["plan", &run, "--undo"]);
    let id = shown["id"].as_str().unwrap();
    let decision = [
        "review",
        id,
        "--decision",
        "resume",
        "--if-version",
        &version,
    ];
    let stale = end(&mut desk.irq(&decision));
    stale.exits_with(CONFLICT).says("has changed since");
    assert_eq!(desk.open()[0]["state"], "awaiting_review");
}

#[test]
fn a_model_suggests_a_change_that_is_only_shown_until_it_is_applied() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let calls = desk.calls(&run);
    let suggested = desk.json(&["plan", &run, "--suggest", "add a validation step"]);
    assert_eq!(suggested["applied"], false);
    assert_eq!(desk.calls(&run), calls + 1, "one answer was asked for");
    let plan = desk.plan(&run);
    assert_eq!(plan["version"], 1);
    assert_eq!(plan["proposal"], suggested["proposal"]);
    // Another request is asked for anew: the answer to the first one is not read for it.
    desk.json(&["plan", &run, "--suggest", "leave all out but one"]);
    assert_eq!(desk.calls(&run), calls + 2);
    let digest = desk.plan(&run)["proposal"]["digest"].clone();
    desk.json(&["plan", &run, "--apply", digest.as_str().unwrap()]);
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    assert_eq!(desk.plan(&run)["state"], "completed");
}

#[test]
fn changes_are_taken_back_and_made_again_and_a_forced_replan_sees_the_plan_as_it_is_then() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let wanted = r#"["knead", "bake"]"#;
    let digest = desk.json(&["plan", &run, "--preview", wanted])["proposal"]["digest"].clone();
    desk.json(&["plan", &run, "--apply", digest.as_str().unwrap()]);
    // The run goes on with it, and is stopped again before its next step.
    let mut running = Running::start(&mut desk.irq(&["resume", &run, "-v", "--pace", "30"]));
    running.wait_for("root/executor");
    let interrupt = ["interrupt", &run, "--wait=awaiting_review"];
    end(&mut desk.irq(&interrupt)).exits_with(0);
    running.end();
    let plan = desk.plan(&run);
    let version = plan["version"].as_u64().unwrap();
    assert_eq!(plan["now"]["task"], "bake");
    let undone = desk.json(&["plan", &run, "--undo", "--if-version", &version.to_string()]);
    assert_eq!(undone["version"], version + 1);
    assert_eq!(undone["can_redo"], true);
    assert_ne!(undone["now"]["task"], "bake");
    let late = ["plan", &run, "--undo", "--if-version", &version.to_string()];
    end(&mut desk.irq(&late))
        .exits_with(CONFLICT)
        .says("version");
    let redone = desk.json(&["plan", &run, "--redo"]);
    let left = redone["next"].as_array().unwrap().len() + usize::from(!redone["now"].is_null());
    assert_eq!(left, 1, "{redone:#}");
    desk.json(&["plan", &run, "--undo"]);
    desk.json(&["plan", &run, "--redo"]);
    let more = end(&mut desk.irq(&["plan", &run, "--redo"]));
    more.exits_with(2).says("nothing to redo");
    let versions = desk.plan(&run)["versions"].clone();
    let kinds: Vec<_> = versions
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["kind"])
        .collect();
    assert_eq!(
        kinds[kinds.len() - 4..],
        ["undone", "redone", "undone", "redone"]
    );
    // The rehearsal makes a plan of its own of the request, without the step that was applied: that is asked.
    let asks = end(&mut desk.irq(&["resume", &run, "--message", "be quick"])).exits_with(5);
    assert!(asks.error_output.contains("“bake”"), "{asks:#?}");
    let question = asks.output.trim();
    end(&mut desk.irq(&["review", question, "--decision", "approve"])).exits_with(0);
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
    let done = desk.plan(&run)["done"].clone();
    assert_eq!(tasks(&done).last(), Some(&"bake"), "{done:#}");
    let told = desk.told(&run);
    let requested = told
        .iter()
        .find(|fact| fact["kind"] == "modification_requested")
        .unwrap();
    assert_eq!(texts(&requested["current_plan"]), ["bake"]);
}

#[test]
fn steps_are_written_as_json_or_one_a_line_and_what_is_no_plan_is_refused() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let file = desk.folder.path().join("plan.txt");
    std::fs::write(&file, "knead\n\n  bake  \n").unwrap();
    let from_file = format!("@{}", file.display());
    let preview = desk.json(&["plan", &run, "--preview", &from_file]);
    assert_eq!(texts(&preview["proposal"]["plan"]), ["knead", "bake"]);
    let mut command = desk.irq(&["plan", &run, "--preview", "-", "--json"]);
    let piped = end_with_input(&mut command, br#"{"plan": ["cool", "sell"]}"#).exits_with(0);
    let piped: Value = serde_json::from_str(&piped.output).unwrap();
    assert_eq!(texts(&piped["proposal"]["plan"]), ["cool", "sell"]);
    for (given, says) in [
        ("bake it", "these are no steps"),
        (r#"["a", " "]"#, "step 2 says nothing"),
        (r#"{"steps": 3}"#, "this is no plan"),
    ] {
        let refused = end(&mut desk.irq(&["plan", &run, "--preview", given]));
        refused.exits_with(2).says(says);
    }
    let missing = end(&mut desk.irq(&["plan", &run, "--preview", "@/nowhere/plan"]));
    missing.exits_with(3).says("cannot read /nowhere/plan");
}

#[test]
fn a_working_run_is_previewed_and_not_changed_and_another_workflow_has_no_plan() {
    let desk = Desk::new();
    let mut running = desk.at_its_first_step();
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let preview = desk.json(&["plan", &run, "--preview", r#"["other"]"#]);
    assert_eq!(preview["interrupt"], Value::Null);
    assert_eq!(desk.plan(&run)["proposal"], Value::Null);
    for change in ["--undo", "--redo", "--suggest=faster"] {
        let refused = end(&mut desk.irq(&["plan", &run, change]));
        refused.exits_with(CONFLICT).says("not paused for review");
    }
    let refused = end(&mut desk.irq(&["plan", &run, "--apply", "0123456789ab"]));
    refused.exits_with(CONFLICT).says("not paused for review");
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    // A run that lost its process at a step is interrupted, changed and resumed all the same.
    end(&mut desk.irq(&["interrupt", &run])).exits_with(0);
    let plan = desk.plan(&run);
    let mut done = tasks(&plan["done"]);
    let digest =
        desk.json(&["plan", &run, "--preview", r#"["other"]"#])["proposal"]["digest"].clone();
    desk.json(&["plan", &run, "--apply", digest.as_str().unwrap()]);
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    done.push("other");
    assert_eq!(tasks(&desk.plan(&run)["done"]), done);
    let mut agents = desk.kept(crate::program::run_in(desk.folder.path()));
    end(&mut agents).exits_with(0);
    let all = end(&mut desk.irq(&["ps", "--all", "--json"])).exits_with(0);
    let all = crate::program::lines(&all.output);
    let of_agents = all
        .iter()
        .find(|other| other["id"] != run.as_str())
        .unwrap();
    let of_agents = of_agents["id"].as_str().unwrap();
    let refused = end(&mut desk.irq(&["plan", of_agents]));
    refused.exits_with(2).says("carries out no plan");
}

#[test]
fn a_review_with_steps_is_bound_to_the_plan_and_what_makes_none_is_refused() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let id = desk.open()[0]["id"].as_str().unwrap().to_owned();
    let review = |payload: &str| {
        let decision = [
            "review",
            &id,
            "--decision",
            "modify_plan",
            "--payload",
            payload,
        ];
        end(&mut desk.irq(&decision))
    };
    review(r#"{"plan": ["a", ""]}"#)
        .exits_with(2)
        .says("step 2 says nothing");
    review(r#"{"steps": ["a"]}"#)
        .exits_with(2)
        .says("no change of a plan");
    review("{}")
        .exits_with(2)
        .says("neither steps nor words change the plan");
    let other = format!(r#"{{"plan": ["a"], "previewed": "{}"}}"#, "0".repeat(64));
    review(&other).exits_with(CONFLICT).says("look at it again");
    assert_eq!(desk.open().len(), 1);
    let decided = review(r#"{"plan": ["a"]}"#).exits_with(0);
    assert!(decided.output.contains("+ a"), "{}", decided.output);
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    assert_eq!(tasks(&desk.plan(&run)["done"])[1..], ["a"]);
}

#[test]
fn a_plan_that_cannot_go_on_is_changed_by_the_answer_to_its_question() {
    let desk = Desk::new();
    let wrong = json!([{"agent": "EXECUTOR", "turn": 2, "answer": {"nonsense": true}}]);
    let path = crate::program::script(desk.folder.path(), &wrong);
    let mut command = desk.run();
    end(command.arg("--script").arg(path).arg("--no-input")).exits_with(5);
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let plan = desk.plan(&run);
    assert_eq!(
        (&plan["state"], &plan["is_held"]),
        (&json!("waiting"), &json!(true))
    );
    let wanted = r#"["sweep the floor"]"#;
    let preview = desk.json(&["plan", &run, "--preview", wanted]);
    let digest = preview["proposal"]["digest"].as_str().unwrap();
    desk.json(&["plan", &run, "--apply", digest]);
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let ended = desk.plan(&run);
    assert_eq!(tasks(&ended["done"]), ["sweep the floor"]);
    assert!(kinds(&desk.told(&run)).contains(&"system_error".to_owned()));
}

#[test]
fn a_suggestion_is_paid_from_what_the_run_may_spend() {
    let desk = Desk::new();
    let prices = desk.store.path().join("prices.toml");
    let table = "currency = \"USD\"\n\n[prices.rehearsal]\ninput = 1.0\noutput = 1000.0\n";
    std::fs::write(&prices, table).unwrap();
    // Enough for the plan alone: a call reserves what its longest answer may cost, here 8.192.
    let mut run = desk.run();
    run.args(["--budget-usd", "8.21", "--prices"]).arg(&prices);
    end(&mut run).exits_with(8);
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let suggest = ["plan", &run, "--suggest", "add a validation step"];
    let refused = end(&mut desk.irq(&suggest)).exits_with(1);
    refused
        .says("of the budget of 8.21 USD")
        .says("was not asked");
    assert!(desk.plan(&run)["proposal"].is_null());
}

#[test]
fn steps_that_are_applied_while_the_last_step_or_the_replan_after_it_works_are_carried_out() {
    // A graceful stop lets the last step end, and takes effect in the replan; an immediate one ends the step itself.
    for mode in ["graceful", "immediate"] {
        let desk = Desk::new();
        let run = desk.stopped_after_its_first_step();
        desk.apply(&run, r#"["the last step"]"#);
        let mut running = Running::start(&mut desk.irq(&["resume", &run, "-v", "--pace", "30"]));
        running.wait_for("root/executor");
        let interrupt = ["interrupt", &run, "--wait=awaiting_review", "--mode", mode];
        end(&mut desk.irq(&interrupt)).exits_with(0);
        running.end();
        let left = if mode == "graceful" {
            r#"["another", "one more"]"#
        } else {
            r#"["the last step", "another", "one more"]"#
        };
        desk.apply(&run, left);
        end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
        let plan = desk.plan(&run);
        let done = tasks(&plan["done"]);
        assert_eq!(
            done[1..],
            ["the last step", "another", "one more"],
            "{mode}: {plan:#}"
        );
    }
}
