//! What can be asked for as it is stored: rows of the store, and what is read from several of them.

use interrupts::IdempotencyKey;
use interrupts::life::RunState;
use interrupts::store::{Filter, Page};
use routing_core::{InterruptId, NodeId, RuleId, RunId};
use serde::{Deserialize, Serialize};

/// A question that only reads. A run is named by its id or its alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ask {
    /// A run.
    Run(String),
    /// Runs in these states, or all of them, in the order of their creation, with their positions.
    Runs(Vec<RunState>, Page),
    /// How far a run has come.
    Progress(RunId),
    /// The plan of a run, with everything that is shown of it; null if it has saved none yet.
    Plan(RunId),
    /// The catalogue of kinds and routes that a run follows.
    CatalogueOfRun(String),
    /// An agent; null if its run has none of that id.
    Agent(RunId, NodeId),
    /// The agents of a run, in the order in which they came to be, with their positions.
    Agents(RunId, Page),
    /// The checkpoints of a run.
    Checkpoints(RunId, Page),
    /// What a run did, and the results.
    Journal(RunId, Page),
    /// The messages to the agents of a run.
    Messages(RunId, Page),
    /// An interrupt.
    Interrupt(InterruptId),
    /// The interrupt that the request with this key made; null if there is none.
    InterruptOf(IdempotencyKey),
    /// Interrupts in the order of their admission, with their positions.
    Interrupts(Filter, Page),
    /// The catalogue that an interrupt was raised under.
    CatalogueOfInterrupt(InterruptId),
    /// A standing rule.
    Rule(RuleId),
    /// The standing rules in the order in which they were made, with their positions.
    Rules(Page),
    /// The audit, each row with the text that its digest covers.
    Audit(Page),
}

impl Ask {
    /// The part of a list that it asks for.
    pub const fn page(&self) -> Option<Page> {
        match self {
            Self::Runs(_, page)
            | Self::Agents(_, page)
            | Self::Checkpoints(_, page)
            | Self::Journal(_, page)
            | Self::Messages(_, page)
            | Self::Interrupts(_, page)
            | Self::Rules(page)
            | Self::Audit(page) => Some(*page),
            Self::Run(_)
            | Self::Progress(_)
            | Self::Plan(_)
            | Self::CatalogueOfRun(_)
            | Self::Agent(..)
            | Self::Interrupt(_)
            | Self::InterruptOf(_)
            | Self::CatalogueOfInterrupt(_)
            | Self::Rule(_) => None,
        }
    }
}
