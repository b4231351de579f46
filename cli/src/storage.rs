//! The store that a command works on, and the notifiers of the processes that own its runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use interrupt_router::RunId;
use interrupts::OwnerName;
use interrupts::store::{Run, Store, StoreError};
use server::StoreTimes;
use store::{LocationError, Opening, StoreLocation, StoreSettings, StoreStatus, notifier_at};

use crate::arguments::StoreArguments;
use crate::exit::{Exit, Failure, tell};
use crate::refused::by_store;
use crate::visible::visible_line;

/// How many interrupts a look at the deadlines ends at most.
const MOST_SWEPT: u32 = 500;

/// An open store.
#[derive(Clone)]
pub(crate) struct Storage {
    /// What is kept.
    pub(crate) store: Arc<dyn Store>,
    location: StoreLocation,
    /// Whether there was no store yet: it is empty until a process creates the file.
    is_stand_in: bool,
    status: StoreStatus,
    /// What an operator should know about it.
    notice: Option<&'static str>,
}

/// Where the store is, and whether the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreChoice {
    /// The location.
    pub(crate) location: StoreLocation,
    /// Whether it is the default one.
    pub(crate) is_usual: bool,
}

impl StoreChoice {
    /// The store that was named, else the file in the user's state folder.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] if that names no store.
    pub(crate) fn of(arguments: &StoreArguments) -> Result<Self, Failure> {
        let named = arguments.store.as_deref().filter(|url| !url.is_empty());
        let location = match named {
            Some(url) => url.parse(),
            None => StoreLocation::usual(),
        };
        Ok(Self {
            location: location.map_err(|error| no_location("--store", &error))?,
            is_usual: named.is_none(),
        })
    }
}

impl Storage {
    /// Opens the store. Nothing is created: if there is none yet at the usual place, it is an empty one.
    ///
    /// # Errors
    ///
    /// [`Exit::NotFound`] if a store was named that does not exist; otherwise as opening it.
    ///
    /// # Cancel safety
    ///
    /// Safe: the file is as it was, or its schema is up to date.
    pub(crate) async fn open(arguments: &StoreArguments) -> Result<Self, Failure> {
        Self::open_as(arguments, Opening::Checked).await
    }

    /// As [`Storage::open`], looking at as much of a file as is said.
    pub(crate) async fn open_as(
        arguments: &StoreArguments,
        opening: Opening,
    ) -> Result<Self, Failure> {
        let settings = StoreSettings {
            opening,
            ..StoreSettings::default()
        };
        let StoreChoice { location, is_usual } = StoreChoice::of(arguments)?;
        let is_there = location.exists().await;
        let is_there = is_there.map_err(|error| unopened(&location, &error))?;
        if !is_there && !is_usual {
            let text = match &location {
                StoreLocation::Memory => {
                    "a store in memory ends with the process that has it".to_owned()
                }
                StoreLocation::File(path) => format!("there is no store {}", path.display()),
                StoreLocation::Postgres(place) => {
                    format!(
                        "there is no store in the schema `{}` of {place}",
                        place.schema()
                    )
                }
            };
            return Err(Failure::new(Exit::NotFound, text)
                .hint("a run makes one: irq run \"…\" --store PATH"));
        }
        let opened = if is_there {
            location.look(settings).await
        } else {
            StoreLocation::Memory.look(StoreSettings::default()).await
        };
        let opened = opened.map_err(|error| unopened(&location, &error))?;
        let (store, status, notice) = (opened.store, opened.status, opened.notice);
        if let StoreStatus::Damaged { detail } = &status {
            eprintln!(
                "irq: the store {location} is damaged, and what is shown may not be all: {}. Nothing is written to it.",
                visible_line(detail)
            );
        }
        #[cfg(feature = "failpoints")]
        let store = crate::failpoints::over(store)?;
        let is_stand_in = !is_there;
        Ok(Self {
            store,
            location,
            is_stand_in,
            status,
            notice,
        })
    }

    /// Whether the file that did not exist when this was opened exists now.
    pub(crate) fn has_appeared(&self) -> bool {
        self.is_stand_in && self.location.path().is_some_and(Path::exists)
    }

