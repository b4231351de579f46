//! The same of stops: who asks for them. The model keeps a list of askings and says what each request must come to.

use std::sync::Arc;

use interrupt_router::{DecisionId, InterruptId, StopMode, StopSource};
use interrupts::ActorName;
use interrupts::life::{
    Actor, Admission, Choosing, Evidence, Interrupt, Judge, Role, State, Verdict, WithdrawCause,
};
use interrupts::store::{ChangeError, Run, Store};
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};
use store::{MemoryStore, SqliteStore};
use tokio::runtime::Runtime;

use super::Opened;
use crate::joining::stop;
use crate::scene::{Scene, delivery, shown};

/// Who may ask: his name, his role, and what is behind him.
const ASKERS: [(&str, Role, StopSource); 4] = [
    ("agent", Role::Requester, StopSource::Programmatic),
    ("limit", Role::System, StopSource::System),
    ("ada", Role::Supervisor, StopSource::User),
    ("bob", Role::Operator, StopSource::User),
];

fn actor(who: usize) -> Actor {
    Actor {
        name: ActorName::new(ASKERS[who].0).unwrap(),
        role: ASKERS[who].1,
    }
}

fn reason(who: usize, other: bool) -> String {
    let word = if other { "otherwise" } else { "as before" };
    format!("{} {word}", ASKERS[who].0)
}

const fn mode(hard: bool) -> StopMode {
    if hard {
        StopMode::Immediate
    } else {
        StopMode::Graceful
    }
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    Ask {
        who: usize,
        hard: bool,
        other: bool,
    },
    /// Of one's own, or of the asking with a number.
    TakeBack {
        who: usize,
        number: Option<u32>,
    },
    Deliver,
    Acknowledge,
    Review,
    /// The machinery says that nobody asks any more.
    End,
    Person,
    Policy,
}

#[derive(Debug, Clone)]
struct Asked {
    who: usize,
    other: bool,
    hard: bool,
    stands: bool,
}

/// The last stop of the run.
#[derive(Debug, Clone)]
struct Known {
    state: State,
    version: u64,
    hard: bool,
    askings: Vec<Asked>,
    leader: usize,
}

impl Known {
    fn status(&self) -> Vec<usize> {
        let askings = self.askings.iter().enumerate();
        let status = askings.filter(|(_place, it)| it.stands);
        status.map(|(place, _it)| place).collect()
    }

    fn person_asks(&self) -> bool {
        self.status().iter().any(|it| self.askings[*it].who >= 2)
    }

