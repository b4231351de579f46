//! Decisions that were not carried out in the run that this one was forked off. They are kept in this run's journal
//! from its beginning, and become its own if the same question is asked at the same place. So no one is asked again,
//! and the original decision stays with the other run.

use interrupts::life::{Choosing, Decider, Family, Interrupt, Judge, Refusal, State, Verdict};
use interrupts::store::{ChangeError, CheckpointId, KnownEffect};
use interrupts::{Digest, EffectId, KindName, RouteName};
use routing_core::{DecisionId, InterruptId, InterruptType};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cancelled_pause::given_up_because;
use super::record::RunRecord;
use super::stored_interrupts::missing;
use journal::error::KeepError;

/// The kind of the journal's entries with such a decision.
pub const DECIDED: &str = "decided";

/// The field of a question's content that names the interrupt whose request it asks for: another one in each run.
const FILLS: &str = "fills";

/// What was decided about a question of another run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InheritedDecision {
    /// The question there.
    interrupt: InterruptId,
    /// The digest of what it asked: nothing else is answered by it.
    asked: Digest,
    verdict: Verdict,
    /// Where the run goes on, if the decision chose a route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<RouteName>,
    by: Decider,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl InheritedDecision {
    /// The decision of a question, or of an agent's own pause, as a fork inherits it; `None` if it is not inherited:
    /// giving up this run does not give up its forks, and a deadline missed here does not count there.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        let asks = interrupt.family() == Family::Question
            || interrupt.interrupt_type == InterruptType::Pause;
        let decision = interrupt.decision.as_ref().filter(|decision| {
            asks && decision.by != Decider::Deadline && decision.verdict != Verdict::Applied
        })?;
        if given_up_because(interrupt).is_some() {
            return None;
        }
        let is_chosen = decision.verdict == Verdict::Reroute;
        Some(Self {
            interrupt: interrupt.id,
            asked: question_digest(&interrupt.content),
            verdict: decision.verdict,
            target: is_chosen.then(|| decision.target.clone()),
            by: decision.by.clone(),
            content: decision.content.clone(),
        })
    }

    /// The entry for a run forked off at a checkpoint, if that run asks the question at this place.
    pub fn effect(
        &self,
        interrupt: &Interrupt,
        from: CheckpointId,
        asked_at: &str,
    ) -> Option<KnownEffect> {
        Some(KnownEffect {
            node: interrupt.node.clone(),
            kind: KindName::new(DECIDED).ok()?,
            place: place_in_fork(from, asked_at),
            content: serde_json::to_string(self).ok()?,
            result: "{}".to_owned(),
        })
    }
}

/// The place of a decision in a run that was forked off at this checkpoint. A fork of that run, at one of its own
/// checkpoints, has another place: an earlier decision counts there only if that fork inherits it again.
pub fn place_in_fork(from: CheckpointId, asked_at: &str) -> String {
    format!("{}{asked_at}", before(from))
}

/// The question's place, if this is the place of a decision about it in a run forked off there.
pub fn asked_at(from: CheckpointId, place: &str) -> Option<&str> {
    place.strip_prefix(&before(from))
}

fn before(from: CheckpointId) -> String {
    format!("{DECIDED}/{from}/")
}

/// The digest of what a question asks, whichever run asks it.
fn question_digest(content: &str) -> Digest {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(content) else {
        return Digest::of(content.as_bytes());
    };
    match fields.remove(FILLS) {
        Some(_interrupt) => Digest::of(Value::Object(fields).to_string().as_bytes()),
        None => Digest::of(content.as_bytes()),
    }
}

/// The interrupt whose request a question asks for, if it is one that no model could fill in.
pub fn filled_by(question: &Interrupt) -> Option<InterruptId> {
    let content: Value = serde_json::from_str(&question.content).ok()?;
    content.get(FILLS)?.as_str()?.parse().ok()
}

/// Decides an acknowledged question as the same question was decided in the run that this one was forked off, if that
/// decision was not carried out there. Whether that decided it.
pub async fn decide_as_before(
    record: &RunRecord,
    interrupt: InterruptId,
    asked_at: &str,
) -> Result<bool, KeepError> {
    let Some(from) = record.forked_from() else {
        return Ok(false);
    };
    let store = record.store();
    let effect = EffectId::in_run(record.run, &place_in_fork(from, asked_at));
    let Some(entry) = store.effect(effect).await? else {
        return Ok(false);
    };
    let handed: InheritedDecision = serde_json::from_str(&entry.intent.content)?;
    loop {
        let row = store.interrupt(interrupt).await?;
        let row = row.ok_or_else(|| missing(interrupt))?;
        if row.state != State::Acknowledged || question_digest(&row.content) != handed.asked {
            return Ok(false);
        }
        let judge = Judge::HandedOn {
            epoch: row.epoch,
            from: handed.interrupt,
            by: handed.by.clone(),
        };
        let choosing = Choosing {
            // An interrupt has one decision at most, so its own bits name it.
            id: DecisionId::from_uuid(row.id.uuid()),
            verdict: handed.verdict,
            target: handed.target.clone(),
            content: handed.content.clone(),
        };
        match store.decide(row.id, judge, choosing).await {
            Ok(_) => return Ok(true),
            // Another part of this process has taken it meanwhile.
            Err(ChangeError::Refused(Refusal::Fenced { .. })) => {}
            Err(ChangeError::Refused(refusal)) => {
                tracing::warn!(%interrupt, %refusal, "what was decided before does not fit; it is asked again");
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
    }
}
