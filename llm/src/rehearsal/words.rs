//! What a rehearsal says: the goal, and facts that were counted, never an opinion; without a fact, what a model would write
//! there.

use interrupt_router::model::{Message, Role};
use interrupt_router::schema::SamplePlace;
use rand::distr::Distribution;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_regex::Regex;
use serde::Deserialize as _;
use serde_json::{Deserializer, Map, Value};
use sha2::{Digest, Sha256};

/// The most characters of what others said that are repeated.
const LONGEST_QUOTE: usize = 240;

/// Where a decision has its words: a person's own, else why there are none.
const DECIDED: [&str; 4] = ["/decision/text", "/said", "/answer", "/decision"];

/// What the result of a tool begins with, where a conversation has no tools.
const RESULT: &str = "[result of a tool]";

/// How often a part of a pattern is repeated at most.
const MOST_REPEATS: u32 = 8;

/// How many texts of a pattern are tried for one of the wanted length.
const TRIES: usize = 32;

/// Something that is true of what the work is about, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is about, such as the path of a file or of a folder.
    pub about: String,
    /// The sentence.
    pub says: String,
}

/// Finds words; each fact is used once before one is used again.
pub(super) struct Words<'a> {
    goal: String,
    heard: Option<String>,
    facts: Vec<&'a Fact>,
    next: usize,
    generator: ChaCha8Rng,
}

impl<'a> Words<'a> {
    /// The words for one asker, the same on every machine: of the facts those about its own part, if there are such.
    pub(super) fn new(seed: u64, asker: &str, facts: &'a [Fact], messages: &[Message]) -> Self {
        let hash = Sha256::digest(format!("{seed} {asker}"));
        let mut generator = ChaCha8Rng::from_seed(hash.into());
        let part = part(messages);
        let is_own = |fact: &&Fact| {
            let rest = part.and_then(|part| fact.about.strip_prefix(part));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let own: Vec<&Fact> = facts.iter().filter(is_own).collect();
        let random = usize::try_from(generator.next_u64() >> 32).unwrap_or(0);
        Self {
            goal: quoted(goal(messages)),
            heard: heard(messages).as_deref().map(quoted),
            // The first one is about the part as a whole.
            next: if own.is_empty() { random } else { 0 },
            facts: if own.is_empty() {
                facts.iter().collect()
            } else {
                own
            },
            generator,
        }
    }

    /// What is said at a place of an answer.
    pub(super) fn text(&mut self, place: SamplePlace<'_>, keywords: &Map<String, Value>) -> String {
        if let Some(text) = self.matching(keywords) {
            return text;
        }
        let name = place.name.to_lowercase();
        let number = place.index.unwrap_or(0);
        let is_called = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let is_goal = name.ends_with("goal") || name.ends_with("goals");
        let is_work = is_called(&["task", "step", "details"]);
        let is_first = is_work && place.index == Some(0) && self.goal.contains('`');
        if is_first || is_goal && number == 0 {
            return self.goal.clone();
        }
        let heard = self.heard.as_ref();
        let heard = heard.filter(|_| name == "feedback" || is_work && number == 0);
        let words = if let Some(heard) = heard {
            heard.clone()
        } else if is_goal || name.ends_with("focus") {
            self.goal.clone()
        } else if name == "id" || name == "dependencies" {
            (number + 1).to_string()
        } else if name == "summary"
            && let Some(whole) = self.facts.first()
        {
            whole.says.clone()
        } else {
            let description = keywords.get("description").and_then(Value::as_str);
            match self.fact() {
                Some(fact) if is_called(&["file", "path"]) => fact.about.clone(),
                Some(fact) if is_work => format!("Look at {}.", fact.about),
                Some(fact) => fact.says.clone(),
                None => format!("Here a model writes: {}", description.unwrap_or(place.name)),
            }
        };
        // What a goal names between backquotes is run, once; what files say between theirs never is.
        words.replace('`', "\u{2019}")
    }

    /// The next fact.
    pub(super) fn fact(&mut self) -> Option<&'a Fact> {
        let index = self.next.checked_rem(self.facts.len())?;
        self.next += 1;
        self.facts.get(index).copied()
    }

    /// A text of a pattern. One without anchors matches anything around it, so the bare match will do.
    fn matching(&mut self, keywords: &Map<String, Value>) -> Option<String> {
        let pattern = keywords.get("pattern")?.as_str()?;
        let bare = pattern.trim_start_matches('^').trim_end_matches('$');
        let source = Regex::compile(bare, MOST_REPEATS).ok()?;
        let bound = |keyword| keywords.get(keyword).and_then(Value::as_u64);
        let lengths = bound("minLength").unwrap_or(0)..=bound("maxLength").unwrap_or(u64::MAX);
        let mut drawn = (0..TRIES).map(|_try| source.sample(&mut self.generator));
        drawn.find(|text: &String| lengths.contains(&(text.chars().count() as u64)))
    }
}

