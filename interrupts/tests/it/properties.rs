//! What holds for every sequence of events, however absurd.

use interrupt_router::{InterruptType, StopMode, StopSource};
use interrupts::life::{
    Decider, Effect, Event, Family, Interrupt, NewAsking, Refusal, Role, State, Transition, Verdict,
};
use proptest::prelude::*;

use crate::scene::{actor, admission, admitted, at, every_event, reroute};

/// One step of a history: which of all events, by which epoch and version, after how many seconds.
#[derive(Debug, Clone)]
struct Happening {
    event: usize,
    stale: u64,
    seconds: i64,
    mode: Option<StopMode>,
}

fn happening() -> impl Strategy<Value = Happening> {
    (
        any::<prop::sample::Index>(),
        0..3_u64,
        prop_oneof![4 => 0..3_i64, 1 => 3..60_i64],
        prop::option::weighted(
            0.2,
            prop_oneof![Just(StopMode::Graceful), Just(StopMode::Immediate)],
        ),
    )
        .prop_map(|(event, stale, seconds, mode)| Happening {
            event: event.index(1_000),
            stale: stale / 2,
            seconds,
            mode,
        })
}

fn any_type() -> impl Strategy<Value = InterruptType> {
    prop::sample::select(InterruptType::ALL.to_vec())
}

/// The event of a happening: made for an older self where it is stale.
fn event_of(happening: &Happening, interrupt: &Interrupt) -> Event {
    if let Some(mode) = happening.mode {
        let by = actor(Role::Operator);
        if happening.event.is_multiple_of(2) {
            return Event::RaiseMode { actor: by, mode };
        }
        let asking = NewAsking {
            by,
            source: StopSource::User,
            mode,
            reason: format!("for reason {}", happening.event % 3),
            content: String::new(),
        };
        return Event::Ask { asking };
    }
    let mut seen = interrupt.clone();
    seen.epoch = seen.epoch.saturating_sub(happening.stale);
    seen.version = seen.version.saturating_sub(happening.stale);
    let events = every_event(&seen);
    let mut event = events[happening.event % events.len()].clone();
    if let Event::Acknowledge { pending, .. } = &mut event {
        *pending = happening
            .event
            .is_multiple_of(2)
            .then(|| reroute("event", "OTHER"));
    }
    event
}

/// Which epoch an event claims to hold.
fn epoch_of(event: &Event) -> Option<u64> {
    match event {
        Event::Acknowledge { epoch, .. }
        | Event::RequireReview { epoch, .. }
        | Event::Renew { epoch, .. }
        | Event::Decide {
            judge: interrupts::life::Judge::Policy { epoch },
            ..
        } => Some(*epoch),
        Event::DeliveryFailed { epoch, .. } => *epoch,
        _ => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn p4_p5_p9_p11_p12_p19_hold(
        interrupt_type in any_type(),
        history in prop::collection::vec(happening(), 1..60),
    ) {
        let mut interrupt = admitted(&admission(interrupt_type)).interrupt;
        let (mut now, mut decisions) = (1, 0);
        let mut asked_for = interrupt.mode;
        for happening in &history {
            now += happening.seconds;
            let event = event_of(happening, &interrupt);
            let before = interrupt.clone();
            let step = match before.after(&event, at(now)) {
                Ok(step) => step,
                Err(Refusal::Ended { decision, .. }) => {
                    prop_assert!(before.state.is_final());
                    prop_assert_eq!(decision.as_deref(), before.decision.as_ref());
                    continue;
                }
                Err(_refused) => continue,
            };
            interrupt = step.interrupt;
            // P5: nothing follows an end, and a decision never changes.
            prop_assert!(!before.state.is_final());
            prop_assert!(before.decision.is_none() || before.decision == interrupt.decision);
            // P4: every step is in the table; versions grow, epochs never fall.
            match step.transition {
                Some(transition) => {
                    let found = Transition::between(before.state, interrupt.state);
                    prop_assert_eq!(found, Some(transition));
                    prop_assert_eq!(interrupt.version, before.version + 1);
                }
                None => prop_assert_eq!(before.state, interrupt.state),
            }
            let takes = matches!(event, Event::Take { .. });
            prop_assert_eq!(interrupt.epoch, before.epoch + u64::from(takes));
            // P9: at most one decision, and it has one dispatch.
            let dispatches = step.effects.iter()
                .filter(|effect| matches!(effect, Effect::Dispatch { .. }))
                .count();
            prop_assert_eq!(dispatches, usize::from(interrupt.decision.is_some() && before.decision.is_none()));
            decisions += dispatches;
            prop_assert!(decisions <= 1);
            // P11: what an old epoch writes is not accepted.
            if let Some(epoch) = epoch_of(&event) {
                prop_assert_eq!(epoch, before.epoch);
            }
            // P12: the mode is the join of all requests.
            if let Event::RaiseMode { mode, .. }
            | Event::Ask {
                asking: NewAsking { mode, .. },
            } = event
            {
                asked_for = asked_for.max(mode);
            }
            // Of a stop that ends without a decision, all was taken back, or its run has ended.
            let is_stop = before.family() == Family::Stop;
            if is_stop && interrupt.state == State::Cancelled && before.state != State::DeadLettered {
                prop_assert!(!interrupt.is_asked_for());
            }
            prop_assert_eq!(interrupt.mode, asked_for);
        }
        // P19: nobody approved but a person or the policy.
        if let Some(decision) = &interrupt.decision
            && decision.by == Decider::Deadline
        {
            prop_assert_eq!(interrupt.state, State::Expired);
            prop_assert_ne!(decision.verdict, Verdict::Approve);
        }
        // P8: wherever it went, it was allowed to.
        if let Some(decision) = &interrupt.decision {
            prop_assert!(interrupt.allows_target(&decision.target));
        }
    }

    #[test]
    fn an_interrupt_reads_back_from_its_json(history in prop::collection::vec(happening(), 0..20)) {
        let mut interrupt = admitted(&admission(InterruptType::HumanReview)).interrupt;
        for happening in &history {
            let event = event_of(happening, &interrupt);
            if let Ok(step) = interrupt.after(&event, at(1)) {
                interrupt = step.interrupt;
            }
        }
        let json = serde_json::to_string(&interrupt).unwrap();
        prop_assert_eq!(serde_json::from_str::<Interrupt>(&json).unwrap(), interrupt);
    }
}
