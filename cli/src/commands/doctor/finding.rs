//! The result of one check.

use serde_json::{Value, json};

/// The result's severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// As it should be.
    Well,
    /// Worth knowing; nothing has to be done.
    Note,
    /// Something does not work.
    Problem,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    /// What was checked.
    pub(super) what: &'static str,
    /// The severity.
    pub(super) health: Health,
    /// What was found, in words. Never a secret.
    pub(super) found: String,
    /// What to do about it.
    pub(super) remedy: Option<String>,
}

impl Finding {
    pub(super) fn well(what: &'static str, found: impl Into<String>) -> Self {
        Self::of(what, Health::Well, found, None)
    }

    pub(super) fn note(
        what: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::of(what, Health::Note, found, Some(remedy.into()))
    }

    pub(super) fn problem(
        what: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::of(what, Health::Problem, found, Some(remedy.into()))
    }

    fn of(
        what: &'static str,
        health: Health,
        found: impl Into<String>,
        remedy: Option<String>,
    ) -> Self {
        Self {
            what,
            health,
            found: found.into(),
            remedy,
        }
    }

    /// For programs.
    pub(super) fn as_json(&self) -> Value {
        json!({
            "check": self.what,
            "status": match self.health {
                Health::Well => "ok",
                Health::Note => "note",
                Health::Problem => "problem",
            },
            "found": self.found,
            "remedy": self.remedy,
        })
    }
}
