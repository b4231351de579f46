//! The calls of tools that events are about: read once for a whole part of the feed.

use std::collections::HashMap;

use futures_util::{StreamExt, stream};
use interrupts::EffectId;
use interrupts::store::{Notification, OutboxRow, Store};
use journal::tool::KeptCall;

/// The kind of effects that are calls of tools.
const TOOL_CALL: &str = "tool_call";
/// How many are read from the store together.
const TOGETHER: usize = 8;

/// Calls, by the ids of their effects.
pub(super) type Calls = HashMap<EffectId, KeptCall>;

/// The calls of some rows. One that cannot be read is left out: its events are told without it.
pub(super) async fn calls_of(store: &dyn Store, rows: &[OutboxRow]) -> Calls {
    let wanted = rows.iter().filter_map(|row| match &row.notification {
        Notification::Effect { effect, kind, .. } if kind.as_str() == TOOL_CALL => Some(*effect),
        Notification::Effect { .. }
        | Notification::Interrupt { .. }
        | Notification::Reroute { .. }
        | Notification::Node { .. }
        | Notification::Message { .. }
        | Notification::Checkpoint { .. }
        | Notification::Rule { .. }
        | Notification::Run { .. } => None,
    });
    let wanted: Vec<EffectId> = wanted.collect();
    let read = stream::iter(wanted)
        .map(|effect| store.effect(effect))
        .buffer_unordered(TOGETHER);
    let read: Vec<_> = read.collect().await;
    let entries = read.into_iter().filter_map(|read| read.ok().flatten());
    entries
        .filter_map(|entry| Some((entry.intent.effect, KeptCall::of(&entry)?)))
        .collect()
}
