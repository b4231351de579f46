//! The steps of a run, counted from its journal.

use std::collections::{HashMap, HashSet};

use interrupt_router::RunId;
use interrupts::store::{JournalEntry, Pages, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::allowance::{ALLOWANCE, Allowance};
use crate::attempts::{ATTEMPT, AttemptEnd, AttemptIntent};
use crate::entry::CallResult;
use crate::kind::MODEL_CALL;
use crate::place;

/// How many rows are read together.
const PAGE: u32 = 500;

/// The steps of a run: the answers that its agents were asked for, corrections not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steps {
    /// How many are done: answered, and that is recorded.
    pub completed: u32,
    /// How many have begun, the completed ones included.
    pub total: u32,
    /// How many it may take at most, by its order or as the last resume changed that; `None` if its order cannot be
    /// read.
    pub most: Option<u32>,
}

/// The steps of a run, across all processes that had it; `most` only if a resume has changed it.
///
/// # Errors
///
/// [`StoreError`].
///
/// # Cancel safety
///
/// Safe: it only reads.
pub async fn steps_of(store: &dyn Store, run: RunId) -> Result<Steps, StoreError> {
    let mut counting = Counting::default();
    let mut pages = Pages::of(PAGE);
    while let Some(entries) = pages.next(|page| store.journal(run, page)).await? {
        entries.iter().for_each(|entry| counting.take(entry));
    }
    Ok(counting.counted())
}

/// The steps among the entries of a journal.
#[derive(Default)]
struct Counting {
    most: Option<u32>,
    /// The calls that were begun, each with its step.
    begun: Vec<(String, String)>,
    done: HashSet<String>,
    /// The calls that were tried, and whether they were made in any of the tries. The first try of a call has no entry
    /// of its own until it ends without an answer.
    tries: HashMap<String, bool>,
}

impl Counting {
    fn take(&mut self, entry: &JournalEntry) {
        let result = entry.result.as_ref();
        match entry.intent.kind.as_str() {
            ALLOWANCE => {
                let changed = serde_json::from_str::<Allowance>(&entry.intent.content);
                self.most = changed.ok().and_then(|it| it.max_steps).or(self.most);
            }
            ATTEMPT => {
                let Ok(intent) = serde_json::from_str::<AttemptIntent>(&entry.intent.content)
                else {
                    return;
                };
                let end = result.map(|it| serde_json::from_str::<AttemptEnd>(&it.content));
                let was_made = !matches!(end, Some(Ok(end)) if end.was_not_made());
                *self.tries.entry(intent.call).or_default() |= was_made;
            }
            MODEL_CALL => {
                let Some(place) = &entry.intent.place else {
                    return;
                };
                let Some(step) = place::step_of(place) else {
                    return;
                };
                self.begun.push((place.clone(), step.to_owned()));
                if result.is_some_and(|it| is_answer(&it.content)) {
                    self.done.insert(step.to_owned());
                }
            }
            // What else is in the journal is no part of a step.
            _ => {}
        }
    }

    fn counted(self) -> Steps {
        let was_made = |call: &str| self.tries.get(call).copied().unwrap_or(true);
        let begun = self.begun.iter().filter(|(call, _step)| was_made(call));
        let begun: HashSet<&str> = begun.map(|(_call, step)| step.as_str()).collect();
        let count = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
        Steps {
            completed: count(self.done.len()),
            total: count(begun.len().max(self.done.len())),
            most: self.most,
        }
    }
}

/// Whether a model's recorded answer is one, and no request for tools that comes before it.
fn is_answer(content: &str) -> bool {
    serde_json::from_str::<CallResult>(content).is_ok_and(|result| result.tool_requests.is_empty())
}
