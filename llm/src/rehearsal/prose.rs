//! Sentences for the fields of an agent's answer, by what the field is called: each says what a model would say there.
//! Nothing was thought about, so nothing is claimed about the workspace.
//!
//! Placeholders: `{goal}` the goal, `{file}` a file, `{such}` one as an example, `{part}` a folder or heading, `{number}` a
//! count from 1, `{said}` what a person or supervisor last decided, `{name}` the field.

use super::facts::Facts;
use super::random::Random;

/// What is said in fields whose name ends in one of these words, first match first.
const SENTENCES: &[(&[&str], &[&str])] = &[
    (&["feedback"], &["{said} Go on with {part}."]),
    (
        &[
            "focus",
            "boundaries",
            "boundary",
            "partitioning",
            "scope",
            "coverage",
        ],
        &["{part}"],
    ),
    (&["title"], &["Change {file}"]),
    (
        &["ticketid", "id", "dependencies", "dependency"],
        &["T-{number}"],
    ),
    (&["path", "filepath"], &["tickets/T-{number}.md"]),
    (&["source", "origin", "author"], &["rehearsal"]),
    (
        &[
            "files",
            "file",
            "references",
            "reference",
            "sources",
            "modify",
        ],
        &["{file}"],
    ),
    (&["phase"], &["discovery"]),
    (
        &["options"],
        &["go on to the next phase", "go back to {part}", "stop here"],
    ),
    (&["criteria", "criterion"], &["The tests of {file} pass."]),
    (
        &["findings", "observations", "results", "result", "context"],
        &["Here a model says what it found in {part}{such}."],
    ),
    (
        &[
            "summary",
            "output",
            "consolidation",
            "decisions",
            "status",
            "verification",
        ],
        &["Here a model sums up what it knows of {part}."],
    ),
    (
        &[
            "rationale",
            "routing",
            "reason",
            "recommendation",
            "recommendations",
        ],
        &["Here a model says why it goes on with {part}."],
    ),
    (
        &[
            "strategy",
            "strategies",
            "approach",
            "breakdown",
            "decomposition",
        ],
        &["Here a model says in which steps it changes {part}."],
    ),
    (
        &["assignments", "distribution", "workload"],
        &["worker {number} takes {part}"],
    ),
    (
        &["tasks", "task", "ups", "steps"],
        &[
            "Read {file} and what it relies on.",
            "Change {file} in small steps.",
            "Test {file} with what relies on it.",
        ],
    ),
    (
        &["conflicts", "conflict"],
        &["Here a model names what does not fit together in {part}."],
    ),
    (&["estimate"], &["half a day", "a day", "two days"]),
    (
        &["description", "details", "design", "implementation"],
        &["Here a model says what to change in {file} for \u{201c}{goal}\u{201d}."],
    ),
    (&["label", "value"], &["go on", "go back"]),
    (&["text", "answer", "comment"], &["Go on with {part}."]),
];

/// What is said where the field's name tells nothing.
const ANYTHING: &[&str] = &["Here a model writes the {name}, about {part}."];

/// What is spoken of where nothing in it has a name.
const FOLDER: &str = "the folder";

/// Writes sentences; counts on through the material so that two of them seldom speak of one file.
#[derive(Debug)]
pub(crate) struct Prose {
    start: usize,
    next: usize,
}

impl Prose {
    pub(crate) fn starting_at(start: usize) -> Self {
        Self { start, next: start }
    }

