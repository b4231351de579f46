//! Questions of nodes that are left out: their answers are not needed any more.

use interrupt_router::NodeId;
use interrupts::life::{Family, State, WithdrawCause};
use interrupts::store::{Filter, Pages};

use super::StoredInterrupts;
use journal::error::KeepError;

/// How many interrupts of a run are looked at together.
const PAGE: u32 = 100;

impl StoredInterrupts {
    /// Withdraws the undecided questions of a node and those below it.
    pub async fn withdraw_within(&self, node: &NodeId) -> Result<(), KeepError> {
        let store = self.record.store();
        let filter = Filter {
            run: Some(self.record.run),
            node: None,
            states: vec![State::Acknowledged, State::AwaitingReview],
        };
        let mut pages = Pages::of(PAGE);
        while let Some(found) = pages.next(|page| store.interrupts(&filter, page)).await? {
            for (_position, question) in found {
                if question.family() != Family::Question || !question.node.is_within(node) {
                    continue;
                }
                self.withdraw(question.id, WithdrawCause::NodeEnded).await?;
            }
        }
        Ok(())
    }
}
