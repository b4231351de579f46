//! `irq history`, `irq stats`, `irq replay`, `irq checkpoints`: what happened.

use std::fs;
use std::path::Path;

use interrupts::life::RunState;
use interrupts::store::{AuditHead, AuditRow};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::lines;
use crate::seed::Seed;

/// A run with a model call, a checkpoint, an answered question and an open one.
fn seeded() -> (Seed, String) {
    let seed = Seed::new();
    let run = seed.run();
    seed.model_call(&run, "orchestrator#1/step/0");
    seed.checkpoint(&run);
    let question = seed.question(&run);
    seed.decide(&question, "bob");
    seed.question(&run);
    (seed, run.id.to_string())
}

#[test]
fn the_history_has_every_row_in_every_form() {
    let (seed, _run) = seeded();
    let table = seed.end(&["history"]).exits_with(0).output;
    let rows = lines(&seed.end(&["history", "--json"]).exits_with(0).output);
    let array = seed.end(&["history", "--format", "json"]).exits_with(0);
    let array: Vec<Value> = serde_json::from_str(&array.output).unwrap();
    let csv = seed
        .end(&["history", "--format", "csv"])
        .exits_with(0)
        .output;
    assert_eq!(rows, array);
    assert_eq!(table.lines().count(), rows.len() + 1, "{table}");
    assert_eq!(csv.lines().count(), rows.len() + 1, "{csv}");
    assert!(table.contains("bob           decided · int_"), "{table}");
    let positions: Vec<_> = rows.iter().map(|row| row["position"].as_u64()).collect();
    let expected: Vec<_> = (1..=rows.len() as u64).map(Some).collect();
    assert_eq!(positions, expected);
    let head = csv.lines().next();
    assert_eq!(head, Some("position,at,run,subject,what,who,detail,digest"));
}

#[test]
fn the_history_is_narrowed_by_run_interrupt_actor_and_time() {
    let (seed, run) = seeded();
    let other = seed.run();
    let of = |arguments: &[&str]| {
        let all = [&["history", "--json"], arguments].concat();
        lines(&seed.end(&all).exits_with(0).output)
    };
    assert!(of(&["--run", &run]).iter().all(|row| row["run"] == run));
    let other = other.id.to_string();
    assert!(of(&["--run", &other]).len() < of(&[]).len());
    let bobs = of(&["--actor", "bob"]);
    assert_eq!(bobs.len(), 1);
    assert_eq!(bobs[0]["event"], "decide");
    let interrupt = bobs[0]["interrupt"].as_str().unwrap();
    assert_eq!(of(&["--interrupt", interrupt]).len(), 5);
    assert_eq!(of(&["--since", "1h"]).len(), of(&[]).len());
    assert_eq!(of(&["--since", "2999-01-01T00:00:00Z"]).len(), 0);
    seed.end(&["history", "--since", "soon"])
        .exits_with(2)
        .says("is no time");
}