    /// People first, then the agent, then the limit; of equal ones the first.
    fn follow(&mut self) {
        let rank = |who: usize| match who {
            2 | 3 => 0,
            0 => 1,
            _ => 2,
        };
        for wanted in 0..3 {
            let mut status = self.askings.iter().filter(|it| it.stands);
            if let Some(first) = status.find(|it| rank(it.who) == wanted) {
                self.leader = first.who;
                return;
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Reference {
    stops: u64,
    last: Option<Known>,
    accepted: bool,
}

impl Reference {
    fn ask(&mut self, who: usize, hard: bool, other: bool) {
        self.accepted = true;
        let Some(known) = self.last.as_mut().filter(|it| it.state.is_live()) else {
            self.stops += 1;
            self.last = Some(Known {
                state: State::Requested,
                version: 1,
                hard,
                askings: vec![Asked {
                    who,
                    other,
                    hard,
                    stands: true,
                }],
                leader: who,
            });
            return;
        };
        let same = |it: &&mut Asked| it.stands && it.who == who && it.other == other;
        match known.askings.iter_mut().find(same) {
            Some(same) if same.hard || !hard => return,
            Some(same) => same.hard = true,
            None => known.askings.push(Asked {
                who,
                other,
                hard,
                stands: true,
            }),
        }
        known.hard |= hard;
        known.version += 1;
        known.follow();
    }

    /// Which askings a withdrawal takes back; `None` where it is refused.
    fn taken(known: &Known, who: usize, number: Option<u32>) -> Option<Vec<usize>> {
        let status = known.status();
        let may = |place: usize| match who {
            0 => false,
            1 => known.askings[place].who < 2,
            _ => true,
        };
        if let Some(number) = number {
            let place = usize::try_from(number).unwrap() - 1;
            let stands = status.contains(&place);
            let is_own = stands && known.askings[place].who == who;
            return (stands && (is_own || may(place))).then(|| vec![place]);
        }
        let own: Vec<usize> = status
            .iter()
            .copied()
            .filter(|place| known.askings[*place].who == who)
            .collect();
        match (own.is_empty(), status.as_slice()) {
            (false, _) => Some(own),
            (true, [only]) if may(*only) => Some(vec![*only]),
            (true, _) => None,
        }
    }

    fn take_back(&mut self, who: usize, number: Option<u32>) {
        self.accepted = false;
        let Some(known) = self.last.as_mut().filter(|it| it.state.is_live()) else {
            return;
        };
        let Some(taken) = Self::taken(known, who, number) else {
            return;
        };
        for place in taken {
            known.askings[place].stands = false;
        }
        known.follow();
        known.version += 1;
        if known.status().is_empty() && known.state != State::Delivered {
            known.state = State::Cancelled;
        }
        self.accepted = true;
    }

    fn step(&mut self, from: State, to: State, may: impl FnOnce(&Known) -> bool) {
        self.accepted = false;
        if let Some(known) = &mut self.last
            && known.state == from
            && may(known)
        {
            known.state = to;
            known.version += 1;
            self.accepted = true;
        }
    }
}

impl ReferenceStateMachine for Reference {
    type State = Self;
    type Transition = Operation;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self::default()).boxed()
    }

    fn transitions(_state: &Self) -> BoxedStrategy<Operation> {
        let who = || 0..ASKERS.len();
        prop_oneof![
            6 => (who(), prop::bool::weighted(0.3), prop::bool::weighted(0.3))
                .prop_map(|(who, hard, other)| Operation::Ask { who, hard, other }),
            4 => (who(), prop::option::weighted(0.4, 1..5_u32))
                .prop_map(|(who, number)| Operation::TakeBack { who, number }),
            2 => Just(Operation::Deliver),
            2 => Just(Operation::Acknowledge),
            2 => Just(Operation::Review),
            1 => Just(Operation::End),
            1 => Just(Operation::Person),
            1 => Just(Operation::Policy),
        ]
        .boxed()
    }

    fn apply(mut state: Self, operation: &Operation) -> Self {
        use State::{Acknowledged, AwaitingReview, Cancelled, Delivered, Requested, Resolved};
        match *operation {
            Operation::Ask { who, hard, other } => state.ask(who, hard, other),
            Operation::TakeBack { who, number } => state.take_back(who, number),
            Operation::Deliver => state.step(Requested, Delivered, |_| true),
            Operation::Acknowledge => state.step(Delivered, Acknowledged, |_| true),
            Operation::Review => state.step(Acknowledged, AwaitingReview, |known| {
                !known.status().is_empty()
            }),
            Operation::End => {
                state.step(Acknowledged, Cancelled, |known| known.status().is_empty())
            }
            Operation::Person => state.step(AwaitingReview, Resolved, |_| true),
            Operation::Policy => {
                state.step(AwaitingReview, Resolved, |known| !known.person_asks());
            }
        }
        state
    }
}

struct Tested<S> {
    runtime: Arc<Runtime>,
    scene: Scene<S>,
    run: Run,
    last: Option<InterruptId>,
}

impl<S: Store> Tested<S> {
    async fn ask(&mut self, who: usize, hard: bool, other: bool) -> bool {
        let asked = Admission {
            requested_by: actor(who),
            source: ASKERS[who].2,
            reason: reason(who, other),
            ..stop(&self.run, &InterruptId::generate().to_string(), mode(hard))
        };
        let joined = self.scene.store.join(asked).await.unwrap();
        self.last = Some(joined.into_interrupt().id);
        true
    }

    async fn change(&self, operation: Operation) -> Result<Interrupt, ChangeError> {
        let store = &self.scene.store;
        let id = self.last.unwrap();
        let now = self.scene.interrupt(id).await;
        let cause = |number: Option<u32>| match number {
            Some(number) => WithdrawCause::Asking { number },
            None => WithdrawCause::Withdrawn,
        };
        let resume = Choosing {
            id: DecisionId::generate(),
            verdict: Verdict::Resume,
            target: None,
            content: None,
        };
        let (by, version) = (actor(3), now.version);
        match operation {
            Operation::Ask { .. } => Ok(now),
            Operation::TakeBack { who, number } => {
                store.withdraw(id, actor(who), cause(number)).await
            }
            // Taken again it would be the same state: the model knows it once.
            Operation::Deliver if now.state != State::Requested => {
                Err(interrupts::life::Refusal::NotDue.into())
            }
            Operation::Deliver => store.deliver(id, delivery("worker", 60)).await,
            Operation::Acknowledge => store.acknowledge(id, now.epoch, Evidence::Cancelled).await,
            Operation::Review => store.require_review(id, now.epoch, shown()).await,
            Operation::End => {
                store
                    .withdraw(id, actor(1), WithdrawCause::NobodyAsks)
                    .await
            }
            Operation::Person => {
                let judge = Judge::Person {
                    actor: by,
                    version,
                    shown: shown(),
                };
                store.decide(id, judge, resume).await
            }
            Operation::Policy => {
                let judge = Judge::PolicyLater {
                    actor: by,
                    version,
                    shown: shown(),
                };
                store.decide(id, judge, resume).await
            }
        }
    }

    async fn compare(&self, reference: &Reference) {
        let all = interrupts::store::Filter::default();
        let stored = self.scene.store.interrupts(&all, crate::scene::ALL).await;
        let stored = stored.unwrap();
        assert_eq!(stored.len() as u64, reference.stops);
        let Some(known) = &reference.last else { return };
        let found = self.scene.interrupt(self.last.unwrap()).await;
        assert_eq!(found.state, known.state);
        assert_eq!(found.version, known.version);
        assert_eq!(found.mode, mode(known.hard));
        let (name, _role, source) = ASKERS[known.leader];
        assert_eq!(found.source, source);
        assert_eq!(found.requested_by.name.as_str(), name);
        let askings = found.askings();
        let asked: Vec<_> = askings
            .iter()
            .map(|it| (it.by.clone(), it.reason.clone(), it.mode, it.is_in_force()))
            .collect();
        let wanted: Vec<_> = known
            .askings
            .iter()
            .map(|it| {
                (
                    actor(it.who),
                    reason(it.who, it.other),
                    mode(it.hard),
                    it.stands,
                )
            })
            .collect();
        assert_eq!(asked, wanted);
    }
}

struct Against<S>(std::marker::PhantomData<S>);

impl<S: Opened> StateMachineTest for Against<S> {
    type SystemUnderTest = Tested<S>;
    type Reference = Reference;

    fn init_test(_reference: &Reference) -> Tested<S> {
        let runtime = Runtime::new().unwrap();
        let scene = S::opened(&runtime);
        let run = runtime.block_on(scene.run());
        Tested {
            runtime: Arc::new(runtime),
            scene,
            run,
            last: None,
        }
    }

    fn apply(mut tested: Tested<S>, reference: &Reference, operation: Operation) -> Tested<S> {
        let runtime = tested.runtime.clone();
        let accepted = runtime.block_on(async {
            match operation {
                Operation::Ask { who, hard, other } => tested.ask(who, hard, other).await,
                _ if tested.last.is_none() => false,
                _ => match tested.change(operation).await {
                    Ok(_changed) => true,
                    Err(ChangeError::Refused(_refusal)) => false,
                    Err(other) => panic!("{other}"),
                },
            }
        });
        assert_eq!(accepted, reference.accepted, "{operation:?}");
        tested
    }

    fn check_invariants(tested: &Tested<S>, reference: &Reference) {
        tested.runtime.block_on(tested.compare(reference));
    }

    fn teardown(tested: Tested<S>, _reference: Reference) {
        tested.runtime.block_on(async {
            tested.scene.store.verify_audit().await.unwrap();
            if let Some(id) = tested.last {
                let found = tested.scene.interrupt(id).await;
                let rows = tested.scene.audited(id).await.len();
                assert_eq!(rows as u64, found.version, "a row for each change");
            }
        });
    }
}

proptest_state_machine::prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn stops_in_memory_have_the_askers_that_the_model_says(sequential 1..60 => Against<MemoryStore>);
}

proptest_state_machine::prop_state_machine! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn stops_in_sqlite_have_the_askers_that_the_model_says(sequential 1..60 => Against<SqliteStore>);
}
