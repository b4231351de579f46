//! A reference model of the store, and random histories that are run against it and against each adapter.
//!
//! The model knows states, epochs, attempts, leases and one node's reroutes, and says what each operation must
//! come to. It shares no code with the machine.

mod asking;
mod reference;

use std::collections::BTreeMap;
use std::sync::Arc;

use interrupt_router::InterruptId;
use interrupts::life::{Judge, Refusal, Role, WithdrawCause};
use interrupts::store::{AdmitError, Admitted, ChangeError, Run, Store};
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine as _, StateMachineTest};
#[cfg(feature = "postgres")]
use store::PostgresStore;
use store::{MemoryStore, SqliteStore};
use tokio::runtime::Runtime;

use crate::scene::{
    ALL, Scene, actor, asked, choosing, delivery, event, key, person, question, route, shown,
};
use reference::{LEASE, Operation, PATIENCE, Reference};

/// A store under test.
struct Tested<S> {
    runtime: Arc<Runtime>,
    scene: Scene<S>,
    run: Run,
    ids: BTreeMap<u8, InterruptId>,
}

/// Whether an operation was accepted; what goes wrong with the store itself fails the test.
fn accepted<T>(answer: Result<T, ChangeError>) -> bool {
    match answer {
        Ok(_changed) => true,
        Err(ChangeError::Refused(refusal)) => {
            assert!(!matches!(refusal, Refusal::ShownDiffers), "{refusal}");
            false
        }
        Err(other) => panic!("{other}"),
    }
}

impl<S: Store> Tested<S> {
    fn new(runtime: Runtime, scene: Scene<S>) -> Self {
        let run = runtime.block_on(scene.run());
        Self {
            runtime: Arc::new(runtime),
            scene,
            run,
            ids: BTreeMap::new(),
        }
    }

    async fn admit(&mut self, number: u8, rerouted: bool, patient: bool, forged: bool) -> bool {
        let mut admission = question(&self.run, format!("key-{number}"));
        admission.reroute = rerouted.then(|| route("OTHER"));
        admission.patience = patient.then(|| SignedDuration::from_secs(PATIENCE));
        let new = !self.ids.contains_key(&number);
        if forged && !new {
            admission.reason = "forged".to_owned();
        }
        match self.scene.store.admit(admission).await {
            Ok(Admitted::New(interrupt)) => {
                assert!(new, "one key, two interrupts");
                self.ids.insert(number, interrupt.id);
                true
            }
            Ok(Admitted::Known(interrupt)) => {
                assert_eq!(self.ids.get(&number), Some(&interrupt.id));
                true
            }
            Err(AdmitError::OtherContent { .. }) => false,
            Err(other) => panic!("{other}"),
        }
    }

    async fn run_operation(&mut self, operation: &Operation) -> bool {
        let store = self.scene.store.clone();
        let number = match *operation {
            Operation::Admit {
                number,
                rerouted,
                patient,
                forged,
            } => return self.admit(number, rerouted, patient, forged).await,
            Operation::Wait(seconds) => {
                self.scene.wait(seconds);
                return true;
            }
            Operation::Sweep => {
                store.sweep(100).await.unwrap();
                return true;
            }
            Operation::Deliver(number)
            | Operation::Acknowledge { number, .. }
            | Operation::RequireReview { number, .. }
            | Operation::Policy(number)
            | Operation::Person { number, .. }
            | Operation::Withdraw(number)
            | Operation::Fail { number, .. }
            | Operation::Redrive(number) => number,
        };
        match self.ids.get(&number).copied() {
            Some(id) => self.change(id, operation).await,
            None => false,
        }
    }

    /// Changes an interrupt that is there.
    async fn change(&self, id: InterruptId, operation: &Operation) -> bool {
        let store = &self.scene.store;
        let now = self.scene.interrupt(id).await;
        // An epoch that never was is as stale as one that was.
        let epoch = |stale: bool| now.epoch + u64::from(stale);
        accepted(match *operation {
            Operation::Deliver(_) => store.deliver(id, delivery("worker", LEASE)).await,
            Operation::Acknowledge { stale, .. } => {
                store.acknowledge(id, epoch(stale), asked()).await
            }
            Operation::RequireReview { stale, .. } => {
                store.require_review(id, epoch(stale), shown()).await
            }
            Operation::Policy(_) => {
                let epoch = now.epoch;
                let judge = Judge::Policy { epoch };
                store.decide(id, judge, choosing(None)).await
            }
            Operation::Person {
                stale, elsewhere, ..
            } => {
                let mut seen = now.clone();
                seen.version -= u64::from(stale);
                let choice = choosing(elsewhere.then_some("THIRD"));
                store.decide(id, person(&seen), choice).await
            }
            Operation::Withdraw(_) => {
                let operator = actor(Role::Operator);
                store.withdraw(id, operator, WithdrawCause::Withdrawn).await
            }
            Operation::Fail { stale, .. } => {
                let error = "failed".to_owned();
                store.fail_delivery(id, Some(epoch(stale)), error).await
            }
            Operation::Redrive(_) => store.redrive(id, actor(Role::Operator)).await,
            Operation::Admit { .. } | Operation::Wait(_) | Operation::Sweep => Ok(now),
        })
    }

