//! Catalogues of workflows, and which one a run continues under.

use interrupt_router::RunId;
use interrupts::catalogue::{CatalogueChange, SharedCatalogue};
use interrupts::life::{Actor, Event};
use interrupts::store::{AuditSubject, CatalogueRow, FollowError, Run, RunError, StoreError};

use super::run::check_epoch;
use super::{Halt, Operation};
use crate::tables::{Failed, PlacedCatalogue, RunRow, Tables};

/// Keeps a catalogue.
pub(crate) struct KeepCatalogue {
    pub(crate) catalogue: SharedCatalogue,
}

impl Operation for KeepCatalogue {
    type Output = CatalogueRow;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        want(&self.catalogue, tables);
    }

    fn run(&self, tables: &mut Tables) -> Result<CatalogueRow, Halt<StoreError>> {
        Ok(keep(&self.catalogue, tables)?)
    }
}

/// Lets a run continue under a catalogue.
pub(crate) struct FollowCatalogue {
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    pub(crate) catalogue: SharedCatalogue,
    /// What is new in it. The one before is read before the transaction, for only the owner of the run changes which it is.
    pub(crate) news: CatalogueNews,
}

/// What is new in a catalogue.
pub(crate) enum CatalogueNews {
    /// The run has had none.
    First,
    /// These were added, or only texts have changed.
    Compatible(Vec<String>),
    /// An incompatible change that was accepted.
    Accepted {
        /// What.
        change: CatalogueChange,
        /// The catalogue that it has had: what is open and asks otherwise than under that is asked again.
        before: SharedCatalogue,
        /// Who accepted it.
        by: Actor,
    },
}

impl Operation for FollowCatalogue {
    type Output = Run;
    type Error = FollowError;

    fn want(&self, tables: &mut Tables) {
        want(&self.catalogue, tables);
        tables.runs.want(&self.run);
        if let CatalogueNews::Accepted { .. } = &self.news {
            tables.live.want(&self.run);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Run, Halt<FollowError>> {
        let Some(RunRow { position, mut run }) = tables.runs.get(&self.run)?.cloned() else {
            return Err(Halt::Refused(RunError::Unknown { run: self.run }.into()));
        };
        check_epoch(&run, self.epoch).map_err(Halt::within)?;
        let kept = keep(&self.catalogue, tables)?;
        if run.catalogue == Some(kept.digest) {
            return Ok(run);
        }
        run.catalogue = Some(kept.digest);
        run.version += 1;
        tables.audit(AuditSubject::Run {
            run: run.id,
            event: "catalogue".to_owned(),
            state: run.state,
            epoch: run.epoch,
            reason: Some(self.in_words(&kept)),
        })?;
        let followed = run.clone();
        tables.runs.put(run.id, RunRow { position, run });
        self.ask_again(tables)?;
        Ok(followed)
    }
}

impl FollowCatalogue {
    /// Asks the open interrupts again whose answers have another schema by now.
    fn ask_again(&self, tables: &mut Tables) -> Result<(), Halt<FollowError>> {
        let CatalogueNews::Accepted { before, by, .. } = &self.news else {
            return Ok(());
        };
        let event = Event::AskAgain {
            actor: by.clone(),
            catalogue: self.catalogue.digest(),
            routes: self
                .catalogue
                .routes()
                .iter()
                .map(|it| it.name.clone())
                .collect(),
        };
        for interrupt in tables.live_interrupts(self.run)? {
            let otherwise = self.catalogue.asks_otherwise(before, &interrupt);
            if otherwise.map_err(|change| Halt::Refused(change.into()))?
                && let Ok(step) = interrupt.after(&event, tables.now)
            {
                tables.perform(step)?;
            }
        }
        Ok(())
    }

    fn in_words(&self, kept: &CatalogueRow) -> String {
        let CatalogueRow { name, version, .. } = kept;
        let news = match &self.news {
            CatalogueNews::First => String::new(),
            CatalogueNews::Compatible(news) if news.is_empty() => {
                "; only texts are new in it".to_owned()
            }
            CatalogueNews::Compatible(news) => format!("; new in it: {}", news.join(", ")),
            CatalogueNews::Accepted { change, by, .. } => {
                let CatalogueChange {
                    pointer, reason, ..
                } = change;
                format!(
                    "; {} has accepted that {pointer} has changed: {reason}",
                    by.name
                )
            }
        };
        format!("{name} version {version}, {}{news}", kept.digest)
    }
}

fn want(catalogue: &SharedCatalogue, tables: &mut Tables) {
    tables.heads.want(&());
    tables.catalogues.want(&catalogue.digest());
    tables.versions.want(catalogue.name());
}

/// The row of a catalogue, which is written where it is not there yet.
fn keep(catalogue: &SharedCatalogue, tables: &mut Tables) -> Result<CatalogueRow, Failed> {
    let digest = catalogue.digest();
    if let Some(known) = tables.catalogues.get(&digest)? {
        return Ok(known.row.clone());
    }
    let name = catalogue.name();
    let version = tables.versions.get(name)?.copied().unwrap_or(0) + 1;
    tables.versions.put(name.clone(), version);
    let mut heads = tables.heads()?;
    heads.catalogues += 1;
    let row = CatalogueRow {
        position: heads.catalogues,
        digest,
        name: name.clone(),
        version,
    };
    tables.heads.put((), heads);
    let placed = PlacedCatalogue {
        row: row.clone(),
        content: Some(SharedCatalogue::clone(catalogue)),
    };
    tables.catalogues.put(digest, placed);
    Ok(row)
}
