//! The names of properties that every provider takes.

/// The rule that other names break.
pub(super) const RULE: &str = "names of properties that are not taken";

/// Anthropic, in its refusal of others: `^[a-zA-Z0-9_.-]{1,64}$`. The other providers publish no pattern.
const LONGEST_NAME: usize = 64;

/// Whether every provider takes a property of this name.
pub(crate) const fn is_taken_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'.' | b'-')) {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && bytes.len() <= LONGEST_NAME
}
