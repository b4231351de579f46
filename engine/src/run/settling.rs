//! Requests to agents, or by them, that are settled although no one carries them out.

use interrupt_router::{InterruptId, NodeId};
use interrupts::store::{Intent, Pages};
use interrupts::{EffectId, KindName};
use serde::Deserialize;

use super::live::LiveRun;
use crate::durable::journal::RunJournal;
use crate::durable::record::RunRecord;
use crate::run::InterruptResult;
use crate::tools::left_out_call;
use journal::entry::{InterruptEnd, InterruptIntent, InterruptOutcome, LeftOut};
use journal::error::KeepError;
use journal::kind::{CUT_OFF, DISPATCH, INTERRUPT, MODEL_CALL, TOOL_CALL};

/// Why an effect without a result is not continued once its run is over.
pub const RUN_HAS_ENDED: &str = "its run has ended";

/// How many entries of the journal are looked at together.
const PAGE: u32 = 100;

/// The part of a dispatch's entry that is needed here.
#[derive(Deserialize)]
struct Dispatch {
    interrupt: InterruptId,
}

/// The order in which effects are left out. A fork that finds an effect left out needs the reason, and a reader that
/// finds an interrupt with its result assumes that its decision was carried out.
fn turn_of(kind: &KindName) -> u8 {
    match kind.as_str() {
        CUT_OFF => 0,
        DISPATCH => 1,
        _ => 2,
    }
}

impl LiveRun {
    /// A node has ended: stops of it alone that have not taken effect never will, and their requesters are told.
    pub async fn settle_stops_of(&self, node: &NodeId) -> Result<(), KeepError> {
        if let Some(control) = self.control() {
            if self.scope_of(node).is_stopping() {
                // The requester looks at the agent to see why.
                self.keep_nodes().await?;
            }
            control.has_ended(node).await;
        }
        Ok(())
    }

    /// Closes the questions of the run's nodes, or of those within one, that are decided by now: the decisions are not
    /// carried out, for this reason.
    pub async fn note_decided(
        &self,
        within: Option<&NodeId>,
        reason: &str,
    ) -> Result<(), KeepError> {
        for (interrupt, node) in self.open_interrupts.open_of() {
            if within.is_none_or(|it| node.is_within(it))
                && self.stored_interrupts.is_decided(interrupt).await?
            {
                let reason = reason.to_owned();
                self.open_interrupts
                    .ended(interrupt, InterruptResult::Decided { reason });
            }
        }
        Ok(())
    }

    /// Marks everything that was begun, by the whole run or by a node and those below it, as left out in the journal,
    /// for this reason. Decisions remain, though they are not carried out.
    pub async fn leave_out(&self, within: Option<&NodeId>, reason: &str) -> Result<(), KeepError> {
        let was_requested = |interrupt| self.open_interrupts.was_requested(interrupt);
        let concerned = OpenEffects { within, but: None };
        leave_out(&self.journal, concerned, reason, was_requested).await
    }
}

/// Selects the effects that were begun and have no result.
#[derive(Debug, Clone, Copy)]
pub struct OpenEffects<'a> {
    /// Those of a node and the nodes below it; else those of all nodes of the run.
    pub within: Option<&'a NodeId>,
    /// Except this one.
    pub but: Option<EffectId>,
}

impl OpenEffects<'_> {
    /// All of it.
    pub const ALL: Self = Self {
        within: None,
        but: None,
    };

    fn concerns(&self, intent: &Intent) -> bool {
        let is_within = self.within.is_none_or(|node| intent.node.is_within(node));
        is_within && self.but != Some(intent.effect)
    }
}

/// Marks the selected effects as left out in the journal, for this reason. An interrupt may have been asked for by an
/// event, which `was_requested` knows.
pub async fn leave_out<F>(
    journal: &RunJournal,
    concerned: OpenEffects<'_>,
    reason: &str,
    was_requested: F,
) -> Result<(), KeepError>
where
    F: Fn(InterruptId) -> bool + Send + Sync,
{
    let mut begun = unfinished(&journal.record, concerned).await?;
    begun.sort_by_key(|intent| turn_of(&intent.kind));
    for intent in begun {
        let content = abandoned_result(&journal.record, &intent, reason, &was_requested).await?;
        if let Some(content) = content {
            journal.leave_out(intent.effect, content).await?;
        }
    }
    Ok(())
}

/// The selected effects, which have no result.
async fn unfinished(
    record: &RunRecord,
    concerned: OpenEffects<'_>,
) -> Result<Vec<Intent>, KeepError> {
    let mut begun = Vec::new();
    let mut pages = Pages::of(PAGE);
    while let Some(open) = pages
        .next(|page| record.store().unknown_effects(record.run, page))
        .await?
    {
        let intents = open.into_iter().map(|entry| entry.intent);
        begun.extend(intents.filter(|intent| concerned.concerns(intent)));
    }
    Ok(begun)
}

/// The result of an effect that is left out; `None` for one that comes to its end by itself.
async fn abandoned_result<F>(
    record: &RunRecord,
    intent: &Intent,
    reason: &str,
    was_requested: &F,
) -> Result<Option<String>, KeepError>
where
    F: Fn(InterruptId) -> bool + Send + Sync,
{
    let reason = reason.to_owned();
    Ok(match intent.kind.as_str() {
        // A stop from outside is carried out: it is why they are left out, or it remains in effect.
        DISPATCH if !is_of_a_question(record, intent).await? => None,
        DISPATCH | MODEL_CALL => Some(serde_json::to_string(&LeftOut { left_out: reason })?),
        INTERRUPT => {
            let begun: InterruptIntent = serde_json::from_str(&intent.content)?;
            let outcome = InterruptOutcome {
                requested: was_requested(begun.interrupt),
                end: InterruptEnd::LeftOut { reason },
            };
            Some(serde_json::to_string(&outcome)?)
        }
        // The process that recorded it died before it could record the result.
        CUT_OFF => Some("{}".to_owned()),
        TOOL_CALL => Some(left_out_call(&intent.content, &reason)?),
        _ => None,
    })
}

/// Whether a dispatch belongs to a decision that an agent has asked for.
async fn is_of_a_question(record: &RunRecord, dispatch: &Intent) -> Result<bool, KeepError> {
    let Dispatch { interrupt } = serde_json::from_str(&dispatch.content)?;
    let asked = record.store().interrupt(interrupt).await?;
    Ok(asked.is_some_and(|asked| asked.is_waited_on()))
}
