//! What the rehearsal model says in a field: a fact that was counted, never an opinion; and where it knows none, what a
//! model would write there.

use super::heard::Heard;
use super::random::Random;

/// What is offered to choose from where nothing is given.
const WAYS: [&str; 3] = ["go on", "go back", "stop here"];

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
    facts: Vec<&'a Fact>,
    next: usize,
}

impl<'a> Words<'a> {
    /// Of the facts those about the agent's own part, where there are such.
    pub(super) fn new(facts: &'a [Fact], heard: &Heard, random: &mut Random) -> Self {
        let is_own = |fact: &&Fact| {
            let rest = heard
                .part
                .as_ref()
                .and_then(|part| fact.about.strip_prefix(part));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let own: Vec<&Fact> = facts.iter().filter(is_own).collect();
        match own.is_empty() {
            // The first one is about the part as a whole.
            false => Self {
                next: 0,
                facts: own,
            },
            true => Self {
                next: random.below(facts.len()),
                facts: facts.iter().collect(),
            },
        }
    }

    /// What is said in the field of this name, the `index`th of a list from 0.
    pub(super) fn text(
        &mut self,
        heard: &Heard,
        name: &str,
        description: Option<&str>,
        index: Option<usize>,
    ) -> String {
        let name = spaced(name);
        let is_called = |words: &[&str]| name.split(' ').any(|word| words.contains(&word));
        let last = name.rsplit(' ').next().unwrap_or_default();
        let number = index.unwrap_or(0);
        let is_work = is_called(&["task", "tasks", "step", "steps", "details"]);
        if is_work && index == Some(0) && heard.goal.contains('`') {
            return heard.goal.clone();
        }
        let words = match last {
            "goal" | "goals" if number == 0 => return heard.goal.clone(),
            // Who gets no focus of its own is given a part by its number.
            "goal" | "goals" | "focus" => heard.goal.clone(),
            "feedback" if heard.answer.is_some() => {
                let answer = heard.answer.as_deref().unwrap_or_default();
                format!("As was said: {}.", answer.trim_end_matches('.'))
            }
            "id" | "ids" | "dependency" | "dependencies" => format!("{}", number + 1),
            "label" | "value" | "options" => WAYS[number % WAYS.len()].to_owned(),
            _ => match (self.fact(), description) {
                (Some(fact), _) if is_called(&["file", "files", "path", "paths"]) => {
                    fact.about.clone()
                }
                (Some(fact), _) if is_work => format!("Look at {}.", fact.about),
                (Some(fact), _) => fact.says.clone(),
                (None, Some(description)) => format!("Here a model writes: {description}"),
                (None, None) => format!("Here a model writes the {name}."),
            },
        };
        // What a goal names between backquotes is run, once; what files say between theirs never is.
        words.replace('`', "\u{2019}")
    }

    fn fact(&mut self) -> Option<&'a Fact> {
        let index = self.next.checked_rem(self.facts.len())?;
        self.next += 1;
        self.facts.get(index).copied()
    }
}

/// A name in camel case or with underscores as words in small letters.
fn spaced(name: &str) -> String {
    let mut spaced = String::new();
    for character in name.chars() {
        let is_separator = !character.is_alphanumeric();
        if (is_separator || character.is_uppercase()) && !spaced.is_empty() {
            spaced.push(' ');
        }
        if !is_separator {
            spaced.extend(character.to_lowercase());
        }
    }
    spaced
}
