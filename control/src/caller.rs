//! Who asks for something.

use interrupts::life::{Actor, Role};

use crate::reach::Reach;

/// Who asks for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// By name and role.
    pub actor: Actor,
    /// What of the runs.
    pub reach: Reach,
}

impl Caller {
    /// Whether a program asks: an agent's token speaks for one, all others for people.
    pub(crate) const fn is_program(&self) -> bool {
        matches!(self.actor.role, Role::Requester)
    }
}

/// The name of a role in text for people.
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Observer => "viewer",
        Role::Requester => "agent",
        Role::Worker => "worker",
        Role::Reviewer => "reviewer",
        Role::Supervisor => "supervisor",
        Role::Operator => "admin",
        Role::System => "system",
    }
}
