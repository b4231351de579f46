//! The workflows that this program has, as their catalogues, and those of others that it has read: the one place that
//! says which they are.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use interrupts::catalogue::{Catalogue, CatalogueBook, SharedCatalogue};
use interrupts::life::Interrupt;
use interrupts::manager::Facing;
use interrupts::store::Run;
use interrupts::{KindName, RouteName};

use crate::exit::{Exit, Failure};
use crate::nearest::nearest;

static BOOK: LazyLock<CatalogueBook> =
    LazyLock::new(|| CatalogueBook::new(agents::catalogue::built_in()));

/// All that is at hand.
pub(crate) fn book() -> &'static CatalogueBook {
    &BOOK
}

/// The workflows that this program has.
pub(crate) fn built_in() -> &'static [SharedCatalogue] {
    BOOK.built_in()
}

/// The catalogue of this program's own that has a kind of agent.
pub(crate) fn with_kind(kind: &str) -> Option<&'static Catalogue> {
    let mut all = built_in().iter();
    all.find(|it| it.kind(kind).is_some()).map(|it| &**it)
}

/// The kind of agent that stands for a run of which nothing else is known.
pub(crate) fn leading() -> Option<KindName> {
    let first = built_in().first()?.kinds().first()?;
    Some(first.name.clone())
}

/// The catalogue that an interrupt was raised under: whoever reads it from an installation has it at hand. One that names
/// none is older, and of this program's workflows.
pub(crate) fn of_interrupt(interrupt: &Interrupt) -> Option<SharedCatalogue> {
    match interrupt.catalogue {
        Some(digest) => BOOK.at_hand(digest),
        None => {
            let mut all = built_in().iter();
            let kind = interrupt.kind.as_str();
            all.find(|it| it.kind(kind).is_some()).cloned()
        }
    }
}

/// The catalogue that a run goes on under, as of an interrupt.
pub(crate) fn of_run(run: &Run) -> Option<SharedCatalogue> {
    match run.catalogue {
        Some(digest) => BOOK.at_hand(digest),
        None => BOOK.of_content(&run.content),
    }
}

/// What a stop says of an agent of a run. The answers of one of an unknown kind go back to it alone.
pub(crate) fn facing(run: &Run, kind: &KindName) -> Facing {
    let known = of_run(run).and_then(|it| it.facing(Some(kind)));
    known.unwrap_or_else(|| Facing::alone(kind))
}

/// A name of a catalogue, for as long as the process lives. Each is kept once, and there are few.
pub(crate) fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    match names.get(name) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.into());
            names.insert(name);
            name
        }
    }
}

/// Reads the name of an agent type, in any case and with `-` for `_`. Which ones there are is for the catalogue to say
/// of what it is used for.
pub(crate) fn parse_route(text: &str) -> Result<RouteName, String> {
    RouteName::new(text.to_uppercase().replace('-', "_")).map_err(|error| error.to_string())
}

/// As [`parse_route`], for what only this program's workflows have.
pub(crate) fn parse_built_in_route(text: &str) -> Result<RouteName, String> {
    let routes = built_in().iter().flat_map(|it| it.routes());
    let known: Vec<_> = routes.map(|route| route.name.as_str()).collect();
    among(text, parse_route(text)?, &known)
}

/// Reads the name of a kind of agent of this program's workflows that has routes to choose from.
pub(crate) fn parse_built_in_kind(text: &str) -> Result<RouteName, String> {
    let all = built_in().iter().filter(|it| !it.routes().is_empty());
    let kinds = all.flat_map(|it| it.kinds());
    let known: Vec<_> = kinds.map(|kind| kind.name.as_str()).collect();
    among(text, parse_route(text)?, &known)
}

fn among(given: &str, name: RouteName, known: &[&str]) -> Result<RouteName, String> {
    if known.contains(&name.as_str()) {
        return Ok(name);
    }
    let mut message = format!("no agent type `{given}`");
    if let Some(near) = nearest(name.as_str(), known) {
        message.push_str(&format!("; did you mean {near}?"));
    }
    Err(format!("{message}\n  known are: {}", known.join(", ")))
}

/// That a target is one of these.
///
/// # Errors
///
/// [`Exit::Usage`] with those that there are.
pub(crate) fn check_target(target: &RouteName, routes: &[RouteName]) -> Result<(), Failure> {
    let known: Vec<_> = routes.iter().map(RouteName::as_str).collect();
    let checked = among(target.as_str(), target.clone(), &known);
    checked
        .map(drop)
        .map_err(|text| Failure::new(Exit::Usage, text))
}

#[cfg(test)]
mod tests {
    use super::{lasting, parse_built_in_kind, parse_built_in_route, parse_route};

    #[test]
    fn an_agent_type_is_read_in_any_case_and_a_misspelt_one_is_explained() {
        let kind = parse_built_in_kind("discovery-agent").unwrap();
        assert_eq!(kind.as_str(), "DISCOVERY_AGENT");
        let error = parse_built_in_route("MERGE_AGENT").unwrap_err();
        assert!(error.contains("did you mean MERGER_AGENT?"), "{error}");
        assert_eq!(
            parse_route("legal").unwrap().as_str(),
            "LEGAL",
            "of whatever workflow"
        );
    }

    #[test]
    fn a_name_is_kept_once() {
        assert!(std::ptr::eq(
            lasting("LEGAL"),
            lasting(&"legal".to_uppercase())
        ));
    }
}
