//! Messages that no one has read: those that wait, and those that no one will read any more.

use std::collections::{BTreeMap, BTreeSet};

use interrupt_router::{NodeId, RunId};
use interrupts::IdempotencyKey;
use interrupts::store::{MessageState, WaitingMessages};

use crate::tables::{Failed, Tables};

/// Where the messages of a run that wait are noted: all at its root, so that the run's end finds them.
pub(super) fn want(run: RunId, tables: &mut Tables) {
    tables.slots.want(&(run, NodeId::root()));
}

/// Notes a message that waits.
pub(super) fn note(run: RunId, message: IdempotencyKey, tables: &mut Tables) -> Result<(), Failed> {
    let mut slot = tables.slot(run, &NodeId::root())?;
    slot.waiting.push(message);
    tables.slots.put((run, NodeId::root()), slot);
    Ok(())
}

/// Says that messages wait no more.
pub(super) fn forget(
    run: RunId,
    messages: &[IdempotencyKey],
    tables: &mut Tables,
) -> Result<(), Failed> {
    let mut slot = tables.slot(run, &NodeId::root())?;
    let before = slot.waiting.len();
    slot.waiting.retain(|waiting| !messages.contains(waiting));
    if slot.waiting.len() < before {
        tables.slots.put((run, NodeId::root()), slot);
    }
    Ok(())
}

/// The messages of a run that wait for its agents, where there are some.
pub(super) fn waiting(run: RunId, tables: &mut Tables) -> Result<Option<WaitingMessages>, Failed> {
    let mut waiting = BTreeMap::new();
    for key in tables.slot(run, &NodeId::root())?.waiting {
        let stored = tables.messages.get(&key)?;
        if let Some(stored) = stored.filter(|stored| stored.state.is_waiting()) {
            *waiting.entry(stored.message.node.clone()).or_default() += 1;
        }
    }
    Ok((!waiting.is_empty()).then_some(WaitingMessages(waiting)))
}

/// Whose end it is that leaves messages unread.
pub(super) enum Ended {
    /// The run's.
    Run,
    /// That of some of its nodes.
    Nodes(BTreeSet<NodeId>),
}

impl Ended {
    fn reaches(&self, node: &NodeId) -> bool {
        match self {
            Self::Run => true,
            Self::Nodes(nodes) => nodes.contains(node),
        }
    }
}

/// Records that the messages still waiting for the ended run or nodes were not read.
pub(super) fn leave(run: RunId, ended: &Ended, tables: &mut Tables) -> Result<(), Failed> {
    let mut left = Vec::new();
    for key in tables.slot(run, &NodeId::root())?.waiting {
        let Some(mut stored) = tables.messages.get(&key)?.cloned() else {
            continue;
        };
        if stored.state.is_waiting() && ended.reaches(&stored.message.node) {
            stored.state = MessageState::Unread { at: tables.now };
            tables.messages.put(key.clone(), stored);
            left.push(key);
        }
    }
    forget(run, &left, tables)
}
