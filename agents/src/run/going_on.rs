//! What is said to a run that goes on, as whoever lets it go on keeps it.

use interrupts::KindName;
use interrupts::store::KnownEffect;
use routing_core::{NodeId, RunId};

use super::WorkError;
use crate::durable::error::KeepError;
use crate::durable::input::{self, INPUT};

/// What is said to a fork, to be kept in the transaction that creates it: it is read once, and the fork never goes on
/// without it.
///
/// # Errors
///
/// Where it cannot be put into words.
pub fn said_to_fork(fork: RunId, node: &NodeId, text: &str) -> Result<KnownEffect, WorkError> {
    Ok(KnownEffect {
        node: node.clone(),
        kind: KindName::new(INPUT).map_err(KeepError::from)?,
        place: format!("{INPUT}/{fork}"),
        content: input::content_of(text)?,
        result: "{}".to_owned(),
    })
}
