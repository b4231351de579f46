//! The windows of `irq watch`: what is written in them is kept, and what is chosen in them is done.
//!
//! The screen is drawn in pieces, each with what has changed, so what is looked for stands nowhere else.

use interrupt_router::InterruptType;
use interrupts::life::{Evidence, Interrupt, RunState, Scope, State};
use interrupts::store::{Interrupts, Run};
use serde_json::{Value, json};

use crate::program::until;
use crate::screen::{press, read_and_press, resize};
use crate::seed::{Seed, delivery};
use crate::watching::{leave, start, start_known};

/// The pause of a run that has come last, once there is one with this scope.
pub(crate) fn pause(seed: &Seed, run: &Run, scope: Scope) -> Interrupt {
    let found = || {
        let mut asked = seed.interrupts(run);
        asked.retain(|it| it.interrupt_type == InterruptType::Pause && it.scope == scope);
        asked.pop()
    };
    until("a pause", || found().is_some());
    found().unwrap()
}

/// The process that works on the run has stopped.
pub(crate) fn takes_hold(seed: &Seed, pause: &Interrupt) {
    seed.wait(async {
        let taken = seed.store.deliver(pause.id, delivery("process-1", 600));
        let epoch = taken.await.unwrap().epoch;
        let held = seed.store.acknowledge(pause.id, epoch, Evidence::Cancelled);
        let held = held.await.unwrap();
        let shown = interrupts::Digest::of(held.content.as_bytes());
        let waits = seed.store.require_review(pause.id, epoch, shown);
        waits.await.unwrap();
    });
}

#[test]
fn an_answer_that_is_half_written_is_there_again_and_can_be_sent() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2\r");
    screen.exp_string("shall it go").unwrap();
    read_and_press(&mut screen, "rQXZ ");
    screen.exp_string("Z").unwrap();
    // Closed by Esc, and once more by Ctrl+C: nothing of it is lost, nothing is interrupted.
    press(&mut screen, "\x1b");
    std::thread::sleep(std::time::Duration::from_millis(200));
    read_and_press(&mut screen, "rmill, ");
    press(&mut screen, "\x03");
    read_and_press(&mut screen, "rthen home\r");
    until("it is decided", || {
        seed.interrupt(question.id).state == State::Resolved
    });
    let content = seed.interrupt(question.id).decision.unwrap().content;
    let answer: Value = serde_json::from_str(&content.unwrap()).unwrap();
    assert_eq!(answer["text"], "QXZ mill, then home");
    assert_eq!(seed.interrupts(&run).len(), 1);
    leave(&mut screen);
}

#[test]
fn a_pause_of_an_agent_becomes_one_of_the_whole_run() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj\x1b");
    let narrow = pause(&seed, &run, Scope::Agent);
    screen.exp_string("modify the plan").unwrap();
    press(&mut screen, "\t\t\t\t");
    // What was asked for has to be accepted first; the key does nothing until then.
    until("a pause of the run", || {
        press(&mut screen, "\r");
        let asked = seed.interrupts(&run);
        asked.iter().any(|it| it.scope == Scope::Run)
    });
    pause(&seed, &run, Scope::Run);
    until("the agent's is given up", || {
        seed.interrupt(narrow.id).state == State::Cancelled
    });
    press(&mut screen, "\x04");
}

#[test]
fn a_paused_agent_is_sent_elsewhere() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj\x1b");
    let pause = pause(&seed, &run, Scope::Agent);
    takes_hold(&seed, &pause);
    screen.exp_string("modify the plan").unwrap();
    press(&mut screen, "\t\t\t");
    let question = || {
        let mut asked = seed.interrupts(&run);
        asked.retain(|it| it.interrupt_type == InterruptType::HumanReview);
        asked.pop()
    };
    // The list of targets opens once the pause is seen to stand; then the first of them is taken.
    until("an event for the agent", || {
        press(&mut screen, "\r");
        std::thread::sleep(std::time::Duration::from_millis(200));
        question().is_some()
    });
    let question = question().unwrap();
    assert_eq!(question.node.as_str(), "orchestrator/discovery");
    let event: Value = serde_json::from_str(&question.content).unwrap();
    assert_eq!(event["rerouteToAgentType"], pause.routes[0].as_str());
    until("the agent goes on", || {
        seed.interrupt(pause.id).state == State::Resolved
    });
    leave(&mut screen);
}

#[test]
fn esc_on_a_run_that_is_paused_already_asks_nothing_of_anybody() {
    let seed = Seed::new();
    let run = seed.run();
    seed.change(&run, RunState::Stopping);
    seed.change(&run, RunState::Paused);
    seed.abandon(&run);
    let mut screen = start(&seed);
    press(&mut screen, "jj\x1b");
    screen.exp_string("resume").unwrap();
    // No window has opened: the next key opens the help, and by then nothing was asked for.
    press(&mut screen, "?");
    screen.exp_string("undo").unwrap();
    assert!(seed.interrupts(&run).is_empty());
    leave(&mut screen);
}

#[test]
fn what_is_too_long_for_the_screen_can_be_read_to_its_end() {
    let seed = Seed::new();
    let run = seed.run();
    let lines: Vec<String> = (1..80).map(|line| format!("line {line} of it")).collect();
    let content = json!({
        "type": "HUMAN_REVIEW", "reason": "which way shall it go?",
        "choices": [{"label": "Left", "value": "left", "description": "QXZ"}],
        "confirmationItems": [], "contextForDecision": lines.join("\n"),
    });
    seed.asked(&run, content.to_string(), Vec::new());
    let arguments = format!("--silent --store {}", seed.path().display());
    let (mut screen, terminal, _shell) = start_known(&arguments);
    press(&mut screen, "2\r");
    screen.exp_string("more lines").unwrap();
    // The keys that decide stay in sight.
    screen.exp_string("reroute").unwrap();
    press(&mut screen, "G");
    screen.exp_string("QXZ").unwrap();
    resize(&terminal, "15", "100");
    press(&mut screen, "?");
    // On a screen that was cleared before, a space is a step of the cursor.
    screen.exp_regex(r"more[^a-z]{1,12}lines").unwrap();
    leave(&mut screen);
}
