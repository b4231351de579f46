//! The world of the model: what the store holds, who knows what, and what may happen next.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use interrupt_router::reroute::{RerouteChange, RerouteState};
use interrupt_router::{DecisionId, InterruptType};
use interrupts::life::{
    BoundReroute, Choosing, Effect, Event, Evidence, Interrupt, Judge, ReviewChange, Role, State,
    Verdict, WithdrawCause,
};
use jiff::SignedDuration;

use crate::scene::{
    actor, admission, admitted, at, deadline, decision_id, interrupt_id, named, reroute, route,
    shown,
};

/// How often the clock may advance. Leases hold for one tick, and the one deadline is there then.
pub(super) const LAST_TICK: i64 = 1;

/// How much may go wrong beside the network.
pub(super) const MOST_DISTURBANCES: u8 = 2;

/// The interrupt that needs a person.
pub(super) const REVIEWED: usize = 0;

/// The reroute's event, and where it leads.
pub(super) const EVENT: &str = "event";
pub(super) const TARGET: &str = "OTHER";

/// A request on its way to the store, made with what its sender knew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Message {
    Acknowledge {
        interrupt: usize,
        epoch: u64,
    },
    RequireReview {
        interrupt: usize,
        epoch: u64,
    },
    PolicyDecides {
        interrupt: usize,
        epoch: u64,
    },
    Fail {
        interrupt: usize,
        epoch: u64,
    },
    Decide {
        interrupt: usize,
        reviewer: usize,
        version: u64,
    },
}

/// What a worker holds in its memory: the interrupt and the epoch of its delivery. A crash empties it.
pub(super) type Held = Option<(usize, u64)>;

/// What a reviewer was shown: the interrupt and its version.
pub(super) type Seen = Option<(usize, u64)>;

/// One dispatch in the ledger of the targets.
pub(super) type Dispatched = (usize, DecisionId, String);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    /// Shared by all worlds in which they are the same: most steps change none or one.
    pub(super) interrupts: [Arc<Interrupt>; 2],
    pub(super) reroute: RerouteState,
    /// How often the reroute was consumed, and by whom.
    pub(super) consumed: Vec<usize>,
    pub(super) ledger: Vec<Dispatched>,
    pub(super) workers: [Held; 2],
    pub(super) reviewers: [Seen; 2],
    pub(super) tick: i64,
    /// Whether an operator has tried again; he does so once.
    pub(super) redriven: bool,
    /// How much has gone wrong so far: crashes, leases, and what people do in between.
    pub(super) disturbances: u8,
    /// Set for good when a property of a single step was violated.
    pub(super) broken: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Action {
    Take { worker: usize, interrupt: usize },
    Look { reviewer: usize, interrupt: usize },
    Arrive(Message),
    Crash { worker: usize },
    LeaseRanOut { interrupt: usize },
    Claim { interrupt: usize },
    Withdraw { interrupt: usize },
    Redrive { interrupt: usize },
    Sweep { interrupt: usize },
    Tick,
}

impl Action {
    pub(super) const fn disturbs(&self) -> bool {
        match self {
            Self::Take { .. }
            | Self::Look { .. }
            | Self::Arrive(_)
            | Self::Sweep { .. }
            // What it answers was a disturbance already.
            | Self::Redrive { .. }
            | Self::Tick => false,
            Self::Crash { .. }
            | Self::LeaseRanOut { .. }
            | Self::Claim { .. }
            | Self::Withdraw { .. } => true,
        }
    }
}

/// The model, which notes the transitions that it takes.
#[derive(Default)]
pub(super) struct Town {
    pub(super) reached: Mutex<BTreeSet<(State, State)>>,
}

pub(super) fn fresh(number: usize) -> Arc<Interrupt> {
    let mut asked = admission(InterruptType::HumanReview);
    asked.id = interrupt_id(number as u128 + 1);
    // The first may be delivered twice and has a deadline; the other one once, and it waits for ever.
    asked.most_attempts = if number == REVIEWED { 2 } else { 1 };
    asked.patience = (number == REVIEWED).then(|| SignedDuration::from_secs(LAST_TICK));
    Arc::new(admitted(&asked).interrupt)
}

/// Where a message is for, and what it asks there.
pub(super) fn event_of(message: &Message, world: &World) -> (usize, Event) {
    match *message {
        Message::Acknowledge { interrupt, epoch } => {
            // The store looks for the pending reroute when the message arrives, in its transaction.
            let pending = (world.reroute == RerouteState::Pending).then(|| reroute(EVENT, TARGET));
            (interrupt, acknowledge(epoch, pending))
        }
        Message::RequireReview { interrupt, epoch } => {
            let shown = shown();
            (interrupt, Event::RequireReview { epoch, shown })
        }
        Message::PolicyDecides { interrupt, epoch } => {
            let judge = Judge::Policy { epoch };
            let choosing = choice(interrupt, 9, None);
            (interrupt, Event::Decide { judge, choosing })
        }
        Message::Fail { interrupt, epoch } => {
            let epoch = Some(epoch);
            let error = "failed".to_owned();
            (interrupt, Event::DeliveryFailed { epoch, error })
        }
        Message::Decide {
            interrupt,
            reviewer,
            version,
        } => {
            let judge = Judge::Person {
                actor: named(["ada", "bob"][reviewer], Role::Reviewer),
                version,
                shown: shown(),
            };
            // One reviewer sends it elsewhere, the other answers.
            let target = (reviewer == 0).then_some("THIRD");
            let choosing = choice(interrupt, reviewer, target);
            (interrupt, Event::Decide { judge, choosing })
        }
    }
}

