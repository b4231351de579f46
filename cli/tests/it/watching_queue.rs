//! What was written to an agent and is not read yet, on the screens of `irq watch`.

use interrupts::store::{MessageState, Messages as _, NewMessage, Page, StoredMessage};
use routing_core::NodeId;

use crate::program::until;
use crate::screen::press;
use crate::seed::{Seed, actor};
use crate::served::Served;
use crate::watching::{leave, start, start_with};

fn messages(seed: &Seed, run: &interrupts::store::Run) -> Vec<StoredMessage> {
    let page = Page {
        after: 0,
        limit: 10,
    };
    seed.wait(seed.store.messages(run.id, page)).unwrap()
}

/// Somebody else writes to the discovery agent.
fn another_writes(seed: &Seed, run: &interrupts::store::Run, text: &str) {
    let message = NewMessage {
        run: run.id,
        node: NodeId::new("orchestrator/discovery").unwrap(),
        text: text.to_owned(),
        from: actor("bob"),
        key: interrupts::IdempotencyKey::new(format!("send-{text}")).unwrap(),
    };
    seed.wait(seed.store.send_message(message)).unwrap();
}

#[test]
fn a_message_is_shown_until_it_is_read_and_taken_back_to_be_written_on() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj\tQXZ\r");
    screen.exp_string("not read yet").unwrap();
    screen.exp_string("QXZ").unwrap();
    another_writes(&seed, &run, "JWK");
    screen.exp_string("bob: JWK").unwrap();
    // The newest one is not hers: her own comes back.
    press(&mut screen, "\x1b[A");
    until(
        "it is taken back",
        || matches!(&messages(&seed, &run)[0].state, MessageState::Withdrawn { by, .. } if by.name.as_str() == "ada"),
    );
    assert!(messages(&seed, &run)[1].state.is_waiting());
    press(&mut screen, "Y\r");
    until("it is sent as it was written on", || {
        let sent = messages(&seed, &run);
        sent.len() == 3 && sent[2].message.text == "QXZY"
    });
    // Its agent reads it: it is shown no more, and cannot be taken back.
    seed.wait(seed.store.read_messages(run.id, run.epoch, &[2, 3]))
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    press(&mut screen, "\x1b[A");
    // Where the id that stood in the line has the same digit, it is not drawn again: `a` may be missing.
    screen.exp_string("Nothing th").unwrap();
    assert!(matches!(
        messages(&seed, &run)[2].state,
        MessageState::Read { .. }
    ));
    leave(&mut screen);
}

#[test]
fn an_interrupt_brings_back_what_the_agent_has_not_read() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj\tQXZ\r");
    screen.exp_string("not read yet").unwrap();
    another_writes(&seed, &run, "JWK");
    screen.exp_string("bob: JWK").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("modify the plan").unwrap();
    until("hers is taken back", || {
        !messages(&seed, &run)[0].state.is_waiting()
    });
    assert!(messages(&seed, &run)[1].state.is_waiting(), "bob's waits");
    // The window is closed; what she had written stands in the line again.
    press(&mut screen, "\t\t\r");
    until("the pause is taken back", || {
        let asked = seed.interrupts(&run);
        asked.len() == 1 && asked[0].state == interrupts::life::State::Cancelled
    });
    press(&mut screen, "\t\r");
    until("it is sent again", || {
        let sent = messages(&seed, &run);
        sent.len() == 3 && sent[2].message.text == "QXZ"
    });
    leave(&mut screen);
}

#[test]
fn a_message_that_cannot_be_taken_back_is_shown_again() {
    let seed = Seed::new();
    let run = seed.run();
    another_writes(&seed, &run, "JWK");
    let served = Served::over(&seed.path());
    let token = served.token("bob", "viewer");
    let mut screen = start_with(&format!(
        "--silent --server {} --token-file {}",
        served.url,
        token.display()
    ));
    press(&mut screen, "jj\t");
    screen.exp_string("not read yet").unwrap();
    screen.exp_string("JWK").unwrap();
    // Whoever only looks may not change what others wait for, be it his own.
    press(&mut screen, "\x1b[A");
    screen.exp_string("JWK").unwrap();
    screen.exp_string("this needs the right to direct").unwrap();
    assert!(messages(&seed, &run)[0].state.is_waiting());
    leave(&mut screen);
}
