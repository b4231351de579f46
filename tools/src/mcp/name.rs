//! The names of servers, and of their tools among all others.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::tool::ToolName;

/// The longest name that a tool may have.
const LONGEST: usize = 64;

/// Separates the name of the server from that of its tool.
const BETWEEN: &str = "__";

/// The name of a server: 1 to 24 letters, digits, `-` and `_`, without two `_` in a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ServerName(String);

/// A text that is no name of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is no name of a server; expected 1 to 24 letters, digits, `-` and `_`, without `__`"
)]
pub struct ServerNameError {
    given: String,
}

impl ServerName {
    /// A name.
    ///
    /// # Errors
    ///
    /// [`ServerNameError`] if the names of its tools could not be distinguished from those of others.
    pub fn new(text: impl Into<String>) -> Result<Self, ServerNameError> {
        let text = text.into();
        let fits = (1..=24).contains(&text.len()) && text.bytes().all(is_plain);
        if fits && !text.contains(BETWEEN) && !text.ends_with('_') {
            Ok(Self(text))
        } else {
            Err(ServerNameError { given: text })
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServerName {
    type Error = ServerNameError;

    fn try_from(text: String) -> Result<Self, ServerNameError> {
        Self::new(text)
    }
}

impl Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// The name that a model calls a server's tool by: `server__tool`. A name that providers would refuse is made one that
/// they take, with a mark at its end that depends on the whole of the original: two originals do not become one name.
pub(super) fn tool_name(server: &ServerName, original: &str) -> ToolName {
    let prefix = format!("{server}{BETWEEN}");
    let room = LONGEST - prefix.len();
    let fits = (1..=room).contains(&original.len()) && original.bytes().all(is_plain);
    let text = if fits {
        format!("{prefix}{original}")
    } else {
        marked(&prefix, original)
    };
    // Both are made of nothing but what a name may have.
    ToolName::new(text).unwrap_or_else(|_never| ToolName::fixed("unnamed"))
}

fn marked(prefix: &str, original: &str) -> String {
    let mark = format!("_{:016x}", fingerprint(original.as_bytes()));
    let plain = original.bytes().map(|byte| match byte {
        byte if is_plain(byte) => char::from(byte),
        _other => '_',
    });
    let room = LONGEST.saturating_sub(prefix.len() + mark.len());
    let plain: String = plain.take(room).collect();
    format!("{prefix}{plain}{mark}")
}

/// FNV-1a: the same on every machine and in every version.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{ServerName, tool_name};

    proptest! {
        #[test]
        fn every_tool_gets_a_name_of_its_own_that_providers_take(
            originals in proptest::collection::btree_set(".{0,80}|[a-c./]{1,3}", 1..20),
            server in "[a-z]{1,24}"
        ) {
            let server = ServerName::new(server).unwrap();
            let names: BTreeSet<String> = originals
                .iter()
                .map(|original| tool_name(&server, original).as_str().to_owned())
                .collect();
            prop_assert_eq!(names.len(), originals.len());
            for name in names {
                prop_assert!(name.len() <= 64, "{}", name);
                prop_assert!(name.starts_with(&format!("{server}__")), "{}", name);
            }
        }
    }

    #[test]
    fn plain_names_stay_as_they_are_and_others_stay_readable() {
        let server = ServerName::new("files").unwrap();
        assert_eq!(tool_name(&server, "read_file").as_str(), "files__read_file");
        let made = tool_name(&server, "dir/read.file").as_str().to_owned();
        assert!(made.starts_with("files__dir_read_file_"), "{made}");
        assert_ne!(made, tool_name(&server, "dir.read/file").as_str());
    }

    #[test]
    fn the_name_of_a_server_cannot_blur_where_that_of_its_tool_begins() {
        for bad in [
            "",
            "a__b",
            "a_",
            "a b",
            "ä",
            "a.b",
            "abcdefghijklmnopqrstuvwxyz",
        ] {
            let error = ServerName::new(bad).unwrap_err().to_string();
            assert!(error.contains("expected 1 to 24"), "{error}");
        }
    }
}
