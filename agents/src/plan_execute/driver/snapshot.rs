//! What a plan's snapshot means together with the journal of its run.

use interrupt_router::NodeId;
use interrupts::life::Decision;
use planning::{Phase, PlanRole, PlanSnapshot};

use engine::durable::journal::RunJournal;
use engine::durable::record::RunRecord;
use journal::{KeepError, place};

/// Skips the numbers of the calls that a dead process had made last: what is asked from here on is something else, and
/// no answer to them may be read as its answer.
pub(super) fn skip_asked_turns(
    snapshot: &mut PlanSnapshot,
    journal: &RunJournal,
    root: &NodeId,
) -> Result<(), KeepError> {
    let agents = PlanRole::ALL.into_iter();
    // An agent whose id would be too long has never been asked.
    let agents: Vec<NodeId> = agents
        .filter_map(|role| root.child(role.segment()).ok())
        .collect();
    loop {
        let next = snapshot.asked.saturating_add(1);
        let mut is_taken = false;
        for agent in &agents {
            is_taken |= journal.at(&place::turn(agent, next))?.is_some();
        }
        if !is_taken || next == u32::MAX {
            return Ok(());
        }
        snapshot.asked = next;
    }
}

/// The answer to the plan's own question how to continue, if the plan has not carried it out yet.
pub(super) async fn decided_question(
    snapshot: &PlanSnapshot,
    record: &RunRecord,
) -> Result<Option<Decision>, KeepError> {
    let Phase::Held(held) = snapshot.state.phase() else {
        return Ok(None);
    };
    let Some(open) = snapshot
        .question
        .as_ref()
        .filter(|_| held.cause.is_question())
    else {
        return Ok(None);
    };
    let row = record.store().interrupt(open.interrupt).await?;
    Ok(row.and_then(|row| row.decision))
}
