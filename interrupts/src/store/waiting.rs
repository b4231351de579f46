//! The order in which an inbox shows what waits for a person.

use crate::life::Interrupt;

/// Where an interrupt is among those that wait for a person: people's own go first, then agents', then the system's,
/// each in the order of their admission. It stays the same while others come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct WaitingPosition {
    /// The priority of its lane; smaller goes first.
    pub priority: u8,
    /// Its position among all interrupts.
    pub admitted: u64,
}

impl WaitingPosition {
    /// That of an interrupt with this position among all.
    pub const fn of(admitted: u64, interrupt: &Interrupt) -> Self {
        Self {
            priority: interrupt.lane().priority(),
            admitted,
        }
    }
}
