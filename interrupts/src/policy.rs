//! Policies: what a configuration says about interrupts, by their type, the agent's kind, and their source.
//!
//! A policy is a list of rules. For each property of an interrupt (its priority, whether it is answered without
//! a person, how long a review may take, and so on) the first rule that matches *and* says something of it
//! decides; then the table `[default]`; then what is built in. So a file is read from the top: the special
//! case first, the general one below it. [`Policy::explain`] says which rule decided what, and why the others
//! did not.

mod arrange;
mod automatic;
mod explain;
mod hooks;
mod property;
mod read;
mod rule;
mod rule_settings;
mod subject;

use jiff::SignedDuration;

pub use arrange::Batch;
pub use automatic::{Automatic, WhyAsk};
pub use explain::{DecidedProperty, Explanation, PropertySource, Weighed};
pub use hooks::{HookCommand, HookCommands};
pub use property::Property;
pub use read::Vocabulary;
pub use rule_settings::{Answering, AutomaticAnswer, Batching, Resuming, Terms};
pub use subject::Subject;

use crate::life::{Admission, ExpiryOutcome, Family};
use rule::Rule;
use rule_settings::RuleSettings;

/// What a configuration says about interrupts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    default: Option<Rule>,
    hooks: HookCommands,
}

impl Policy {
    /// The effective settings of an interrupt.
    pub fn terms(&self, subject: &Subject) -> Terms {
        let mut terms = Terms::built_in(subject);
        // From the last rule to the first: what a rule above says replaces what those below said.
        for rule in self.default.iter().chain(self.rules.iter().rev()) {
            if rule.mismatches(subject).is_empty() {
                rule.provisions.write_into(&mut terms);
            }
        }
        terms
    }

    /// Sets how long a question may wait and what happens then, if its requester did not.
    ///
    /// A time limit for reviews never ends a stop: only questions get one. A target that is none of the
    /// question's routes is replaced by a rejection.
    pub fn apply(&self, admission: &mut Admission) {
        let subject = Subject::of_admission(admission);
        let terms = self.terms(&subject);
        if admission.patience.is_some() || subject.family() == Family::Stop {
            return;
        }
        let Some(limit) = terms.review_limit else {
            return;
        };
        admission.patience = Some(limit);
        let leads_nowhere = matches!(
            &terms.on_expiry,
            ExpiryOutcome::Reroute { target } if !admission.routes.contains(target)
        );
        admission.on_expiry = if leads_nowhere {
            ExpiryOutcome::Reject
        } else {
            terms.on_expiry
        };
    }

    /// What a rule says of how long a graceful stop may last before it becomes an immediate one: `Some(None)` for as
    /// long as the step. `None` if no rule says anything, so that the default of who asks holds.
    pub fn grace(&self, subject: &Subject) -> Option<Option<SignedDuration>> {
        let rule = self.deciding(subject, |said| said.grace.is_some())?;
        rule.provisions.grace
    }

    /// The first rule that says something of a property and matches; it decides.
    fn deciding(&self, subject: &Subject, says: impl Fn(&RuleSettings) -> bool) -> Option<&Rule> {
        self.rules
            .iter()
            .chain(&self.default)
            .find(|rule| says(&rule.provisions) && rule.mismatches(subject).is_empty())
    }
}
