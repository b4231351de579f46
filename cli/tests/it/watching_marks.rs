//! What is marked in `irq watch` stays marked, whatever comes and goes around it, and what is written goes to the agent
//! for which it was begun.

use interrupts::life::{RunState, Scope};
use interrupts::store::{Messages as _, NodeActivity, Nodes as _, Page, Run, StoredMessage};
use serde_json::json;

use crate::program::until;
use crate::screen::{press, read_and_press};
use crate::seed::{Seed, node};
use crate::watching::{leave, start};
use crate::watching_windows::{pause, takes_hold};

/// What was sent to the agents of a run: to whom, and what.
fn sent(seed: &Seed, run: &Run) -> Vec<(String, String)> {
    let page = Page {
        after: 0,
        limit: 10,
    };
    let sent = seed.wait(seed.store.messages(run.id, page)).unwrap();
    let said = |it: StoredMessage| (it.message.node.to_string(), it.message.text);
    sent.into_iter().map(said).collect()
}

fn said(node: &str, text: &str) -> Vec<(String, String)> {
    vec![(node.to_owned(), text.to_owned())]
}

/// An agent of a run comes, or is another way than it was.
fn put(seed: &Seed, run: &Run, name: &str, activity: NodeActivity) {
    let row = node(run, name, "TICKET_AGENT", activity);
    seed.wait(seed.store.put_nodes(run.id, run.epoch, vec![row]))
        .unwrap();
}

#[test]
fn a_message_goes_to_the_agent_for_which_it_was_begun_whatever_comes_above_it() {
    let seed = Seed::new();
    let (one, two) = (seed.run(), seed.run_of(&json!({"goal": "Bake"})));
    let mut screen = start(&seed);
    screen.exp_string("Bake").unwrap();
    // The discovery agent of the second run.
    press(&mut screen, "Gk\tQXZ");
    screen.exp_string("Z").unwrap();
    put(&seed, &one, "orchestrator/newcomer", NodeActivity::Running);
    screen.exp_string("newcomer").unwrap();
    press(&mut screen, "\r");
    until("it is sent", || {
        !sent(&seed, &one).is_empty() || !sent(&seed, &two).is_empty()
    });
    assert_eq!(sent(&seed, &two), said("orchestrator/discovery", "QXZ"));
    assert!(sent(&seed, &one).is_empty());
    leave(&mut screen);
}

#[test]
fn a_message_to_an_agent_that_has_ended_stays_in_the_line_until_it_is_for_another() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj\tQXZ");
    screen.exp_string("Z").unwrap();
    put(
        &seed,
        &run,
        "orchestrator/discovery",
        NodeActivity::Completed,
    );
    screen.exp_string("ended").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("stays").unwrap();
    assert!(sent(&seed, &run).is_empty());
    // Nor is anybody interrupted for it.
    press(&mut screen, "\x1b\r");
    press(&mut screen, "\tk\t\r");
    until("it is sent to another", || {
        sent(&seed, &run) == said("orchestrator", "QXZ")
    });
    assert!(seed.interrupts(&run).is_empty());
    leave(&mut screen);
}

#[test]
fn a_message_to_whoever_asks_goes_to_nobody_else_when_the_question_is_answered() {
    let seed = Seed::new();
    let (one, two) = (seed.run(), seed.run_of(&json!({"goal": "Bake"})));
    let first = seed.question(&one);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("HUMAN_REVIEW").unwrap();
    press(&mut screen, "\tQXZ");
    screen.exp_string("Z").unwrap();
    let second = json!({"type": "HUMAN_REVIEW", "reason": "JWK"});
    seed.asked(&two, second.to_string(), Vec::new());
    screen.exp_string("JWK").unwrap();
    seed.decide(&first, "bob");
    // It has come to the place of the first.
    screen.exp_string("JWK").unwrap();
    read_and_press(&mut screen, "\r");
    until("it is sent", || {
        !sent(&seed, &one).is_empty() || !sent(&seed, &two).is_empty()
    });
    assert_eq!(sent(&seed, &one), said("orchestrator/discovery", "QXZ"));
    assert!(sent(&seed, &two).is_empty());
    leave(&mut screen);
}

#[test]
fn esc_interrupts_what_is_marked_when_what_stood_above_it_has_ended() {
    let seed = Seed::new();
    let (one, two) = (seed.run(), seed.run_of(&json!({"goal": "Bake"})));
    let three = seed.run_of(&json!({"goal": "Sell"}));
    let mut screen = start(&seed);
    screen.exp_string("Sell").unwrap();
    // The orchestrator of the second run: the row at which the third one's stands when the first has gone.
    press(&mut screen, "jjjjj");
    seed.change(&one, RunState::Completed);
    // The others have come to its place.
    screen.exp_string("Sell").unwrap();
    press(&mut screen, "\x1b");
    let pause = pause(&seed, &two, Scope::Agent);
    assert_eq!(pause.node.as_str(), "orchestrator");
    assert!(seed.interrupts(&three).is_empty());
    press(&mut screen, "\x04");
}

#[test]
fn enter_opens_the_question_that_is_marked_when_another_comes_above_it() {
    let seed = Seed::new();
    let (one, two) = (seed.run(), seed.run_of(&json!({"goal": "Bake"})));
    let question = seed.question(&one);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("HUMAN_REVIEW").unwrap();
    let asked = seed.end(&["interrupt", &two.id.to_string(), "--reason", "JWK"]);
    asked.exits_with(0);
    takes_hold(&seed, &pause(&seed, &two, Scope::Run));
    screen.exp_string("JWK").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("shall it go").unwrap();
    assert_eq!(seed.interrupt(question.id), question);
    leave(&mut screen);
}

#[test]
fn what_is_marked_instead_of_what_has_gone_is_not_interrupted_before_it_can_be_seen() {
    let seed = Seed::new();
    let (one, two) = (seed.run(), seed.run_of(&json!({"goal": "Bake"})));
    let mut screen = start(&seed);
    screen.exp_string("Bake").unwrap();
    press(&mut screen, "j");
    seed.change(&one, RunState::Completed);
    // The next run has come to the place of the first.
    screen.exp_string("Bake").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("has gone").unwrap();
    assert!(seed.interrupts(&two).is_empty());
    read_and_press(&mut screen, "\x1b");
    pause(&seed, &two, Scope::Run);
    press(&mut screen, "\x04");
}
