//! Names that come from elsewhere and are kept as text: of agents, people, workers and requests.

use std::fmt::{self, Debug, Display};

use interrupt_router::{InterruptId, RunId};
use serde::{Deserialize, Serialize};

/// The most bytes of a name.
const LONGEST_NAME: usize = 200;

/// A text that is no name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a {kind} has 1 to {LONGEST_NAME} bytes and no control characters, this one has {length}")]
pub struct NameError {
    kind: &'static str,
    length: usize,
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident => $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The name of this text.
            ///
            /// # Errors
            ///
            /// [`NameError`] if the text is empty, longer than 200 bytes, or has control characters.
            pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
                let text = text.into();
                let fine = !text.is_empty()
                    && text.len() <= LONGEST_NAME
                    && !text.chars().any(char::is_control);
                if fine {
                    Ok(Self(text))
                } else {
                    Err(NameError { kind: $kind, length: text.len() })
                }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                Debug::fmt(&self.0, formatter)
            }
        }
    )*};
}

names! {
    /// The kind of an agent, as it is named on the wire.
    KindName => "kind of agent";
    /// A route: the type of agent that an answer may go to, as it is named on the wire.
    RouteName => "route";
    /// A workflow, as its catalogue is named.
    WorkflowName => "workflow";
    /// A worker process that may own runs and deliveries.
    OwnerName => "owner";
    /// An actor on interrupts: a person, a program, a part of the system.
    ActorName => "actor";
    /// What identifies a repeated request; an event's id is its key.
    IdempotencyKey => "idempotency key";
}

/// A worker acts under its own name; both kinds of names have the same form.
impl From<OwnerName> for ActorName {
    fn from(owner: OwnerName) -> Self {
        Self(owner.0)
    }
}

/// An answer that goes back to the agent that asked goes along its kind's name; both kinds of names have the same form.
impl From<&KindName> for RouteName {
    fn from(kind: &KindName) -> Self {
        Self(kind.0.clone())
    }
}

/// A request that is never sent twice is its own key.
impl IdempotencyKey {
    /// Whether it is one of those that are kept for what the agents of a run raise: they begin with the run, and no request
    /// from outside may have one.
    pub fn is_of_agent(&self, run: RunId) -> bool {
        let rest = self.as_str().strip_prefix(&run.to_string());
        rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

impl From<InterruptId> for IdempotencyKey {
    fn from(interrupt: InterruptId) -> Self {
        Self(interrupt.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{IdempotencyKey, RouteName};

    #[test]
    fn a_name_that_is_empty_too_long_or_has_control_characters_is_refused() {
        for text in [String::new(), "x".repeat(201), "a\nb".to_owned()] {
            assert!(RouteName::new(text.clone()).is_err(), "{text:?}");
            let json = serde_json::to_string(&text).unwrap();
            assert!(serde_json::from_str::<IdempotencyKey>(&json).is_err());
        }
        assert_eq!(RouteName::new("x".repeat(200)).unwrap().as_str().len(), 200);
    }
}
