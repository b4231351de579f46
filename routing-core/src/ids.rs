//! Identifiers: each its own type, whose text carries its kind.

use std::fmt::{self, Debug, Display};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A text that is no identifier of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseIdError {
    /// It is not of the form that we give.
    #[error("`{given}` is no {kind} id; expected `{prefix}_` and a UUID")]
    Form {
        /// The text.
        given: String,
        /// What it should identify.
        kind: &'static str,
        /// How such ids begin.
        prefix: &'static str,
    },
    /// The id of an event is too short or too long.
    #[error("an event id has 1 to {LONGEST_GIVEN_ID} characters, and this one has {length}")]
    EventLength {
        /// How many characters it has.
        length: usize,
    },
    /// It cannot be the id of a node.
    #[error(
        "`{given}` is no node id; expected segments of letters, digits, `-` and `_`, joined by `/`"
    )]
    Node {
        /// The text.
        given: String,
    },
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident => $prefix:literal, $kind:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A new id: a UUID of version 7 (RFC 9562), so later ids sort after earlier ones.
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }

            /// The id of these 128 bits; for callers that bring their own randomness.
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The 128 bits.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(self, formatter)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.strip_prefix(concat!($prefix, "_"))
                    .and_then(|rest| Uuid::try_parse(rest).ok())
                    .map(Self)
                    .ok_or_else(|| ParseIdError::Form { given: text.to_owned(), kind: $kind, prefix: $prefix })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

ids! {
    /// One execution of a workflow.
    RunId => "run", "run";
    /// One interrupt, from its raising to its end.
    InterruptId => "int", "interrupt";
    /// One decision about an interrupt.
    DecisionId => "dec", "decision";
    /// One standing rule: a decision that also applies when the same question is asked again.
    RuleId => "rul", "rule";
}

/// The id of an event, chosen by its publisher: any text of 1 to 200 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct EventId(String);

/// The most characters that an id given from outside may have.
const LONGEST_GIVEN_ID: usize = 200;

impl EventId {
    /// A new id: a UUID of version 7.
    pub fn generate() -> Self {
        Self(Uuid::now_v7().to_string())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for EventId {
    type Error = ParseIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.chars().count() {
            1..=LONGEST_GIVEN_ID => Ok(Self(text)),
            length => Err(ParseIdError::EventLength { length }),
        }
    }
}

impl Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The hierarchical id of a node: its agent id and its context id are the same text.
///
/// A child's id is its parent's, a `/`, and a segment of its own, so an ancestor is a prefix.
///
/// Clones share the text: a run's events, rows and journal all name its nodes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct NodeId(Arc<str>);

impl NodeId {
    /// The id of a run's first node.
    ///
    /// # Errors
    ///
    /// [`ParseIdError`] if the text is empty, longer than 200 characters, or has other
    /// characters than ASCII letters, digits, `-`, `_` and the `/` between segments.
    pub fn new(text: impl Into<String>) -> Result<Self, ParseIdError> {
        let text = text.into();
        let fine = text.len() <= LONGEST_GIVEN_ID && text.split('/').all(is_segment);
        if fine {
            Ok(Self(text.into()))
        } else {
            Err(ParseIdError::Node { given: text })
        }
    }

    /// The id `root`: of the first node of a run whose nodes need no other, or of no node in particular.
    pub fn root() -> Self {
        Self("root".into())
    }

    /// The id of a child.
    ///
    /// # Errors
    ///
    /// As [`NodeId::new`].
    pub fn child(&self, segment: &str) -> Result<Self, ParseIdError> {
        Self::new(format!("{}/{segment}", self.0))
    }

    /// The id of the node above, or `None` for a run's first node.
    pub fn parent(&self) -> Option<Self> {
        self.0
            .rsplit_once('/')
            .map(|(parent, _segment)| Self(parent.into()))
    }

    /// Whether this node is `other` or lies below it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0
            .strip_prefix(&*other.0)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_segment(segment: &str) -> bool {
    !segment.is_empty()
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl TryFrom<String> for NodeId {
    type Error = ParseIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{EventId, InterruptId, NodeId, RunId};

    #[test]
    fn an_id_of_another_kind_does_not_parse() {
        let run = RunId::generate().to_string();
        let error = run.parse::<InterruptId>().unwrap_err();
        assert!(
            error
                .to_string()
                .contains("is no interrupt id; expected `int_`"),
            "{error}"
        );
        assert_eq!(run.parse::<RunId>().unwrap().to_string(), run);
    }

    #[test]
    fn a_node_is_within_its_ancestors_and_not_within_a_namesake() {
        let parent = NodeId::new("root/discovery").unwrap();
        let child = parent.child("worker-1").unwrap();
        assert!(child.is_within(&parent));
        assert!(parent.is_within(&parent));
        assert!(!NodeId::new("root/discovery2").unwrap().is_within(&parent));
        assert_eq!(child.parent(), Some(parent));
    }

    #[test]
    fn a_node_id_with_other_characters_is_refused() {
        for text in ["", "a//b", "a b", "a.b", "ä", "/a", "a/"] {
            assert!(NodeId::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ids_that_are_given_have_a_length_that_is_bounded() {
        let long = "x".repeat(201);
        assert!(NodeId::new(&long[1..]).is_ok() && NodeId::new(&*long).is_err());
        assert!(EventId::try_from("ä".repeat(200)).is_ok());
        for (text, length) in [(String::new(), 0), (long, 201)] {
            let error = EventId::try_from(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("an event id has 1 to 200 characters, and this one has {length}")
            );
        }
    }
}
