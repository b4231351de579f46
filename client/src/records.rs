//! The rows of a server's store, in the form in which they are kept.

use control::RunProgress;
use interrupts::IdempotencyKey;
use interrupts::catalogue::Catalogue;
use interrupts::life::{Interrupt, RunState};
use interrupts::rules::StandingRule;
use interrupts::store::{
    AuditRow, Checkpoint, Filter, JournalEntry, NodeRow, Page, Run, StoredMessage, Verification,
};
use planning::PlanReading;
use routing_core::{InterruptId, NodeId, RuleId, RunId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{Client, ClientError};

/// A row and its place.
#[derive(Debug, Deserialize)]
struct PositionedRow<T> {
    position: u64,
    record: T,
}

/// A part of a list of rows.
#[derive(Debug, Deserialize)]
struct Records<T> {
    records: Vec<PositionedRow<T>>,
}

/// The plan of a run.
#[derive(Debug, Deserialize)]
struct PlanRecord {
    reading: Option<PlanReading>,
}

/// What a catalogue belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatalogueOf<'a> {
    /// A run, by its id or its alias.
    Run(&'a str),
    /// An interrupt.
    Interrupt(InterruptId),
}

/// The rows without their places.
fn rows<T>(placed: Vec<(u64, T)>) -> Vec<T> {
    placed.into_iter().map(|(_position, row)| row).collect()
}

/// The wanted states, as a parameter; none if all are wanted.
fn states<T: ToString>(states: &[T]) -> Vec<(&'static str, String)> {
    if states.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = states.iter().map(T::to_string).collect();
    vec![("states", names.join(","))]
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
        self.find(&["v1", "records", "runs", name]).await
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
        self.page(&["v1", "records", "runs"], states(wanted), page)
            .await
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
        let run = run.to_string();
        let query = vec![("node_id", node.to_string())];
        let page = Page { after: 0, limit: 1 };
        let parts = ["v1", "records", "runs", &run, "agents"];
        Ok(rows(self.page(&parts, query, page).await?).pop())
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
        self.of_run(run, "agents", page).await
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
        let id = id.to_string();
        self.find(&["v1", "records", "interrupts", &id]).await
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
        let query = vec![("key", key.as_str().to_owned())];
        let page = Page { after: 0, limit: 1 };
        let parts = ["v1", "records", "interrupts"];
        Ok(rows(self.page(&parts, query, page).await?).pop())
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
        let mut query = states(&filter.states);
        if let Some(run) = filter.run {
            query.push(("run_id", run.to_string()));
        }
        if let Some(node) = &filter.node {
            query.push(("node_id", node.to_string()));
        }
        self.page(&["v1", "records", "interrupts"], query, page)
            .await
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
        let (kind, id) = match of {
            CatalogueOf::Run(name) => ("runs", name.to_owned()),
            CatalogueOf::Interrupt(id) => ("interrupts", id.to_string()),
        };
        self.find(&["v1", "records", kind, &id, "catalogue"]).await
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
        self.of_run(run, "journal", page).await.map(rows)
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
        self.of_run(run, "messages", page).await.map(rows)
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
        self.of_run(run, "checkpoints", page).await.map(rows)
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
        self.page(&["v1", "records", "audit"], Vec::new(), page)
            .await
            .map(rows)
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
        let run = run.to_string();
        self.find(&["v1", "records", "runs", &run, "progress"])
            .await
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
        let run = run.to_string();
        let parts = ["v1", "records", "runs", &run, "plan"];
        let told: PlanRecord = self.read(&parts, &[]).await?;
        Ok(told.reading)
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
        self.page(&["v1", "records", "rules"], Vec::new(), page)
            .await
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
        let id = id.to_string();
        self.find(&["v1", "records", "rules", &id]).await
    }

    /// A page of rows.
    async fn page<T: DeserializeOwned>(
        &self,
        parts: &[&str],
        mut query: Vec<(&'static str, String)>,
        page: Page,
    ) -> Result<Vec<(u64, T)>, ClientError> {
        query.push(("cursor", page.after.to_string()));
        query.push(("limit", page.limit.to_string()));
        let rows: Records<T> = self.read(parts, &query).await?;
        let placed = |row: PositionedRow<T>| (row.position, row.record);
        Ok(rows.records.into_iter().map(placed).collect())
    }

    /// A page of the rows of a run. Empty if there is no such run.
    async fn of_run<T: DeserializeOwned>(
        &self,
        run: RunId,
        what: &str,
        page: Page,
    ) -> Result<Vec<(u64, T)>, ClientError> {
        let run = run.to_string();
        self.page(&["v1", "records", "runs", &run, what], Vec::new(), page)
            .await
    }
}
