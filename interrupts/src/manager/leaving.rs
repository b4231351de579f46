//! Agents that leave their run: a stop of theirs that has not taken effect by then never will.
//!
//! The workflow first marks an agent as ended in its own table, then reports it here; the inbox first puts a stop from
//! the store in force, then checks that table. So one of the two finds the stop, whichever comes first.

use std::sync::Arc;

use interrupt_router::{InterruptId, NodeId};

use super::acknowledge::is_within;
use super::owned_run_state::{KeepError, OwnedRunState};
use super::registry::ActiveStop;
use super::tree::Reach;
use crate::life::{Interrupt, Scope, WithdrawCause};
use crate::store::ChangeError;

impl OwnedRunState {
    /// Withdraws the stops of an agent that has ended, and of all below it, that have not taken effect.
    pub(crate) async fn withdraw_stops_of(
        self: &Arc<Self>,
        agent: &NodeId,
    ) -> Result<Vec<Interrupt>, KeepError> {
        let reach = Reach::Node(agent.clone());
        let is_open = |stop: &ActiveStop| !stop.settled && is_within(&stop.reach, &reach);
        let registry = &self.shared.registry;
        // A run may have thousands of agents that are never stopped.
        if !registry.active_stops(self.run).iter().any(is_open) {
            return Ok(Vec::new());
        }
        self.recorded_stops().await?;
        // The lock keeps an inbox check from putting a stop in force again while it is withdrawn.
        let _inbox = self.inbox.lock().await;
        let mut withdrawn = Vec::new();
        for stop in registry
            .active_stops(self.run)
            .iter()
            .filter(|it| is_open(it))
        {
            withdrawn.extend(self.withdraw_of_ended(stop.id).await?);
        }
        self.shared.beat();
        Ok(withdrawn)
    }

    /// Withdraws a stop that was just put in force, if its agent has ended.
    pub(super) async fn withdraw_if_ended(&self, stop: &Interrupt) -> Result<(), KeepError> {
        if stop.scope == Scope::Agent && self.deliveries.has_ended(&stop.node) {
            self.withdraw_of_ended(stop.id).await?;
        }
        Ok(())
    }

    /// Withdraws an interrupt of an agent that has ended, and takes it out of force.
    pub(super) async fn withdraw_of_ended(
        &self,
        id: InterruptId,
    ) -> Result<Option<Interrupt>, KeepError> {
        let withdrawn = match self.withdraw(id, WithdrawCause::NodeEnded).await {
            Ok(withdrawn) => Some(withdrawn),
            // It has ended otherwise, or was not admitted, which its caller was told.
            Err(ChangeError::Refused(_) | ChangeError::Unknown { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        self.shared.registry.lift(self.run, &[id]);
        Ok(withdrawn)
    }
}
