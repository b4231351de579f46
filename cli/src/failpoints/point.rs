//! A moment at which the process dies.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Signal, getpid, kill_process};

/// Before or after an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Nothing was asked of the store.
    Before,
    /// The store has answered, and the process has not heard it.
    After,
}

/// A moment at which the process dies.
#[derive(Debug)]
pub(super) struct Point {
    operation: String,
    side: Side,
    /// How often it is reached until it kills.
    left: AtomicU32,
}

impl Point {
    /// Reads `OPERATION:before|after:N`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let operation = parts.next()?.to_owned();
        let side = match parts.next()? {
            "before" => Side::Before,
            "after" => Side::After,
            _ => return None,
        };
        let left = AtomicU32::new(parts.next()?.parse().ok()?);
        parts.next().is_none().then_some(Self {
            operation,
            side,
            left,
        })
    }

    /// The process has reached an operation: it dies if this is the moment.
    pub(super) fn reached(&self, operation: &str, side: Side) {
        if self.operation != operation || self.side != side {
            return;
        }
        if self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        // If it fails, nothing is left to do: the proof sees that the process did not die.
        let _ = kill_process(getpid(), Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}
