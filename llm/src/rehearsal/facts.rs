//! What a conversation and a workspace give to speak about.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use routing_core::model::{Message, Role};
use serde::Deserialize;

/// How much of one message is looked at, in bytes: a goal may be a megabyte long.
const MOST_OF_A_MESSAGE: usize = 64 * 1024;

/// The most characters of a fact: it is quoted in sentences.
const LONGEST_FACT: usize = 240;

/// The most files and headings that are kept of each.
const MOST_NAMES: usize = 64;

/// The longest heading that is quoted, in bytes: longer ones are sentences.
const LONGEST_HEADING: usize = 60;

/// What a tool's result begins with in a conversation without tools.
const RESULT: &str = "[result of a tool]";

/// What a line of a file begins with when it is quoted in a conversation.
const QUOTED: &str = "| ";

/// What there is to speak about.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// What is to be reached.
    pub(crate) goal: String,
    /// Names of files: the ones that the conversation speaks of first.
    pub(crate) files: Vec<String>,
    /// The parts that there are: the agent's own, else the folders, else headings.
    pub(crate) parts: Vec<String>,
    /// Headings in the conversation.
    headings: Vec<String>,
    /// Folders that were listed as such, in lines of the form `- folder name (…)`.
    pub(crate) folders: Vec<String>,
    /// What lines of the form `label: text` say, by label in small letters; the last one wins.
    labelled: BTreeMap<String, String>,
    /// The values of offered choices.
    pub(crate) choices: Vec<String>,
    /// The ids of what is to be confirmed.
    pub(crate) confirmations: Vec<String>,
    /// All that was said to the model, in small letters, for the rules that ask whether a word fell.
    said: String,
}

impl Facts {
    /// Reads the conversation; what the model itself said does not count.
    pub(crate) fn gather(messages: &[Message], material: &[String]) -> Self {
        let mut facts = Self::default();
        // A tool's result is quoted; it is not what the asker says.
        let is_told = |message: &&Message| match message.role {
            Role::System | Role::User => !message.text.starts_with(RESULT),
            Role::Assistant | Role::Tool => false,
        };
        for message in messages.iter().filter(is_told) {
            facts.read(message);
        }
        facts.settle(material);
        facts.goal = facts.find_goal(messages);
        facts
    }

    /// Keeps of what was mentioned what the workspace has, and adds the workspace's own where that is
    /// little: prompts have headings and file names of their own.
    fn settle(&mut self, material: &[String]) {
        let known: HashSet<&str> = material.iter().map(String::as_str).collect();
        if !known.is_empty() {
            self.files.retain(|name| known.contains(name.as_str()));
            self.headings.retain(|name| known.contains(name.as_str()));
        }
        let (files, headings): (Vec<&String>, Vec<&String>) =
            material.iter().partition(|name| looks_like_file(name));
        if self.files.len() < 2 {
            for name in files {
                push_new(&mut self.files, name);
            }
        }
        if let Some(own) = self.labelled("your part") {
            let name = own.rsplit_once(" (").map_or(own, |(name, _count)| name);
            self.parts.push(name.to_owned());
        } else {
            self.parts.clone_from(&self.folders);
        }
        // Such as `(top level)`: no name of a folder.
        self.parts.retain(|name| !name.starts_with('('));
        if self.parts.is_empty() {
            self.parts.append(&mut self.headings);
            for name in headings {
                if name.len() <= LONGEST_HEADING {
                    push_new(&mut self.parts, name);
                }
            }
        }
    }

    fn read(&mut self, message: &Message) {
        let text = first_bytes(&message.text, MOST_OF_A_MESSAGE);
        self.said.push_str(&text.to_lowercase());
        self.said.push('\n');
        if message.role == Role::System {
            return;
        }
        let text = without_quoted(text);
        for line in text.lines() {
            self.read_line(line);
        }
        for (key, into) in [("\"value\"", 0), ("\"id\"", 1), ("\"goal\"", 2)] {
            for found in quoted_after(&text, key) {
                match into {
                    0 => push_new(&mut self.choices, &found),
                    1 => push_new(&mut self.confirmations, &found),
                    _ => {
                        // It was quoted once already: its own quotation marks stay.
                        self.labelled.insert("goal".to_owned(), one_line(&found));
                    }
                }
            }
        }
    }

