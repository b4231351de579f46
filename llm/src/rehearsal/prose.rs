//! Sentences for the fields of an agent's answer, by what the field is called.
//!
//! Placeholders: `{goal}` the goal, `{file}` and `{other}` two files, `{part}` a heading or folder,
//! `{number}` a count from 1, `{said}` what a person or supervisor last decided, `{name}` the field.

use super::facts::Facts;
use super::random::Random;

/// What is said in fields whose name ends in one of these words, first match first.
const SENTENCES: &[(&[&str], &[&str])] = &[
    (
        &["feedback"],
        &[
            "{said} Start from {file} and keep the rest of {part} as it is.",
            "{said} {file} matters most; {other} can wait until that is settled.",
        ],
    ),
    (
        &["focus", "boundaries", "boundary", "partitioning"],
        &[
            "{part}, with {file} at its centre",
            "what {file} and {other} share",
            "{part} and its edges towards {other}",
        ],
    ),
    (
        &["title"],
        &[
            "Bring {file} in line with the goal",
            "Separate {part} from {other}",
            "Cover {file} with tests",
        ],
    ),
    (&["ticketid", "id"], &["T-{number}"]),
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
    (
        &["criteria", "criterion"],
        &[
            "{file} still does what it did before, and {goal} is reached there.",
            "Every change outside of {file} can be explained by the goal.",
        ],
    ),
    (
        &["findings", "observations", "results", "result", "context"],
        &[
            "{file} is where most of the work for \u{201c}{goal}\u{201d} lies; {other} only refers to it.",
            "Seen from {part}, {file} and {other} are coupled more closely than their names suggest.",
            "{part} is described in {file}, and nothing in {other} contradicts it.",
        ],
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
        &[
            "Looked at {part} with the goal \u{201c}{goal}\u{201d}: {file} carries it, {other} follows.",
            "The parts agree: {file} first, then {other}; nothing in {part} stands against it.",
        ],
    ),
    (
        &[
            "rationale",
            "routing",
            "reason",
            "recommendation",
            "recommendations",
        ],
        &[
            "{file} and {other} can be worked on apart, so the work is split along {part}.",
            "What is known of {file} is enough to go on; what is open in {other} does not block it.",
        ],
    ),
    (
        &[
            "strategy",
            "strategies",
            "approach",
            "breakdown",
            "decomposition",
        ],
        &[
            "Begin with {file}, check the result against {part}, then carry it over to {other}.",
            "One small change at a time: {file}, its tests, and only then {other}.",
        ],
    ),
    (
        &["assignments", "distribution", "workload"],
        &[
            "worker {number} takes {file}",
            "{part} goes to worker {number}",
        ],
    ),
    (
        &["tasks", "task", "ups"],
        &[
            "Read {file} and note what {goal} touches.",
            "Change {file} in small steps.",
            "Compare {other} with the new {file}.",
        ],
    ),
    (&["dependencies", "dependency"], &["T-{number}"]),
    (
        &["conflicts", "conflict"],
        &["{file} and {other} both claim {part}."],
    ),
    (&["estimate"], &["half a day", "a day", "two days"]),
    (
        &["description", "details", "design"],
        &[
            "Work on {file} towards \u{201c}{goal}\u{201d}, without changing what {other} relies on.",
            "{part}: make {file} say what it does, and let {other} use that.",
        ],
    ),
    (
        &["scope", "coverage", "implementation"],
        &["{file}, {other} and what {part} names; nothing else."],
    ),
    (&["label", "value"], &["go on", "go back"]),
    (
        &["text", "answer", "comment"],
        &["Go on with {file}; {part} is fine as it is."],
    ),
];

/// What is said where the field's name tells nothing.
const ANYTHING: &[&str] = &[
    "On {name}: {file} is the place to look, with {part} in mind.",
    "On {name}: nothing in {file} stands against \u{201c}{goal}\u{201d}.",
    "On {name}: {file} and {other} tell the same story about {part}.",
];

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

    /// The goal itself, or in a list of goals the part of it that one file stands for.
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
        let part = at(&facts.parts, which).map_or_else(|| "the workspace".to_owned(), quoted);
        let file = self.file(facts);
        let other = self.file(facts);
        let said = ["answer", "decision", "chosen", "feedback", "reason"]
            .iter()
            .find_map(|label| facts.labelled(label))
            .map(|said| format!("As was said: {}.", said.trim_end_matches('.')))
            .unwrap_or_default();
        let number = (index + 1).to_string();
        let values = [
            ("{file}", file.as_str()),
            ("{other}", other.as_str()),
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
        at(&facts.files, self.next)
            .unwrap_or("the workspace's root")
            .to_owned()
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

/// A name as it stands in a sentence: what has spaces is quoted.
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
