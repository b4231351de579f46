//! The workflows that this program has, as their catalogues, and those of others that it has read: the one place that
//! says which they are.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use engine::ErasedWorkflow;
use interrupts::catalogue::{Catalogue, CatalogueBook, SharedCatalogue};
use interrupts::life::Interrupt;
use interrupts::store::{RootNode, Run};
use interrupts::{KindName, RouteName, WorkflowName};
use journal::Workflow;
use llm::{Script, ScriptError, ScriptVocabulary};
use serde_json::Value;

use crate::exit::{Exit, Failure, causes};
use crate::program::Identity;
use interrupts::nearest;

/// The workflows of this program's own, with their catalogues, and what it says of itself.
static EMBEDDED: OnceLock<(Vec<Embedded>, Identity)> = OnceLock::new();

struct Embedded {
    workflow: Arc<dyn ErasedWorkflow>,
    catalogue: SharedCatalogue,
}

static BOOK: LazyLock<CatalogueBook> = LazyLock::new(|| {
    let own = all_embedded().iter().map(|it| it.catalogue.clone());
    let built_in = has_built_in().then(agents::catalogue::built_in);
    CatalogueBook::new(built_in.into_iter().flatten().chain(own))
});

fn all_embedded() -> &'static [Embedded] {
    EMBEDDED
        .get()
        .map_or(&[], |(all, _identity)| all.as_slice())
}

/// Whether this program has the built-in workflows: beside workflows of its own, where it asks for them.
pub(crate) fn has_built_in() -> bool {
    EMBEDDED
        .get()
        .is_none_or(|(own, identity)| own.is_empty() || identity.has_built_in)
}

/// Gives this program workflows of its own, before anything else happens.
///
/// # Errors
///
/// [`Exit::Usage`] if one cannot be described, or two have one name.
pub(crate) fn embed(
    workflows: Vec<Arc<dyn ErasedWorkflow>>,
    identity: Identity,
) -> Result<(), Failure> {
    let mut all: Vec<Embedded> = Vec::new();
    for workflow in workflows {
        let name = workflow.workflow_name();
        let catalogue = workflow.catalogue().map_err(|error| {
            let text = format!(
                "the workflow `{name}` cannot be described: {}",
                causes(&error)
            );
            Failure::new(Exit::Usage, text)
        })?;
        let is_built_in = !matches!(Workflow::named(name), Ok(Workflow::Embedded(_)));
        if is_built_in || all.iter().any(|it| it.catalogue.name() == catalogue.name()) {
            let text = format!("this program has two workflows called `{name}`");
            return Err(Failure::new(Exit::Usage, text).hint("give one of them another NAME"));
        }
        all.push(Embedded {
            workflow,
            catalogue,
        });
    }
    if !all.is_empty()
        && let Some(name) = called()
    {
        control::call_program(name);
    }
    // A second program in one process has what the first one has.
    let _first_wins = EMBEDDED.set((all, identity));
    Ok(())
}

/// The catalogues of this program's own workflows.
pub(crate) fn own() -> impl Iterator<Item = &'static Catalogue> {
    all_embedded().iter().map(|it| &*it.catalogue)
}

/// What this program is called, if it has workflows of its own: another one called `irq` does not have them.
pub(crate) fn program_name() -> Option<String> {
    all_embedded().first()?;
    called()
}