    /// A sentence for the field of this name; `index` counts through a list.
    pub(crate) fn sentence(
        &mut self,
        name: &str,
        index: usize,
        listed: bool,
        facts: &Facts,
        random: &mut Random,
    ) -> String {
        let words = words(name);
        if words
            .last()
            .is_some_and(|word| matches!(word.as_str(), "goal" | "goals"))
        {
            return self.goal(listed, facts);
        }
        if listed
            && words.last().is_some_and(|word| word == "focus")
            && let Some(folder) = at(&facts.folders, index)
        {
            // Each worker gets a folder of its own, as far as there are enough of them.
            return format!("the folder {folder} and what it relies on");
        }
        let templates = SENTENCES
            .iter()
            .find(|(endings, _)| {
                words
                    .last()
                    .is_some_and(|last| endings.contains(&last.as_str()))
            })
            .or_else(|| {
                SENTENCES
                    .iter()
                    .find(|(keys, _)| words.iter().any(|word| keys.contains(&word.as_str())))
            })
            .map_or(ANYTHING, |(_, templates)| *templates);
        let template = if listed {
            templates.get((self.next + index) % templates.len())
        } else {
            random.pick(templates)
        };
        let template = template.copied().unwrap_or("{goal}");
        self.filled(template, &words.join(" "), index, listed, facts)
    }

    /// The goal itself, or in a list of goals the part of it that one file represents.
    fn goal(&mut self, listed: bool, facts: &Facts) -> String {
        if !listed {
            return facts.goal.clone();
        }
        let file = self.file(facts);
        format!("{} \u{2014} the part in {file}", facts.goal_stem())
    }

    fn filled(
        &mut self,
        template: &str,
        name: &str,
        index: usize,
        listed: bool,
        facts: &Facts,
    ) -> String {
        // The elements of a list share the parts among them.
        let which = if listed {
            self.start + index
        } else {
            self.next
        };
        let part = at(&facts.parts, which).map_or_else(|| FOLDER.to_owned(), quoted);
        let file = self.file(facts);
        let such = if facts.files.is_empty() {
            String::new()
        } else {
            format!(", such as in {file}")
        };
        let said = ["answer", "decision", "chosen", "feedback", "reason"]
            .iter()
            .find_map(|label| facts.labelled(label))
            .map(|said| format!("As was said: {}.", said.trim_end_matches('.')))
            .unwrap_or_default();
        let number = (index + 1).to_string();
        let values = [
            ("{file}", file.as_str()),
            ("{such}", such.as_str()),
            ("{part}", part.as_str()),
            ("{number}", number.as_str()),
            ("{name}", name),
            ("{goal}", facts.goal_stem()),
            ("{said}", said.as_str()),
        ];
        fill(template, &values).trim().to_owned()
    }

    /// The next file of the material.
    fn file(&mut self, facts: &Facts) -> String {
        self.next += 1;
        at(&facts.files, self.next).unwrap_or(FOLDER).to_owned()
    }
}

/// Puts values in place of their placeholders, in one pass: what a value says is never a placeholder.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let (before, after) = rest.split_at(start);
        filled.push_str(before);
        let value = values
            .iter()
            .find_map(|(key, value)| after.strip_prefix(key).map(|tail| (*value, tail)));
        let (value, tail) = value.unwrap_or(("", after.get(1..).unwrap_or("")));
        filled.push_str(value);
        rest = tail;
    }
    filled.push_str(rest);
    filled
}

/// A name as it appears in a sentence: one with spaces is quoted.
fn quoted(name: &str) -> String {
    if name.contains(' ') {
        format!("\u{201c}{name}\u{201d}")
    } else {
        name.to_owned()
    }
}

fn at(names: &[String], index: usize) -> Option<&str> {
    let index = index.checked_rem(names.len())?;
    names.get(index).map(String::as_str)
}

/// The words of a name in camel case or with underscores, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut starts = true;
    for character in name.chars() {
        if !character.is_alphanumeric() {
            starts = true;
            continue;
        }
        if starts || character.is_uppercase() {
            words.push(String::new());
            starts = false;
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{fill, words};

    #[test]
    fn a_name_falls_into_its_words() {
        assert_eq!(words("fileReferences"), ["file", "references"]);
        assert_eq!(words("ticket_id"), ["ticket", "id"]);
    }

    #[test]
    fn a_value_is_never_read_as_a_placeholder() {
        let values = [("{goal}", "use {file}"), ("{file}", "a.rs")];
        assert_eq!(fill("{goal}: {file}{no}", &values), "use {file}: a.rsno}");
    }
}
