//! The agents of a run that is over.

use super::owned_run_state::{KeepError, OwnedRunState};
use crate::store::{NodeActivity, NodeRow, Pages};

const PAGE: u32 = 200;

impl OwnedRunState {
    /// Records that agents which had not ended are cancelled, because their run is.
    pub(super) async fn cancel_agents(&self) -> Result<(), KeepError> {
        let settings = &self.shared.settings;
        let store = &settings.store;
        let mut pages = Pages::of(PAGE);
        while let Some(found) = pages
            .next(|page| async move { self.read(|| store.nodes(Some(self.run), page)).await })
            .await?
        {
            let now = settings.clock.now();
            let cancelled: Vec<NodeRow> = found
                .into_iter()
                .map(|(_position, row)| row)
                .filter(|row| !row.activity.is_final())
                .map(|row| NodeRow {
                    activity: NodeActivity::Cancelled,
                    takes_messages: false,
                    since: now,
                    ..row
                })
                .collect();
            if !cancelled.is_empty() {
                self.write(|| store.put_nodes(self.run, self.epoch, cancelled.clone()))
                    .await?;
            }
        }
        Ok(())
    }
}
