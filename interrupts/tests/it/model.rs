//! A model of everything that may happen at once: two workers, two interrupts, two reviewers, one reroute,
//! crashes, and a network that loses, delays and doubles what is sent. It runs the machine itself, not a copy
//! of it, and is searched exhaustively within its bounds.
//!
//! The store is the truth and each of its steps is a transaction. Workers and reviewers act on what they knew
//! when they last looked. Their requests are on the network from then on: each may arrive at any time later,
//! as often as it likes, or never.

use std::collections::BTreeSet;
use std::sync::Mutex;

use interrupts::life::{
    BoundReroute, Choosing, Effect, Event, Evidence, Interrupt, Judge, ReviewChange, Role, State,
    Transition, Verdict, WithdrawCause,
};
use jiff::SignedDuration;
use routing_core::reroute::{RerouteChange, RerouteState};
use routing_core::{DecisionId, InterruptType};
use stateright::{Checker, Model, Property};

use crate::scene::{
    actor, admission, admitted, at, deadline, decision_id, interrupt_id, named, owner, reroute,
    route, shown,
};

/// How often the clock may advance. Leases hold for one tick, and the one deadline is there then.
const LAST_TICK: i64 = 1;

/// How much may go wrong beside the network.
const MOST_DISTURBANCES: u8 = 2;

/// The interrupt that needs a person.
const REVIEWED: usize = 0;

/// The reroute's event, and where it leads.
const EVENT: &str = "event";
const TARGET: &str = "OTHER";

/// A request on its way to the store, made with what its sender knew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Message {
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
type Held = Option<(usize, u64)>;

/// What a reviewer was shown: the interrupt and its version.
type Seen = Option<(usize, u64)>;

