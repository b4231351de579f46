//! The runs that workers may be able to take, as one server knows them.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::lock::Mutex as Turn;
use interrupt_router::RunId;
use interrupts::life::{Lease, RunState};
use interrupts::store::{Pages, Run, Store, StoreError};
use interrupts::{Labels, WorkflowName};
use jiff::{SignedDuration, Timestamp};
use journal::{Workflow, executed_by_worker, needs_in};

use crate::lease::Taking;

/// How many runs are read at a time.
const PAGE: u32 = 200;

/// How many runs are noted at most while no worker asks. Beyond that, all runs are read again when a worker asks.
const MOST: usize = 100_000;

/// How long a lease that was read counts: another server does not report that its worker has released a run.
const LEASE_COUNTS: SignedDuration = SignedDuration::from_secs(30);

/// The runs that workers may be able to take. A server reads all of them once. Afterwards it reads only the runs that the outbox
/// mentions, and every half minute those that have an owner, so an idle worker costs only as much as happens.
#[derive(Debug, Default)]
pub struct Candidates {
    noted: Mutex<Noted>,
    /// Held while runs are read, so that every caller sees the result and no caller reads the same again.
    looking: Turn<()>,
}

#[derive(Debug, Default)]
struct Noted {
    /// Whether mentions are noted: from the start of the first look.
    notes: bool,
    /// Whether that first look was completed.
    is_whole: bool,
    count: u64,
    /// The runs that were mentioned and have not been read since.
    mentioned: HashMap<RunId, u64>,
    /// What was read of the others, each with the number of its last mention.
    known: HashMap<RunId, (u64, KnownRun)>,
}

/// What is known of an unfinished run that workers execute.
#[derive(Debug, Clone)]
struct KnownRun {
    workflow: WorkflowName,
    needs: Labels,
    created_at: Timestamp,
    lease: Option<Lease>,
    /// Until when the lease counts, as far as was read.
    kept_until: Timestamp,
}

impl KnownRun {
    /// `None` for a run that no worker can take until the outbox mentions it again.
    fn of(run: &Run, now: Timestamp) -> Option<Self> {
        let Workflow::Embedded(workflow) = Workflow::in_content(&run.content) else {
            return None;
        };
        let may_go_on = match run.state {
            RunState::Created | RunState::Running | RunState::Waiting => true,
            RunState::Stopping
            | RunState::Paused
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => false,
        };
        let counts = now.checked_add(LEASE_COUNTS).unwrap_or(Timestamp::MAX);
        let until = run.lease.as_ref().map_or(now, |lease| lease.until);
        (may_go_on && executed_by_worker(&run.content)).then(|| Self {
            workflow,
            needs: needs_in(&run.content),
            created_at: run.created_at,
            lease: run.lease.clone(),
            kept_until: until.min(counts),
        })
    }

    fn is_for(&self, workflow: &WorkflowName, taking: &Taking) -> bool {
        self.workflow == *workflow && taking.labels.cover(&self.needs)
    }

    /// Until when another try owns it, as far as is known.
    fn kept_until(&self, taking: &Taking, now: Timestamp) -> Option<Timestamp> {
        let is_others = self.lease.as_ref().is_some_and(|it| !taking.has(it));
        (is_others && now < self.kept_until).then_some(self.kept_until)
    }
}

impl Candidates {
    /// Notes that the outbox mentions a run, or that a worker has released it.
    pub fn note(&self, run: RunId) {
        let mut noted = self.noted();
        if noted.mentioned.len() >= MOST {
            *noted = Noted {
                count: noted.count,
                ..Noted::default()
            };
        }
        if noted.notes {
            noted.count += 1;
            let number = noted.count;
            noted.known.remove(&run);
            noted.mentioned.insert(run, number);
        }
    }

    /// Reads what is due: all runs the first time, then those that were mentioned.
    ///
    /// # Errors
    ///
    /// [`StoreError`]: it is done again then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it is done again.
    pub(crate) async fn look(&self, store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
        let _one_looks = self.looking.lock().await;
        while !self.noted().is_whole {
            self.look_at_all(store, now).await?;
        }
        let mentioned = self.noted().mentioned.clone();
        for (id, number) in mentioned {
            let run = store.run(id).await?;
            let known = run.and_then(|run| KnownRun::of(&run, now));
            self.learn(id, number, known);
        }
        Ok(())
    }