    /// Everything that the model knows stands in the store, and nothing else.
    async fn compare(&self, reference: &Reference) {
        for (number, known) in &reference.known {
            let found = self.scene.interrupt(self.ids[number]).await;
            let target = found.decision.map(|decision| decision.target);
            let bound = found.bound.filter(|_bound| found.state.is_live());
            assert_eq!(found.state, known.state, "state of {number}");
            assert_eq!(found.version, known.version, "version of {number}");
            assert_eq!(found.epoch, known.epoch, "epoch of {number}");
            assert_eq!(target, known.target.map(route), "target of {number}");
            assert_eq!(
                bound.map(|bound| bound.event),
                known.bound.map(|number| event(&format!("key-{number}"))),
                "reroute of {number}"
            );
        }
        let stored = self.scene.store.interrupts(&Default::default(), ALL).await;
        assert_eq!(stored.unwrap().len(), reference.known.len());
    }
}

/// The store of a kind, opened anew for each history.
trait Opened: Store + Sized {
    fn opened(runtime: &Runtime) -> Scene<Self>;
}

impl Opened for MemoryStore {
    fn opened(_runtime: &Runtime) -> Scene<Self> {
        Scene::in_memory()
    }
}

impl Opened for SqliteStore {
    fn opened(runtime: &Runtime) -> Scene<Self> {
        runtime.block_on(Scene::in_sqlite())
    }
}

#[cfg(feature = "postgres")]
impl Opened for PostgresStore {
    fn opened(runtime: &Runtime) -> Scene<Self> {
        runtime.block_on(Scene::in_postgres()).unwrap()
    }
}

struct Against<S>(std::marker::PhantomData<S>);

impl<S: Opened> StateMachineTest for Against<S> {
    type SystemUnderTest = Tested<S>;
    type Reference = Reference;

    fn init_test(_reference: &Reference) -> Tested<S> {
        let runtime = Runtime::new().unwrap();
        let scene = S::opened(&runtime);
        Tested::new(runtime, scene)
    }

    fn apply(mut tested: Tested<S>, reference: &Reference, operation: Operation) -> Tested<S> {
        let runtime = tested.runtime.clone();
        let accepted = runtime.block_on(tested.run_operation(&operation));
        assert_eq!(accepted, reference.accepted, "{operation:?}");
        tested
    }

    fn check_invariants(tested: &Tested<S>, reference: &Reference) {
        tested.runtime.block_on(tested.compare(reference));
    }

    fn teardown(tested: Tested<S>, _reference: Reference) {
        // P21: the audit is whole, and has a row for each change.
        let store = &tested.scene.store;
        tested.runtime.block_on(async {
            store.verify_audit().await.unwrap();
            for (number, id) in &tested.ids {
                let found = tested.scene.interrupt(*id).await;
                let rows = tested.scene.audited(*id).await.len();
                assert_eq!(rows as u64, found.version, "audit rows of {number}");
                let of_key = store.interrupt_of(&key(format!("key-{number}"))).await;
                assert_eq!(of_key.unwrap(), Some(found));
            }
        });
    }
}

proptest_state_machine::prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_memory_store_does_what_the_model_says(sequential 1..60 => Against<MemoryStore>);
}

proptest_state_machine::prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_sqlite_store_does_what_the_model_says(sequential 1..60 => Against<SqliteStore>);
}

#[cfg(feature = "postgres")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn the_postgres_store_does_what_the_model_says(
        (initial, operations, seen) in Reference::sequential_strategy(1..60)
    ) {
        if crate::scene::own_place().is_some() {
            let config = ProptestConfig::default();
            Against::<PostgresStore>::test_sequential(config, initial, operations, seen);
        }
    }
}
