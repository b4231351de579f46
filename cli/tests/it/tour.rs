//! The tour that the README begins with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::program::{end, example_script, run_in, workspace};

#[test]
fn the_tour_shows_an_interrupt_an_answer_and_a_reroute() {
    let folder = workspace();
    let ended = end(run_in(folder.path())
        .args(["--no-input", "--script"])
        .arg(example_script("tour-answered.json")))
    .exits_with(0);
    for text in [
        "a supervisor asks it to interrupt itself",
        "go on to TICKET_ORCHESTRATOR",
        "Discovery orchestrator  interrupts, HUMAN_REVIEW",
        "Ticket agent 2  interrupts, HUMAN_REVIEW",
    ] {
        assert!(ended.error_output.contains(text), "{text} in {ended:#?}");
    }
    for text in [
        "✓ completed run_",
        "3 interrupts",
        "INTERRUPT OF",
        "DISCOVERY_ORCHESTRATOR  HUMAN_REVIEW  a reviewer    DISCOVERY_ORCHESTRATOR",
        "PLANNING_ORCHESTRATOR   HUMAN_REVIEW  a reviewer    TICKET_ORCHESTRATOR",
        "TICKET_AGENT            HUMAN_REVIEW  a reviewer    TICKET_DISPATCH",
        "answer   by-folder, “start with the code”, read-tests: yes",
    ] {
        assert!(ended.output.contains(text), "{text} in {ended:#?}");
    }
}

#[test]
fn a_run_speaks_about_the_folder_that_it_was_given() {
    let folder = workspace();
    let ended = end(run_in(folder.path()).arg("--no-input")).exits_with(0);
    let last = "The folder has 2 files with 4 lines, 1 of them Rust.";
    assert!(ended.output.contains(last), "{ended:#?}");
    let of_a_part = "src has 1 file with 1 line, all Rust.";
    assert!(ended.error_output.contains(of_a_part), "{ended:#?}");
}

#[test]
fn a_run_writes_nothing_to_its_folder() {
    let folder = workspace();
    let before = contents(folder.path());
    end(run_in(folder.path())
        .current_dir(folder.path())
        .args(["--no-input", "--script"])
        .arg(example_script("tour-answered.json")))
    .exits_with(0);
    assert_eq!(contents(folder.path()), before);
}

/// Every file below the folder, with what is in it.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn the_same_seed_gives_the_same_run_and_quiet_shows_the_result_alone() {
    let folder = workspace();
    let figures = |seed: &str| {
        let ended = end(run_in(folder.path()).args(["-q", "--no-input", "--seed", seed]));
        let ended = ended.exits_with(0);
        assert_eq!(ended.error_output, "");
        let lines: Vec<String> = ended.output.lines().skip(2).map(str::to_owned).collect();
        // The last line but one has the time in it.
        lines
            .into_iter()
            .take_while(|line| !line.contains(" steps "))
            .collect::<Vec<_>>()
    };
    assert_eq!(figures("7"), figures("7"));
}
