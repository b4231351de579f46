//! Plans and standing rules through a server: looked at, changed and decided as beside its store.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rexpect::session::PtySession;
use serde_json::{Value, json};

use crate::planning::desk::{Desk, is_done_as_shown, kinds, tasks, texts};
use crate::program::{end, end_with_input, lines, without_ids, without_place};
use crate::screen::{on_a_terminal, shell};
use crate::seed::Seed;
use crate::served::Served;

const CONFLICT: i32 = 4;
const NOT_AUTHORISED: i32 = 77;

fn store_of(desk: &Desk) -> PathBuf {
    desk.store.path().join("irq.db")
}

/// A run that stands still after its first step, and a server over its store that executes nothing of it.
fn held() -> (Desk, String, Served) {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let served = Served::over(&store_of(&desk));
    (desk, run, served)
}

/// A command through the server that prints one JSON object.
#[track_caller]
fn told(served: &Served, arguments: &[&str]) -> Value {
    let ended = end(served.irq(arguments).arg("--json")).exits_with(0);
    serde_json::from_str(&ended.output).unwrap()
}

/// Waits until a plan is carried out.
fn carried_out(desk: &Desk, run: &str) -> Value {
    let begun = Instant::now();
    loop {
        let plan = desk.plan(run);
        if plan["state"] == "completed" {
            return plan;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{plan:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_plan_is_read_and_previewed_through_a_server_as_beside_its_store() {
    let (desk, run, served) = held();
    let beside = desk.plan(&run);
    assert_eq!(told(&served, &["plan", &run]), beside);
    assert_eq!(told(&served, &["plan", &run, "--history"]), beside);
    let shown = served.end(&["plan", &run]).exits_with(0).output;
    for part in ["plan 1/", "✓", "let me look", "--suggest", "irq resume"] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    let preview = ["plan", &run, "--preview", r#"["knead", "bake"]"#];
    let through = told(&served, &preview);
    assert_eq!(through["applied"], false);
    assert_eq!(desk.plan(&run)["proposal"], through["proposal"]);
    assert_eq!(desk.json(&preview), through);
    let mut piped = served.irq(&["plan", &run, "--preview", "-", "--json"]);
    let piped = end_with_input(&mut piped, b"cool\nsell\n").exits_with(0);
    let piped: Value = serde_json::from_str(&piped.output).unwrap();
    assert_eq!(texts(&piped["proposal"]["plan"]), ["cool", "sell"]);
    // Who may only look sees the plan, and changes nothing.
    let viewer = served.token("victor", "viewer");
    end(&mut served.irq_as(&viewer, &["plan", &run])).exits_with(0);
    let refused = end(&mut served.irq_as(&viewer, &["plan", &run, "--undo"]));
    refused.exits_with(NOT_AUTHORISED).says("right to decide");
    let first = served.end(&["plan", &run, "--undo"]);
    first.exits_with(2).says("there is nothing to undo");
    assert_eq!(desk.plan(&run)["proposal"], piped["proposal"]);
}

#[test]
fn just_what_was_previewed_through_a_server_is_applied_and_the_run_goes_on_there() {
    let (desk, run, served) = held();
    let seen = told(&served, &["plan", &run, "--preview", r#"["mine"]"#]);
    let seen = seen["proposal"]["digest"].as_str().unwrap().to_owned();
    told(&served, &["plan", &run, "--preview", r#"["theirs"]"#]);
    let stale = served.end(&["plan", &run, "--apply", &seen[..12]]);
    stale.exits_with(CONFLICT).says("nothing was applied");
    let blind = served.end(&["plan", &run, "--apply"]);
    blind.exits_with(2).says("say which change");
    told(
        &served,
        &["plan", &run, "--preview", r#"["sweep the floor"]"#],
    );
    let digest = desk.plan(&run)["proposal"]["digest"].clone();
    let applied = told(
        &served,
        &["plan", &run, "--apply", digest.as_str().unwrap()],
    );
    assert_eq!(applied["decision"]["decision"], "modify_plan");
    assert_eq!(applied["decision"]["name"], "ada", "{applied:#}");
    let done = carried_out(&desk, &run);
    assert!(
        tasks(&done["done"]).ends_with(&["sweep the floor"]),
        "{done}"
    );
    let told = kinds(&desk.told(&run));
    assert_eq!(told.last().unwrap(), "completed", "{told:?}");
}

#[test]
fn a_model_suggests_through_a_server_and_changes_are_taken_back_and_made_again() {
    let desk = Desk::new();
    let (run, _before) = desk.changed_and_stopped_again();
    let served = Served::over(&store_of(&desk));
    let calls = desk.calls(&run);
    let words = ["plan", &run, "--suggest", "add a validation step"];
    let suggested = told(&served, &words);
    assert_eq!(suggested["applied"], false);
    assert_eq!(desk.calls(&run), calls + 1, "one answer was asked for");
    assert_eq!(desk.plan(&run)["proposal"], suggested["proposal"]);
    let version = desk.plan(&run)["version"].as_u64().unwrap();
    let undone = told(
        &served,
        &["plan", &run, "--undo", "--if-version", &version.to_string()],
    );
    assert_eq!(undone["version"], version + 1);
    let late = ["plan", &run, "--undo", "--if-version", &version.to_string()];
    served.end(&late).exits_with(CONFLICT).says("version");
    let redone = told(&served, &["plan", &run, "--redo"]);
    assert_eq!(redone["now"], desk.plan(&run)["now"]);
    let (beside, through) = (
        end(&mut desk.irq(&["plan", &run, "--redo"])).exits_with(2),
        served.end(&["plan", &run, "--redo"]).exits_with(2),
    );
    assert_eq!(
        without_place(&through.error_output),
        without_place(&beside.error_output)
    );
}

#[test]
fn a_review_at_a_terminal_shows_the_change_that_a_server_made_before_it_is_applied() {
    let (desk, run, served) = held();
    let id = desk.open()[0]["id"].as_str().unwrap().to_owned();
    let mut screen = on_a_terminal(served.irq(&["review", &id, "--no-color"]));
    let left = desk.left(&run).remove(0);
    screen
        .exp_string("The plan is paused: let me look")
        .unwrap();
    screen.exp_string(&left).unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("add a validation step").unwrap();
    screen.exp_string("y applies it").unwrap();
    screen.exp_string("> ").unwrap();
    let proposed = desk.plan(&run)["proposal"]["plan"].clone();
    screen.send_line("y").unwrap();
    screen.exp_string("modify_plan").unwrap();
    screen.exp_eof().unwrap();
    let done = carried_out(&desk, &run);
    // The step that was under way is done before them, unless it was stopped first.
    assert!(tasks(&done["done"]).ends_with(&texts(&proposed)), "{done}");
}

/// The screens over a server, as `ada`.
fn watch(served: &Served) -> PtySession {
    let watch = served.irq(&["watch", "--silent", "--no-color"]);
    let words = watch
        .get_args()
        .map(|word| word.to_str().unwrap().to_owned());
    let words: Vec<String> = words.collect();
    let program = env!("CARGO_BIN_EXE_irq");
    let mut command = shell(&format!("{program} {}", words.join(" ")));
    command.env_remove("IRQ_STORE");
    on_a_terminal(command)
}

#[test]
fn the_screens_over_a_server_show_a_plan_and_apply_the_change_that_they_showed() {
    let desk = Desk::new();
    end(&mut desk.irq(&["token", "create", "--name", "first"])).exits_with(0);
    // Slow enough that it still works at its first step when the screen is there.
    let served = Served::paced(&store_of(&desk), "8");
    let order = [
        "run",
        "bake bread",
        "--workflow",
        "plan-execute",
        "--detach",
    ];
    let run = served.end(&order).exits_with(0).output.trim().to_owned();
    let begun = Instant::now();
    while !desk.works_at_a_step(&run) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no first step");
        std::thread::sleep(Duration::from_millis(50));
    }
    let mut screen = watch(&served);
    screen.exp_string("executor").unwrap();
    screen.send("\x1b").unwrap();
    screen.flush().unwrap();
    screen
        .exp_string("How would you like to modify the plan?")
        .unwrap();
    screen.send("add a validation step\r").unwrap();
    screen.flush().unwrap();
    screen.exp_string("Apply").unwrap();
    let shown = desk.plan(&run);
    assert_eq!(shown["version"], 1, "it is only shown");
    screen.send("\r").unwrap();
    screen.flush().unwrap();
    let done = carried_out(&desk, &run);
    screen.send("\x04").unwrap();
    screen.flush().unwrap();
    screen.exp_eof().unwrap();
    is_done_as_shown(&shown, &done);
}

#[test]
fn rules_are_listed_and_revoked_through_a_server_as_beside_its_store() {
    let seed = Seed::new();
    let run = seed.run();
    let served = Served::over(&seed.path());
    let none = served.end(&["rules", "list"]).exits_with(0);
    assert_eq!(
        without_place(&none.output),
        without_place(&seed.end(&["rules", "list"]).exits_with(0).output)
    );
    let rita = served.token("rita", "reviewer");
    let remembered = |token: &PathBuf| {
        let question = seed.question(&run).id.to_string();
        let words = [
            "review",
            &question,
            "--decision",
            "approve",
            "--message",
            "yes",
            "--remember",
            "run",
        ];
        end(&mut served.irq_as(token, &words)).exits_with(0);
    };
    remembered(&rita);
    let beside = seed.end(&["rules", "list", "--json"]).exits_with(0).output;
    let through = served
        .end(&["rules", "list", "--json"])
        .exits_with(0)
        .output;
    assert_eq!(through, beside);
    let table = served.end(&["rules", "list"]).exits_with(0).output;
    assert_eq!(table, seed.end(&["rules", "list"]).exits_with(0).output);
    let rule = lines(&through)[0]["id"].as_str().unwrap().to_owned();
    // A viewer and a reviewer who did not make it may not revoke it.
    let others = [
        served.token("victor", "viewer"),
        served.token("rob", "reviewer"),
    ];
    for other in &others {
        let refused = end(&mut served.irq_as(other, &["rules", "revoke", &rule]));
        refused.exits_with(NOT_AUTHORISED);
    }
    let revoke = ["rules", "revoke", &rule, "--json"];
    let revoked = end(&mut served.irq_as(&rita, &revoke)).exits_with(0);
    let revoked: Value = serde_json::from_str(&revoked.output).unwrap();
    assert_eq!(revoked["end"]["why"], "revoked");
    let all = seed
        .end(&["rules", "list", "--all", "--json"])
        .exits_with(0);
    let kept: Value = serde_json::from_str(&all.output).unwrap();
    assert_eq!(without_ids(&kept), without_ids(&revoked));
    for unknown in ["rul_1", "rul_00000000000000000000000000000000"] {
        let through = served.end(&["rules", "revoke", unknown]).exits_with(3);
        let beside = seed.end(&["rules", "revoke", unknown]).exits_with(3);
        assert_eq!(
            without_place(&through.error_output),
            without_place(&beside.error_output)
        );
    }
    assert_eq!(kept["holds"], json!(false));
}
