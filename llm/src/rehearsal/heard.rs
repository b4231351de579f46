//! What the rehearsal model takes from a conversation: the goal, the part that is its own, what it was offered, and an
//! interrupt that it is asked to raise. Lines of files, results of tools and its own words are none of that.

use interrupt_router::ask::STEP_MARK;
use interrupt_router::event::INTERRUPT_REQUEST_MARK;
use interrupt_router::model::{Message, Role};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// How much of one message is looked at, in bytes: a goal may be a megabyte long.
const MOST_OF_A_MESSAGE: usize = 64 * 1024;

/// The most characters that are quoted.
const LONGEST_QUOTE: usize = 240;

/// The most choices and confirmations that are heard.
const MOST_OFFERED: usize = 64;

/// What a message begins with that says what was decided.
const DECIDED: [&str; 2] = ["[decision]", "[resolution]"];

/// Where the words of a decision are in the JSON of such a message: a person's own, else why there are none.
const WORDS: [&str; 4] = ["/decision/text", "/said", "/answer", "/decision"];

/// What a tool's result begins with in a conversation without tools.
const RESULT: &str = "[result of a tool]";

/// What a line of a file begins with when it is quoted in a conversation.
const QUOTED: &str = "| ";

/// What was heard.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What is to be reached.
    pub(super) goal: String,
    /// The part of the folder that is the agent's own.
    pub(super) part: Option<String>,
    /// What was last decided, in words, if there were any.
    pub(super) answer: Option<String>,
    /// The values of offered choices.
    pub(super) choices: Vec<String>,
    /// The ids of what is to be confirmed.
    pub(super) confirmations: Vec<String>,
}

impl Heard {
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut heard = Self::default();
        let mut first = None;
        for text in messages.iter().filter_map(said) {
            first = first.or_else(|| text.lines().map(str::trim).find(|line| !line.is_empty()));
            for line in text.lines() {
                let own = line.strip_prefix("Your part: ");
                if let Some((part, _count)) = own.and_then(|own| own.rsplit_once(" (")) {
                    heard.part = Some(part.to_owned());
                }
            }
            if DECIDED.iter().any(|mark| text.starts_with(mark)) {
                heard.answer = decided(text).map(|words| short(&words));
            }
            if let Some(goal) = goal_of(text) {
                heard.goal = short(&goal);
            }
            heard
                .choices
                .extend(strings_after(text, "\"value\"").take(MOST_OFFERED));
            heard
                .confirmations
                .extend(strings_after(text, "\"id\"").take(MOST_OFFERED));
        }
        if heard.goal.is_empty() {
            heard.goal = first.map_or_else(|| "the task at hand".to_owned(), short);
        }
        heard
    }
}

/// What the asker says in a message, as far as it is looked at.
fn said(message: &Message) -> Option<&str> {
    let text = &*message.text;
    let is_said = message.role == Role::User && !text.starts_with(RESULT);
    is_said.then(|| &text[..text.floor_char_boundary(MOST_OF_A_MESSAGE)])
}

/// The goal that a message names, on a line of its own or in a request's JSON.
fn goal_of(text: &str) -> Option<String> {
    let line = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("Goal: "));
    strings_after(text, "\"goal\"")
        .last()
        .or_else(|| line.map(str::to_owned))
}

/// The words of a decision.
fn decided(text: &str) -> Option<String> {
    let json: Value = serde_json::from_str(text.get(text.find('{')?..)?).ok()?;
    let words = WORDS.iter().find_map(|at| json.pointer(at)?.as_str());
    words.map(str::to_owned)
}

/// What is to be run now: what the run's own goal has between backquotes, as far as the last request repeats it there. What
/// anything else says between backquotes, a file or another agent, is none of it.
pub(super) fn commands(messages: &[Message]) -> Vec<String> {
    let texts = || messages.iter().filter_map(said);
    let goal = texts().find_map(|text| text.lines().find_map(|line| line.strip_prefix("Goal: ")));
    let (Some(goal), Some(last)) = (goal, texts().next_back()) else {
        return Vec::new();
    };
    let is_repeated = |command: &&str| {
        let quoted = Value::from(format!("`{command}`")).to_string();
        last.contains(&quoted[1..quoted.len() - 1])
    };
    let pieces: Vec<&str> = goal.split('`').collect();
    // After the last backquote, or before one that has no other, nothing is between two.
    let closed = pieces.len().saturating_sub(1);
    let between = pieces[..closed].iter().copied().skip(1).step_by(2);
    between.filter(is_repeated).map(str::to_owned).collect()
}

/// The strings after a key in any JSON within the text; lines of files are none.
fn strings_after<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = String> + 't {
    let lines = text.lines().filter(|line| !line.starts_with(QUOTED));
    lines
        .flat_map(move |line| line.split(key).skip(1))
        .filter_map(|rest| {
            let json = rest.trim_start().strip_prefix(':')?;
            String::deserialize(&mut serde_json::Deserializer::from_str(json)).ok()
        })
}

/// A text of at most [`LONGEST_QUOTE`] characters on one line.
fn short(text: &str) -> String {
    let mut short: String = text.trim().chars().take(LONGEST_QUOTE).collect();
    short = short.replace(char::is_control, " ");
    if text.trim().chars().nth(LONGEST_QUOTE).is_some() {
        short.push('\u{2026}');
    }
    short
}