    async fn look_at_all(&self, store: &dyn Store, now: Timestamp) -> Result<(), StoreError> {
        // Mentions are noted from here on, so none is missed between the pages.
        self.noted().notes = true;
        let states = [RunState::Created, RunState::Running, RunState::Waiting];
        let mut pages = Pages::of(PAGE);
        while let Some(runs) = pages.next(|page| store.runs(&states, page)).await? {
            let mut noted = self.noted();
            for (_position, run) in runs {
                // A run that was mentioned meanwhile is read again.
                if let Some(known) = KnownRun::of(&run, now)
                    && !noted.mentioned.contains_key(&run.id)
                {
                    noted.known.insert(run.id, (0, known));
                }
            }
        }
        let mut noted = self.noted();
        // If there were too many mentions meanwhile, some are lost.
        noted.is_whole = noted.notes;
        Ok(())
    }

    /// The runs of a workflow that this try may be able to take, the oldest first, each with the number of its last mention.
    pub(crate) fn of(
        &self,
        workflow: &WorkflowName,
        taking: &Taking,
        now: Timestamp,
    ) -> Vec<(RunId, u64)> {
        let noted = self.noted();
        let own = noted.known.iter().filter(|(_run, (_number, known))| {
            known.is_for(workflow, taking) && known.kept_until(taking, now).is_none()
        });
        let own = own.map(|(run, (number, known))| (known.created_at, *run, *number));
        let mut own: Vec<_> = own.collect();
        drop(noted);
        own.sort_unstable();
        own.into_iter()
            .map(|(_at, run, number)| (run, number))
            .collect()
    }

    /// When to check a run that another worker owns: if that worker died, it releases nothing, and no event reports it.
    pub(crate) fn first_end(
        &self,
        workflow: &WorkflowName,
        taking: &Taking,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let noted = self.noted();
        let known = noted.known.values().map(|(_number, known)| known);
        let own = known.filter(|known| known.is_for(workflow, taking));
        own.filter_map(|known| known.kept_until(taking, now)).min()
    }

    /// Records what was read of a run whose last mention had this number. A run that cannot go on is dropped until it
    /// is mentioned again.
    fn learn(&self, run: RunId, number: u64, known: Option<KnownRun>) {
        let mut noted = self.noted();
        let known_as = noted.known.get(&run).map(|(number, _known)| *number);
        if noted.mentioned.get(&run).copied().or(known_as) != Some(number) {
            return;
        }
        noted.mentioned.remove(&run);
        match known {
            Some(known) => noted.known.insert(run, (number, known)),
            None => noted.known.remove(&run),
        };
    }

    /// A run was read that cannot be taken now.
    pub(crate) fn is_kept(&self, run: &Run, number: u64, now: Timestamp) {
        self.learn(run.id, number, KnownRun::of(run, now));
    }

