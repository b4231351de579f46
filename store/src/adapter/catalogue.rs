//! The port of catalogues.

use async_trait::async_trait;
use interrupt_router::RunId;
use interrupts::Digest;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::Actor;
use interrupts::store::{
    CatalogueRow, Catalogues, FollowError, Run, RunError, Runs as _, StoreError,
};

use super::Adapter;
use crate::operation::{CatalogueNews, FollowCatalogue, KeepCatalogue};
use crate::relational::{Cell, Relational, Rows as _, catalogue, catalogue_row, columns};

#[async_trait]
impl<B: Relational> Catalogues for Adapter<B> {
    async fn keep_catalogue(&self, catalogue: SharedCatalogue) -> Result<CatalogueRow, StoreError> {
        self.backend.submit(KeepCatalogue { catalogue }).await
    }

    async fn follow_catalogue(
        &self,
        run: RunId,
        epoch: u64,
        catalogue: SharedCatalogue,
        accepted: Option<Actor>,
    ) -> Result<Run, FollowError> {
        let Some(row) = self.run(run).await? else {
            return Err(RunError::Unknown { run }.into());
        };
        let news = match row.catalogue {
            // Nothing is written for most runs that continue.
            Some(digest) if digest == catalogue.digest() && row.epoch == epoch => return Ok(row),
            Some(digest) => {
                let before = self.catalogue(digest).await?;
                let before = before.ok_or_else(|| StoreError::Corrupt {
                    detail: format!("{run} names a catalogue that is not there: {digest}"),
                })?;
                match (catalogue.news_since(&before), accepted) {
                    (Ok(news), _) => CatalogueNews::Compatible(news),
                    (Err(change), None) => return Err(change.into()),
                    (Err(change), Some(by)) => {
                        by.check_may_ask_again()?;
                        CatalogueNews::Accepted { before, change, by }
                    }
                }
            }
            None => CatalogueNews::First,
        };
        let follow = FollowCatalogue {
            run,
            epoch,
            catalogue,
            news,
        };
        self.backend.submit(follow).await
    }

    async fn catalogue(&self, digest: Digest) -> Result<Option<SharedCatalogue>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(catalogues),
            " FROM catalogues WHERE digest = ?"
        );
        self.backend
            .row(sql, [Cell::made(&digest)], catalogue)
            .await
    }

    async fn catalogues(&self) -> Result<Vec<CatalogueRow>, StoreError> {
        let sql =
            "SELECT position, digest, name, version, '', seal FROM catalogues ORDER BY position";
        self.backend.rows(sql, [], catalogue_row).await
    }
}
