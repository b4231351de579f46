//! Rights: what a role permits.

use interrupts::catalogue::NamedEvent;
use interrupts::life::Role;

use crate::caller::Caller;
use crate::refusal::{Code, Refusal};

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Right {
    /// To read, within the caller's reach.
    Read,
    /// To read everything: what belongs to no single run, and what of a run is for people.
    Survey,
    /// To answer interrupts.
    Decide,
    /// To request interrupts, and to withdraw one's own.
    Request,
    /// To direct agents: start, steer, resume and cancel runs, withdraw what others requested.
    Direct,
    /// To run the installation.
    Operate,
    /// To execute the runs of a workflow.
    Work,
}

impl Right {
    /// Whether a role has it.
    pub const fn is_of(self, role: Role) -> bool {
        match self {
            Self::Read => matches!(
                role,
                Role::Observer
                    | Role::Requester
                    | Role::Reviewer
                    | Role::Supervisor
                    | Role::Operator
            ),
            Self::Survey => matches!(
                role,
                Role::Observer | Role::Reviewer | Role::Supervisor | Role::Operator
            ),
            Self::Decide => matches!(role, Role::Reviewer | Role::Supervisor | Role::Operator),
            Self::Request => matches!(role, Role::Requester | Role::Supervisor | Role::Operator),
            Self::Direct => matches!(role, Role::Supervisor | Role::Operator),
            Self::Operate => matches!(role, Role::Operator),
            Self::Work => matches!(role, Role::Worker),
        }
    }

    /// What publishing an event takes: only a supervisor decides where agents go.
    pub const fn to_publish(event: &NamedEvent) -> Self {
        if event.reroute_to_agent_type.is_some() {
            Self::Direct
        } else {
            Self::Request
        }
    }

    /// The name in refusals and in the description of the interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Survey => "survey",
            Self::Decide => "decide",
            Self::Request => "request",
            Self::Direct => "direct",
            Self::Operate => "operate",
            Self::Work => "work",
        }
    }

    /// Refuses a caller who does not have it.
    ///
    /// # Errors
    ///
    /// [`Code::Forbidden`].
    pub fn demand(self, caller: &Caller) -> Result<(), Refusal> {
        if caller.actor.role == Role::Requester && caller.reach.0.is_none() {
            return Err(unbound());
        }
        if self.is_of(caller.actor.role) {
            return Ok(());
        }
        Err(Refusal::new(
            Code::Forbidden,
            format!("this needs the right to {}", self.name()),
            "use a token of another role: `irq token create --name NAME --role ROLE`",
        )
        .with("right", self.name()))
    }
}

/// An agent's token from an earlier version: it would reach every run.
fn unbound() -> Refusal {
    Refusal::new(
        Code::Forbidden,
        "the token of an agent is bound to a run, and yours is bound to none: an earlier version made it",
        "`irq token create --name NAME --role agent --run RUN` makes one that is bound; make yours void: `irq token revoke ID`",
    )
}
