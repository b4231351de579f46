//! The 81 pairs of states: 23 are reached, 58 are not, by whatever happens.

use std::collections::BTreeSet;

use interrupts::life::{Effect, Interrupt, Refusal, State, Transition};

use crate::scene::{at, every_event, question};

/// The interrupts of one state that differ in what may follow: fresh, with one delivery left, with none.
fn variants(state: State) -> Vec<Interrupt> {
    let usual = question(state);
    let mut spent = usual.clone();
    spent.attempts = spent.most_attempts;
    let mut unbound = usual.clone();
    unbound.bound = None;
    vec![usual, spent, unbound]
}

#[test]
fn exactly_the_23_pairs_of_the_table_are_reached() {
    assert_eq!(Transition::LEGAL.len(), 23);
    let mut reached = BTreeSet::new();
    for state in State::ALL {
        for interrupt in variants(state) {
            for event in every_event(&interrupt) {
                for seconds in [1, 50, 1_000] {
                    let Ok(step) = interrupt.after(&event, at(seconds)) else {
                        continue;
                    };
                    match step.transition {
                        Some(transition) => {
                            assert_eq!(transition.from, state);
                            assert_eq!(transition.to, step.interrupt.state);
                            assert_eq!(event.trigger(), Some(transition.trigger));
                            reached.insert((transition.from, transition.to));
                        }
                        None => assert_eq!(step.interrupt.state, state, "{event:?}"),
                    }
                }
            }
        }
    }
    let table: BTreeSet<_> = Transition::LEGAL
        .iter()
        .map(|transition| (transition.from, transition.to))
        .collect();
    for from in State::ALL {
        for to in State::ALL {
            assert_eq!(
                reached.contains(&(from, to)),
                table.contains(&(from, to)),
                "{from} -> {to}"
            );
            assert_eq!(
                Transition::between(from, to).is_some(),
                table.contains(&(from, to))
            );
        }
    }
    assert_eq!(reached.len(), 23);
}

#[test]
fn each_accepted_event_leaves_one_audit_row_that_says_what_happened() {
    for state in State::ALL {
        for interrupt in variants(state) {
            for event in every_event(&interrupt) {
                let Ok(step) = interrupt.after(&event, at(50)) else {
                    continue;
                };
                let rows: Vec<_> = step
                    .effects
                    .iter()
                    .filter_map(|effect| match effect {
                        Effect::Audit(audited) => Some(audited),
                        _ => None,
                    })
                    .collect();
                if event.name() == "renew" {
                    assert!(rows.is_empty() && step.interrupt.version == interrupt.version);
                    continue;
                }
                let [row] = rows.as_slice() else {
                    panic!("{} audit rows for {event:?}", rows.len());
                };
                assert_eq!((row.from, row.to), (Some(state), step.interrupt.state));
                assert_eq!(row.version, interrupt.version + 1);
                assert_eq!(row.version, step.interrupt.version);
                assert_eq!(row.row, step.transition.map(|transition| transition.row));
            }
        }
    }
}

#[test]
fn what_has_ended_refuses_every_event_and_names_the_decision_that_stands() {
    for state in State::ALL.into_iter().filter(|state| state.is_final()) {
        let ended = question(state);
        for event in every_event(&ended) {
            let Err(Refusal::Ended {
                state: told,
                decision,
                ..
            }) = ended.after(&event, at(1_000))
            else {
                panic!("{state} took {event:?}");
            };
            assert_eq!(told, state);
            assert_eq!(decision.as_deref(), ended.decision.as_ref());
            assert_eq!(decision.is_some(), state != State::Cancelled);
        }
    }
}
