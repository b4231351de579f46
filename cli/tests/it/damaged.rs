//! Rows that are not what was written: those beside them are none the worse.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{Ended, end, interrupt, irq, lines, script};
use crate::seed::Seed;

/// A run that waits at a checkpoint which a disk has damaged, and its id.
fn broken() -> (Place, String) {
    let place = Place::new();
    let asks = |kind: &str| {
        let mut step = interrupt("HUMAN_REVIEW");
        step["agent"] = json!(kind);
        step
    };
    let steps = json!([
        asks("DISCOVERY_ORCHESTRATOR"),
        asks("PLANNING_ORCHESTRATOR")
    ]);
    let script = script(place.folder.path(), &steps);
    let asked = place
        .end_of_run(&["--script", script.to_str().unwrap()])
        .exits_with(5);
    let run = place.only_run();
    let answer = ["--decision", "respond", "--message", "left"];
    let answer = [&["review", asked.output.trim()], &answer[..]].concat();
    place.end(&answer).exits_with(0);
    place.end(&["resume", &run, "--no-input"]).exits_with(5);
    let saved = checkpoints(&place, &run);
    let steps = &saved.last().unwrap()["content"]["steps"];
    let said = format!("{{\"reason\":\"it waits for an answer\",\"steps\":{steps},");
    let mut file = std::fs::read(place.store()).unwrap();
    let is_there = |at: &usize| file[*at..].starts_with(said.as_bytes());
    let at = (0..file.len()).find(is_there).unwrap();
    file[at..at + said.len()].copy_from_slice(said.replace("waits", "wAits").as_bytes());
    std::fs::write(place.store(), file).unwrap();
    (place, run)
}

fn checkpoints(place: &Place, run: &str) -> Vec<Value> {
    let listed = place.end(&["checkpoints", run, "--json"]).exits_with(0);
    lines(&listed.output)
}

#[test]
fn a_damaged_checkpoint_is_listed_and_refused_and_those_before_it_can_be_forked() {
    let (place, run) = broken();
    let listed = checkpoints(&place, &run);
    let (last, before) = listed.split_last().unwrap();
    assert_eq!(last["damaged"], true, "{last:#}");
    assert!(!before.is_empty());
    assert!(before.iter().all(|one| one["damaged"] == false));
    let told = place.end(&["checkpoints", &run]).exits_with(0).output;
    assert_eq!(told.matches("damaged").count(), 1, "{told}");
    let number = last["number"].to_string();
    for command in [
        &["resume", &run, "--no-input"][..],
        &["resume", &run, "--no-input", "--message", "x"],
        &["fork", &run, "--no-input"],
        &["fork", &run, "--at", &number, "--no-input"],
        &["interrupt", &run, "--type", "BRANCH", "--wait"],
    ] {
        let refused = place.end(command).exits_with(4).says("is damaged");
        refused.says(&format!("irq fork {run} --at N"));
    }
    place
        .end(&["fork", &run, "--at", "1", "--no-input"])
        .exits_with(5);
    place.end(&["ps", &run]).exits_with(0);
    // The audit vouches for what was saved.
    let verified = place.end(&["history", "--verify"]).exits_with(1);
    verified.says("is not what was written");
}

#[test]
fn a_run_whose_checkpoint_is_damaged_can_be_paused_and_stopped() {
    let (place, run) = broken();
    place.end(&["interrupt", &run, "--wait"]).exits_with(0);
    let stop = ["interrupt", &run, "--type", "STOP", "--wait"];
    place.end(&stop).exits_with(0);
    assert_eq!(place.runs()[0]["state"], "cancelled");
}

#[test]
fn a_list_names_the_damaged_row_and_shows_the_rest() {
    let seed = Seed::new();
    let runs = [(); 5].map(|()| seed.run());
    let questions = runs.each_ref().map(|run| seed.question(run));
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    seed.close_into(&copy);
    let damage = |table: &str, id: &str| {
        let file = Connection::open(&copy).unwrap();
        let sql = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = 'trigger'";
        let triggers: Option<String> = file.query_row(sql, (), |row| row.get(0)).unwrap();
        file.execute_batch(&triggers.unwrap_or_default()).unwrap();
        let sql = format!("UPDATE {table} SET body = replace(body, ':', ': ') WHERE id = ?");
        assert_eq!(file.execute(&sql, (id,)).unwrap(), 1);
    };
    let listed = |words: &[&str]| {
        let ended = end(irq().args(words).arg("--store").arg(&copy));
        let of = |ended: &Ended| {
            let rows = lines(&ended.output).into_iter();
            rows.map(|row| row["id"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        (of(&ended), ended)
    };
    let ids = questions.each_ref().map(|question| question.id.to_string());
    damage("interrupts", &ids[1]);
    damage("interrupts", &ids[2]);
    let (shown, ended) = listed(&["review", "--json"]);
    assert_eq!(shown, [0, 3, 4].map(|at: usize| ids[at].clone()));
    let ended = ended.exits_with(1).says(&format!("{} is damaged", ids[1]));
    ended
        .says(&format!("{} is damaged", ids[2]))
        .says("--verify names all that is damaged");
    // Which one is the next cannot be told.
    let next = [
        "review",
        "--next",
        "--decision",
        "respond",
        "--message",
        "x",
    ];
    listed(&next).1.exits_with(1).says("is damaged");
    let ids = runs.each_ref().map(|run| run.id.to_string());
    damage("runs", &ids[4]);
    let (shown, ended) = listed(&["ps", "--all", "--json"]);
    assert_eq!(shown, [3, 2, 1, 0].map(|at: usize| ids[at].clone()));
    ended.exits_with(1).says(&format!("{} is damaged", ids[4]));
}
