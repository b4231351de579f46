//! The reference: what the model knows, and what each operation must come to.

use std::collections::BTreeMap;

use interrupts::life::State;
use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

/// How long a lease holds, and how long an interrupt with a deadline waits, in seconds.
pub(super) const LEASE: i64 = 10;
pub(super) const PATIENCE: i64 = 25;

/// As the scene's questions allow.
pub(super) const MOST_ATTEMPTS: u32 = 3;

/// One operation. Interrupts are named by the number of their key.
#[derive(Debug, Clone)]
pub(super) enum Operation {
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
pub(super) struct Known {
    pub(super) state: State,
    pub(super) version: u64,
    pub(super) epoch: u64,
    pub(super) attempts: u32,
    pub(super) leased_until: i64,
    pub(super) deadline: Option<i64>,
    pub(super) bound: Option<u8>,
    pub(super) target: Option<&'static str>,
    pub(super) rerouted: bool,
    pub(super) patient: bool,
}

/// The model: a world of one node.
#[derive(Debug, Clone, Default)]
pub(super) struct Reference {
    pub(super) now: i64,
    pub(super) known: BTreeMap<u8, Known>,
    pub(super) pending: Option<u8>,
    pub(super) bound: Option<u8>,
    /// Whether the last operation was accepted.
    pub(super) accepted: bool,
}

impl Reference {
    /// Ends an interrupt without a decision that uses its reroute.
    pub(super) fn let_go(&mut self, number: u8) {
        if let Some(known) = self.known.get_mut(&number)
            && let Some(reroute) = known.bound.take()
        {
            self.bound = None;
            // A newer one that waits takes the place.
            self.pending = self.pending.or(Some(reroute));
        }
    }

    /// An interrupt that no node has raised takes the reroute with it that waits for it.
    fn give_up(&mut self, number: u8, before: Option<State>) {
        let unraised = matches!(
            before,
            Some(State::Requested | State::Delivered | State::DeadLettered)
        );
        if unraised && self.pending == Some(number) {
            self.pending = None;
        }
    }

    fn state(&self, number: u8) -> Option<State> {
        self.known.get(&number).map(|known| known.state)
    }

    pub(super) fn change(&mut self, number: u8, accept: impl FnOnce(&mut Known, i64) -> bool) {
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

    pub(super) fn admit(&mut self, number: u8, rerouted: bool, patient: bool, forged: bool) {
        if let Some(known) = self.known.get(&number) {
            self.accepted = !forged && known.rerouted == rerouted && known.patient == patient;
            return;
        }
        self.accepted = true;
        if rerouted
            && let Some(older) = self.pending.replace(number)
            && matches!(self.state(older), Some(State::Requested | State::Delivered))
        {
            self.change(older, |known, _now| {
                known.state = State::Cancelled;
                true
            });
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

    pub(super) fn deliver(&mut self, number: u8) {
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

    pub(super) fn acknowledge(&mut self, number: u8, stale: bool) {
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
            self.supersede(number);
        }
    }

    /// An interrupt takes the place of the one that its reroute was published with, unless a node has raised that.
    fn supersede(&mut self, number: u8) {
        let Some(published) = self.bound.filter(|event| *event != number) else {
            return;
        };
        if matches!(
            self.state(published),
            Some(State::Requested | State::Delivered)
        ) {
            self.change(published, |known, _now| {
                known.state = State::Cancelled;
                true
            });
        }
    }

    pub(super) fn fail(&mut self, number: u8, stale: bool) {
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

    pub(super) fn decide(&mut self, number: u8, from: State, refused: bool, elsewhere: bool) {
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

    pub(super) fn sweep(&mut self) {
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
            let before = self.state(number);
            self.change(number, |known, _now| {
                known.state = State::Expired;
                known.target = Some("ORIGIN");
                true
            });
            self.let_go(number);
            self.give_up(number, before);
        }
        self.accepted = true;
    }
}

pub(super) fn number() -> impl Strategy<Value = u8> {
    0..4_u8
}

pub(super) fn rarely() -> impl Strategy<Value = bool> {
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
                let before = state.state(number);
                state.change(number, |known, _now| {
                    let accepted = !known.state.is_final();
                    if accepted {
                        known.state = State::Cancelled;
                    }
                    accepted
                });
                if state.accepted {
                    state.let_go(number);
                    state.give_up(number, before);
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
