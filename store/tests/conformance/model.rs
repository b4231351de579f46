//! A reference model of the store, and random histories that are run against it and against each adapter.
//!
//! The model knows states, epochs, attempts, leases and one node's reroutes, and says what each operation must
//! come to. It shares no code with the machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use interrupts::life::{Judge, Refusal, Role, State, WithdrawCause};
use interrupts::store::{AdmitError, Admitted, ChangeError, Run, Store};
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use routing_core::InterruptId;
use store::{MemoryStore, SqliteStore};
use tokio::runtime::Runtime;

use crate::scene::{
    ALL, Scene, actor, asked, choosing, delivery, event, key, person, question, route, shown,
};

/// How long a lease holds, and how long an interrupt with a deadline waits, in seconds.
const LEASE: i64 = 10;
const PATIENCE: i64 = 25;

/// As the scene's questions allow.
const MOST_ATTEMPTS: u32 = 3;

/// One operation. Interrupts are named by the number of their key.
#[derive(Debug, Clone)]
enum Operation {
    Admit {
        number: u8,
        rerouted: bool,
        patient: bool,
        forged: bool,
    },
    Deliver(u8),
    Acknowledge {
        number: u8,
        stale: bool,
    },
    RequireReview {
        number: u8,
        stale: bool,
    },
    Policy(u8),
    Person {
        number: u8,
        stale: bool,
        elsewhere: bool,
    },
    Withdraw(u8),
    Fail {
        number: u8,
        stale: bool,
    },
    Redrive(u8),
    Wait(i64),
    Sweep,
}

/// What the model knows of an interrupt.
#[derive(Debug, Clone)]
struct Known {
    state: State,
    version: u64,
    epoch: u64,
    attempts: u32,
    leased_until: i64,
    deadline: Option<i64>,
    bound: Option<u8>,
    target: Option<&'static str>,
    rerouted: bool,
    patient: bool,
}

/// The model: a world of one node.
#[derive(Debug, Clone, Default)]
struct Reference {
    now: i64,
    known: BTreeMap<u8, Known>,
    pending: Option<u8>,
    bound: Option<u8>,
    /// Whether the last operation was accepted.
    accepted: bool,
}

impl Reference {
    /// Ends an interrupt without a decision that uses its reroute.
    fn let_go(&mut self, number: u8) {
        if let Some(known) = self.known.get_mut(&number)
            && let Some(reroute) = known.bound.take()
        {
            self.bound = None;
            // A newer one that waits takes the place.
            self.pending = self.pending.or(Some(reroute));
        }
    }

    fn change(&mut self, number: u8, accept: impl FnOnce(&mut Known, i64) -> bool) {
        let now = self.now;
        self.accepted = match self.known.get_mut(&number) {
            Some(known) => {
                let accepted = accept(known, now);
                known.version += u64::from(accepted);
                accepted
            }
            None => false,
        };
    }

    fn admit(&mut self, number: u8, rerouted: bool, patient: bool, forged: bool) {
        if let Some(known) = self.known.get(&number) {
            self.accepted = !forged && known.rerouted == rerouted && known.patient == patient;
            return;
        }
        self.accepted = true;
        if rerouted {
            self.pending = Some(number);
        }
        self.known.insert(
            number,
            Known {
                state: State::Requested,
                version: 1,
                epoch: 0,
                attempts: 0,
                leased_until: 0,
                deadline: patient.then_some(self.now + PATIENCE),
                bound: None,
                target: None,
                rerouted,
                patient,
            },
        );
    }

    fn deliver(&mut self, number: u8) {
        let mut dead = false;
        self.change(number, |known, now| {
            let takes = matches!(
                known.state,
                State::Requested | State::Delivered | State::Acknowledged
            );
            if !takes || known.leased_until > now {
                return false;
            }
            if known.attempts == MOST_ATTEMPTS {
                known.state = State::DeadLettered;
                dead = true;
                return true;
            }
            known.attempts += 1;
            known.epoch += 1;
            known.leased_until = now + LEASE;
            if known.state == State::Requested {
                known.state = State::Delivered;
            }
            true
        });
        if dead {
            self.let_go(number);
        }
    }

    fn acknowledge(&mut self, number: u8, stale: bool) {
        self.change(number, |known, _now| {
            let accepted = known.state == State::Delivered && !stale;
            if accepted {
                known.state = State::Acknowledged;
            }
            accepted
        });
        if self.accepted
            && self.bound.is_none()
            && let Some(known) = self.known.get_mut(&number)
        {
            known.bound = self.pending.take();
            self.bound = known.bound;
        }
    }

