//! What rules look at.

use interrupt_router::{InterruptType, StopSource};
use serde::Serialize;

use crate::life::{Admission, Family, Interrupt, Lane};
use crate::names::KindName;

/// What rules look at in an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// What it does.
    #[serde(rename = "type")]
    pub interrupt_type: InterruptType,
    /// The kind of its node.
    pub agent: KindName,
    /// Who is behind it.
    pub source: StopSource,
}

impl Subject {
    /// Of an interrupt.
    pub fn of(interrupt: &Interrupt) -> Self {
        Self {
            interrupt_type: interrupt.interrupt_type,
            agent: interrupt.kind.clone(),
            source: interrupt.source,
        }
    }

    /// Of an interrupt that is not admitted yet.
    pub fn of_admission(admission: &Admission) -> Self {
        Self {
            interrupt_type: admission.interrupt_type,
            agent: admission.kind.clone(),
            source: admission.source,
        }
    }

    /// Whether it stops or asks.
    pub const fn family(&self) -> Family {
        Family::of(self.interrupt_type)
    }

    /// The queue in which it waits.
    pub const fn lane(&self) -> Lane {
        Lane::of(self.source)
    }
}