    fn read_line(&mut self, line: &str) {
        let line = line.trim();
        if let Some((folder, _count)) = line
            .strip_prefix("- folder ")
            .and_then(|rest| rest.rsplit_once(" ("))
        {
            push_new(&mut self.folders, folder);
        }
        if let Some(heading) = line.strip_prefix('#') {
            let heading = heading.trim_start_matches('#').trim();
            if heading.len() <= LONGEST_HEADING {
                push_new(&mut self.headings, heading);
            }
        } else if let Some((label, text)) = line.split_once(": ") {
            let label = label.trim_matches(|edge| matches!(edge, '-' | '*' | ' ' | '"'));
            if (1..=3).contains(&label.split_whitespace().count()) && !text.trim().is_empty() {
                self.labelled.insert(label.to_lowercase(), short(text));
            }
        }
        for word in line.split_whitespace() {
            let word = word.trim_matches(|edge: char| !edge.is_alphanumeric());
            if looks_like_file(word) {
                push_new(&mut self.files, word);
            }
        }
    }

    /// The goal that is named as such, else the first line that was said to the model.
    fn find_goal(&self, messages: &[Message]) -> String {
        if let Some(goal) = self.labelled("goal") {
            return goal.to_owned();
        }
        messages
            .iter()
            .filter(|message| message.role == Role::User)
            .flat_map(|message| first_bytes(&message.text, MOST_OF_A_MESSAGE).lines())
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map_or_else(|| "the task at hand".to_owned(), short)
    }

    /// What the last line with this label said.
    pub(crate) fn labelled(&self, label: &str) -> Option<&str> {
        self.labelled.get(label).map(String::as_str)
    }

    /// Whether a text was said to the model, in upper or lower case.
    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.said.contains(&text.to_lowercase())
    }

    /// The goal without what an earlier answer narrowed it to.
    pub(crate) fn goal_stem(&self) -> &str {
        self.goal
            .split_once(" \u{2014} ")
            .map_or(self.goal.as_str(), |(stem, _part)| stem)
    }
}

/// A text without what files say, which is quoted line by line: it is no fact about the work.
fn without_quoted(text: &str) -> Cow<'_, str> {
    if !text.lines().any(|line| line.starts_with(QUOTED)) {
        return Cow::Borrowed(text);
    }
    let mut told = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with(QUOTED)) {
        told.push_str(line);
        told.push('\n');
    }
    Cow::Owned(told)
}

/// The strings after a key in any JSON within the text.
fn quoted_after(text: &str, key: &str) -> Vec<String> {
    text.match_indices(key)
        .take(MOST_NAMES)
        .filter_map(|(at, _)| text.get(at + key.len()..))
        .filter_map(|rest| rest.trim_start().strip_prefix(':'))
        .filter_map(|rest| {
            let mut reader = serde_json::Deserializer::from_str(rest.trim_start());
            String::deserialize(&mut reader).ok()
        })
        .collect()
}

fn push_new(into: &mut Vec<String>, name: &str) {
    let known = into.iter().any(|known| known == name);
    if !known && !name.is_empty() && into.len() < MOST_NAMES {
        into.push(short(name));
    }
}

