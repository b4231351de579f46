//! What a program leaves behind: one file that has all of it, for whoever copies that file alone.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;
use crate::program::{Ended, end, irq, lines, spawn};
use crate::seed::Seed;
use crate::served::Served;

/// Nothing of SQLite's own lies beside the file, and a copy of the file alone has these runs.
fn is_whole(store: &Path, runs: usize) {
    for beside in ["-wal", "-shm"] {
        let mut name = store.as_os_str().to_owned();
        name.push(beside);
        assert!(!Path::new(&name).exists(), "{name:?} is left");
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(store, &copy).unwrap();
    let listed = end(irq()
        .args(["ps", "--all", "--json"])
        .env("IRQ_STORE", &copy))
    .exits_with(0);
    assert_eq!(lines(&listed.output).len(), runs);
}

#[test]
fn a_run_that_ends_or_is_paused_leaves_one_file_that_has_all_of_it() {
    let place = Place::new();
    end(&mut place.run(&[])).exits_with(0);
    is_whole(&place.store(), 1);
    end(&mut place.run(&["--max-steps", "2"])).exits_with(8);
    is_whole(&place.store(), 2);
    place.end(&["history"]).exits_with(0);
    is_whole(&place.store(), 2);
}

#[test]
fn a_run_that_is_interrupted_leaves_one_file_that_has_all_of_it() {
    let place = Place::new();
    let child = spawn(&mut place.run(&["--pace", "30"]));
    place.wait_for_steps(1);
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, Signal::INT).unwrap();
    let ended: Ended = child.wait_with_output().unwrap().into();
    ended.exits_with(130);
    is_whole(&place.store(), 1);
}

#[test]
fn a_server_that_is_stopped_leaves_one_file_that_has_all_of_it() {
    let place = Place::new();
    end(&mut place.run(&[])).exits_with(0);
    let mut served = Served::over(&place.store());
    let runs = served.end(&["ps", "--all", "--json"]).exits_with(0);
    assert_eq!(lines(&runs.output).len(), 1);
    served.is_stopped();
    is_whole(&place.store(), 1);
}

#[test]
fn a_command_beside_a_process_that_works_takes_nothing_from_it() {
    let seed = Seed::new();
    let run = seed.run();
    let shown = end(irq().args(["ps", "--json"]).env("IRQ_STORE", seed.path())).exits_with(0);
    assert_eq!(lines(&shown.output)[0]["id"], run.id.to_string());
    // The other one is still there, with all that it has written and writes.
    seed.question(&run);
    let asked = end(irq()
        .args(["review", "--json"])
        .env("IRQ_STORE", seed.path()))
    .exits_with(0);
    assert_eq!(lines(&asked.output).len(), 1);
}
