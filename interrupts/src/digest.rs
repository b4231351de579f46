//! Digests of contents, and the ids of effects that are made of them.

use std::fmt::{self, Debug, Display};
use std::str::FromStr;

use interrupt_router::{InterruptId, RunId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits in lower case")]
pub struct ParseDigestError;

impl Digest {
    /// The digest before the first of a chain.
    pub const ZERO: Self = Self([0; 32]);

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts. Each is preceded by its length, so that no two lists of parts run together.
    pub fn of_parts<'parts>(parts: impl IntoIterator<Item = &'parts [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        formatter.write_str(&text)
    }
}

impl Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, formatter)
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let digits: &[u8; 64] = text
            .as_bytes()
            .try_into()
            .map_err(|_length| ParseDigestError)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, ParseDigestError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(ParseDigestError),
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Names an effect, so that the code that performs it can tell a repetition from a second effect.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EffectId(Digest);

impl EffectId {
    /// The id of a decision's dispatch: the same for the same interrupt and version of the decision.
    pub fn of_dispatch(interrupt: InterruptId, version: u64) -> Self {
        let id = interrupt.uuid();
        Self(Digest::of_parts([
            b"dispatch".as_slice(),
            id.as_bytes(),
            &version.to_be_bytes(),
        ]))
    }

    /// The id of the effect at a place of a run.
    pub fn in_run(run: RunId, place: &str) -> Self {
        let id = run.uuid();
        Self::of_parts([b"run".as_slice(), id.as_bytes(), place.as_bytes()])
    }

    /// The id of an effect that is named by these parts: for model calls, tool calls and started children.
    pub fn of_parts<'parts>(parts: impl IntoIterator<Item = &'parts [u8]>) -> Self {
        Self(Digest::of_parts(
            std::iter::once(b"effect".as_slice()).chain(parts),
        ))
    }
}

impl Display for EffectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0, formatter)
    }
}

impl Debug for EffectId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, formatter)
    }
}

impl FromStr for EffectId {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, EffectId};
    use interrupt_router::InterruptId;

    #[test]
    fn a_digest_reads_back_from_its_text_and_nothing_else_does() {
        let digest = Digest::of(b"abc");
        assert_eq!(
            digest.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for text in ["", "ba78", &digest.to_string().to_uppercase()] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        let (split, whole) = ([b"ab".as_slice(), b"c"], [b"abc".as_slice()]);
        assert_ne!(Digest::of_parts(split), Digest::of_parts(whole));
    }

    #[test]
    fn a_dispatch_is_named_by_interrupt_and_version() {
        let interrupt = InterruptId::generate();
        assert_eq!(
            EffectId::of_dispatch(interrupt, 4),
            EffectId::of_dispatch(interrupt, 4)
        );
        assert_ne!(
            EffectId::of_dispatch(interrupt, 4),
            EffectId::of_dispatch(interrupt, 5)
        );
    }
}