/// A name with a short ending, such as `src/main.rs`; no number, no address.
fn looks_like_file(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else {
        return false;
    };
    let ending_fits = (1..=8).contains(&ending.len())
        && ending.starts_with(|first: char| first.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let stem_fits = stem.contains(|character: char| character.is_alphabetic())
        && stem.chars().all(|character| {
            character.is_alphanumeric() || matches!(character, '/' | '.' | '-' | '_')
        });
    ending_fits && stem_fits && stem.len() > 1
}

/// A text of at most [`LONGEST_FACT`] characters on one line.
pub(crate) fn short(text: &str) -> String {
    let text = text.trim();
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap_or(text);
    one_line(text)
}

fn one_line(text: &str) -> String {
    let end = text.char_indices().nth(LONGEST_FACT);
    let (start, is_cut) = match end {
        Some((end, _character)) => (text.get(..end).unwrap_or(text), true),
        None => (text, false),
    };
    let mut shortened = if start.contains(char::is_control) {
        start.replace(char::is_control, " ")
    } else {
        start.to_owned()
    };
    if is_cut {
        shortened.push('\u{2026}');
    }
    shortened
}

/// The start of a text, cut at a character.
fn first_bytes(text: &str, most: usize) -> &str {
    let end = text.floor_char_boundary(most);
    text.get(..end).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use routing_core::model::Message;

    use super::Facts;

    #[test]
    fn the_goal_and_the_files_of_a_conversation_are_found() {
        let messages = [
            Message::system("Goal: not from here"),
            Message::user(
                "Goal: tidy the parser\nLook at src/parse.rs, and at `docs/guide.md`.\n# Errors\n",
            ),
            Message::assistant("Goal: nor from here"),
        ];
        let material = [
            "Cargo.toml",
            "src/parse.rs",
            "docs/guide.md",
            "Usage",
            "Errors",
        ];
        let facts = Facts::gather(&messages, &material.map(str::to_owned));
        assert_eq!(facts.goal, "tidy the parser");
        assert_eq!(facts.files, ["src/parse.rs", "docs/guide.md"]);
        assert_eq!(facts.parts, ["Errors", "Usage"]);
    }

    #[test]
    fn what_the_workspace_does_not_have_is_not_spoken_of() {
        let messages = [Message::user("See old.rs and new.rs.\n# Your task\n")];
        let facts = Facts::gather(&messages, &["new.rs".to_owned(), "lib.rs".to_owned()]);
        assert_eq!(facts.files, ["new.rs", "lib.rs"]);
        assert!(facts.parts.is_empty());
    }

    #[test]
    fn the_parts_are_the_folders_or_the_agents_own() {
        let listed = "- folder src (3 files)\n- folder docs/guide (1 files)\n# Usage\n";
        let facts = Facts::gather(&[Message::user(listed)], &[]);
        assert_eq!(facts.parts, ["src", "docs/guide"]);
        let own = format!("Your part: docs/guide (1 files)\n{listed}");
        let facts = Facts::gather(&[Message::user(own)], &[]);
        assert_eq!(facts.parts, ["docs/guide"]);
    }

    #[test]
    fn folders_are_found_where_they_are_listed() {
        let messages = [Message::user(
            "- folder src/run (3 files)\n- folder (top level) (1 files)\nfolder none (2 files)",
        )];
        let facts = Facts::gather(&messages, &[]);
        assert_eq!(facts.folders, ["src/run", "(top level)"]);
    }

    #[test]
    fn what_a_quoted_file_says_is_no_fact() {
        let messages = [Message::user(
            "Goal: tidy up\n- src/a.rs begins:\n| Goal: forged\n| self.items \"goal\": \"forged too\"",
        )];
        let facts = Facts::gather(&messages, &[]);
        assert_eq!(facts.goal, "tidy up");
        assert_eq!(facts.files, ["src/a.rs"]);
    }

    #[test]
    fn a_goal_in_json_is_found() {
        let messages = [Message::user(
            "Request:\n{\"goal\": \"say \\\"hi\\\"\", \"phase\": \"x\"}",
        )];
        assert_eq!(Facts::gather(&messages, &[]).goal, "say \"hi\"");
    }

    #[test]
    fn a_goal_of_a_megabyte_is_quoted_shortly() {
        let messages = [Message::user("ä".repeat(1 << 20))];
        assert!(Facts::gather(&messages, &[]).goal.chars().count() <= 241);
    }
}
