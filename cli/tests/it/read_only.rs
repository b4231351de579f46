//! A store that lies where nothing can be written: it can be looked at and verified, and nothing else.

use std::path::Path;
use std::process::Command;

use crate::place::Place;
use crate::program::{Ended, end, interrupt, irq, script, spawn};

/// A folder becomes read-only in a mount namespace of its own, for permissions do not bind root.
const SEALED_OFF: &str =
    "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";

/// Whether this machine lets a process have mounts of its own.
fn has_namespaces() -> bool {
    let tried = Command::new("unshare").args(["-m", "true"]).status();
    let has = tried.is_ok_and(|status| status.success());
    if !has {
        eprintln!("skipped: this machine allows no mount namespace");
    }
    has
}

/// The program, where the folder of the store cannot be written. What it copies lands in `copies`.
fn looking(place: &Place, copies: &Path, arguments: &[&str]) -> Ended {
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SEALED_OFF]);
    command.arg(place.keeping.path()).arg(irq().get_program());
    command.args(arguments).env("IRQ_STORE", place.store());
    end(command
        .env("TMPDIR", copies)
        .stdin(std::process::Stdio::null()))
}

fn beside(place: &Place, end: &str) -> std::path::PathBuf {
    place.keeping.path().join(format!("irq.db{end}"))
}

/// Each command that looks answers there what it answers about a copy that can be written.
fn answers_are_the_same(place: &Place, looks: &[Vec<&str>]) {
    let copies = tempfile::tempdir().unwrap();
    let writable = Place::new();
    for end in ["", "-wal"] {
        let from = beside(place, end);
        if from.exists() {
            std::fs::copy(from, beside(&writable, end)).unwrap();
        }
    }
    for look in looks {
        let there = looking(place, copies.path(), look).exits_with(0);
        let here = writable.end(look).exits_with(0);
        assert_eq!(there.output, here.output, "{look:?}");
        assert_eq!(there.error_output, "", "{look:?}");
    }
    let left = std::fs::read_dir(copies.path()).unwrap().count();
    assert_eq!(left, 0, "copies stay");
}

#[test]
fn a_store_on_a_read_only_medium_is_looked_at_and_verified_and_nothing_else() {
    if !has_namespaces() {
        return;
    }
    let place = Place::new();
    let steps = serde_json::json!([interrupt("HUMAN_REVIEW")]);
    let script = script(place.folder.path(), &steps);
    let asked = place.end_of_run(&["--script", script.to_str().unwrap()]);
    let asked = asked.exits_with(5).output;
    let (run, open) = (place.only_run(), asked.trim());
    answers_are_the_same(
        &place,
        &[
            vec!["ps", "--json"],
            vec!["history", "--json"],
            vec!["history", "--verify"],
            vec!["replay", &run],
            vec!["review", "--json"],
            vec!["review", open, "--json"],
            vec!["checkpoints", &run, "--json"],
        ],
    );
    let copies = tempfile::tempdir().unwrap();
    let before = std::fs::read(place.store()).unwrap();
    let workspace = place.folder.path().to_str().unwrap();
    for change in [
        &["review", open, "--decision", "respond", "--message", "left"][..],
        &["resume", &run, "--no-input"],
        &["interrupt", &run],
        &["run", "x", "--no-input", "--workspace", workspace],
        &["serve", "--listen", "127.0.0.1:0"],
    ] {
        looking(&place, copies.path(), change)
            .exits_with(1)
            .says("the store is read-only")
            .says("copy it to where you may write");
    }
    assert_eq!(std::fs::read(place.store()).unwrap(), before);
    let told = looking(&place, copies.path(), &["doctor"]).output;
    assert!(told.contains("can only be looked at"), "{told}");
}

#[test]
fn what_the_log_of_a_read_only_store_has_is_shown_too() {
    if !has_namespaces() {
        return;
    }
    let place = Place::new();
    let mut run = spawn(&mut place.run(&["--pace", "150"]));
    place.wait_for_steps(2);
    run.kill().unwrap();
    run.wait().unwrap();
    let log = std::fs::metadata(beside(&place, "-wal")).unwrap();
    assert!(log.len() > 0, "nothing waits in the log");
    let looks = [vec!["history", "--json"], vec!["history", "--verify"]];
    // The opening of `place.wait_for_steps` has left the index of the log; a backup has none.
    std::fs::remove_file(beside(&place, "-shm")).unwrap();
    answers_are_the_same(&place, &looks);
    let listed = looking(&place, place.folder.path(), &["history", "--json"]);
    assert!(listed.output.lines().count() >= 3, "{listed:?}");
}