pub(super) fn acknowledge(epoch: u64, pending: Option<BoundReroute>) -> Event {
    Event::Acknowledge {
        epoch,
        evidence: Evidence::Request {
            content: "{}".to_owned(),
            form: None,
        },
        pending,
    }
}

pub(super) fn choice(interrupt: usize, who: usize, target: Option<&str>) -> Choosing {
    Choosing {
        id: decision_id((interrupt * 10 + who) as u128),
        verdict: if target.is_some() {
            Verdict::Reroute
        } else {
            Verdict::Respond
        },
        target: target.map(route),
        content: None,
    }
}

/// The epoch that an event claims to write in.
pub(super) fn epoch_of(event: &Event) -> Option<u64> {
    match event {
        Event::Acknowledge { epoch, .. } | Event::RequireReview { epoch, .. } => Some(*epoch),
        Event::Decide {
            judge: Judge::Policy { epoch },
            ..
        } => Some(*epoch),
        Event::DeliveryFailed { epoch, .. } => *epoch,
        _ => None,
    }
}

impl World {
    pub(super) fn now(&self) -> jiff::Timestamp {
        at(self.tick)
    }

    /// One transaction of the store: the step and its effects, or nothing.
    pub(super) fn apply(&mut self, town: &Town, number: usize, event: &Event) {
        let before = Arc::clone(&self.interrupts[number]);
        let Ok(step) = before.after(event, self.now()) else {
            return;
        };
        if before.state.is_final() {
            self.broken = Some("P5: something followed an end");
        }
        if before.decision.is_some() && step.interrupt.decision != before.decision {
            self.broken = Some("P9: a decision was replaced");
        }
        if epoch_of(event).is_some_and(|epoch| epoch != before.epoch) {
            self.broken = Some("P11: an old epoch wrote");
        }
        if step.interrupt.epoch < before.epoch || step.interrupt.version != before.version + 1 {
            self.broken = Some("P4: a version or an epoch did not grow");
        }
        if let Some(transition) = step.transition {
            let pair = (transition.from, transition.to);
            town.reached.lock().unwrap().insert(pair);
        }
        for effect in step.effects {
            self.perform(number, effect);
        }
        self.interrupts[number] = Arc::new(step.interrupt);
    }

    pub(super) fn perform(&mut self, number: usize, effect: Effect) {
        let id = self.interrupts[number].id;
        let change = match effect {
            Effect::BindReroute { .. } => RerouteChange::Bind(id),
            Effect::ConsumeReroute { decision, .. } => {
                self.consumed.push(number);
                RerouteChange::Consume(decision)
            }
            Effect::ReleaseReroute { .. } => RerouteChange::Release,
            Effect::Dispatch {
                target, decision, ..
            } => {
                self.ledger
                    .push((number, decision, target.as_str().to_owned()));
                return;
            }
            _ => return,
        };
        match self.reroute.after(change) {
            Some(next) => self.reroute = next,
            None => self.broken = Some("P6: the reroute could not take the change"),
        }
    }
}

/// What may come in between for one interrupt.
pub(super) fn disturb(interrupt: usize, kept: &Interrupt, actions: &mut Vec<Action>) {
    match kept.state {
        State::AwaitingReview => actions.push(Action::Claim { interrupt }),
        State::Requested | State::Delivered | State::Acknowledged => {
            actions.push(Action::LeaseRanOut { interrupt });
        }
        // An operator may do what he likes with a dead one at any time.
        State::DeadLettered
        | State::Resolved
        | State::Rerouted
        | State::Expired
        | State::Cancelled => return,
    }
    actions.push(Action::Withdraw { interrupt });
}

/// What is on the network: all that somebody may have asked for, with what he knew.
pub(super) fn messages(world: &World) -> Vec<Message> {
    let mut sent = Vec::new();
    for (interrupt, epoch) in world.workers.iter().flatten().copied() {
        sent.push(Message::Acknowledge { interrupt, epoch });
        sent.push(Message::Fail { interrupt, epoch });
        // The first needs a person, the other one is decided by the policy.
        sent.push(if interrupt == REVIEWED {
            Message::RequireReview { interrupt, epoch }
        } else {
            Message::PolicyDecides { interrupt, epoch }
        });
    }
    for (reviewer, seen) in world.reviewers.iter().enumerate() {
        if let Some((interrupt, version)) = *seen {
            sent.push(Message::Decide {
                interrupt,
                reviewer,
                version,
            });
        }
    }
    sent
}

/// What an action between the requests does to its interrupt.
pub(super) fn event_between(action: &Action, world: &World) -> Event {
    match *action {
        Action::Claim { interrupt } => Event::Review {
            actor: named("ada", Role::Reviewer),
            version: world.interrupts[interrupt].version,
            change: ReviewChange::Claim {
                until: at(world.tick + 1),
            },
        },
        Action::Withdraw { .. } => Event::Withdraw {
            actor: actor(Role::Operator),
            cause: WithdrawCause::Withdrawn,
        },
        Action::Redrive { .. } => Event::Redrive {
            actor: actor(Role::Operator),
        },
        Action::Sweep { .. } => deadline(),
        _ => Event::DeliveryFailed {
            epoch: None,
            error: "lost".to_owned(),
        },
    }
}
