//! What a reviewing model would have said that was not sure enough: its answer stands in the run's journal, for
//! whoever decides in its place, in any process and after any restart.

use interrupts::life::{Decider, Interrupt};
use interrupts::store::{Page, Store, StoreError};
use routing_core::InterruptType;
use routing_core::handler::ReviewDecision;
use serde::Serialize;

use crate::durable::entry::{CallResult, InterruptIntent};
use crate::durable::journal::{INTERRUPT, MODEL_CALL};

/// How many entries are read together.
const PAGE: u32 = 1_000;

/// What a reviewing model would have said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Suggestion {
    /// Its answer.
    #[serde(flatten)]
    pub answer: ReviewDecision,
}

impl Suggestion {
    /// What the reviewing model has suggested for an interrupt; `None` where none was asked, where it gave no
    /// answer that could be used, and where its answer is the decision.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn of(store: &dyn Store, interrupt: &Interrupt) -> Result<Option<Self>, StoreError> {
        let is_models = |by: &Decider| match by {
            Decider::Policy => true,
            Decider::Rule { .. } | Decider::Person { .. } | Decider::Deadline => false,
        };
        let decision = interrupt.decision.as_ref();
        if interrupt.interrupt_type != InterruptType::AgentReview
            || decision.is_some_and(|decision| is_models(&decision.by))
        {
            return Ok(None);
        }
        // The interrupt's own entry names its place; the calls of its review stand beside it, and come later.
        let (mut reviews, mut found) = (None, None);
        let mut after = 0;
        loop {
            let page = Page { after, limit: PAGE };
            let entries = store.journal(interrupt.run, page).await?;
            let Some(last) = entries.last() else {
                return Ok(found);
            };
            after = last.position;
            for entry in &entries {
                let (kind, Some(place)) = (entry.intent.kind.as_str(), &entry.intent.place) else {
                    continue;
                };
                if kind == INTERRUPT {
                    let intent = serde_json::from_str::<InterruptIntent>(&entry.intent.content);
                    if intent.is_ok_and(|intent| intent.interrupt == interrupt.id) {
                        let turn = place.strip_suffix("/interrupt").unwrap_or(place);
                        reviews = Some(format!("{turn}/review/"));
                    }
                }
                let is_review = reviews.as_ref().is_some_and(|it| place.starts_with(it));
                if kind == MODEL_CALL && is_review {
                    let result = entry.result.as_ref();
                    found = result.and_then(|result| read(&result.content)).or(found);
                }
            }
        }
    }
}

fn read(result: &str) -> Option<Suggestion> {
    let result: CallResult = serde_json::from_str(result).ok()?;
    let answer: ReviewDecision = serde_json::from_str(&result.text).ok()?;
    Some(Suggestion { answer })
}
