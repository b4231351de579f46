//! A rule: what it matches, and what it says.

use interrupt_router::{InterruptType, StopSource};

use super::rule_settings::RuleSettings;
use super::subject::Subject;
use crate::names::KindName;

/// A rule of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// What it is called in explanations.
    pub(super) name: String,
    /// The line in which it begins, from 1.
    pub(super) line: usize,
    /// The types that it matches; all if it names none.
    pub(super) types: Vec<InterruptType>,
    /// The kinds of agents that it matches; all if it names none.
    pub(super) agents: Vec<KindName>,
    /// The sources that it matches; all if it names none.
    pub(super) sources: Vec<StopSource>,
    /// What it says.
    pub(super) provisions: RuleSettings,
}

impl Rule {
    /// Why it does not match, in words; empty if it does.
    pub(super) fn mismatches(&self, subject: &Subject) -> Vec<String> {
        let types = self.types.iter().map(|named| named.name());
        let agents = self.agents.iter().map(KindName::as_str);
        let sources = self.sources.iter().map(|source| source.name());
        [
            mismatch("type", subject.interrupt_type.name(), types),
            mismatch("agent", subject.agent.as_str(), agents),
            mismatch("source", subject.source.name(), sources),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn mismatch<'name>(
    what: &str,
    given: &str,
    named: impl Iterator<Item = &'name str>,
) -> Option<String> {
    let named: Vec<_> = named.collect();
    if named.is_empty() || named.contains(&given) {
        None
    } else {
        Some(format!("{what} is {given}, not {}", named.join(" or ")))
    }
}
