//! `irq review` with a person at a real terminal.

use interrupts::life::{State, Verdict};
use rexpect::session::PtySession;

use crate::screen::on_a_terminal;
use crate::seed::Seed;

fn start(seed: &Seed, arguments: &[&str]) -> PtySession {
    let mut command = seed.irq(arguments);
    command.arg("--no-color");
    on_a_terminal(command)
}

#[test]
fn a_person_is_shown_the_question_and_answers_it() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed, &["review", &question.id.to_string()]);
    screen.exp_string("DISCOVERY_ORCHESTRATOR asks").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("7").unwrap();
    screen.exp_string("There is no choice 7").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("2: but slowly").unwrap();
    screen
        .exp_string("respond, to DISCOVERY_ORCHESTRATOR")
        .unwrap();
    screen.exp_eof().unwrap();
    let decision = seed.interrupt(question.id).decision.unwrap();
    assert_eq!(decision.verdict, Verdict::Respond);
    let content = decision.content.unwrap();
    assert!(
        content.contains("right") && content.contains("but slowly"),
        "{content}"
    );
}

#[test]
fn a_person_may_leave_the_question_open() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed, &["review", "--next"]);
    screen.exp_string("> ").unwrap();
    screen.send_control('d').unwrap();
    screen.exp_string("stays open").unwrap();
    screen.exp_eof().unwrap();
    assert_eq!(seed.interrupt(question.id), question);
}

#[test]
fn a_key_that_is_no_text_decides_nothing() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed, &["review", &question.id.to_string()]);
    screen.exp_string("> ").unwrap();
    screen.send_line("\x1b1").unwrap();
    screen.exp_string("a key that is no text").unwrap();
    screen.exp_string("> ").unwrap();
    assert_eq!(seed.interrupt(question.id), question);
    screen.send_line("2").unwrap();
    screen
        .exp_string("respond, to DISCOVERY_ORCHESTRATOR")
        .unwrap();
    screen.exp_eof().unwrap();
    let content = seed.interrupt(question.id).decision.unwrap().content;
    let content = content.unwrap();
    assert!(
        content.contains("right") && !content.contains("\\u001b"),
        "{content}"
    );
}

#[test]
fn whoever_answers_too_late_is_told_who_was_faster() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed, &["review", &question.id.to_string()]);
    screen.exp_string("> ").unwrap();
    seed.decide(&question, "bob");
    screen.send_line("1").unwrap();
    screen.exp_string("bob decided `respond`").unwrap();
    screen.exp_eof().unwrap();
    let status = screen.process().wait().unwrap();
    assert!(format!("{status:?}").ends_with(", 4)"), "{status:?}");
}

#[test]
fn a_paused_run_is_gone_on_from_with_new_input() {
    let seed = Seed::new();
    let run = seed.run();
    seed.abandon(&run);
    let stop = seed.json(&["interrupt", &run.id.to_string(), "--json"]);
    let mut screen = start(&seed, &["review", stop["id"].as_str().unwrap()]);
    screen.exp_string("is paused").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("bake less").unwrap();
    screen.exp_string("irq resume").unwrap();
    screen.exp_eof().unwrap();
    let stop = seed.interrupt(stop["id"].as_str().unwrap().parse().unwrap());
    assert_eq!(stop.state, State::Resolved);
    assert_eq!(stop.decision.unwrap().verdict, Verdict::Respond);
}
