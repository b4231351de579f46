//! Which kinds of agents are offered which tools.

use std::collections::BTreeMap;

/// Matches all tools, or all whose names begin with what precedes it.
const ANY: char = '*';

/// Which kinds of agents are offered which tools. A kind that is not named is offered none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolAccess {
    known: Vec<&'static str>,
    never_launching: Vec<&'static str>,
    by_type: BTreeMap<String, Vec<String>>,
}

impl ToolAccess {
    /// For agents of these kinds, which are offered nothing yet.
    pub fn of(kinds: impl IntoIterator<Item = &'static str>) -> Self {
        Self {
            known: kinds.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Agents of these kinds cannot launch others, no matter what they are offered.
    #[must_use]
    pub fn never_launching(mut self, kinds: impl IntoIterator<Item = &'static str>) -> Self {
        self.never_launching.extend(kinds);
        self
    }

    /// The same with the rows of some kinds replaced. A tool is named by its whole name, by the beginning of its name
    /// followed by `*`, or as `*`, which is all of them.
    #[must_use]
    pub fn with(mut self, rows: BTreeMap<String, Vec<String>>) -> Self {
        self.by_type.extend(rows);
        self
    }

    /// Whether agents of a kind are offered a tool.
    pub fn offers(&self, kind: &str, tool: &str) -> bool {
        let tools = self.by_type.get(kind);
        tools.is_some_and(|tools| tools.iter().any(|pattern| fits(pattern, tool)))
    }

    /// The kinds of agents that there are.
    pub fn kinds(&self) -> &[&'static str] {
        &self.known
    }

    /// The kinds of agents that cannot launch others.
    pub(super) fn cannot_launch(&self) -> &[&'static str] {
        &self.never_launching
    }
}

fn fits(pattern: &str, tool: &str) -> bool {
    match pattern.strip_suffix(ANY) {
        Some(beginning) => tool.starts_with(beginning),
        None => pattern == tool,
    }
}
