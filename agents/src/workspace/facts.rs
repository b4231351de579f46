//! What can be said of a folder without an opinion: what was counted, and what files say of themselves.

use std::collections::BTreeMap;

use llm::Fact;

use super::{Workspace, WorkspaceFile};

/// How many files of a part are spoken of: the largest ones.
const FILES_OF_A_PART: usize = 2;

/// How many parts are spoken of: the ones with the most lines.
const MOST_PARTS: usize = 64;

/// How many of the items that a file declares are named.
const NAMED_ITEMS: usize = 3;

/// The facts about the whole folder, its parts, and their largest files.
pub(super) fn facts(workspace: &Workspace) -> Vec<Fact> {
    let mut parts = workspace.parts();
    let lines = |files: &[&WorkspaceFile]| files.iter().map(|file| file.lines).sum::<usize>();
    parts.sort_by_key(|part| std::cmp::Reverse(lines(&part.files)));
    parts.truncate(MOST_PARTS);
    let read = match workspace.left_out().beyond_limits {
        0 => "",
        _ => ", that were read",
    };
    let mut facts = Vec::new();
    if parts.len() > 1 {
        let all: Vec<&WorkspaceFile> = workspace.files().iter().collect();
        facts.push(Fact {
            about: ".".to_owned(),
            says: match workspace.left_out().total() {
                0 => format!("The folder has {}.", counted(&all)),
                more => format!(
                    "The folder has {}, that were read; not read: {more}.",
                    counted(&all)
                ),
            },
        });
    }
    for part in parts {
        let mut files = part.files.clone();
        files.sort_by_key(|file| std::cmp::Reverse(file.lines));
        let largest = files
            .first()
            .map(|file| format!("; the largest is {}", file.path));
        let largest = largest.filter(|_| files.len() > 1).unwrap_or_default();
        facts.push(Fact {
            says: format!("{} has {}{read}{largest}.", part.name, counted(&files)),
            about: part.name,
        });
        facts.extend(files.into_iter().take(FILES_OF_A_PART).map(of_file));
    }
    facts
}

/// How many files and lines there are, and what most of them are written in.
fn counted(files: &[&WorkspaceFile]) -> String {
    let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        *languages.entry(file.language).or_default() += 1;
    }
    let most = languages.iter().max_by_key(|(_, count)| **count);
    let lines: usize = files.iter().map(|file| file.lines).sum();
    let language = most.map(|(language, count)| match languages.len() {
        1 => format!(", all {language}"),
        _ => format!(", {count} of them {language}"),
    });
    format!(
        "{} with {}{}",
        number(files.len(), "file"),
        number(lines, "line"),
        language.unwrap_or_default()
    )
}

/// A number of things, in words.
fn number(count: usize, thing: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{s}")
}

fn of_file(file: &WorkspaceFile) -> Fact {
    let lines = number(file.lines, "line");
    let mut says = format!("{} has {lines} of {}", file.path, file.language);
    if let Some(title) = &file.heading {
        says.push_str(&format!(", titled \u{201c}{title}\u{201d}"));
    }
    if !file.declares.is_empty() {
        let named = file.declares.iter().take(NAMED_ITEMS);
        let named: Vec<&str> = named.map(String::as_str).collect();
        says.push_str(&format!(", declares {}", named.join(", ")));
        if let Some(more @ 1..) = file.declares.len().checked_sub(NAMED_ITEMS) {
            says.push_str(&format!(" and {more} more"));
        }
    }
    says.push('.');
    Fact {
        about: file.path.clone(),
        says,
    }
}
