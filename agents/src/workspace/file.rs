//! One file of a workspace.

use super::heading::heading;
use super::language::language;

/// How many lines of a file are kept.
const EXCERPT_LINES: usize = 24;

/// How many bytes of a file are kept.
const EXCERPT_BYTES: usize = 1_600;

/// The most characters of one kept line.
const LINE_CHARACTERS: usize = 200;

/// What is known of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceFile {
    /// Its path within the folder, with `/` between the names.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many lines it has.
    pub lines: usize,
    /// What it is written in, by the end of its name.
    pub language: &'static str,
    /// Its title: its first heading, or the comment at its head.
    pub heading: Option<String>,
    /// The names of the functions and types that it declares for others, in their order.
    pub declares: Vec<String>,
    /// How it begins.
    pub excerpt: String,
}

impl WorkspaceFile {
    /// The facts of a text.
    pub(super) fn of(path: String, text: &str) -> Self {
        Self {
            bytes: u64::try_from(text.len()).unwrap_or(u64::MAX),
            lines: text.lines().count(),
            language: language(&path),
            heading: heading(text),
            declares: declared(language(&path), text),
            excerpt: excerpt(text),
            path: printable(&path),
        }
    }

    /// The folder that it is in; empty for the workspace itself.
    pub fn folder(&self) -> &str {
        self.path
            .rsplit_once('/')
            .map_or("", |(folder, _name)| folder)
    }
}

/// What a line at the left edge begins with that declares something for others, and the words before its name, by
/// language.
const DECLARATIONS: [(&[&str], &str, &[&str]); 4] = [
    (
        &["Rust"],
        "pub ",
        &["fn", "struct", "enum", "trait", "type"],
    ),
    (
        &["JavaScript", "TypeScript"],
        "export ",
        &["function", "class", "interface", "type", "enum"],
    ),
    (&["Python"], "", &["class", "def"]),
    (&["Go"], "", &["func", "type"]),
];

/// What may stand before those.
const MODIFIERS: [&str; 6] = ["async", "const", "unsafe", "default", "declare", "abstract"];

/// The names that a text in this language declares for others.
fn declared(language: &str, text: &str) -> Vec<String> {
    let of_language = |(languages, ..): &&(&[&str], _, _)| languages.contains(&language);
    let Some((_, public, kinds)) = DECLARATIONS.iter().find(of_language) else {
        return Vec::new();
    };
    let name = |line: &str| {
        let mut words = line.strip_prefix(public)?.split(' ');
        let kind = words.find(|word| !MODIFIERS.contains(word))?;
        let name = words.next().filter(|_| kinds.contains(&kind))?;
        let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let name = &name[..end.unwrap_or(name.len())];
        (!name.is_empty()).then(|| name.to_owned())
    };
    text.lines().filter_map(name).collect()
}

/// The first lines with text.
fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(EXCERPT_LINES)
    {
        let line: String = printable(line).chars().take(LINE_CHARACTERS).collect();
        if excerpt.len() + line.len() > EXCERPT_BYTES {
            break;
        }
        if !excerpt.is_empty() {
            excerpt.push('\n');
        }
        excerpt.push_str(line.trim_end());
    }
    excerpt
}

/// The text without control characters, so that a name can be no second line and no colour.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' => ' ',
            character if character.is_control() => '\u{fffd}',
            character => character,
        })
        .collect()
}
