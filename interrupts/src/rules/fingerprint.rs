//! What an interrupt is about, regardless of who asks it and how often.

use interrupt_router::StopSource;
use serde_json::Value;

use super::refusal::RuleRefusal;
use crate::digest::Digest;
use crate::life::{Family, Interrupt, Recurrence, Role};

/// Separates this digest from all others, and from those of a later definition.
const MATTER: &[u8] = b"matter 1";

/// The same, for interrupts that say themselves which ones ask the same.
const SAME: &[u8] = b"matter of the same 1";

/// The digest of what an interrupt asks, without what names this one time: its id, its run, its node, its time. Two
/// interrupts with the same digest ask the same thing, of the same kind of agent, and may be decided in the same ways.
/// Their [`Recurrence`] says which ones ask the same thing: by default, those with the same words.
///
/// # Errors
///
/// [`RuleRefusal`] if a person must see the interrupt each time.
pub fn matter_of(interrupt: &Interrupt) -> Result<Digest, RuleRefusal> {
    if interrupt.family() != Family::Question {
        return Err(RuleRefusal::NotAQuestion);
    }
    let by_agent = interrupt.source == StopSource::Programmatic
        && interrupt.requested_by.role == Role::Requester;
    if !by_agent {
        return Err(RuleRefusal::NotAskedByAgent);
    }
    if interrupt.bound.is_some() || interrupt.held_by.is_some() {
        return Err(RuleRefusal::Directed);
    }
    let (what, reason, said) = match interrupt.recurrence {
        Recurrence::Verbatim => {
            let said = canonical(&interrupt.content);
            (MATTER, interrupt.reason.as_str(), said)
        }
        Recurrence::Same(digest) => (SAME, "", digest.to_string()),
        Recurrence::Once => return Err(RuleRefusal::Once),
    };
    let routes = joined(interrupt.routes.iter().map(|route| route.as_str()));
    let allowed = joined(interrupt.allowed.iter().map(|verdict| verdict.name()));
    Ok(Digest::of_parts([
        what,
        interrupt.interrupt_type.name().as_bytes(),
        interrupt.kind.as_str().as_bytes(),
        interrupt.origin.as_str().as_bytes(),
        reason.as_bytes(),
        said.as_bytes(),
        routes.as_bytes(),
        allowed.as_bytes(),
    ]))
}

/// A JSON text with its fields in the order of their names. A text that is not JSON stays as it is.
fn canonical(json: &str) -> String {
    match serde_json::from_str::<Value>(json) {
        Ok(mut value) => {
            value.sort_all_objects();
            value.to_string()
        }
        Err(_not_json) => json.to_owned(),
    }
}

/// Names without control characters, in the order of the alphabet.
fn joined<'name>(names: impl Iterator<Item = &'name str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{canonical, joined};

    #[test]
    fn the_order_of_fields_and_names_is_no_part_of_the_matter() {
        assert_eq!(
            canonical(r#"{"b":{"d":1,"c":[2,1]},"a":null}"#),
            canonical(r#"{"a":null,"b":{"c":[2,1],"d":1}}"#)
        );
        assert_ne!(canonical(r#"{"a":[1,2]}"#), canonical(r#"{"a":[2,1]}"#));
        assert_eq!(
            joined(["b", "a"].into_iter()),
            joined(["a", "b"].into_iter())
        );
        assert_eq!(canonical("{not json"), "{not json");
    }
}
