//! The lanes: users first, nobody for ever, and within a lane the first to come.

use interrupts::life::Lane;
use interrupts::manager::Lanes;
use proptest::prelude::*;

fn lane() -> impl Strategy<Value = Lane> {
    prop_oneof![Just(Lane::User), Just(Lane::Agent), Just(Lane::System)]
}

#[test]
fn users_go_first_then_agents_then_the_system() {
    let mut lanes = Lanes::default();
    for (lane, name) in [
        (Lane::System, "limit"),
        (Lane::Agent, "question"),
        (Lane::User, "key"),
        (Lane::User, "second key"),
    ] {
        lanes.push(lane, name);
    }
    let order: Vec<_> = std::iter::from_fn(|| lanes.pop()).collect();
    assert_eq!(order, ["key", "second key", "question", "limit"]);
}

proptest! {
    /// Whatever comes in whatever order, and however the taking is mixed with it: an item with `n` before it in
    /// its own lane is passed over at most `(n + 1) * (bound + 3)` times, and lanes keep their order.
    #[test]
    fn nobody_starves(
        bound in 0..12_u32,
        steps in proptest::collection::vec((proptest::option::weighted(0.55, lane()), 1..4_usize), 1..300),
    ) {
        let mut lanes = Lanes::bounded(bound);
        let mut number = 0_usize;
        let mut waiting: Vec<(Lane, usize, u32, u32)> = Vec::new();
        for (lane, count) in steps {
            for _ in 0..count {
                if let Some(lane) = lane {
                    let before = waiting.iter().filter(|item| item.0 == lane).count();
                    let most = u32::try_from(before + 1).unwrap() * (bound + 3);
                    lanes.push(lane, number);
                    waiting.push((lane, number, most, 0));
                    number += 1;
                } else if let Some(taken) = lanes.pop() {
                    let place = waiting.iter().position(|item| item.1 == taken).unwrap();
                    let (lane, ..) = waiting.remove(place);
                    prop_assert!(
                        waiting.iter().all(|item| item.0 != lane || item.1 > taken),
                        "the first of a lane goes first"
                    );
                    for item in &mut waiting {
                        item.3 += 1;
                        prop_assert!(item.3 <= item.2, "{item:?} waits for too long");
                    }
                } else {
                    prop_assert!(waiting.is_empty());
                }
            }
        }
        prop_assert_eq!(lanes.len(), waiting.len());
    }
}

#[test]
fn a_flood_of_users_does_not_hold_up_the_system_for_ever() {
    let mut lanes = Lanes::bounded(8);
    lanes.push(Lane::System, "limit");
    lanes.push(Lane::Agent, "question");
    let mut taken = Vec::new();
    for _ in 0..12 {
        lanes.push(Lane::User, "key");
        taken.extend(lanes.pop());
    }
    assert!(
        taken.contains(&"limit") && taken.contains(&"question"),
        "{taken:?}"
    );
}
