//! What publishers tried, and what the store made of it.

use std::collections::BTreeMap;

use interrupt_router::InterruptId;
use interrupts::IdempotencyKey;
use interrupts::store::{Store, StoreError};
use serde::{Deserialize, Serialize};

use super::lives::all;
use super::{Finding, Report};

/// What a publisher knows of one try. It writes it down itself, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The key.
    pub key: String,
    /// What the publisher was told.
    pub outcome: Outcome,
}

/// What a publisher was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It was accepted, as this interrupt.
    Acknowledged {
        /// Which one.
        interrupt: InterruptId,
    },
    /// It was refused: nothing was accepted.
    Refused,
    /// Nothing, or an error: it may have been accepted.
    Unknown,
}

pub(super) async fn check(
    store: &dyn Store,
    attempts: &[Attempt],
    report: &mut Report,
) -> Result<(), StoreError> {
    let mut tried: BTreeMap<&str, Vec<Outcome>> = BTreeMap::new();
    for attempt in attempts {
        tried.entry(&attempt.key).or_default().push(attempt.outcome);
    }
    for (key, outcomes) in &tried {
        let found = match IdempotencyKey::new(*key) {
            Ok(name) => store.interrupt_of(&name).await?,
            Err(_no_name) => None,
        };
        for outcome in outcomes {
            let Outcome::Acknowledged { interrupt: told } = *outcome else {
                continue;
            };
            let key = (*key).to_owned();
            match found.as_ref().map(|interrupt| interrupt.id) {
                None => report.findings.push(Finding::Lost { key }),
                Some(found) if found != told => {
                    report
                        .findings
                        .push(Finding::OtherAnswer { key, told, found });
                }
                Some(_same) => {}
            }
        }
    }
    for interrupt in all(store).await? {
        let key = interrupt.key.as_str();
        let outcomes = tried.get(key);
        let could_be = outcomes
            .is_some_and(|outcomes| outcomes.iter().any(|outcome| *outcome != Outcome::Refused));
        // What a run raises by itself has the run in its key.
        let is_own = key.starts_with(&interrupt.run.to_string());
        if !could_be && !is_own {
            report.findings.push(Finding::Phantom {
                interrupt: interrupt.id,
                key: key.to_owned(),
            });
        }
    }
    Ok(())
}