/// One dispatch in the ledger of the targets.
type Dispatched = (usize, DecisionId, String);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    interrupts: [Interrupt; 2],
    reroute: RerouteState,
    /// How often the reroute was consumed, and by whom.
    consumed: Vec<usize>,
    ledger: Vec<Dispatched>,
    workers: [Held; 2],
    reviewers: [Seen; 2],
    tick: i64,
    /// Whether an operator has tried again; he does so once.
    redriven: bool,
    /// How much has gone wrong so far: crashes, leases, and what people do in between.
    disturbances: u8,
    /// Set for good when a property of a single step was violated.
    broken: Option<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Action {
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
    const fn disturbs(&self) -> bool {
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
struct Town {
    reached: Mutex<BTreeSet<(State, State)>>,
}

fn fresh(number: usize) -> Interrupt {
    let mut asked = admission(InterruptType::HumanReview);
    asked.id = interrupt_id(number as u128 + 1);
    // The first may be delivered twice and has a deadline; the other one once, and it waits for ever.
    asked.most_attempts = if number == REVIEWED { 2 } else { 1 };
    asked.patience = (number == REVIEWED).then(|| SignedDuration::from_secs(LAST_TICK));
    admitted(&asked).interrupt
}

/// Where a message is for, and what it asks there.
fn event_of(message: &Message, world: &World) -> (usize, Event) {
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

fn acknowledge(epoch: u64, pending: Option<BoundReroute>) -> Event {
    Event::Acknowledge {
        epoch,
        evidence: Evidence::Request {
            content: "{}".to_owned(),
        },
        pending,
    }
}

fn choice(interrupt: usize, who: usize, target: Option<&str>) -> Choosing {
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
fn epoch_of(event: &Event) -> Option<u64> {
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
    fn now(&self) -> jiff::Timestamp {
        at(self.tick)
    }

    /// One transaction of the store: the step and its effects, or nothing.
    fn apply(&mut self, town: &Town, number: usize, event: &Event) {
        let before = self.interrupts[number].clone();
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
        self.interrupts[number] = step.interrupt;
    }

    fn perform(&mut self, number: usize, effect: Effect) {
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
            Ok(next) => self.reroute = next,
            Err(_illegal) => self.broken = Some("P6: the reroute could not take the change"),
        }
    }
}

/// What may come in between for one interrupt.
fn disturb(interrupt: usize, kept: &Interrupt, actions: &mut Vec<Action>) {
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
fn messages(world: &World) -> Vec<Message> {
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
fn event_between(action: &Action, world: &World) -> Event {
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

impl Model for Town {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            interrupts: [fresh(0), fresh(1)],
            reroute: RerouteState::Pending,
            consumed: Vec::new(),
            ledger: Vec::new(),
            workers: [None, None],
            reviewers: [None, None],
            tick: 0,
            broken: None,
            redriven: false,
            disturbances: 0,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let calm = world.disturbances == MOST_DISTURBANCES;
        actions.extend(messages(world).into_iter().map(Action::Arrive));
        for (worker, held) in world.workers.iter().enumerate() {
            match held {
                Some(_) if !calm => actions.push(Action::Crash { worker }),
                Some(_) => {}
                None => actions.extend((0..2).map(|interrupt| Action::Take { worker, interrupt })),
            }
        }
        for (interrupt, kept) in world.interrupts.iter().enumerate() {
            if kept.state == State::AwaitingReview {
                actions.extend((0..2).map(|reviewer| Action::Look {
                    reviewer,
                    interrupt,
                }));
            }
            if kept.state.is_live() && kept.deadline.is_some_and(|due| due <= world.now()) {
                actions.push(Action::Sweep { interrupt });
            }
            if kept.state == State::DeadLettered {
                if !world.redriven {
                    actions.push(Action::Redrive { interrupt });
                }
                actions.push(Action::Withdraw { interrupt });
            }
            if !calm {
                disturb(interrupt, kept, actions);
            }
        }
        if world.tick < LAST_TICK {
            actions.push(Action::Tick);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        let disturbs = action.disturbs();
        match action {
            Action::Take { worker, interrupt } => {
                let take = Event::Take {
                    owner: owner(["first", "second"][worker]),
                    until: at(world.tick + 1),
                    lost: None,
                };
                next.apply(self, interrupt, &take);
                let epoch = next.interrupts[interrupt].epoch;
                if epoch == world.interrupts[interrupt].epoch {
                    return None;
                }
                next.workers[worker] = Some((interrupt, epoch));
            }
            Action::Look {
                reviewer,
                interrupt,
            } => {
                let version = world.interrupts[interrupt].version;
                next.reviewers[reviewer] = Some((interrupt, version));
            }
            Action::Arrive(message) => {
                let (interrupt, event) = event_of(&message, world);
                next.apply(self, interrupt, &event);
            }
            Action::Crash { worker } => {
                next.workers[worker] = None;
            }
            Action::LeaseRanOut { interrupt }
            | Action::Claim { interrupt }
            | Action::Withdraw { interrupt }
            | Action::Redrive { interrupt }
            | Action::Sweep { interrupt } => {
                next.redriven |= matches!(action, Action::Redrive { .. });
                next.apply(self, interrupt, &event_between(&action, world));
            }
            Action::Tick => next.tick += 1,
        }
        if next == *world {
            return None;
        }
        next.disturbances += u8::from(disturbs && world.disturbances < MOST_DISTURBANCES);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "P4, P5, P9, P11 hold at each step",
                |_town: &Self, world: &World| world.broken.is_none(),
            ),
            Property::always("P6 the reroute is used once", |_town, world| {
                used_once(world)
            }),
            Property::always("P8 each goes where it must", |_town, world| {
                goes_right(world)
            }),
            Property::always("P10 each decision is dispatched once", |_town, world| {
                dispatched_once(world)
            }),
        ]
    }
}

fn used_once(world: &World) -> bool {
    let consumed = matches!(world.reroute, RerouteState::Consumed { .. });
    world.consumed.len() <= 1 && consumed == (world.consumed.len() == 1)
}

fn goes_right(world: &World) -> bool {
    world.ledger.iter().all(|(number, decision, target)| {
        let interrupt = &world.interrupts[*number];
        let expected = if *decision == choice(*number, 0, None).id {
            "THIRD"
        } else if interrupt.state != State::Expired && world.consumed.contains(number) {
            TARGET
        } else {
            "ORIGIN"
        };
        target == expected && interrupt.allows_target(&route(target))
    })
}

fn dispatched_once(world: &World) -> bool {
    world
        .interrupts
        .iter()
        .enumerate()
        .all(|(number, interrupt)| {
            let dispatched = world
                .ledger
                .iter()
                .filter(|(of, decision, _target)| {
                    *of == number
                        && interrupt
                            .decision
                            .as_ref()
                            .is_some_and(|stands| stands.id == *decision)
                })
                .count();
            let all = world.ledger.iter().filter(|(of, ..)| *of == number).count();
            dispatched == all && all == usize::from(interrupt.decision.is_some())
        })
}

#[test]
fn every_transition_is_reached_and_every_property_holds() {
    let checker = Town::default().checker().threads(2).spawn_bfs().join();
    assert!(checker.is_done(), "the search did not come to its end");
    checker.assert_properties();
    let reached = checker.model().reached.lock().unwrap();
    let missed: Vec<_> = Transition::LEGAL
        .iter()
        .filter(|transition| !reached.contains(&(transition.from, transition.to)))
        .collect();
    assert!(missed.is_empty(), "never reached: {missed:?}");
    assert_eq!(reached.len(), Transition::LEGAL.len());
    println!(
        "{} states, {} unique",
        checker.state_count(),
        checker.unique_state_count()
    );
}
