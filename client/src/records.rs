//! The rows of a server's store, in the form in which they are kept.

use control::{Ask, RunProgress};
use interrupts::IdempotencyKey;
use interrupts::catalogue::Catalogue;
use interrupts::life::{Interrupt, RunState};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditRow, Checkpoint, Filter, JournalEntry, NodeRow, Page, Run, StoredMessage, Verification,
};
use planning::PlanReading;
use routing_core::{InterruptId, NodeId, RuleId, RunId};
use serde::de::DeserializeOwned;

use crate::{Client, ClientError};

/// What a catalogue belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatalogueOf<'a> {
    /// A run, by its id or its alias.
    Run(&'a str),
    /// An interrupt.
    Interrupt(InterruptId),
}

/// Each method only reads, so each may be dropped and repeated at will. Each ends with a [`ClientError`] if the server
/// is away, does not know its caller, or refuses him.
impl Client {
    /// A run, by its id or its alias.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn run(&self, name: &str) -> Result<Option<Run>, ClientError> {
        let run = name.to_owned();
        self.find_record(Ask::Run(run)).await
    }

    /// Runs in these states, or all of them, in the order of their creation, with their positions.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn runs(
        &self,
        wanted: &[RunState],
        page: Page,
    ) -> Result<Vec<(u64, Run)>, ClientError> {
        let states = wanted.to_vec();
        self.record(Ask::Runs(states, page)).await
    }

    /// An agent of a run.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn agent(&self, run: RunId, node: &NodeId) -> Result<Option<NodeRow>, ClientError> {
        let node = node.clone();
        self.record(Ask::Agent(run, node)).await
    }

    /// The agents of a run, in the order in which they came to be, with their positions.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn agents(&self, run: RunId, page: Page) -> Result<Vec<(u64, NodeRow)>, ClientError> {
        self.record(Ask::Agents(run, page)).await
    }

    /// An interrupt.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn interrupt(&self, id: InterruptId) -> Result<Option<Interrupt>, ClientError> {
        self.find_record(Ask::Interrupt(id)).await
    }

    /// The interrupt that the request with this key made.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn interrupt_of(
        &self,
        key: &IdempotencyKey,
    ) -> Result<Option<Interrupt>, ClientError> {
        let key = key.clone();
        self.record(Ask::InterruptOf(key)).await
    }

    /// Interrupts in the order of their admission, with their positions.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn interrupts(
        &self,
        filter: &Filter,
        page: Page,
    ) -> Result<Vec<(u64, Interrupt)>, ClientError> {
        let filter = filter.clone();
        self.record(Ask::Interrupts(filter, page)).await
    }

    /// The catalogue of kinds and routes that a run follows, or that an interrupt was raised under.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn catalogue(&self, of: CatalogueOf<'_>) -> Result<Option<Catalogue>, ClientError> {
        self.find_record(match of {
            CatalogueOf::Run(name) => Ask::CatalogueOfRun(name.to_owned()),
            CatalogueOf::Interrupt(interrupt) => Ask::CatalogueOfInterrupt(interrupt),
        })
        .await
    }

    /// The journal of a run: what it did, and the results. Empty if there is no such run.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn journal(&self, run: RunId, page: Page) -> Result<Vec<JournalEntry>, ClientError> {
        self.record(Ask::Journal(run, page)).await
    }

    /// The messages to the agents of a run.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn messages(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<StoredMessage>, ClientError> {
        self.record(Ask::Messages(run, page)).await
    }

    /// The checkpoints that a run can continue from.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn checkpoints(
        &self,
        run: RunId,
        page: Page,
    ) -> Result<Vec<Checkpoint>, ClientError> {
        self.record(Ask::Checkpoints(run, page)).await
    }

    /// The audit.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn audit(&self, page: Page) -> Result<Vec<AuditRow>, ClientError> {
        self.record(Ask::Audit(page)).await
    }

    /// Makes the server read its whole audit, and compare every digest and all that it vouches for.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with status 409 if the audit is not what was written.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn verify_audit(&self) -> Result<Verification, ClientError> {
        self.read(&["v1", "history", "verify"], &[]).await
    }

    /// How far a run has come.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn progress(&self, run: RunId) -> Result<Option<RunProgress>, ClientError> {
        self.find_record(Ask::Progress(run)).await
    }

    /// The plan of a run that carries out one; nothing if it has saved none yet.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn plan(&self, run: RunId) -> Result<Option<PlanReading>, ClientError> {
        self.record(Ask::Plan(run)).await
    }

    /// The standing rules in the order in which they were made, with their positions.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn rules(&self, page: Page) -> Result<Vec<(u64, StandingRule)>, ClientError> {
        self.record(Ask::Rules(page)).await
    }

    /// A standing rule.
    ///
    /// # Errors
    ///
    /// [`ClientError`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn rule(&self, id: RuleId) -> Result<Option<StandingRule>, ClientError> {
        self.find_record(Ask::Rule(id)).await
    }

    /// What is there, or null.
    async fn record<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ClientError> {
        let (name, of) = in_parts(&ask)?;
        self.read(&["v1", "records", &name], &[("of", of)]).await
    }

    /// What may not be there.
    async fn find_record<T: DeserializeOwned>(&self, ask: Ask) -> Result<Option<T>, ClientError> {
        let (name, of) = in_parts(&ask)?;
        self.find(&["v1", "records", &name], &[("of", of)]).await
    }
}

/// The name of what is asked for, and the rest of it as JSON.
fn in_parts(ask: &Ask) -> Result<(String, String), ClientError> {
    let unsendable = |problem: String| ClientError::Unsendable { problem };
    let asked = serde_json::to_value(ask).map_err(|error| unsendable(error.to_string()))?;
    let parts = asked.as_object().and_then(|asked| asked.iter().next());
    let (name, of) = parts.ok_or_else(|| unsendable("it asks for nothing".to_owned()))?;
    Ok((name.clone(), of.to_string()))
}
