//! Turns in which a node did not raise the interrupt that an event asks for: each counts once, even if the run is
//! resumed many times.

use interrupt_router::reroute::{CancelCause, RerouteState};
use interrupt_router::{EventId, NodeId};
use serde::{Deserialize, Serialize};

use super::reroute_log::RerouteLog;
use journal::error::KeepError;
use journal::place;

/// The kind of such entries in the journal.
const IGNORED: &str = "turn_ignored";

/// A turn that is about to be counted.
#[derive(Serialize, Deserialize)]
struct Ignored {
    event: EventId,
    /// How many were counted before.
    before: u32,
}

impl RerouteLog {
    /// Counts a turn that a node took without raising the interrupt that is asked of it. Returns the event, where
    /// it is given up for that.
    pub async fn turn_ignored(
        &self,
        node: &NodeId,
        turn: u32,
    ) -> Result<Option<EventId>, KeepError> {
        let place = place::ignored(node, turn);
        let store = self.stored_interrupts.record.store();
        let ignored: Ignored = match self.journal.intent(&place)? {
            Some(_counted) if self.journal.is_answered(&place)? => return Ok(None),
            Some(begun) => begun,
            None => {
                let Some(event) = self.pending(node).await? else {
                    return Ok(None);
                };
                let row = store.reroute(&event.event_id).await?;
                let ignored = Ignored {
                    event: event.event_id,
                    before: row.map_or(0, |row| row.ignored_turns),
                };
                let content = serde_json::to_string(&ignored)?;
                self.journal.begin(node, IGNORED, &place, &content).await?;
                ignored
            }
        };
        let row = store.reroute(&ignored.event).await?;
        let given_up = match row {
            Some(row) if row.state == RerouteState::Pending => {
                // If the process died after it had counted, the count says so.
                if row.ignored_turns == ignored.before {
                    store
                        .turn_ignored(self.stored_interrupts.record.run, node)
                        .await?
                } else {
                    None
                }
            }
            Some(row) => {
                let cause = CancelCause::Ignored;
                (row.state == RerouteState::Cancelled { cause }).then_some(row)
            }
            None => None,
        };
        let given_up = given_up.map(|row| row.event);
        self.journal.finish(node, &place, "{}".to_owned()).await?;
        Ok(given_up)
    }
}
