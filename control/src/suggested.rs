//! Commands that texts suggest to people: `irq ps`, under the name of the program that says so.

use std::sync::OnceLock;

/// How each suggested command begins where texts are written.
pub const PROGRAM: &str = "irq ";

/// What this program is called, if that is not `irq`.
static NAME: OnceLock<String> = OnceLock::new();

/// Texts suggest the commands of a program of this name from now on.
pub fn call_program(name: String) {
    // A second program in one process has the name of the first one.
    let _first_wins = NAME.set(name);
}

/// Whether this program is not `irq`: it has workflows of its own, and perhaps no others.
pub fn has_own_name() -> bool {
    NAME.get().is_some()
}

/// A text, its commands under the name of this program.
pub fn as_called(text: &str) -> String {
    let Some(name) = NAME.get() else {
        return text.to_owned();
    };
    let mut told = String::new();
    let mut rest = text;
    while let Some((before, after)) = next_command(rest) {
        told.push_str(before.strip_suffix(PROGRAM).unwrap_or(before));
        told.push_str(name);
        told.push(' ');
        rest = after;
    }
    told + rest
}

/// The text before the next command, including its `irq `, and the rest, which begins with the command's name.
pub fn next_command(text: &str) -> Option<(&str, &str)> {
    let is_apart = |at: &usize| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|letter| letter.is_whitespace() || "`(".contains(letter))
    };
    let (at, _program) = text.match_indices(PROGRAM).find(|(at, _)| is_apart(at))?;
    Some(text.split_at(at + PROGRAM.len()))
}
