//! Reroutes that end without an interrupt, and the interrupts that they were published with.

use interrupt_router::reroute::{CancelCause, RerouteChange, RerouteState};
use interrupt_router::{EventId, NodeId, RunId};
use interrupts::life::WithdrawCause;
use interrupts::store::{RerouteRow, StoreError};

use super::{Halt, Operation};
use crate::tables::Tables;

/// A node took a turn without raising its interrupt.
pub(crate) struct TurnIgnored {
    pub(crate) run: RunId,
    pub(crate) node: NodeId,
}

impl Operation for TurnIgnored {
    type Output = Option<RerouteRow>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.slots.want(&(self.run, self.node.clone()));
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<RerouteRow>, Halt<StoreError>> {
        let Some(event) = tables.slot(self.run, &self.node)?.pending else {
            return Ok(None);
        };
        let mut row = tables.reroute(&event)?;
        row.ignored_turns = row.ignored_turns.saturating_add(1);
        let spent = row.ignored_turns >= tables.settings.reroutes.ignored_turns;
        tables.reroutes.put(event.clone(), row);
        if !spent {
            return Ok(None);
        }
        tables.change_reroute(&event, RerouteChange::Cancel(CancelCause::Ignored))?;
        tables.end_interrupt_of(&event, WithdrawCause::Withdrawn)?;
        Ok(Some(tables.reroute(&event)?))
    }
}

/// A node has ended.
pub(crate) struct NodeEnded {
    pub(crate) run: RunId,
    pub(crate) node: NodeId,
}

impl Operation for NodeEnded {
    type Output = Option<RerouteRow>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.slots.want(&(self.run, self.node.clone()));
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<RerouteRow>, Halt<StoreError>> {
        let Some(event) = tables.slot(self.run, &self.node)?.pending else {
            return Ok(None);
        };
        tables.change_reroute(&event, RerouteChange::Cancel(CancelCause::NodeEnded))?;
        tables.end_interrupt_of(&event, WithdrawCause::NodeEnded)?;
        Ok(Some(tables.reroute(&event)?))
    }
}

/// Expires a reroute, where it is still pending and its time has passed.
pub(crate) struct ExpireReroute {
    pub(crate) event: EventId,
}

impl Operation for ExpireReroute {
    type Output = Option<RerouteRow>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.reroutes.want(&self.event);
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<RerouteRow>, Halt<StoreError>> {
        let row = tables.reroute(&self.event)?;
        if row.state != RerouteState::Pending || row.expires_at > tables.now {
            return Ok(None);
        }
        tables.change_reroute(&self.event, RerouteChange::Expire)?;
        tables.end_interrupt_of(&self.event, WithdrawCause::Withdrawn)?;
        Ok(Some(tables.reroute(&self.event)?))
    }
}
