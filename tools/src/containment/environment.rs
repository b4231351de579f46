//! What a tool sees of our environment: what is on a list, and what was named.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The variables that a tool gets without being named: where programs are, who and where one is. No secrets.
pub const ALLOWED_VARIABLES: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "TERM",
];

/// The environment of a tool.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ToolEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

impl std::fmt::Debug for ToolEnvironment {
    /// The names alone: the values may be secrets.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_set()
            .entries(self.variables.keys())
            .finish()
    }
}

impl ToolEnvironment {
    /// Nothing at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Of our own environment what [`ALLOWED_VARIABLES`] lists.
    pub fn allowed() -> Self {
        Self::empty().with_ours(ALLOWED_VARIABLES)
    }

    /// Adds variables of our own environment by their names. Those that are not set are left out.
    #[must_use]
    pub fn with_ours(mut self, names: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        for name in names {
            if let Some(value) = std::env::var_os(&name) {
                self.variables.insert(name.as_ref().to_owned(), value);
            }
        }
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// The variables, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let pairs = self.variables.iter();
        pairs.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}
