//! Rows of a server's store, page by page, in the form in which they are kept.

use interrupts::store::Page;
use routing_core::RunId;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Remote;
use crate::exit::Failure;

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

impl Remote {
    /// A page of rows.
    pub(super) async fn page<T: DeserializeOwned>(
        &self,
        parts: &[&str],
        mut query: Vec<(&'static str, String)>,
        page: Page,
    ) -> Result<Vec<(u64, T)>, Failure> {
        query.push(("cursor", page.after.to_string()));
        query.push(("limit", page.limit.to_string()));
        let rows: Records<T> = self.client.read(parts, &query).await?;
        let placed = |row: PositionedRow<T>| (row.position, row.record);
        Ok(rows.records.into_iter().map(placed).collect())
    }

    /// A page of the rows of a run. Where there is no such run, there are none.
    pub(super) async fn of_run<T: DeserializeOwned>(
        &self,
        run: RunId,
        what: &str,
        page: Page,
    ) -> Result<Vec<(u64, T)>, Failure> {
        let run = run.to_string();
        self.page(&["v1", "records", "runs", &run, what], Vec::new(), page)
            .await
    }
}

/// The rows without their places.
pub(super) fn rows<T>(placed: Vec<(u64, T)>) -> Vec<T> {
    placed.into_iter().map(|(_position, row)| row).collect()
}

/// The states that are wanted, as a parameter; none where all are.
pub(super) fn states<T: ToString>(states: &[T]) -> Vec<(&'static str, String)> {
    if states.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = states.iter().map(T::to_string).collect();
    vec![("states", names.join(","))]
}
