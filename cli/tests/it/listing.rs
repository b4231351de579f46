//! `irq ps` and the addresses of runs and agents.

use expect_test::expect_file;
use interrupts::life::RunState;
use serde_json::json;

use crate::program::{end, interrupt, irq, lines, script, without_ids};
use crate::seed::Seed;

#[test]
fn live_runs_are_listed_with_their_live_agents_and_why_they_wait() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let ended = seed.run();
    seed.change(&ended, RunState::Completed);

    let shown = seed.end(&["ps"]).exits_with(0).output;
    assert!(shown.contains(&run.id.to_string()), "{shown}");
    assert!(shown.contains(&question.id.to_string()), "{shown}");
    assert!(shown.contains("“Describe the bakery”"), "{shown}");
    assert!(!shown.contains("orchestrator/old"), "{shown}");
    assert!(!shown.contains(&ended.id.to_string()), "{shown}");
    // What the agent says cannot act on the terminal.
    assert!(shown.contains("which way \\u{1b}[2Jshall"), "{shown}");

    for shown in [shown, seed.end(&["stats"]).exits_with(0).output] {
        assert!(shown.contains("waiting for a person"), "{shown}");
        assert!(!shown.contains("awaiting_review"), "{shown}");
    }
    let all = seed.end(&["ps", "--all"]).exits_with(0).output;
    assert!(all.contains("orchestrator/old"), "{all}");
    assert!(all.contains(&ended.id.to_string()), "{all}");
}

#[test]
fn a_run_that_nobody_runs_is_told_as_such() {
    let seed = Seed::new();
    let run = seed.run();
    assert!(!seed.end(&["ps"]).output.contains("no process runs it"));
    seed.abandon(&run);
    assert!(seed.end(&["ps"]).output.contains("no process runs it"));
}

#[test]
fn a_run_whose_questions_are_decided_is_not_said_to_wait_for_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("irq.db");
    let asks = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let told = |arguments: &[&str]| {
        let mut command = irq();
        command.args(arguments).arg("--store").arg(&store);
        end(command.current_dir(folder.path()))
    };
    let asks = asks.display().to_string();
    told(&["run", "Describe it", "--no-input", "--script", &asks]).exits_with(5);
    let shown = told(&["ps"]).output;
    assert!(shown.contains("it waits for an answer"), "{shown}");
    let open = lines(&told(&["review", "--json"]).output)[0]["id"].clone();
    let open = open.as_str().unwrap();
    told(&["review", open, "--decision", "respond", "--message", "left"]).exits_with(0);
    let shown = told(&["ps"]).output;
    let goes_on = shown.contains("its questions are decided: irq resume --store ");
    assert!(goes_on, "{shown}");
    assert!(!shown.contains("waits for an answer"), "{shown}");
}

#[test]
fn the_address_of_an_agent_where_a_run_is_meant_is_told_as_such() {
    let seed = Seed::new();
    let run = seed.run().id.to_string();
    let agent = format!("{run}/orchestrator");
    for command in ["ps", "resume", "checkpoints"] {
        let ended = seed.end(&[command, &agent]).exits_with(3);
        let hint = format!("this is an agent's address; its run is `{run}`");
        assert!(ended.error_output.contains(&hint), "{ended:#?}");
    }
}

#[test]
fn what_has_just_happened_is_told_in_words() {
    let seed = Seed::new();
    let run = seed.run();
    seed.question(&run);
    let shown = seed.end(&["ps", "-v"]).exits_with(0).output;
    assert!(!shown.contains("now ago"), "{shown}");
    let when = shown.contains("just now, ") || shown.contains("s ago, ");
    assert!(when, "{shown}");
}

#[test]
fn programs_get_one_run_a_line() {
    let seed = Seed::new();
    let run = seed.run();
    seed.question(&run);
    let ended = seed.end(&["ps", "--json"]).exits_with(0);
    let listed = lines(&ended.output);
    assert_eq!(listed.len(), 1);
    let shape = serde_json::to_string_pretty(&without_ids(&listed[0])).unwrap();
    expect_file!["shapes/run.json"].assert_eq(&shape);
}

#[test]
fn the_beginning_of_an_id_is_enough_where_no_other_has_it() {
    let seed = Seed::new();
    let run = seed.run();
    let id = run.id.to_string();
    let alone = seed.end(&["ps", "run_", "--json"]).exits_with(0);
    assert_eq!(lines(&alone.output)[0]["id"], id);
    seed.run();
    let several = seed
        .end(&["ps", "run_"])
        .exits_with(2)
        .says("may be any of 2");
    assert!(several.error_output.contains(&id), "{several:#?}");
    seed.end(&["ps", &id]).exits_with(0);
}

#[test]
fn an_agent_of_several_live_runs_needs_its_full_address() {
    let seed = Seed::new();
    let (first, second) = (seed.run(), seed.run());
    let ended = seed
        .end(&["send", "orchestrator", "hello"])
        .exits_with(2)
        .says("may be any of 2");
    for run in [&first, &second] {
        let full = format!("{}/orchestrator", run.id);
        assert!(ended.error_output.contains(&full), "{ended:#?}");
    }
    let full = format!("{}/orchestrator", first.id);
    seed.end(&["send", &full, "hello"]).exits_with(0);
    seed.change(&second, RunState::Failed);
    seed.end(&["send", "orchestrator", "hello"]).exits_with(0);
}

#[test]
fn what_is_not_there_is_not_found_and_a_slip_is_understood() {
    let seed = Seed::new();
    let run = seed.run();
    let unknown = "run_00000000000000000000000000000000";
    for arguments in [
        &["ps", unknown][..],
        &["checkpoints", unknown],
        &["replay", unknown],
        &["stats", "--run", unknown],
        &["review", "int_00000000000000000000000000000000"],
        &["withdraw", "int_00000000000000000000000000000000"],
        &["redrive", "int_00000000000000000000000000000000"],
        &["send", "nobody", "hello"],
        &["interrupt", "nobody"],
    ] {
        seed.end(arguments).exits_with(3).says("no");
    }
    let slip = format!("{}/orchestrater", run.id);
    let ended = seed.end(&["send", &slip, "hello"]).exits_with(3);
    let hint = format!("did you mean {}/orchestrator?", run.id);
    assert!(ended.error_output.contains(&hint), "{ended:#?}");
}

#[test]
fn a_named_store_that_is_not_there_is_not_made_and_the_usual_one_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.db");
    end(irq().args(["ps", "--store"]).arg(&missing))
        .exits_with(3)
        .says("there is no store");
    assert!(!missing.exists());
    let usual = end(irq()
        .arg("ps")
        .env_remove("IRQ_STORE")
        .env("XDG_STATE_HOME", folder.path()))
    .exits_with(0);
    assert_eq!(usual.output, "No live runs.\n");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_store_of_another_kind_or_no_store_at_all_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    end(irq().args(["ps", "--store", "redis://localhost/irq"]))
        .exits_with(2)
        .says("--store");
    let file = folder.path().join("no.db");
    std::fs::write(
        &file,
        "this is a text and no database at all, whatever its name says",
    )
    .unwrap();
    end(irq().args(["ps", "--store"]).arg(&file))
        .exits_with(1)
        .says("cannot open the store");
}

#[test]
fn the_store_may_be_named_in_the_environment() {
    let seed = Seed::new();
    let run = seed.run();
    let shown = end(irq().args(["ps", "--json"]).env("IRQ_STORE", seed.path())).exits_with(0);
    assert_eq!(lines(&shown.output)[0]["id"], run.id.to_string());
}
