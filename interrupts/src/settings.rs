//! Reading settings from TOML: every mistake at once, each with its line and its remedy.
//!
//! The reader of a kind of settings asks a [`SettingsTable`] for the keys that it knows; a key that it did not ask for
//! is a mistake, and so is a value of another form. What was read beside a mistake is thrown away.

mod problem;
mod table;

use std::cell::RefCell;
use std::ops::Range;

use toml::de::DeTable;

pub use problem::{Problem, SettingsError};
pub(crate) use table::{Found, SettingsTable};

/// The keys that may be at the top of a file. Policies and prices may share one.
const AT_THE_TOP: [&str; 5] = ["currency", "default", "hooks", "prices", "rule"];

/// How alike two names must be for one to be meant by the other, from 0 to 1.
const ALIKE: f64 = 0.7;

/// A text of settings, and what is wrong with it.
pub(crate) struct Settings<'text> {
    text: &'text str,
    root: DeTable<'text>,
    problems: RefCell<Vec<Problem>>,
}

impl<'text> Settings<'text> {
    /// Reads the form of the text; what it means is asked for later.
    pub(crate) fn parse(text: &'text str) -> Result<Self, SettingsError> {
        let (root, errors) = DeTable::parse_recoverable(text);
        let settings = Self {
            text,
            root: root.into_inner(),
            problems: RefCell::default(),
        };
        if errors.is_empty() {
            return Ok(settings);
        }
        for error in errors {
            let span = error.span().unwrap_or(0..0);
            settings.refuse(&span, error.message().trim_end());
        }
        Err(SettingsError::of(settings.problems.into_inner()))
    }

    /// The table at the top.
    pub(crate) fn root(&self) -> SettingsTable<'_> {
        let table = SettingsTable::new(self, &self.root, 0..0);
        for key in AT_THE_TOP {
            table.know(key);
        }
        table
    }

    /// What was read, unless something was wrong.
    pub(crate) fn finish<T>(self, value: T) -> Result<T, SettingsError> {
        let problems = self.problems.into_inner();
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(SettingsError::of(problems))
        }
    }

    fn refuse(&self, span: &Range<usize>, message: impl Into<String>) {
        let problem = Problem::of(self.text, span.start, message.into());
        self.problems.borrow_mut().push(problem);
    }

    /// The line, from 1, in which a span begins.
    fn line(&self, span: &Range<usize>) -> usize {
        Problem::of(self.text, span.start, String::new()).line
    }
}

/// The name that was most likely meant, if one is alike.
pub fn nearest<'name>(
    given: &str,
    names: impl IntoIterator<Item = &'name str>,
) -> Option<&'name str> {
    let folded = given.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&folded, &name.to_lowercase()), name))
        .filter(|(likeness, _name)| *likeness >= ALIKE)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_likeness, name)| name)
}