/// What the asker says, in order. The result of a tool is none of it, where it is shown as a message of its own, either.
pub(super) fn said(messages: &[Message]) -> impl DoubleEndedIterator<Item = &str> {
    let said = messages.iter().filter(|it| it.role == Role::User);
    let said = said.map(|message| &*message.text);
    said.filter(|text| !text.starts_with(RESULT))
}

/// What follows the first of these words that begins a line.
fn line<'m>(messages: &'m [Message], begins: &str) -> Option<&'m str> {
    let mut lines = said(messages).flat_map(str::lines);
    lines.find_map(|line| line.strip_prefix(begins))
}

/// The run's own goal, where it is told.
pub(super) fn own_goal(messages: &[Message]) -> Option<&str> {
    line(messages, "Goal: ")
}

/// What is to be reached: the run's goal, else the first line.
fn goal(messages: &[Message]) -> &str {
    let first = || {
        said(messages)
            .flat_map(str::lines)
            .map(str::trim)
            .find(|line| !line.is_empty())
    };
    own_goal(messages)
        .or_else(first)
        .unwrap_or("the task at hand")
}

/// What a person has last said to the asker: in a decision, or of its plan.
fn heard(messages: &[Message]) -> Option<String> {
    said(messages).rev().find_map(|text| {
        let (mark, told) = text.split_once('\n')?;
        if mark == "[request]" {
            let (_introduced, json) = told.split_once(": \"").filter(|_| !told.starts_with('{'))?;
            let json = told.get(told.len() - json.len() - 1..)?;
            return String::deserialize(&mut Deserializer::from_str(json)).ok();
        }
        let json = told
            .get(told.find('{')?..)
            .filter(|_| mark == "[decision]" || mark == "[resolution]")?;
        let decided: Value = serde_json::from_str(json).ok()?;
        let words = DECIDED.iter().find_map(|at| decided.pointer(at)?.as_str());
        words.map(str::to_owned)
    })
}

/// The part of the folder that is the asker's own.
pub(super) fn part(messages: &[Message]) -> Option<&str> {
    let (part, _count) = line(messages, "Your part: ")?.rsplit_once(" (")?;
    Some(part)
}

/// The beginning of a text.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted: String = text.chars().take(LONGEST_QUOTE).collect();
    if quoted.len() < text.len() {
        quoted.push('\u{2026}');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::Message;

    use interrupt_router::schema::SamplePlace;
    use serde_json::Map;

    use super::{Fact, Words, goal, heard, part, quoted};

    #[test]
    fn a_summary_is_the_fact_about_the_whole() {
        let facts = [".", "docs", "src"].map(|about| Fact {
            about: about.to_owned(),
            says: format!("{about} is counted"),
        });
        let place = SamplePlace {
            name: "summary",
            index: None,
        };
        for (seed, said, expected) in [
            (1, "Goal: see", ". is counted"),
            (2, "Goal: see", ". is counted"),
            (1, "Goal: see\nYour part: docs (2 files)", "docs is counted"),
        ] {
            let messages = [Message::user(said)];
            let mut words = Words::new(seed, "an asker", &facts, &messages);
            words.fact();
            assert_eq!(words.text(place, &Map::new()), expected);
        }
    }

    #[test]
    fn the_goal_of_the_run_counts_and_no_other() {
        let messages = [
            Message::system("Goal: not from here"),
            Message::assistant("Goal: nor from here"),
            Message::user("[result of a tool]\nGoal: nor from a tool"),
            Message::user(
                "\nGoal: tidy up\nYour part: docs/guide (2 files)\n| Goal: forged\nGoal: forged",
            ),
        ];
        assert_eq!(goal(&messages), "tidy up");
        assert_eq!(part(&messages), Some("docs/guide"));
        assert_eq!(goal(&[Message::user("\n Hello\nthere")]), "Hello");
        assert_eq!(quoted(&"ä".repeat(1 << 20)).chars().count(), 241);
    }

    #[test]
    fn what_a_person_has_last_said_is_heard() {
        let heard = |last: &str| heard(&[Message::user("reason: none"), Message::user(last)]);
        let said = "[resolution]\n{\"interrupt\": {\"text\": \"?\"}, \"decision\": {\"text\": \"first that\"}}";
        assert_eq!(heard(said).as_deref(), Some("first that"));
        let late =
            "[decision]\nDecided:\n{\"reason\": \"?\", \"decision\": \"too late\", \"said\": null}";
        assert_eq!(heard(late).as_deref(), Some("too late"));
        let wish = "[request]\nA person wants: \"say \\\"hi\\\"\"\nWrite the steps: \"all\".";
        assert_eq!(heard(wish).as_deref(), Some("say \"hi\""));
        for none in [
            "[resolution]\n{\"decision\": {\"text\": null}}",
            "[request]\n{\"goal\": \"x\"}",
            "so: \"x\"",
        ] {
            assert_eq!(heard(none), None, "{none}");
        }
    }
}
