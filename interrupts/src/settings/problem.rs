//! What is wrong with a text of settings.

use std::fmt::{self, Display};

/// One mistake in a text of settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in it, in characters, from 1.
    pub column: usize,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl Problem {
    /// A mistake at a byte of a text.
    pub(super) fn of(text: &str, at: usize, message: String) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_begins = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before.get(line_begins..).unwrap_or("").chars().count() + 1,
            message,
        }
    }
}

impl Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            message,
        } = self;
        write!(formatter, "line {line}, column {column}: {message}")
    }
}

/// Settings that cannot be taken: all that is wrong with them, from the first line to the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<Problem>,
}

impl SettingsError {
    pub(super) fn of(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        problems.dedup();
        Self { problems }
    }

    /// The mistakes, at least one.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsError {}