    /// Opens the store for a run that is to be kept in it. A missing file is created.
    ///
    /// # Errors
    ///
    /// As opening it.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn create(arguments: &StoreArguments) -> Result<Self, Failure> {
        Self::create_with(arguments, StoreSettings::default()).await
    }

    /// As [`Storage::create`], and how long its writes take is counted there.
    pub(crate) async fn create_timed(
        arguments: &StoreArguments,
        times: &Arc<StoreTimes>,
    ) -> Result<Self, Failure> {
        let times = Arc::clone(times);
        let settings = StoreSettings {
            written: Some(Arc::new(move |operation, took| {
                times.wrote(operation, took);
            })),
            ..StoreSettings::default()
        };
        Self::create_with(arguments, settings).await
    }

    async fn create_with(
        arguments: &StoreArguments,
        settings: StoreSettings,
    ) -> Result<Self, Failure> {
        let StoreChoice { location, .. } = StoreChoice::of(arguments)?;
        let opened = location.look(settings).await;
        let opened = opened.map_err(|error| unopened(&location, &error))?;
        let (store, status, notice) = (opened.store, opened.status, opened.notice);
        if let Some(refusal) = status.refusal() {
            return Err(unopened(&location, &refusal));
        }
        // A file was looked through when it was opened.
        let counted = match location {
            StoreLocation::Postgres(_) => store.count_rows().await,
            StoreLocation::Memory | StoreLocation::File(_) => Ok(()),
        };
        counted.map_err(|error| unopened(&location, &error))?;
        #[cfg(feature = "failpoints")]
        let store = crate::failpoints::over(store)?;
        let is_stand_in = false;
        Ok(Self {
            store,
            location,
            is_stand_in,
            status,
            notice,
        })
    }

    /// What an operator should know about it.
    pub(crate) const fn notice(&self) -> Option<&'static str> {
        self.notice
    }

    /// Prints what an operator should know about it.
    pub(crate) fn say_notice(&self) {
        if let Some(notice) = self.notice {
            tell(format_args!("irq: {notice}."));
        }
    }

    /// The store's location.
    pub(crate) const fn location(&self) -> &StoreLocation {
        &self.location
    }

    /// Where the changes of a run's tools are kept, so that they can be undone; `None` if they are not kept.
    pub(crate) fn edits_of(&self, run: RunId) -> Option<PathBuf> {
        let beside = match &self.location {
            StoreLocation::Memory => return None,
            // The same for a path through a link.
            StoreLocation::File(path) => {
                std::fs::canonicalize(path).unwrap_or_else(|_not_there| path.clone())
            }
            // The files are this machine's, and so are their earlier versions.
            StoreLocation::Postgres(_) => StoreLocation::usual().ok()?.path()?.to_owned(),
        };
        let mut folder = beside.into_os_string();
        folder.push(".edits");
        Some(Path::new(&folder).join(run.to_string()))
    }

    /// Ends what has waited too long, so that later reads see it as it should be. If nothing has a time limit, or the
    /// store is only read, nothing is written.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub(crate) async fn sweep(&self) -> Result<(), Failure> {
        if !self.is_whole() {
            return Ok(());
        }
        match self.store.sweep(MOST_SWEPT).await {
            // What only looks needs no room; what writes finds out by itself.
            Ok(_) | Err(StoreError::Full) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether all of it is there and can be written.
    pub(crate) fn is_whole(&self) -> bool {
        self.status == StoreStatus::Whole
    }

    /// Wakes the process that owns a run, so that it looks into the store at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have notified or not.
    pub(crate) async fn notify(&self, run: &Run) {
        let Some(lease) = &run.lease else {
            return;
        };
        let name = format!("irq-{}-{}", std::process::id(), run.id);
        // Without a name to notify with, the owner's next poll finds the change.
        if let Ok(own) = OwnerName::new(name) {
            notifier_at(&self.location, &own).notify(&lease.owner).await;
        }
    }
}

/// Why a text says no location of a store, which `named` gave.
pub(crate) fn no_location(named: &str, error: &LocationError) -> Failure {
    if matches!(error, LocationError::WithoutPostgres) {
        return Failure::built_without("PostgreSQL");
    }
    Failure::new(Exit::Usage, format!("{named}: {error}"))
}

fn unopened(location: &StoreLocation, error: &StoreError) -> Failure {
    let failure = by_store(error);
    let hint = failure.advice().map(str::to_owned);
    let named = Failure::new(
        failure.exit,
        format!("cannot open the store {location}: {error}"),
    );
    match hint {
        Some(hint) => named.hint(hint),
        None => named,
    }
}

/// Runs a command to its end.
///
/// # Errors
///
/// What the command fails with, or if the system gives no runtime.
pub(crate) fn complete<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}
