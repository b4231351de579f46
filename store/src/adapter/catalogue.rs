//! The port of catalogues.

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::catalogue::SharedCatalogue;
use interrupts::life::{Actor, State};
use interrupts::store::{
    CatalogueRow, Catalogues, Filter, FollowError, Interrupts as _, Pages, Run, RunError,
    StoreError,
};
use routing_core::{InterruptId, RunId};

use super::Adapter;
use crate::operation::{CatalogueNews, FollowCatalogue, KeepCatalogue};
use crate::query::Backend;

#[async_trait]
impl<B: Backend> Catalogues for Adapter<B> {
    async fn keep_catalogue(&self, catalogue: SharedCatalogue) -> Result<CatalogueRow, StoreError> {
        self.backend.execute(KeepCatalogue { catalogue }).await
    }

    async fn follow_catalogue(
        &self,
        run: RunId,
        epoch: u64,
        catalogue: SharedCatalogue,
        accepted: Option<Actor>,
    ) -> Result<Run, FollowError> {
        let Some(row) = self.backend.run(run).await? else {
            return Err(RunError::Unknown { run }.into());
        };
        let news = match row.catalogue {
            // Nothing is written for most runs that continue.
            Some(digest) if digest == catalogue.digest() && row.epoch == epoch => return Ok(row),
            Some(digest) => {
                let before = self.backend.catalogue(digest).await?;
                let before = before.ok_or_else(|| StoreError::Corrupt {
                    detail: format!("{run} names a catalogue that is not there: {digest}"),
                })?;
                match (catalogue.news_since(&before), accepted) {
                    (Ok(news), _) => CatalogueNews::Compatible(news),
                    (Err(change), None) => return Err(change.into()),
                    (Err(change), Some(by)) => {
                        by.check_may_ask_again()?;
                        CatalogueNews::Accepted {
                            asked: asked_otherwise(self, run, &catalogue, &before).await?,
                            change,
                            by,
                        }
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
        Ok(self.backend.execute(follow).await?)
    }

    async fn catalogue(&self, digest: Digest) -> Result<Option<SharedCatalogue>, StoreError> {
        self.backend.catalogue(digest).await
    }

    async fn catalogues(&self) -> Result<Vec<CatalogueRow>, StoreError> {
        self.backend.catalogues().await
    }
}

/// How many interrupts are read together.
const PAGE: u32 = 500;

/// The open interrupts of a run whose answers have another schema in the new catalogue.
async fn asked_otherwise<B: Backend>(
    store: &Adapter<B>,
    run: RunId,
    catalogue: &SharedCatalogue,
    before: &SharedCatalogue,
) -> Result<Vec<InterruptId>, FollowError> {
    let open = Filter {
        run: Some(run),
        node: None,
        states: State::ALL.into_iter().filter(|it| it.is_live()).collect(),
    };
    let rows = Pages::of(PAGE).values(|page| store.interrupts(&open, page));
    let mut asked = Vec::new();
    for interrupt in rows.await? {
        if catalogue.asks_otherwise(before, &interrupt)? {
            asked.push(interrupt.id);
        }
    }
    Ok(asked)
}
