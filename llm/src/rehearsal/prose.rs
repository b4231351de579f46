//! Sentences for the fields of an agent's answer, by what the field is called: each says what a model would say there.
//! Nothing was thought about, so nothing is claimed about the workspace.
//!
//! Placeholders: `{goal}` the goal, `{file}` a file, `{such}` one as an example, `{part}` a folder or heading, `{number}` a
//! count from 1, `{said}` what a person or supervisor last decided, `{name}` the field.

use std::borrow::Cow;

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
        let name = spaced(name);
        let words = || name.split(' ');
        let last = words().next_back().unwrap_or_default();
        if matches!(last, "goal" | "goals") {
            return self.goal(listed, facts);
        }
        if listed
            && last == "focus"
            && let Some(folder) = at(&facts.folders, index)
        {
            // Each worker gets a folder of its own, as far as there are enough of them.
            return format!("the folder {folder} and what it relies on");
        }
        let mut sentences = SENTENCES.iter();
        let templates = sentences
            .find(|(endings, _)| endings.contains(&last))
            .or_else(|| {
                let mut sentences = SENTENCES.iter();
                sentences.find(|(keys, _)| words().any(|word| keys.contains(&word)))
            })
            .map_or(ANYTHING, |(_, templates)| *templates);
        let template = if listed {
            templates.get((self.next + index) % templates.len())
        } else {
            random.pick(templates)
        };
        let template = template.copied().unwrap_or("{goal}");
        self.filled(template, &name, index, listed, facts)
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
        let file = self.file(facts);
        let value_of = |placeholder: &str| -> Option<Cow<'_, str>> {
            Some(match placeholder {
                "file" => file.into(),
                "such" if facts.files.is_empty() => "".into(),
                "such" => format!(", such as in {file}").into(),
                "part" => at(&facts.parts, which).map_or(FOLDER.into(), quoted),
                "number" => (index + 1).to_string().into(),
                "name" => name.into(),
                "goal" => facts.goal_stem().into(),
                "said" => ["answer", "decision", "chosen", "feedback", "reason"]
                    .iter()
                    .find_map(|label| facts.labelled(label))
                    .map(|said| format!("As was said: {}.", said.trim_end_matches('.')).into())
                    .unwrap_or_default(),
                _ => return None,
            })
        };
        let mut sentence = fill(template, value_of);
        sentence.truncate(sentence.trim_end().len());
        sentence.drain(..sentence.len() - sentence.trim_start().len());
        sentence
    }

    /// The next file of the material.
    fn file<'f>(&mut self, facts: &'f Facts) -> &'f str {
        self.next += 1;
        at(&facts.files, self.next).unwrap_or(FOLDER)
    }
}

/// How much longer than its template a sentence often is.
const ROOM: usize = 64;

/// Puts values in place of their placeholders, in one pass: what a value says is never a placeholder.
fn fill<'v>(template: &str, value_of: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    let mut filled = String::with_capacity(template.len() + ROOM);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}');
        let value = named.and_then(|(name, tail)| Some((value_of(name)?, tail)));
        rest = match value {
            Some((value, tail)) => {
                filled.push_str(&value);
                tail
            }
            None => after,
        };
    }
    filled.push_str(rest);
    filled
}

/// A name as it appears in a sentence: one with spaces is quoted.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.contains(' ') {
        format!("\u{201c}{name}\u{201d}").into()
    } else {
        name.into()
    }
}

fn at(names: &[String], index: usize) -> Option<&str> {
    let index = index.checked_rem(names.len())?;
    names.get(index).map(String::as_str)
}

/// A name in camel case or with underscores as words in small letters, with a space between two.
fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + name.len() / 2);
    let mut starts = false;
    for character in name.chars() {
        if !character.is_alphanumeric() {
            starts = true;
            continue;
        }
        if (starts || character.is_uppercase()) && !spaced.is_empty() {
            spaced.push(' ');
        }
        starts = false;
        spaced.extend(character.to_lowercase());
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::{fill, spaced};

    #[test]
    fn a_name_falls_into_its_words() {
        assert_eq!(spaced("fileReferences"), "file references");
        assert_eq!(spaced("ticket_id"), "ticket id");
    }

    #[test]
    fn a_value_is_never_read_as_a_placeholder() {
        let value_of = |name: &str| match name {
            "goal" => Some("use {file}".into()),
            "file" => Some("a.rs".into()),
            _ => None,
        };
        assert_eq!(fill("{goal}: {file}{no}", value_of), "use {file}: a.rsno}");
    }
}
