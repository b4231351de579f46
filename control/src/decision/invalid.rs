//! Why a decision does not fit its interrupt.

use interrupt_router::review::Unsaid;
use interrupts::life::Verdict;
use interrupts::{Misfit, RouteName};

/// Why a decision does not fit its interrupt. Nothing was decided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDecision {
    /// Its verdict is not allowed.
    #[error("`{}` cannot be decided here; allowed are: {}", verdict.name(), names(allowed))]
    NotAllowed {
        /// What was decided.
        verdict: Verdict,
        /// What can be.
        allowed: Vec<Verdict>,
    },
    /// The person who decides has asked the question.
    #[error("you asked this question, and cannot answer it")]
    OwnQuestion,
    /// It reroutes, and says no target.
    #[error("the decision is `reroute`, and no target is named")]
    NoTarget {
        /// Where it can go.
        routes: Vec<RouteName>,
    },
    /// It names a target, and does not reroute.
    #[error("a target is given, and the decision is not `reroute`")]
    NoReroute {
        /// Where it can go.
        routes: Vec<RouteName>,
    },
    /// Its target is none of the interrupt's routes.
    #[error("`{given}` is not where it can go")]
    UnknownTarget {
        /// The target.
        given: String,
        /// Where it can go.
        routes: Vec<RouteName>,
    },
    /// It names two targets.
    #[error("the target is `{given}`, and `rerouteTo` in the payload is another one")]
    TwoTargets {
        /// The one beside the payload.
        given: String,
        /// Where it can go.
        routes: Vec<RouteName>,
    },
    /// Its payload is of another form than what was asked.
    #[error("{problem}")]
    Unreadable {
        /// What is wrong.
        problem: String,
    },
    /// It has words in its message and in its payload.
    #[error("there is a message, and the payload has {} `{field}` already", if *field == "input" { "an" } else { "a" })]
    SaidTwice {
        /// Where the payload has them.
        field: &'static str,
    },
    /// It responds with nothing.
    #[error(
        "nothing is chosen, confirmed or written, so there is no answer; `ignore` lets the agent go on without one"
    )]
    NothingSaid,
    /// It says nothing of what a person has to say.
    #[error("{0}")]
    Unsaid(Unsaid),
    /// It changes a plan with nothing.
    #[error("neither steps nor words change the plan; `resume` goes on with it as it is")]
    NoChange,
    /// A choice is chosen twice.
    #[error("`{given}` is chosen twice")]
    ChosenTwice {
        /// Its value.
        given: String,
    },
    /// What is chosen is no choice.
    #[error("`{given}` was not offered; offered are: {}", list(offered))]
    NotOffered {
        /// What was chosen.
        given: String,
        /// The values of the choices.
        offered: Vec<String>,
    },
    /// What is confirmed is none of the items.
    #[error("there is no item `{given}`; items are: {}", list(items))]
    UnknownItem {
        /// What was confirmed.
        given: String,
        /// The ids of the items.
        items: Vec<String>,
    },
    /// It edits, and has no request.
    #[error("the decision is `edit`, and there is no edited request")]
    NoRequest,
    /// It has a request, and neither edits nor reroutes.
    #[error("an edited request comes with the decision `edit` or `reroute`")]
    NoEdit,
    /// The request does not fit the schema of where it goes.
    #[error(
        "the edited request does not fit the schema of its target: {}",
        first(misfits)
    )]
    Request {
        /// What does not fit; at least one.
        misfits: Vec<Misfit>,
    },
}

impl InvalidDecision {
    /// The part that does not fit, as a JSON pointer into the body of a decision in the REST interface.
    pub const fn pointer(&self) -> &'static str {
        match self {
            Self::NotAllowed { .. } | Self::OwnQuestion => "/decision",
            Self::NoTarget { .. }
            | Self::NoReroute { .. }
            | Self::UnknownTarget { .. }
            | Self::TwoTargets { .. } => "/reroute_to",
            Self::Unreadable { .. } | Self::NothingSaid => "/payload",
            Self::SaidTwice { .. } => "/message",
            Self::NoChange => "/payload/plan",
            Self::ChosenTwice { .. }
            | Self::NotOffered { .. }
            | Self::Unsaid(Unsaid::Choice { .. } | Unsaid::OneChoice { .. }) => {
                "/payload/selectedChoices"
            }
            Self::Unsaid(Unsaid::Words) => "/payload/text",
            Self::UnknownItem { .. } | Self::Unsaid(Unsaid::Confirmations { .. }) => {
                "/payload/confirmations"
            }
            Self::NoRequest | Self::NoEdit | Self::Request { .. } => "/payload/editedRequest",
        }
    }
}

fn names(verdicts: &[Verdict]) -> String {
    let names = verdicts.iter().map(|verdict| verdict.name().to_owned());
    list(&names.collect::<Vec<_>>())
}

fn list(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn first(misfits: &[Misfit]) -> String {
    misfits.first().map(Misfit::to_string).unwrap_or_default()
}
