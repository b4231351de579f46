//! What agents had begun that were cut off: it has a result in the journal, wherever the run's process dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use engine::run::{RunEvent, RunReport, RunUse, leave_out_of_ended};
use interrupt_router::review::{Answer, Pause, Question, Resume, ReviewError, Reviewer};
use interrupt_router::{NodeId, Outcome, RunId, StopScope};
use interrupts::OwnerName;
use interrupts::life::RunState;
use interrupts::store::{Delivery, JournalEntry, NewRun, Store};
use jiff::SignedDuration;
use store::{MemoryStore, StoreSettings};

use crate::controlled::{Act, Scopes, controlled};
use crate::lives::{ALL, Lives, eventful};
use crate::stage::{Stage, assert_completed};
use engine::testing::{Death, Mortal};

/// An agent that is cut off while its model works.
const AT_WORK: &str = "orchestrator/discovery/collector";
/// An agent that is cut off while it waits for an answer.
const ASKING: &str = "orchestrator/planning";

/// Has the one agent cut off instead of answering it; whoever asks after that is answered.
struct Cutting {
    scopes: Arc<Scopes>,
    done: AtomicBool,
}

#[async_trait]
impl Reviewer for Cutting {
    async fn answer(
        &self,
        question: &Question,
        scope: &StopScope,
    ) -> Result<Outcome<Answer>, ReviewError> {
        if question.node.as_str() == ASKING && !self.done.swap(true, Ordering::SeqCst) {
            self.scopes.cut(ASKING);
            let reason = scope.stopping().await;
            return Ok(Outcome::Interrupted {
                reason,
                partial: (),
            });
        }
        Ok(Outcome::Completed(Answer::default()))
    }

    async fn resume(&self, _: &Pause, _: &StopScope) -> Result<Outcome<Resume>, ReviewError> {
        Err(ReviewError::NobodyThere)
    }
}

/// A run of which two agents are cut off: one at work, one that asks. `cut` are those that are cut off from its start.
fn stage(run: RunId, store: Arc<dyn Store>, cut: &[&str]) -> Stage {
    let scopes = Arc::new(Scopes::default());
    for node in cut {
        scopes.cut(node);
    }
    let at_work = AtomicBool::new(cut.contains(&AT_WORK));
    let act: Act = Box::new(move |scopes, call| {
        if call.caller.node.as_str() == AT_WORK && !at_work.swap(true, Ordering::SeqCst) {
            scopes.cut(AT_WORK);
        }
    });
    let stage = Stage::new().interrupts("PLANNING_ORCHESTRATOR", 1, "HUMAN_REVIEW");
    let mut stage = controlled(stage, &scopes, act);
    stage.run = run;
    stage.store = store;
    stage.reviewer = Some(Arc::new(Cutting {
        scopes,
        done: AtomicBool::new(cut.contains(&ASKING)),
    }));
    stage
}

fn fresh() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new(StoreSettings::default()))
}

async fn journal(store: &Arc<dyn Store>, run: RunId) -> Vec<JournalEntry> {
    store.journal(run, ALL).await.unwrap()
}

/// What the journal says of the effect at a place.
fn said<'a>(journal: &'a [JournalEntry], place: &str) -> Option<&'a str> {
    let is_it = |entry: &&JournalEntry| entry.intent.place.as_deref() == Some(place);
    let result = journal.iter().find(is_it)?.result.as_ref()?;
    Some(&result.content)
}

#[track_caller]
fn assert_all_have_results(journal: &[JournalEntry], when: &str) {
    let open: Vec<_> = journal
        .iter()
        .filter(|entry| entry.result.is_none())
        .map(|entry| (&entry.intent.kind, &entry.intent.place))
        .collect();
    assert!(open.is_empty(), "{when}: {open:?}");
}

fn was_cut_off(stage: &Stage, node: &str) -> bool {
    let node = NodeId::new(node).unwrap();
    let is_it =
        |event: &RunEvent| matches!(event, RunEvent::CutOff { node: it, .. } if *it == node);
    stage.log.events().iter().any(is_it)
}

async fn undisturbed() -> (Stage, RunReport) {
    let stage = stage(RunId::generate(), fresh(), &[]);
    let report = stage.execute().await;
    assert_completed(&report);
    assert!(was_cut_off(&stage, AT_WORK) && was_cut_off(&stage, ASKING));
    (stage, report)
}

#[tokio::test]
async fn what_agents_had_begun_that_were_cut_off_has_a_result_that_says_so() {
    let (stage, _report) = undisturbed().await;
    let journal = journal(&stage.store, stage.run).await;
    assert_all_have_results(&journal, "undisturbed");
    for place in [
        format!("{AT_WORK}#1/step/0"),
        format!("{ASKING}#1/interrupt"),
    ] {
        let said = said(&journal, &place).unwrap();
        assert!(said.contains("cut off: nobody needs it"), "{place}: {said}");
    }
}

