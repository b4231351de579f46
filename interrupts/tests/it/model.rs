//! A model of everything that may happen at once: two workers, two interrupts, two reviewers, one reroute,
//! crashes, and a network that loses, delays and doubles what is sent. It runs the machine itself, not a copy
//! of it, and is searched exhaustively within its bounds.
//!
//! The store is the truth and each of its steps is a transaction. Workers and reviewers act on what they knew
//! when they last looked. Their requests are on the network from then on: each may arrive at any time later,
//! as often as it likes, or never.
mod world;

use interrupt_router::reroute::RerouteState;
use interrupts::life::{Event, State, Transition};
use stateright::{Checker, Model, Property};

use crate::scene::{at, owner, route};
use world::{
    Action, LAST_TICK, MOST_DISTURBANCES, TARGET, Town, World, choice, disturb, event_between,
    event_of, fresh, messages,
};

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
