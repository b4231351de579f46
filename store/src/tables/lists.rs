//! Lists of rows, as they are within the transaction: what is in the database, and what its operations have changed since.

use interrupt_router::RunId;
use interrupt_router::reroute::RerouteState;
use interrupts::Digest;
use interrupts::life::Interrupt;
use interrupts::store::{JournalEntry, RerouteRow};

use super::table::Absent;
use super::{Failed, PlacedRule, Tables, damaged};

impl Tables {
    /// The interrupts of a run that have not ended, in the order in which they were admitted.
    pub(crate) fn live_interrupts(&mut self, run: RunId) -> Result<Vec<Interrupt>, Absent> {
        self.live.get(&run)?;
        let rows = self.interrupts.rows().map(|(_id, row)| row);
        let live = rows.filter(|row| row.interrupt.run == run && row.interrupt.state.is_live());
        let mut live: Vec<_> = live.collect();
        live.sort_by_key(|row| row.position);
        Ok(live.into_iter().map(|row| row.interrupt.clone()).collect())
    }

    /// The reroutes of a run that wait for an interrupt.
    pub(crate) fn pending_reroutes(&mut self, run: RunId) -> Result<Vec<RerouteRow>, Absent> {
        self.pending.get(&run)?;
        let rows = self.reroutes.rows().map(|(_event, row)| row);
        let pending = rows.filter(|row| row.run == run && row.state == RerouteState::Pending);
        Ok(pending.cloned().collect())
    }

    /// The rules about a matter that have not ended, oldest first.
    pub(crate) fn active_rules(&mut self, matter: Digest) -> Result<Vec<PlacedRule>, Absent> {
        self.active_rules.get(&matter)?;
        let rows = self.rules.rows().map(|(_id, row)| row);
        let active = rows.filter(|row| row.rule.matter == matter && row.rule.end.is_none());
        let mut active: Vec<_> = active.cloned().collect();
        active.sort_by_key(|row| row.position);
        Ok(active)
    }

    /// The entries of the journal of a run after a position, in their order.
    pub(crate) fn journal_after(
        &mut self,
        run: RunId,
        position: u64,
    ) -> Result<Vec<JournalEntry>, Failed> {
        let after = i64::try_from(position).map_err(|error| damaged(&error))?;
        self.newer.get(&(run, after))?;
        let rows = self.journal.rows().map(|(_effect, row)| row);
        let newer = rows.filter(|row| row.intent.run == run && row.position > position);
        let mut newer: Vec<_> = newer.cloned().collect();
        newer.sort_by_key(|row| row.position);
        Ok(newer)
    }
}