#[tokio::test]
async fn a_call_that_was_left_out_is_no_answer_and_costs_what_it_cost() {
    let (stage, report) = undisturbed().await;
    let used = RunUse::of(&*stage.store, stage.run).await.unwrap();
    let tries = journal(&stage.store, stage.run).await;
    let cut_short = tries
        .iter()
        .filter(|entry| entry.intent.kind.as_str() == "model_attempt")
        .count();
    assert_eq!(cut_short, 1);
    let calls = tries
        .iter()
        .filter(|entry| entry.intent.kind.as_str() == "model_call")
        .count();
    assert_eq!(used.calls.len(), calls, "it is counted once: {used:#?}");
    let progress = control::RunProgress::of(&*stage.store, stage.run, |_run| true);
    let steps = progress.await.unwrap().unwrap().steps;
    assert_eq!(
        (steps.total, steps.completed),
        (report.steps, report.steps - 1)
    );
}

#[tokio::test]
async fn a_death_while_agents_are_left_out_leaves_nothing_without_a_result() {
    let run = RunId::generate();
    let mortal = Mortal::new(fresh(), Death::Never);
    let report = stage(run, Arc::clone(&mortal) as Arc<_>, &[])
        .execute()
        .await;
    assert_completed(&report);
    let mut seen = 0;
    for operation in 0..mortal.operations() {
        let store = fresh();
        let mortal = Mortal::new(Arc::clone(&store), Death::After(operation));
        let dies = stage(run, Arc::clone(&mortal) as Arc<_>, &[]);
        let (prepared, scope) = (dies.run(), StopScope::new());
        tokio::select! {
            biased;
            () = mortal.died() => {}
            _report = prepared.execute(&scope) => {}
        }
        let left = journal(&store, run).await;
        let row = store.run(run).await.unwrap();
        if row.is_some_and(|row| row.state.is_final()) {
            assert_all_have_results(&left, "at its end");
            continue;
        }
        // The stops of those agents stand, as far as they were asked for.
        let cut: Vec<&str> = [AT_WORK, ASKING]
            .into_iter()
            .filter(|node| left.iter().any(|entry| is_cut_off(entry, node)))
            .collect();
        let is_between = left
            .iter()
            .any(|entry| entry.result.is_none() && is_within(entry, &cut));
        seen += usize::from(is_between);
        if !is_between && operation % 8 != 0 {
            continue;
        }
        let again = stage(run, Arc::clone(&store), &cut);
        assert_completed(&again.execute().await);
        let when = format!("after {operation}");
        assert_all_have_results(&journal(&store, run).await, &when);
        for node in cut {
            assert!(was_cut_off(&again, node), "{when}");
        }
    }
    assert!(
        seen >= 3,
        "only {seen} deaths fell while agents were left out"
    );
}

fn is_cut_off(entry: &JournalEntry, node: &str) -> bool {
    entry.intent.kind.as_str() == "cut_off" && entry.intent.node.as_str() == node
}

fn is_within(entry: &JournalEntry, cut: &[&str]) -> bool {
    cut.contains(&entry.intent.node.as_str())
}

#[tokio::test]
async fn a_fork_goes_the_way_of_the_agents_that_were_left_out_and_asks_nobody_again() {
    let (stage, report) = undisturbed().await;
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: None,
        content: "{}".to_owned(),
    };
    let from = report.checkpoint.unwrap();
    let fork = stage.store.fork_run(from, new).await.unwrap().id;
    let mut forked = Stage::new();
    forked.run = fork;
    forked.store = Arc::clone(&stage.store);
    forked.script.clone_from(&stage.script);
    assert_completed(&forked.execute().await);
    assert!(was_cut_off(&forked, AT_WORK) && was_cut_off(&forked, ASKING));
    let asked = forked.person.asked.lock().unwrap();
    assert!(asked.is_empty(), "{asked:#?}");
}

/// Ends a run whose process died at work, as a command does that stops it.
async fn ended_by_a_command(store: &Arc<dyn Store>, run: RunId) {
    let owner = OwnerName::new("command").unwrap();
    let delivery = Delivery {
        owner: owner.clone(),
        lease: SignedDuration::from_secs(30),
        lost: Some(OwnerName::new("test").unwrap()),
    };
    let owned = store.own_run(run, delivery).await.unwrap();
    leave_out_of_ended(store, run, (&owner, owned.epoch), None)
        .await
        .unwrap();
    for state in [RunState::Stopping, RunState::Cancelled] {
        let changed = store.change_run(run, owned.epoch, state, None).await;
        changed.unwrap();
    }
}

#[tokio::test]
async fn a_run_that_ends_while_nobody_works_on_it_leaves_nothing_without_a_result() {
    let (_report, operations) = Lives::of(eventful, RunId::generate())
        .die(Death::Never)
        .await;
    let mut left = 0;
    // What has no result differs from each third operation to the next one.
    for at in (0..operations).step_by(3) {
        let lives = Lives::of(eventful, RunId::generate());
        lives.die(Death::After(at)).await;
        let row = lives.store.run(lives.run).await.unwrap();
        let works = row.is_some_and(|row| row.state == RunState::Running);
        if !works {
            continue;
        }
        let open = lives.store.unknown_effects(lives.run, ALL).await.unwrap();
        left += open.len();
        ended_by_a_command(&lives.store, lives.run).await;
        let when = format!("after {at}");
        assert_all_have_results(&journal(&lives.store, lives.run).await, &when);
    }
    assert!(left > 0, "no death left anything without a result");
}
