//! A real terminal: a pseudo-terminal with a person who types.

use crate::program::{example_script, irq, run_in, workspace};
use crate::screen::on_a_terminal;

#[test]
fn a_person_answers_the_tour() {
    let folder = workspace();
    let mut command = run_in(folder.path());
    command
        .args(["--pace", "0", "--no-color", "--script"])
        .arg(example_script("tour.json"));
    let mut screen = on_a_terminal(command);
    screen.exp_string("DISCOVERY_ORCHESTRATOR asks").unwrap();
    screen.exp_string("1-2 choose").unwrap();
    screen.send_line("1: the code first").unwrap();
    screen.exp_string("Shall the tests be read too?").unwrap();
    screen.send_line("n").unwrap();
    screen.exp_string("PLANNING_ORCHESTRATOR asks").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("1").unwrap();
    screen.exp_string("TICKET_AGENT asks").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("wait").unwrap();
    let rest = screen.exp_eof().unwrap();
    assert!(rest.contains("completed"), "{rest}");
    assert!(rest.contains("read-tests: no"), "{rest}");
}

#[test]
fn what_was_typed_ahead_answers_no_question_that_nobody_has_seen() {
    let folder = workspace();
    let mut command = run_in(folder.path());
    command
        .args(["--pace", "250", "--no-color", "--script"])
        .arg(example_script("tour.json"));
    let mut screen = on_a_terminal(command);
    screen.exp_string("1-2 choose").unwrap();
    screen.send_line("1").unwrap();
    screen.exp_string("Shall the tests be read too?").unwrap();
    screen.send_line("n").unwrap();
    // The agents work for seconds at this pace before the next question is there.
    screen.exp_string("is answered").unwrap();
    screen.send_line("1: unseen\ny\nwait").unwrap();
    screen.exp_string("PLANNING_ORCHESTRATOR asks").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("1: seen").unwrap();
    screen.exp_string("TICKET_AGENT asks").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("wait").unwrap();
    let rest = screen.exp_eof().unwrap();
    assert!(rest.contains("seen"), "{rest}");
    assert!(!rest.contains("unseen"), "{rest}");
}

#[test]
fn a_key_that_is_no_text_answers_nothing() {
    let folder = workspace();
    let mut command = run_in(folder.path());
    command
        .args(["--pace", "0", "--no-color", "--script"])
        .arg(example_script("tour.json"));
    let mut screen = on_a_terminal(command);
    screen.exp_string("1-2 choose").unwrap();
    for keys in ["\x1b1", "\x1b[A1", "1\x01"] {
        screen.exp_string("> ").unwrap();
        screen.send_line(keys).unwrap();
        screen.exp_string("a key that is no text").unwrap();
    }
    screen.exp_string("> ").unwrap();
    screen.send_line("1: the code first").unwrap();
    screen.exp_string("Shall the tests be read too?").unwrap();
    screen.send_line("\x1b[Dn").unwrap();
    screen.exp_string("a key that is no text").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("n").unwrap();
    screen.exp_string("PLANNING_ORCHESTRATOR asks").unwrap();
    screen.send_control('c').unwrap();
    screen.exp_eof().unwrap();
}

#[test]
fn ctrl_c_works_at_the_prompt() {
    let folder = workspace();
    let mut command = run_in(folder.path());
    command
        .args(["--pace", "0", "--script"])
        .arg(example_script("tour.json"));
    let mut screen = on_a_terminal(command);
    screen.exp_string("1-2 choose").unwrap();
    screen.send_control('c').unwrap();
    screen.exp_string("Received interrupt.").unwrap();
    screen.exp_eof().unwrap();
    let status = screen.process().wait().unwrap();
    assert!(format!("{status:?}").ends_with(", 130)"), "{status:?}");
}

#[test]
fn a_request_is_edited_in_the_persons_editor() {
    let folder = workspace();
    let editor = folder.path().join("editor");
    std::fs::write(
        &editor,
        "#!/bin/sh\nsed -i 's/\"goal\": \"\"/\"goal\": \"written by hand\"/' \"$1\"\n",
    )
    .unwrap();
    let mut command = run_in(folder.path());
    command
        .env("VISUAL", format!("sh {}", editor.display()))
        .args(["--pace", "0", "--no-color", "--script"])
        .arg(example_script("tour.json"));
    let mut screen = on_a_terminal(command);
    screen.exp_string("1-2 choose").unwrap();
    screen.send_line("e").unwrap();
    screen.exp_string("Shall the tests be read too?").unwrap();
    screen.send_line("y").unwrap();
    screen.exp_string("read-tests: yes, an edited").unwrap();
    screen.send_control('c').unwrap();
    screen.send_control('c').unwrap();
    screen.exp_eof().unwrap();
}

#[test]
fn a_terminal_gets_colours_unless_they_are_refused() {
    let mut screen = on_a_terminal({
        let mut command = irq();
        command.arg("routes");
        command
    });
    assert!(screen.exp_eof().unwrap().contains("\u{1b}["));
    for (flag, no_color) in [(Some("--no-color"), None), (None, Some("1"))] {
        let mut command = irq();
        command.arg("routes").args(flag);
        command.envs(no_color.map(|value| ("NO_COLOR", value)));
        let mut screen = on_a_terminal(command);
        let shown = screen.exp_eof().unwrap();
        assert!(!shown.contains('\u{1b}'), "{shown}");
    }
}
