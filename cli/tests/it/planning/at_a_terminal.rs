//! A plan is changed in a conversation at a terminal: the change is shown before it is applied.

use rexpect::session::PtySession;

use super::desk::{Desk, tasks};
use crate::screen::on_a_terminal;

fn start(desk: &Desk, arguments: &[&str]) -> PtySession {
    let mut command = desk.irq(arguments);
    command.arg("--no-color");
    on_a_terminal(command)
}

#[test]
fn a_review_shows_the_plan_and_the_change_of_it_before_it_is_applied() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    let left = desk.plan(&run);
    let id = desk.open()[0]["id"].as_str().unwrap().to_owned();
    let mut screen = start(&desk, &["review", &id]);
    screen
        .exp_string("The plan is paused: let me look")
        .unwrap();
    screen.exp_string(&desk.left(&run)[0]).unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("add a validation step").unwrap();
    screen.exp_string("is done and stays").unwrap();
    screen.exp_string("y applies it").unwrap();
    screen.exp_string("> ").unwrap();
    assert_eq!(desk.plan(&run)["version"], left["version"], "only shown");
    let proposed = desk.plan(&run)["proposal"]["plan"].clone();
    screen.send_line("y").unwrap();
    screen.exp_string("modify_plan").unwrap();
    screen.exp_eof().unwrap();
    crate::program::end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let done = desk.plan(&run);
    assert_eq!(tasks(&done["done"])[1..], super::desk::texts(&proposed)[..]);
}

#[test]
fn whoever_applies_without_a_digest_sees_the_change_and_is_asked() {
    let desk = Desk::new();
    let run = desk.stopped_after_its_first_step();
    desk.json(&["plan", &run, "--preview", r#"["sweep the floor"]"#]);
    let mut screen = start(&desk, &["plan", &run, "--apply"]);
    screen.exp_string("+ sweep the floor").unwrap();
    screen.exp_string("Apply it? [y/N]").unwrap();
    screen.send_line("").unwrap();
    screen.exp_string("Nothing was applied").unwrap();
    screen.exp_eof().unwrap();
    assert_eq!(desk.open().len(), 1);
    let mut screen = start(&desk, &["plan", &run, "--apply"]);
    screen.exp_string("Apply it? [y/N]").unwrap();
    screen.send_line("y").unwrap();
    screen.exp_string("irq resume").unwrap();
    screen.exp_eof().unwrap();
    assert!(desk.open().is_empty());
}
