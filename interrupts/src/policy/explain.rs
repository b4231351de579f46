//! Why an interrupt is treated as it is.

use std::fmt::{self, Display};

use interrupt_router::{DecisionId, InterruptId, InterruptType};
use serde::Serialize;

use super::property::Property;
use super::rule::Rule;
use super::rule_settings::Terms;
use super::subject::Subject;
use super::{Automatic, Policy};
use crate::life::{ExpiryOutcome, Family, Interrupt};

/// Who decided a property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum PropertySource {
    /// A rule of the policy, or its table of defaults.
    Rule {
        /// What it is called.
        name: String,
        /// The line in which it begins, from 1.
        line: usize,
    },
    /// Nothing is configured.
    BuiltIn,
}

/// A property with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DecidedProperty {
    /// The property.
    pub property: Property,
    /// Its value, as it would be written in a policy.
    pub value: String,
    /// Who decided it.
    #[serde(flatten)]
    pub by: PropertySource,
    /// Why it has another effect than it says, or none, for this interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A rule, and whether it matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Weighed {
    /// What it is called.
    pub rule: String,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// Why it does not match; empty if it does.
    pub mismatches: Vec<String>,
    /// What it decides.
    pub decides: Vec<Property>,
    /// What it says but a rule above it has decided.
    pub passed_over: Vec<Property>,
}

/// Why an interrupt is treated as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The interrupt.
    pub interrupt: InterruptId,
    /// What rules look at in it.
    pub subject: Subject,
    /// Each property with its value and who decided it.
    pub properties: Vec<DecidedProperty>,
    /// The rules in their order, the defaults last.
    pub rules: Vec<Weighed>,
}

impl Policy {
    /// Says for each property of an interrupt which rule decides it, and of each rule why it does not.
    pub fn explain(&self, interrupt: &Interrupt) -> Explanation {
        let subject = Subject::of(interrupt);
        let terms = self.terms(&subject);
        let properties = Property::ALL
            .into_iter()
            .map(|property| {
                let rule = self.deciding(&subject, |said| property.is_said_by(said));
                DecidedProperty {
                    property,
                    value: property.value(&terms),
                    by: rule.map_or(PropertySource::BuiltIn, decided_by),
                    note: self.note(property, interrupt, &terms),
                }
            })
            .collect();
        let rules = self
            .rules
            .iter()
            .chain(&self.default)
            .map(|rule| self.weigh(rule, &subject))
            .collect();
        Explanation {
            interrupt: interrupt.id,
            subject,
            properties,
            rules,
        }
    }

    fn weigh(&self, rule: &Rule, subject: &Subject) -> Weighed {
        let mismatches = rule.mismatches(subject);
        let said = Property::ALL
            .into_iter()
            .filter(|property| mismatches.is_empty() && property.is_said_by(&rule.provisions));
        let (decides, passed_over) = said.partition(|property| {
            self.deciding(subject, |said| property.is_said_by(said))
                .is_some_and(|deciding| std::ptr::eq(deciding, rule))
        });
        Weighed {
            rule: rule.name.clone(),
            line: rule.line,
            mismatches,
            decides,
            passed_over,
        }
    }

    fn note(&self, property: Property, interrupt: &Interrupt, terms: &Terms) -> Option<String> {
        let is_question = interrupt.family() == Family::Question;
        let is_pause = interrupt.interrupt_type == InterruptType::Pause;
        match property {
            Property::Answer if !is_question => Some("a stop asks nothing".to_owned()),
            Property::Resume if !is_pause => Some("only a pause is resumed".to_owned()),
            Property::Answer | Property::Resume => {
                match self.decide(interrupt, DecisionId::generate()) {
                    Automatic::Ask { why: Some(why) } => Some(format!("somebody is asked: {why}")),
                    Automatic::Ask { why: None } | Automatic::Decide { .. } => None,
                }
            }
            Property::ReviewLimit | Property::OnExpiry if !is_question => {
                Some("only a question has a time limit".to_owned())
            }
            Property::OnExpiry if terms.review_limit.is_none() => {
                Some("without a review_limit it waits for ever".to_owned())
            }
            Property::OnExpiry => match &terms.on_expiry {
                ExpiryOutcome::Reroute { target } if !interrupt.allows_target(target) => Some(
                    format!("{target} is none of its routes: it is rejected then"),
                ),
                ExpiryOutcome::Reroute { .. } | ExpiryOutcome::Reject | ExpiryOutcome::Cancel => {
                    None
                }
            },
            Property::Grace if is_question => Some("a question stops nothing".to_owned()),
            Property::Batch if !is_question => Some("a stop is shown alone".to_owned()),
            Property::Priority
            | Property::Batch
            | Property::ReviewLimit
            | Property::Grace
            | Property::HandlerLimit => None,
        }
    }
}

fn decided_by(rule: &Rule) -> PropertySource {
    PropertySource::Rule {
        name: rule.name.clone(),
        line: rule.line,
    }
}

impl Display for PropertySource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { name, line } => write!(formatter, "{name}, line {line}"),
            Self::BuiltIn => formatter.write_str("built in"),
        }
    }
}

impl Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Subject {
            interrupt_type,
            agent,
            source,
        } = &self.subject;
        writeln!(
            formatter,
            "{}: {interrupt_type} of {agent}, from {}",
            self.interrupt,
            source.name()
        )?;
        for decided in &self.properties {
            let DecidedProperty {
                property,
                value,
                by,
                note,
            } = decided;
            write!(formatter, "  {:<14} {value} ({by})", property.key())?;
            if let Some(note) = note {
                write!(formatter, "; {note}")?;
            }
            writeln!(formatter)?;
        }
        for rule in &self.rules {
            writeln!(formatter, "{rule}")?;
        }
        Ok(())
    }
}

impl Display for Weighed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = |properties: &[Property]| {
            let keys: Vec<_> = properties.iter().map(|property| property.key()).collect();
            keys.join(", ")
        };
        write!(formatter, "line {}, {}: ", self.line, self.rule)?;
        if !self.mismatches.is_empty() {
            return write!(
                formatter,
                "does not match, {}",
                self.mismatches.join(" and ")
            );
        }
        match (self.decides.is_empty(), self.passed_over.is_empty()) {
            (false, true) => write!(formatter, "decides {}", keys(&self.decides)),
            (true, false) => write!(
                formatter,
                "matches, but a rule above it decides {}",
                keys(&self.passed_over)
            ),
            (false, false) => write!(
                formatter,
                "decides {}, and a rule above it {}",
                keys(&self.decides),
                keys(&self.passed_over)
            ),
            (true, true) => formatter.write_str("matches and says nothing"),
        }
    }
}