    /// A run was read that cannot go on.
    pub(crate) fn rests(&self, run: RunId, number: u64) {
        self.learn(run, number, None);
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        // Each change is one step, so a panic elsewhere leaves it whole.
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::RunId;
    use interrupts::store::Run;
    use interrupts::{Label, Labels, OwnerName, WorkflowName};
    use jiff::{SignedDuration, Timestamp};
    use serde_json::{Value, json};

    use super::{Candidates, LEASE_COUNTS, MOST};
    use crate::lease::Taking;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(seconds: i64) -> Timestamp {
        NOW.checked_add(SignedDuration::from_secs(seconds)).unwrap()
    }

    fn taking(labels: &[&str]) -> Taking {
        let labels = labels.iter().map(|label| Label::new(*label).unwrap());
        Taking {
            owner: OwnerName::new("desk/me#000000000000").unwrap(),
            lease: SignedDuration::from_secs(30),
            lost: None,
            names_try: true,
            labels: Labels::new(labels).unwrap(),
        }
    }

    fn run(state: &str, created_at: i64, lease: Value, needs: &[&str]) -> Run {
        let content =
            json!({"version": 4, "workflow": "desk", "executor": "worker", "needs": needs});
        let mut row = json!({"id": RunId::generate(), "content": content.to_string(), "state": state,
            "epoch": 1, "version": 1, "checkpoint": 0, "created_at": at(created_at)});
        if !lease.is_null() {
            row["lease"] = lease;
        }
        serde_json::from_value(row).unwrap()
    }

    fn lease(owner: &str, until: i64) -> Value {
        json!({"owner": owner, "until": at(until)})
    }

    /// What a server knows after reading these runs.
    fn knowing(runs: &[&Run]) -> Candidates {
        let candidates = Candidates::default();
        candidates.noted().notes = true;
        for run in runs {
            is_read(&candidates, run, NOW);
        }
        candidates
    }

    /// A run is mentioned and read.
    fn is_read(candidates: &Candidates, run: &Run, now: Timestamp) {
        candidates.note(run.id);
        let number = candidates.noted().mentioned[&run.id];
        candidates.is_kept(run, number, now);
    }

    fn offered(candidates: &Candidates, labels: &[&str], now: Timestamp) -> Vec<RunId> {
        let desk = WorkflowName::new("desk").unwrap();
        let own = candidates.of(&desk, &taking(labels), now).into_iter();
        own.map(|(run, _number)| run).collect()
    }

    #[test]
    fn free_runs_are_offered_the_oldest_first_to_workers_that_have_what_they_need() {
        let younger = run("created", 9, Value::Null, &[]);
        let older = run("running", 5, Value::Null, &["gpu"]);
        let over = run("completed", 1, Value::Null, &[]);
        let candidates = knowing(&[&younger, &older, &over]);
        assert_eq!(offered(&candidates, &[], NOW), [younger.id]);
        assert_eq!(offered(&candidates, &["gpu"], NOW), [older.id, younger.id]);
        let other = WorkflowName::new("other").unwrap();
        assert!(candidates.of(&other, &taking(&["gpu"]), NOW).is_empty());
    }

    #[test]
    fn a_run_of_another_worker_is_looked_at_once_its_lease_is_over_and_soon_however_long_that_is() {
        let short = run("running", 0, lease("desk/other", 4), &[]);
        let long = run("running", 1, lease("desk/other", 3_600), &[]);
        let candidates = knowing(&[&short, &long]);
        let desk = WorkflowName::new("desk").unwrap();
        let first_end = |now| candidates.first_end(&desk, &taking(&[]), now);
        assert!(offered(&candidates, &[], at(3)).is_empty());
        assert_eq!(first_end(at(3)), Some(at(4)));
        assert_eq!(offered(&candidates, &[], at(4)), [short.id]);
        let soon = at(LEASE_COUNTS.as_secs());
        assert_eq!(first_end(at(4)), Some(soon));
        assert_eq!(offered(&candidates, &[], soon), [short.id, long.id]);
    }

    #[test]
    fn what_this_try_has_taken_is_offered_to_it_again() {
        let own = run("running", 0, lease("desk/me#000000000000", 3_600), &[]);
        assert_eq!(offered(&knowing(&[&own]), &[], NOW), [own.id]);
    }

    #[test]
    fn what_was_read_before_a_run_was_mentioned_again_counts_no_more() {
        let mut waits = run("waiting", 0, Value::Null, &[]);
        let candidates = knowing(&[&waits]);
        let number = candidates.noted().known[&waits.id].0;
        candidates.note(waits.id);
        candidates.rests(waits.id, number);
        assert!(candidates.noted().mentioned.contains_key(&waits.id));
        waits.state = interrupts::life::RunState::Running;
        is_read(&candidates, &waits, NOW);
        candidates.rests(waits.id, number);
        assert_eq!(offered(&candidates, &[], NOW), [waits.id]);
    }

    #[test]
    fn where_no_worker_asks_mentions_do_not_pile_up() {
        let candidates = knowing(&[]);
        candidates.noted().is_whole = true;
        for _run in 0..=MOST {
            candidates.note(RunId::generate());
        }
        let noted = candidates.noted();
        assert!(
            noted.mentioned.is_empty() && !noted.is_whole,
            "all is read anew"
        );
    }
}
