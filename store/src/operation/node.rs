//! The nodes of runs.

use std::collections::BTreeSet;

use interrupt_router::RunId;
use interrupts::store::{NodeActivity, NodeRow, Notification, RootNode, RunError};

use super::run::check_epoch;
use super::undelivered::{self, Ended};
use super::{Halt, Operation};
use crate::tables::{Failed, PlacedNode, Tables};

/// Records the status of nodes of a run.
pub(crate) struct PutNodes {
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    pub(crate) nodes: Vec<NodeRow>,
}

impl Operation for PutNodes {
    type Output = ();
    type Error = RunError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.run);
        for row in &self.nodes {
            tables.nodes.want(&(row.run, row.node.clone()));
        }
        if self.nodes.iter().any(|row| row.activity.is_final()) {
            undelivered::want(self.run, tables);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<(), Halt<RunError>> {
        let Some(row) = tables.runs.get(&self.run)? else {
            return Err(Halt::Refused(RunError::Unknown { run: self.run }));
        };
        check_epoch(&row.run, self.epoch)?;
        for row in &self.nodes {
            if row.run != self.run {
                // Its owner may write of this run alone.
                return Err(Halt::Refused(RunError::Unknown { run: row.run }));
            }
            put(row, tables)?;
        }
        let ended = self.nodes.iter().filter(|row| row.activity.is_final());
        let ended: BTreeSet<_> = ended.map(|row| row.node.clone()).collect();
        if !ended.is_empty() {
            undelivered::leave(self.run, &Ended::Nodes(ended), tables)?;
        }
        Ok(())
    }
}

fn put(row: &NodeRow, tables: &mut Tables) -> Result<(), Halt<RunError>> {
    let key = (row.run, row.node.clone());
    let known = tables.nodes.get(&key)?.cloned();
    let unchanged = known
        .as_ref()
        .filter(|known| known.node.activity == row.activity);
    let mut node = row.clone();
    node.since = unchanged.map_or(tables.now, |known| known.node.since);
    if known.as_ref().is_some_and(|known| known.node == node) {
        return Ok(());
    }
    if unchanged.is_none_or(|known| known.node.waits != row.waits) {
        tables.tell(Notification::Node {
            run: row.run,
            node: row.node.clone(),
            kind: row.kind.clone(),
            activity: row.activity,
            step: row.step,
            waits: row.waits.clone(),
        })?;
    }
    let position = match &known {
        Some(known) => known.position,
        None => next_position(tables)?,
    };
    tables.nodes.put(key, PlacedNode { position, node });
    Ok(())
}

fn next_position(tables: &mut Tables) -> Result<u64, Failed> {
    let mut heads = tables.heads()?;
    heads.nodes += 1;
    let position = heads.nodes;
    tables.heads.put((), heads);
    Ok(position)
}

/// Records the root node of a new run, so that the run can be addressed from then on. Its creation tells of it.
pub(super) fn begin(run: RunId, root: RootNode, tables: &mut Tables) -> Result<(), Failed> {
    let key = (run, root.node.clone());
    let node = NodeRow {
        run,
        node: root.node,
        kind: root.kind,
        activity: NodeActivity::Pending,
        takes_messages: false,
        turn: 0,
        step: 0,
        tokens: 0,
        since: tables.now,
        waits: None,
    };
    let position = next_position(tables)?;
    tables.nodes.put(key, PlacedNode { position, node });
    Ok(())
}
