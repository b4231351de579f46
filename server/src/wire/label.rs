//! Names as people read them.

/// The name of a type of agent as people read it: `DISCOVERY_ORCHESTRATOR` is `Discovery orchestrator`.
pub(crate) fn label(name: &str) -> String {
    let words = name.replace('_', " ").to_lowercase();
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}
