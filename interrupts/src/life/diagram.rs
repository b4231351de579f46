//! The guide's diagram of the table.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::state::State;
use super::table::Transition;

/// What the table has no room for.
const TAKE_OVERS: &str = "\nA take counts as an attempt where the lease is free or has run out. Where the owner is \
known to be gone, its process has\nended and the delivery has not failed: taking it over counts no attempt, so \
however often processes die, nothing is given up for that.\n";

/// The guide's page about the life of an interrupt, in Markdown with a Mermaid diagram, made of the table.
///
/// ```
/// assert!(interrupts::life::diagram().contains("requested --> delivered: take"));
/// ```
pub fn diagram() -> String {
    let mut page = String::from(
        "# The life of an interrupt\n\n\
         This page is made of the table in `interrupts/src/life/table.rs`; a test compares the two.\n\n\
         ```mermaid\nstateDiagram-v2\n    [*] --> requested: admit\n",
    );
    // Writing to a string does not fail; the results are of no interest.
    for transition in Transition::LEGAL {
        let _ = writeln!(
            page,
            "    {} --> {}: {}",
            transition.from,
            transition.to,
            transition.trigger.name()
        );
    }
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        let _ = writeln!(page, "    {state} --> [*]");
    }
    let legal = Transition::LEGAL.len();
    let pairs = State::ALL.len() * State::ALL.len();
    let _ = write!(
        page,
        "```\n\n{} states, {pairs} ordered pairs: {legal} legal, {} refused.\n\n\
         | row | from | to | trigger | demands | in the same transaction |\n\
         |---|---|---|---|---|---|\n",
        State::ALL.len(),
        pairs - legal
    );
    let admitting = Transition::ADMITTING;
    let _ = writeln!(
        page,
        "| 1 | none | requested | {} | {} | {} |",
        admitting.trigger, admitting.guard, admitting.effects
    );
    for transition in Transition::LEGAL {
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} |",
            transition.row,
            transition.from,
            transition.to,
            transition.trigger.name(),
            transition.guard,
            transition.effects
        );
    }
    let finals: BTreeSet<String> = State::ALL
        .into_iter()
        .filter(|state| state.is_final())
        .map(|state| state.to_string())
        .collect();
    let _ = writeln!(
        page,
        "\nNothing follows {}.",
        finals.into_iter().collect::<Vec<_>>().join(", ")
    );
    page.push_str(TAKE_OVERS);
    page
}

#[cfg(test)]
mod tests {
    use super::diagram;

    /// Set to write the page instead of comparing it.
    const WRITE: &str = "WRITE_GENERATED";

    #[test]
    fn the_guide_shows_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lifecycle.md");
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(path, diagram()).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            written,
            diagram(),
            "run the tests of `interrupts` with {WRITE}=1 and review the difference"
        );
    }
}
