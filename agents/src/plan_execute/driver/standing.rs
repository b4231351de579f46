//! What a plan's standing means beside the journal of its run.

use interrupts::life::Decision;
use planning::{Phase, PlanRole, PlanStanding};
use routing_core::NodeId;

use engine::durable::journal::RunJournal;
use engine::durable::record::RunRecord;
use journal::{KeepError, place};

/// What is asked from here on is something else than what a process that died had asked for last: the numbers of its
/// calls are taken, so that no answer to them is read as one to what is asked now.
pub(super) fn pass_over_what_was_asked(
    standing: &mut PlanStanding,
    journal: &RunJournal,
    root: &NodeId,
) -> Result<(), KeepError> {
    let agents = PlanRole::ALL.into_iter();
    // An agent whose id would be too long was never asked.
    let agents: Vec<NodeId> = agents
        .filter_map(|role| root.child(role.segment()).ok())
        .collect();
    loop {
        let next = standing.asked.saturating_add(1);
        let mut is_taken = false;
        for agent in &agents {
            is_taken |= journal.at(&place::turn(agent, next))?.is_some();
        }
        if !is_taken || next == u32::MAX {
            return Ok(());
        }
        standing.asked = next;
    }
}

/// What was answered to the plan's own question how to go on, where it has not gone on with the answer yet.
pub(super) async fn decided_question(
    standing: &PlanStanding,
    record: &RunRecord,
) -> Result<Option<Decision>, KeepError> {
    let Phase::Held(held) = standing.state.phase() else {
        return Ok(None);
    };
    let Some(open) = standing
        .question
        .as_ref()
        .filter(|_| held.cause.is_question())
    else {
        return Ok(None);
    };
    let row = record.store().interrupt(open.interrupt).await?;
    Ok(row.and_then(|row| row.decision))
}