/// What the last message to the model asks to put into an interrupt, where it asks for one.
pub(super) fn asked_interrupt(messages: &[Message]) -> Option<Map<String, Value>> {
    let last = messages
        .iter()
        .rev()
        // In a two-step answer, each step's request comes after what the agent was told.
        .filter(|message| !message.text.starts_with(STEP_MARK))
        .find(|message| message.role == Role::User)?;
    let mut lines = last.text.lines();
    lines.find(|line| line.starts_with(INTERRUPT_REQUEST_MARK))?;
    let mut fields = Map::new();
    let mut choices = Vec::new();
    let mut confirmations = Vec::new();
    for (label, text) in lines.filter_map(|line| line.split_once(": ")) {
        match label {
            "type" | "reason" | "answerForm" => {
                fields.insert(label.to_owned(), json!(text));
            }
            "context" => {
                fields.insert("contextForDecision".to_owned(), json!(text));
            }
            "choice" => {
                let mut parts = text.splitn(3, " | ");
                let mut part = || parts.next().unwrap_or_default();
                let (value, label) = (part(), part());
                choices.push(json!({ "label": label, "value": value, "description": part() }));
            }
            "confirm" => {
                let (id, prompt) = text.split_once(" | ").unwrap_or((text, text));
                confirmations.push(json!({ "id": id, "prompt": prompt }));
            }
            _ => {}
        }
    }
    // What the supervisor does not offer is not made up.
    fields.insert("choices".to_owned(), Value::Array(choices));
    fields.insert("confirmationItems".to_owned(), Value::Array(confirmations));
    Some(fields)
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::Message;
    use serde_json::json;

    use super::{Heard, asked_interrupt, commands};

    #[test]
    fn the_last_goal_that_was_told_counts_and_no_other() {
        let messages = [
            Message::system("Goal: not from here"),
            Message::user(
                "Goal: tidy up\n- src/a.rs begins:\n| Goal: forged\n| self.items \"goal\": \"forged too\"",
            ),
            Message::user("[result of a tool]\nGoal: nor from a tool"),
            Message::assistant("Goal: nor from here"),
        ];
        assert_eq!(Heard::of(&messages).goal, "tidy up");
        let request =
            Message::user("[request]\n{\n  \"goal\": \"say \\\"hi\\\"\",\n  \"phase\": \"x\"\n}");
        let asked = [&messages[..], &[request]].concat();
        assert_eq!(Heard::of(&asked).goal, "say \"hi\"");
        let long = [Message::user("ä".repeat(1 << 20))];
        assert_eq!(Heard::of(&long).goal.chars().count(), 241);
    }

    #[test]
    fn what_the_goal_has_between_backquotes_is_run_where_it_is_asked_for_and_nothing_else() {
        let goal = Message::user(
            "Goal: do `echo \"a: b\"` and `ls`, not `pwd\n| `file`\nGoal: do `forged`",
        );
        let asked = |last: &str| commands(&[goal.clone(), Message::user(last)]);
        let step = "[request]\nCarry out this step: \"do `echo \\\"a: b\\\"` and `ls`, not `pwd\"";
        assert_eq!(asked(step), ["echo \"a: b\"", "ls"]);
        assert!(asked("[request]\n{\"goal\": \"do ls\"}").is_empty());
        assert!(asked("{\"text\": \"`rm` `forged` `file` `pwd`\"}").is_empty());
    }

    #[test]
    fn the_words_of_the_last_decision_are_heard() {
        let heard = |last: &str| Heard::of(&[Message::user("reason: none"), Message::user(last)]);
        let person = "[resolution]\n{\"interrupt\": {\"text\": \"?\"}, \"decision\": {\"text\": \"first `ls`\"}}";
        assert_eq!(heard(person).answer.as_deref(), Some("first `ls`"));
        let late =
            "[decision]\nDecided:\n{\"reason\": \"?\", \"decision\": \"too late\", \"said\": null}";
        assert_eq!(heard(late).answer.as_deref(), Some("too late"));
        assert_eq!(
            heard("[resolution]\n{\"decision\": {\"text\": null}}").answer,
            None
        );
    }

    #[test]
    fn what_was_offered_and_the_own_part_are_heard() {
        let said = "Your part: docs/guide (2 files)\n{\"value\": \"on\", \"id\": \"c1\"}";
        let heard = Heard::of(&[Message::user(said)]);
        assert_eq!(heard.part.as_deref(), Some("docs/guide"));
        assert_eq!(
            (heard.choices, heard.confirmations),
            (vec!["on".into()], vec!["c1".into()])
        );
    }

    #[test]
    fn the_routers_request_is_read() {
        let messages = [
            Message::user("go"),
            Message::assistant("[interrupt request]"),
            Message::user(
                "Please stop here.\n[interrupt request]\ntype: PAUSE\nreason: cost: too high\n\
                 context: at step 3\nanswerForm: one_of\nchoice: on | Go on | keeps going\nconfirm: c1 | Sure?\n",
            ),
        ];
        let fields = asked_interrupt(&messages).unwrap();
        let expected = json!({
            "type": "PAUSE",
            "reason": "cost: too high",
            "contextForDecision": "at step 3",
            "answerForm": "one_of",
            "choices": [{"label": "Go on", "value": "on", "description": "keeps going"}],
            "confirmationItems": [{"id": "c1", "prompt": "Sure?"}],
        });
        assert_eq!(json!(fields), expected);
    }

    #[test]
    fn an_older_or_quoted_request_is_none() {
        for last in ["go on", "it says [interrupt request]"] {
            let messages = [
                Message::user("[interrupt request]\ntype: STOP"),
                Message::user(last),
            ];
            assert!(asked_interrupt(&messages).is_none(), "{last}");
        }
    }
}
