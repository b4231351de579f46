//! Who asks for something.

use interrupt_router::StopSource;
use interrupts::life::{Actor, Role};
use interrupts::manager::StopCause;
use interrupts::{Digest, IdempotencyKey, NameError};
use uuid::Uuid;

use crate::reach::Reach;

/// Who asks for something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// By name and role.
    pub actor: Actor,
    /// What of the runs.
    pub reach: Reach,
    /// Whether a hook has begun the program that asks: then no person was at a key.
    pub is_hook: bool,
}

impl Caller {
    /// The 128 bits derived from a key of this caller: the same for the same caller, purpose and key, and for no other.
    pub fn keyed(&self, purpose: &str, key: &str) -> Uuid {
        // Tokens of one name that are bound to different runs do not share keys.
        let bound = self.reach.bound_run().map(|run| run.to_string());
        let parts = [purpose, self.actor.name.as_str(), key];
        let digest = Digest::of_parts(parts.into_iter().chain(bound.as_deref()).map(str::as_bytes));
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.bytes()[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    /// The store's key of a request of this caller: derived from the caller's own, or new.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the purpose is too long for a name.
    pub fn request_key(
        &self,
        purpose: &str,
        key: Option<&str>,
    ) -> Result<IdempotencyKey, NameError> {
        let id = match key {
            Some(key) => self.keyed(purpose, key),
            None => Uuid::now_v7(),
        };
        IdempotencyKey::new(format!("{purpose}:{}", id.simple()))
    }

    /// What kind of source a request comes from: an agent's token speaks for a program, all others for people.
    pub(crate) const fn source(&self) -> StopSource {
        if matches!(self.actor.role, Role::Requester) {
            StopSource::Programmatic
        } else {
            StopSource::User
        }
    }

    /// What causes a request.
    pub(crate) const fn cause(&self) -> StopCause {
        if self.is_hook {
            StopCause::Hook
        } else if matches!(self.source(), StopSource::Programmatic) {
            StopCause::Code
        } else {
            StopCause::UserEscape
        }
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