    fn fail(&mut self, number: u8, stale: bool) {
        let mut dead = false;
        self.change(number, |known, _now| {
            let counts = known.state == State::Requested;
            let delivered = matches!(known.state, State::Delivered | State::Acknowledged);
            // What has failed already does not fail again.
            let again = delivered && known.leased_until == 0;
            if stale || again || !(counts || delivered) {
                return false;
            }
            known.attempts += u32::from(counts);
            known.leased_until = 0;
            dead = known.attempts == MOST_ATTEMPTS;
            if dead {
                known.state = State::DeadLettered;
            }
            true
        });
        if dead {
            self.let_go(number);
        }
    }

    fn decide(&mut self, number: u8, from: State, refused: bool, elsewhere: bool) {
        self.change(number, |known, now| {
            let late = from == State::AwaitingReview
                && known.deadline.is_some_and(|deadline| deadline <= now);
            if known.state != from || refused || late {
                return false;
            }
            let target = match (elsewhere, known.bound) {
                (true, _) => "THIRD",
                (false, Some(_)) => "OTHER",
                (false, None) => "ORIGIN",
            };
            known.target = Some(target);
            known.state = if target == "ORIGIN" {
                State::Resolved
            } else {
                State::Rerouted
            };
            true
        });
        if self.accepted
            && let Some(known) = self.known.get_mut(&number)
            && known.bound.take().is_some()
        {
            self.bound = None;
        }
    }

    fn sweep(&mut self) {
        let now = self.now;
        let due: Vec<u8> = self
            .known
            .iter()
            .filter(|(_number, known)| {
                known.state.is_live() && known.deadline.is_some_and(|deadline| deadline <= now)
            })
            .map(|(number, _known)| *number)
            .collect();
        for number in due {
            self.change(number, |known, _now| {
                known.state = State::Expired;
                known.target = Some("ORIGIN");
                true
            });
            self.let_go(number);
        }
        self.accepted = true;
    }
}

fn number() -> impl Strategy<Value = u8> {
    0..4_u8
}

fn rarely() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.15)
}

impl ReferenceStateMachine for Reference {
    type State = Self;
    type Transition = Operation;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::default()).boxed()
    }

    fn transitions(_state: &Self) -> BoxedStrategy<Operation> {
        prop_oneof![
            4 => (number(), any::<bool>(), rarely(), rarely()).prop_map(
                |(number, rerouted, patient, forged)| Operation::Admit {
                    number,
                    rerouted,
                    patient,
                    forged,
                }
            ),
            5 => number().prop_map(Operation::Deliver),
            5 => (number(), rarely())
                .prop_map(|(number, stale)| Operation::Acknowledge { number, stale }),
            4 => (number(), rarely())
                .prop_map(|(number, stale)| Operation::RequireReview { number, stale }),
            1 => number().prop_map(Operation::Policy),
            3 => (number(), rarely(), any::<bool>()).prop_map(|(number, stale, elsewhere)| {
                Operation::Person {
                    number,
                    stale,
                    elsewhere,
                }
            }),
            1 => number().prop_map(Operation::Withdraw),
            2 => (number(), rarely()).prop_map(|(number, stale)| Operation::Fail { number, stale }),
            1 => number().prop_map(Operation::Redrive),
            3 => (1..=LEASE).prop_map(Operation::Wait),
            1 => Just(Operation::Sweep),
        ]
        .boxed()
    }

    fn apply(mut state: Self, operation: &Operation) -> Self {
        match *operation {
            Operation::Admit {
                number,
                rerouted,
                patient,
                forged,
            } => state.admit(number, rerouted, patient, forged),
            Operation::Deliver(number) => state.deliver(number),
            Operation::Acknowledge { number, stale } => state.acknowledge(number, stale),
            Operation::RequireReview { number, stale } => {
                state.change(number, |known, _now| {
                    let accepted = known.state == State::Acknowledged && !stale;
                    if accepted {
                        known.state = State::AwaitingReview;
                        known.leased_until = 0;
                    }
                    accepted
                });
            }
            Operation::Policy(number) => {
                state.decide(number, State::Acknowledged, false, false);
            }
            Operation::Person {
                number,
                stale,
                elsewhere,
            } => state.decide(number, State::AwaitingReview, stale, elsewhere),
            Operation::Withdraw(number) => {
                state.change(number, |known, _now| {
                    let accepted = !known.state.is_final();
                    if accepted {
                        known.state = State::Cancelled;
                    }
                    accepted
                });
                if state.accepted {
                    state.let_go(number);
                }
            }
            Operation::Fail { number, stale } => state.fail(number, stale),
            Operation::Redrive(number) => state.change(number, |known, _now| {
                let accepted = known.state == State::DeadLettered;
                if accepted {
                    known.state = State::Requested;
                    known.attempts = 0;
                    known.leased_until = 0;
                }
                accepted
            }),
            Operation::Wait(seconds) => {
                state.now += seconds;
                state.accepted = true;
            }
            Operation::Sweep => state.sweep(),
        }
        state
    }
}

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