#[test]
fn an_audit_that_was_changed_is_found_out() {
    let (seed, _run) = seeded();
    let verified = seed.json(&["history", "--verify", "--json"]);
    assert_eq!(verified["verified"], true);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    seed.close_into(&copy);
    let bytes = fs::read(&copy).unwrap();
    // The same length, so that the file stays whole.
    let changed = replaced(&bytes, br#"{"name":"bob","#, br#"{"name":"eve","#);
    assert_ne!(bytes, changed);
    fs::write(&copy, changed).unwrap();
    let mut command = crate::program::irq();
    command.args(["history", "--verify", "--store"]).arg(&copy);
    crate::program::end(&mut command)
        .exits_with(1)
        .says("the audit cannot be trusted");
}

#[test]
fn an_audit_that_was_computed_anew_is_found_by_a_head_that_was_kept_and_by_that_alone() {
    let place = Place::new();
    place.end_of_run(&[]).exits_with(0);
    let head = place.end(&["history", "--head"]).exits_with(0).output;
    let kept = place.keeping.path().join("head.json");
    fs::write(&kept, &head).unwrap();
    let kept = kept.to_str().unwrap();
    place.end_of_run(&[]).exits_with(0);
    let against = ["history", "--verify", "--against", kept];
    let told = place.end(&against).exits_with(0).output;
    assert!(told.contains("goes on from the head"), "{told}");
    chain_anew(
        &place.store(),
        "\"event\":\"create\"",
        "\"event\":\"relate\"",
    );
    place.end(&["history", "--verify"]).exits_with(0);
    place
        .end(&against)
        .exits_with(1)
        .says("does not go on from the head");
    // A head of another store is none of this one.
    let other = Place::new();
    other.end_of_run(&[]).exits_with(0);
    other
        .end(&against)
        .exits_with(1)
        .says("is the head of another store");
}

/// Edits the audit as somebody who knows how its digests are made, and leaves nothing that contradicts it.
fn chain_anew(store: &Path, old: &str, new: &str) {
    let connection = rusqlite::Connection::open(store).unwrap();
    let mut rows = connection
        .prepare("SELECT entry FROM audit ORDER BY position")
        .unwrap();
    let entries: Vec<String> = rows
        .query_map((), |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut head = AuditHead::EMPTY;
    for entry in entries {
        let row = AuditRow::following(&head, entry.replace(old, new));
        head = row.head();
        let position = i64::try_from(row.position).unwrap();
        let (previous, digest) = (row.previous.to_string(), row.digest.to_string());
        let sql = "UPDATE audit SET previous = ?, digest = ?, entry = ? WHERE position = ?";
        let values = (previous, digest, row.entry, position);
        connection.execute(sql, values).unwrap();
    }
    let sql = "UPDATE outbox SET heads = json_set(heads, '$.audit.digest', ?), seal = NULL \
         WHERE heads IS NOT NULL";
    connection.execute(sql, (head.digest.to_string(),)).unwrap();
}

/// The bytes with one text for another of the same length.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    assert_eq!(old.len(), new.len());
    let mut changed = bytes.to_vec();
    for place in 0..=bytes.len() - old.len() {
        if &bytes[place..place + old.len()] == old {
            changed[place..place + new.len()].copy_from_slice(new);
        }
    }
    changed
}

#[test]
fn interrupts_are_counted_by_state_agent_source_and_outcome() {
    let (seed, run) = seeded();
    let stats = seed.json(&["stats", "--json"]);
    assert_eq!(stats["total"], 2);
    assert_eq!(stats["by_state"]["resolved"], 1);
    assert_eq!(stats["by_state"]["awaiting_review"], 1);
    assert_eq!(stats["by_type"]["HUMAN_REVIEW"], 2);
    assert_eq!(stats["by_source"]["programmatic"], 2);
    assert_eq!(stats["by_decision"]["respond"], 1);
    assert_eq!(stats["by_decider"]["person bob"], 1);
    assert_eq!(stats["by_agent_type"]["DISCOVERY_ORCHESTRATOR"]["open"], 1);
    assert_eq!(stats["until_acknowledged"]["count"], 2);
    assert_eq!(stats["until_ended"]["count"], 1);
    let other = seed.run().id.to_string();
    assert_eq!(seed.json(&["stats", "--run", &other, "--json"])["total"], 0);
    let shown = seed.end(&["stats", "--run", &run]).exits_with(0).output;
    assert!(shown.starts_with("2 interrupts\n"), "{shown}");
}

#[test]
fn a_replay_tells_effects_interrupts_and_checkpoints_in_their_order() {
    let (seed, run) = seeded();
    let moments = lines(&seed.end(&["replay", &run, "--json"]).exits_with(0).output);
    let place = |wanted: &dyn Fn(&Value) -> bool| moments.iter().position(wanted).unwrap();
    let begun = place(&|moment| moment["what"] == "effect_begun");
    let finished = place(&|moment| moment["what"] == "effect_finished");
    let saved = place(&|moment| moment["entry"]["about"] == "checkpoint");
    let decided = place(&|moment| moment["entry"]["event"] == "decide");
    assert!(begun < finished && finished < saved && saved < decided);
    assert_eq!(moments[begun]["place"], "orchestrator#1/step/0");
    let shown = seed.end(&["replay", &run]).exits_with(0).output;
    // What a model said cannot change the direction of reading.
    assert!(shown.contains("bread and \\u{202e}cakes"), "{shown}");
    let agent = [
        "replay",
        &run,
        "--agent",
        "orchestrator/discovery",
        "--json",
    ];
    let of_agent = lines(&seed.end(&agent).exits_with(0).output);
    assert!(!of_agent.is_empty());
    assert!(
        of_agent
            .iter()
            .all(|moment| moment["what"] != "effect_finished")
    );
}

#[test]
fn nothing_would_be_done_again_of_a_run_that_has_ended() {
    let seed = Seed::new();
    let run = seed.run();
    // Its answer is not carried out.
    seed.decide(&seed.question(&run), "bob");
    let replay = ["replay", &run.id.to_string()];
    let before = seed.end(&replay).exits_with(0).output;
    assert!(
        before.contains("no result: it would be done again"),
        "{before}"
    );
    seed.change(&run, RunState::Cancelled);
    let after = seed.end(&replay).exits_with(0).output;
    assert!(after.contains("no result: its run has ended"), "{after}");
    assert!(!after.contains("would be done again"), "{after}");
}

#[test]
fn checkpoints_are_listed_with_why_they_were_saved() {
    let (seed, run) = seeded();
    let shown = seed.end(&["checkpoints", &run]).exits_with(0).output;
    assert!(shown.contains("waiting"), "{shown}");
    let saved = seed.json(&["checkpoints", &run, "--json"]);
    assert_eq!(saved["number"], 1);
    assert_eq!(saved["content"]["steps"], 4);
}

#[test]
fn only_what_ended_long_ago_is_purged_and_the_audit_stays_verifiable() {
    let seed = Seed::new();
    let (ended, live) = (seed.run(), seed.run());
    seed.model_call(&ended, "orchestrator#1/step/0");
    seed.change(&ended, RunState::Completed);
    let purge = |arguments: &[&str]| {
        let all = [&["purge", "--older-than"], arguments].concat();
        seed.end(&all)
    };
    purge(&["1ms"])
        .exits_with(2)
        .says("this would remove 1 run and all that belongs to it");
    purge(&["soon"]).exits_with(2).says("no length of time");
    let would = purge(&["1ms", "--dry-run"]).exits_with(0).output;
    assert!(
        would.contains("would remove 1 run with 0 interrupts, 1 effect,"),
        "{would}"
    );
    let young = seed.json(&["purge", "--older-than", "30d", "--dry-run", "--json"]);
    assert_eq!(young["runs"], json!([]));
    let would = seed.json(&["purge", "--older-than", "1ms", "--dry-run", "--json"]);
    assert_eq!(would["runs"], json!([ended.id]));
    seed.end(&["ps", &ended.id.to_string()]).exits_with(0);
    let removed = seed.json(&["purge", "--older-than", "1ms", "--yes", "--json"]);
    assert_eq!(removed["runs"], json!([ended.id]));
    assert_eq!(removed["effects"], 1);
    seed.end(&["ps", &ended.id.to_string()]).exits_with(3);
    seed.end(&["ps", &live.id.to_string()]).exits_with(0);
    let verified = seed.json(&["history", "--verify", "--json"]);
    assert_eq!(verified["verified"], true);
}
