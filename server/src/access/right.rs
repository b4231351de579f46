//! Rights: what a role permits, and the proofs that handlers ask for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use interrupts::life::Role;

use super::caller::Caller;
use crate::app::App;
use crate::problem::{Code, Problem};

/// What a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
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
    pub(crate) const fn is_of(self, role: Role) -> bool {
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

    /// The name in problems and in the description of the interface.
    pub(crate) const fn name(self) -> &'static str {
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
    pub(crate) fn demand(self, caller: &Caller) -> Result<(), Problem> {
        if caller.actor.role == Role::Requester && caller.scope.is_none() {
            return Err(unbound());
        }
        if self.is_of(caller.actor.role) {
            return Ok(());
        }
        Err(Problem::new(
            Code::Forbidden,
            format!("this needs the right to {}", self.name()),
            "use a token of another role: `irq token create --name NAME --role ROLE`",
        )
        .with("right", self.name()))
    }
}

/// The problem for an agent's token from an earlier version: it would reach every run.
fn unbound() -> Problem {
    Problem::new(
        Code::Forbidden,
        "the token of an agent is bound to a run, and yours is bound to none: an earlier version made it",
        "`irq token create --name NAME --role agent --run RUN` makes one that is bound; make yours void: `irq token revoke ID`",
    )
}

macro_rules! proofs {
    ($($(#[$doc:meta])* $name:ident => $right:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub(crate) struct $name(pub(crate) Caller);

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Problem> {
                let caller = parts.extensions.get::<Caller>().cloned();
                let caller = caller.ok_or_else(Caller::nobody)?;
                Right::$right.demand(&caller)?;
                Ok(Self(caller))
            }
        }
    )*};
}

proofs! {
    /// A caller who may read, within the caller's reach.
    Reads => Read;
    /// A caller who may read everything.
    Surveys => Survey;
    /// A caller who may answer interrupts.
    Decides => Decide;
    /// A caller who may ask for interrupts.
    Requests => Request;
    /// A caller who may direct agents.
    Directs => Direct;
    /// A caller who runs the installation.
    Operates => Operate;
    /// A caller who executes the runs of a workflow.
    Works => Work;
}
