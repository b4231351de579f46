//! What the rehearsal model says in a conversation: that it is one, what it heard, and enough words to
//! be interrupted in.

use interrupt_router::model::{Message, Role};

use super::random::Random;

/// The most characters of a message that are repeated.
const LONGEST_ECHO: usize = 80;

/// How many of the remarks an answer has.
const REMARKS_OF_AN_ANSWER: usize = 5;

/// Ways to begin.
const OPENINGS: [&str; 3] = [
    "This is the rehearsal model speaking: no language model is behind it, and nothing was thought about.",
    "You are talking to a rehearsal. It needs no key and no network, and it understands nothing.",
    "I only rehearse a conversation: my words are picked by a number, and no model has read yours.",
];

/// What is true of the program, in no order.
const REMARKS: [&str; 9] = [
    "An answer like this one arrives piece by piece, as it does from a real model, and can be stopped between any two pieces.",
    "Whatever had arrived when it was stopped is kept and marked, and the next message goes on from there.",
    "With a real model the connection is closed at that moment, so that a server that can stop generating does.",
    "The same seed and the same messages always give the same words, on every machine.",
    "Another seed gives other words, and they mean just as little.",
    "What you type while I speak is kept: press Enter and it is sent when I have finished.",
    "A model that a provider serves is named with its provider, as in openai:NAME, and a server of your own by its address.",
    "Nothing that is said here leaves this process.",
    "The pace of a rehearsal can be set, which is useful to try out how an interruption feels.",
];

/// Ways to end.
const CLOSINGS: [&str; 3] = [
    "That is all a rehearsal has to say.",
    "Say something else, and I shall not understand that either.",
    "Name a real model to get a real answer.",
];

/// The answer to a conversation.
pub(crate) fn answer(seed: u64, messages: &[Message]) -> String {
    let mut random = Random::for_conversation(seed, messages);
    let said = messages
        .iter()
        .rev()
        .find(|message| message.role == Role::User)
        .map(|message| &*message.text)
        .unwrap_or_default();
    let turn = messages
        .iter()
        .filter(|message| message.role == Role::User)
        .count();
    let mut remarks = REMARKS.to_vec();
    let mut chosen = Vec::new();
    for _ in 0..REMARKS_OF_AN_ANSWER {
        let index = random.below(remarks.len());
        if index < remarks.len() {
            chosen.push(remarks.swap_remove(index));
        }
    }
    let opening = random.pick(&OPENINGS).copied().unwrap_or_default();
    let closing = random.pick(&CLOSINGS).copied().unwrap_or_default();
    format!(
        "{opening} Your message {turn} was \u{201c}{}\u{201d}.\n\n{}\n\n{closing}",
        shortened(said),
        chosen.join(" ")
    )
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(LONGEST_ECHO).collect();
    if short.len() < line.len() {
        short.push('\u{2026}');
    }
    short
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::Message;

    use super::answer;

    #[test]
    fn an_answer_depends_on_the_seed_and_the_conversation_alone() {
        let messages = [Message::system("Be brief."), Message::user("Hello\nthere")];
        let said = answer(1, &messages);
        assert_eq!(said, answer(1, &messages));
        assert_ne!(said, answer(2, &messages));
        assert!(
            said.contains("message 1 was \u{201c}Hello there\u{201d}"),
            "{said}"
        );
        assert!(said.contains("rehears"), "it says what it is: {said}");
    }
}
