//! The answer of a reviewing model that was not sure enough: it is in the run's journal, for the reviewer who decides
//! instead, in any process and after any restart.

use interrupt_router::handler::ReviewDecision;
use interrupt_router::{InterruptId, InterruptType};
use interrupts::life::{Decider, Interrupt};
use interrupts::store::{JournalEntry, Pages, Store, StoreError};
use serde::Serialize;

use crate::entry::{CallResult, InterruptIntent};
use crate::kind::{INTERRUPT, MODEL_CALL};

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
    /// What the reviewing model has suggested for an interrupt; `None` if none was asked, if it gave no
    /// answer that could be used, or if its answer is the decision.
    ///
    /// # Errors
    ///
    /// [`StoreError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn of(store: &dyn Store, interrupt: &Interrupt) -> Result<Option<Self>, StoreError> {
        if !may_have(interrupt) {
            return Ok(None);
        }
        let mut reading = SuggestionReading::of(interrupt);
        let mut pages = Pages::of(PAGE);
        while let Some(entries) = pages
            .next(|page| store.journal(interrupt.run, page))
            .await?
        {
            reading.take(&entries);
        }
        Ok(reading.found)
    }

    /// The same from the whole journal of the interrupt's run, in its order.
    pub fn among(journal: &[JournalEntry], interrupt: &Interrupt) -> Option<Self> {
        let mut reading = SuggestionReading::of(interrupt);
        reading.take(journal);
        reading.found.filter(|_| may_have(interrupt))
    }
}

/// Whether a reviewing model may have been asked, whose answer is not the decision.
fn may_have(interrupt: &Interrupt) -> bool {
    let is_models = |by: &Decider| match by {
        Decider::Policy => true,
        Decider::Rule { .. } | Decider::Person { .. } | Decider::Deadline => false,
    };
    let decision = interrupt.decision.as_ref();
    interrupt.interrupt_type == InterruptType::AgentReview
        && !decision.is_some_and(|decision| is_models(&decision.by))
}

/// What was read so far. The interrupt's own entry names its place; the calls of its review are beside it, and come
/// later.
struct SuggestionReading {
    interrupt: InterruptId,
    reviews: Option<String>,
    found: Option<Suggestion>,
}

impl SuggestionReading {
    const fn of(interrupt: &Interrupt) -> Self {
        Self {
            interrupt: interrupt.id,
            reviews: None,
            found: None,
        }
    }

    fn take(&mut self, entries: &[JournalEntry]) {
        for entry in entries {
            let (kind, Some(place)) = (entry.intent.kind.as_str(), &entry.intent.place) else {
                continue;
            };
            if kind == INTERRUPT {
                let intent = serde_json::from_str::<InterruptIntent>(&entry.intent.content);
                if intent.is_ok_and(|intent| intent.interrupt == self.interrupt) {
                    let turn = place.strip_suffix("/interrupt").unwrap_or(place);
                    self.reviews = Some(format!("{turn}/review/"));
                }
            }
            let is_review = self
                .reviews
                .as_ref()
                .is_some_and(|it| place.starts_with(it));
            if kind == MODEL_CALL && is_review {
                let result = entry.result.as_ref();
                let read = result.and_then(|result| read(&result.content));
                self.found = read.or_else(|| self.found.take());
            }
        }
    }
}

fn read(result: &str) -> Option<Suggestion> {
    let result: CallResult = serde_json::from_str(result).ok()?;
    let answer: ReviewDecision = serde_json::from_str(&result.text).ok()?;
    Some(Suggestion { answer })
}
