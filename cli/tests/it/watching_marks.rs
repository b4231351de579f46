//! What is marked in `irq watch` stays marked, whatever comes and goes around it.

use interrupts::life::{RunState, Scope};
use serde_json::json;

use crate::screen::press;
use crate::seed::Seed;
use crate::watching::{leave, start};
use crate::watching_windows::{pause, takes_hold};

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
fn where_what_was_marked_has_gone_nothing_is_interrupted_until_something_else_is_marked() {
    let seed = Seed::new();
    let (one, two) = (seed.run(), seed.run_of(&json!({"goal": "Bake"})));
    let mut screen = start(&seed);
    screen.exp_string("Bake").unwrap();
    press(&mut screen, "j");
    seed.change(&one, RunState::Completed);
    // The next run has come to the place of the first.
    screen.exp_string("Bake").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("something").unwrap();
    assert!(seed.interrupts(&two).is_empty());
    press(&mut screen, "k\x1b");
    pause(&seed, &two, Scope::Run);
    press(&mut screen, "\x04");
}