/// What this program's file is called.
fn called() -> Option<String> {
    let called = std::env::args_os().next()?;
    let name = Path::new(&called).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// The name, version and first line of a program with workflows of its own.
pub(crate) fn identity() -> Option<(String, &'static str, String)> {
    let (own, identity) = EMBEDDED.get()?;
    let name = program_name()?;
    let names: Vec<_> = own.iter().map(|it| it.catalogue.name().as_str()).collect();
    let about = match identity.about {
        Some(about) => about.to_owned(),
        None => format!("Runs {}", names.join(", ")),
    };
    let usual = concat!("(Interrupt Router ", env!("CARGO_PKG_VERSION"), ")");
    Some((name, identity.version.unwrap_or(usual), about))
}

/// That this program can execute a workflow.
///
/// # Errors
///
/// [`Exit::NotFound`] if another program has it.
pub(crate) fn demand(workflow: &Workflow) -> Result<(), Failure> {
    if has(workflow) {
        return Ok(());
    }
    Err(missing(workflow.name()))
}

/// That another program has a workflow.
pub(crate) fn missing(workflow: &str) -> Failure {
    let text = format!("this program has no workflow `{workflow}`");
    Failure::new(Exit::NotFound, text).hint("use the program that has it")
}

/// Whether this program can execute a workflow.
pub(crate) fn has(workflow: &Workflow) -> bool {
    let mut all = built_in().iter();
    all.any(|it| it.name().as_str() == workflow.name())
}

/// Reads a script for a workflow: it names kinds and routes of that workflow alone.
///
/// # Errors
///
/// The step that is wrong, and what is known there.
pub(crate) fn script(workflow: &Workflow, text: &str) -> Result<Script, ScriptError> {
    let Workflow::Embedded(name) = workflow else {
        return Script::parse(text, &agents::catalogue::script_vocabulary());
    };
    let vocabulary = named(name).map(|own| ScriptVocabulary::of(&own));
    Script::parse(text, &vocabulary.unwrap_or_default())
}

/// The catalogue of a workflow that this program has.
pub(crate) fn named(name: &WorkflowName) -> Option<SharedCatalogue> {
    built_in().iter().find(|it| it.name() == name).cloned()
}

/// The workflow of this program's own that has a name.
///
/// # Errors
///
/// [`Exit::NotFound`] if it has none such: another program does.
pub(crate) fn embedded(name: &WorkflowName) -> Result<Arc<dyn ErasedWorkflow>, Failure> {
    let mut all = all_embedded().iter();
    let found = all.find(|it| it.catalogue.name() == name);
    match found {
        Some(it) => Ok(Arc::clone(&it.workflow)),
        None => Err(missing(name.as_str())),
    }
}

/// What `run` executes by default.
pub(crate) fn usual() -> Workflow {
    let own = all_embedded().first();
    own.map_or_else(Workflow::default, |it| {
        Workflow::Embedded(it.catalogue.name().clone())
    })
}

/// Reads the name of a workflow that this program has.
pub(crate) fn parse_workflow(text: &str) -> Result<Workflow, String> {
    let all: Vec<&str> = built_in().iter().map(|it| it.name().as_str()).collect();
    if all.contains(&text) {
        return Workflow::named(text).map_err(|error| error.to_string());
    }
    Err(format!("there are {}", all.join(", ")))
}

/// The input of an embedded workflow that these words are; the others have only a goal.
///
/// # Errors
///
/// Which part of it does not fit, or that this program has no such workflow.
pub(crate) fn input_of(workflow: &Workflow, words: &str) -> Result<Option<Value>, Failure> {
    let Workflow::Embedded(name) = workflow else {
        return Ok(None);
    };
    let read = embedded(name)?.read_input(words);
    read.map(Some).map_err(|error| {
        let text = format!(
            "this is no input of `{name}`: {}: {}",
            error.path(),
            error.reason()
        );
        Failure::new(Exit::Usage, text)
            .hint("the input is JSON in the form that the workflow reads")
    })
}

/// The agent with which a run of a workflow begins, if this program has that workflow.
pub(crate) fn root_of(workflow: &Workflow) -> Option<RootNode> {
    match workflow {
        Workflow::Embedded(name) => embedded(name).ok()?.root().ok(),
        Workflow::Agents | Workflow::PlanExecute => agents::run::root_of(workflow),
    }
}

/// All known catalogues.
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

/// As [`with_kind`], for what a run is shown with that this process executes: its own workflows' kinds come first, for a
/// name may be one of both.
pub(crate) fn with_shown_kind(kind: &str) -> Option<&'static Catalogue> {
    own()
        .find(|it| it.kind(kind).is_some())
        .or_else(|| with_kind(kind))
}

/// The kind of agent that represents a run of which nothing else is known.
pub(crate) fn leading() -> Option<KindName> {
    let first = built_in().first()?.kinds().first()?;
    Some(first.name.clone())
}

/// The catalogue that an interrupt was raised under: it is known once the interrupt was read from an installation. An
/// interrupt that names none is older, and of this program's workflows.
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

/// The catalogue that a run continues under, as of an interrupt.
pub(crate) fn of_run(run: &Run) -> Option<SharedCatalogue> {
    match run.catalogue {
        Some(digest) => BOOK.at_hand(digest),
        None => BOOK.of_content(&run.content),
    }
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
    if let Some(near) = nearest(name.as_str(), known.iter().copied()) {
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
