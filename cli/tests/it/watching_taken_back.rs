//! Pauses whose run was told to stop: a second Esc stops it at once, one that is taken back stops and goes on unchanged.

use std::process::{Child, Stdio};

use interrupt_router::InterruptId;
use interrupts::life::{State, Verdict};
use interrupts::store::{Filter, Interrupts, Page};
use rexpect::session::PtySession;
use store::{SqliteStore, StoreSettings};
use tokio::runtime::Runtime;

use crate::place::Place;
use crate::program::until;
use crate::screen::{Painted, press};
use crate::watching::{start_with, start_without_grace};

/// A run that speaks so slowly that it is told to stop long before it has stopped.
fn slow(place: &Place) -> Child {
    let child = place
        .run(&["--pace", "6"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    place.wait_for_call();
    child
}

/// The interrupts of the store, which another process uses.
fn status(place: &Place) -> Vec<(InterruptId, State, Option<Verdict>)> {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(place.store(), StoreSettings::default());
        let store = store.await.unwrap();
        let page = Page {
            after: 0,
            limit: 10,
        };
        let found = store.interrupts(&Filter::default(), page).await.unwrap();
        store.close().await.unwrap();
        let stands = found.into_iter().map(|(_place, it)| {
            let verdict = it.decision.as_ref().map(|decision| decision.verdict);
            (it.id, it.state, verdict)
        });
        stands.collect()
    })
}

fn is(place: &Place, wanted: State) -> bool {
    status(place)
        .iter()
        .any(|(_id, state, _verdict)| *state == wanted)
}

fn screens(place: &Place) -> PtySession {
    start_with(&format!("--silent --store {}", place.store().display()))
}

/// Screens in which a graceful stop takes as long as the step.
fn patient_screens(place: &Place) -> (PtySession, Painted) {
    let arguments = format!("--silent --store {}", place.store().display());
    let store = place.store();
    let (screen, terminal) = start_without_grace(store.parent().unwrap(), &arguments);
    (screen, Painted::anew(&terminal))
}

/// What the last line says when no process continues the run.
const NOBODY_GOES_ON: &str = "No process runs it now";

/// What the pause was decided with, and what the run makes of it.
fn went_on_unchanged(place: &Place) {
    let all = status(place);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(all[0].2, Some(Verdict::Resume));
    let run = place.only_run();
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
}

#[test]
fn one_esc_stops_a_slow_run_soon() {
    let place = Place::new();
    // A call takes minutes: without an end of the grace, this one would not stop.
    let mut child = place
        .run(&["--pace", "1"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    place.wait_for_call();
    let mut screen = screens(&place);
    press(&mut screen, "\x1b");
    screen.exp_string("at once in").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    until("it is paused", || is(&place, State::AwaitingReview));
    press(&mut screen, "\x04");
    screen.exp_string("LEFT 0").unwrap();
}

#[test]
fn a_second_esc_while_it_stops_stops_at_once_and_a_third_resumes_it_unchanged() {
    let place = Place::new();
    let mut child = slow(&place);
    let (mut screen, mut painted) = patient_screens(&place);
    press(&mut screen, "\x1b");
    painted.until_it_shows(&mut screen, "modify the plan");
    until("it is told to stop", || is(&place, State::Delivered));
    press(&mut screen, "\x1b");
    assert_eq!(child.wait().unwrap().code(), Some(5));
    until("it is paused", || is(&place, State::AwaitingReview));
    // Where the screen knows it, too.
    painted.until_it_shows(&mut screen, "→ paused");
    press(&mut screen, "\x1b");
    until("it is decided", || is(&place, State::Resolved));
    painted.until_it_shows(&mut screen, NOBODY_GOES_ON);
    press(&mut screen, "\x04");
    screen.exp_string("LEFT 0").unwrap();
    went_on_unchanged(&place);
}

#[test]
fn what_is_chosen_before_it_has_stopped_waits_and_leaving_says_what_stays_undone() {
    let place = Place::new();
    let mut child = slow(&place);
    let (mut screen, mut painted) = patient_screens(&place);
    press(&mut screen, "\x1b");
    painted.until_it_shows(&mut screen, "modify the plan");
    until("it is told to stop", || is(&place, State::Delivered));
    // The button that resumes unchanged.
    press(&mut screen, "\t\t\r");
    std::thread::sleep(std::time::Duration::from_millis(300));
    press(&mut screen, "\x04");
    painted.until_it_shows(&mut screen, "Leave before it has stopped?");
    painted.until_it_shows(&mut screen, &place.only_run());
    press(&mut screen, "n");
    assert_eq!(child.wait().unwrap().code(), Some(5));
    until("it is decided", || is(&place, State::Resolved));
    painted.until_it_shows(&mut screen, NOBODY_GOES_ON);
    press(&mut screen, "\x04");
    screen.exp_string("LEFT 0").unwrap();
    went_on_unchanged(&place);
}

#[test]
fn a_run_that_was_told_of_a_pause_that_is_withdrawn_stops_and_goes_on() {
    let place = Place::new();
    let mut child = slow(&place);
    let run = place.only_run();
    place
        .end(&["interrupt", &run, "--wait=delivered"])
        .exits_with(0);
    let id = status(&place)[0].0.to_string();
    let withdrawn = place.end(&["withdraw", &id]).exits_with(0);
    let says = &withdrawn.error_output;
    assert!(
        says.contains("stops first, and goes on then"),
        "{withdrawn:#?}"
    );
    until("it has stopped", || is(&place, State::Cancelled));
    until("it works again", || place.runs()[0]["state"] == "running");
    child.kill().unwrap();
    child.wait().unwrap();
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
}
