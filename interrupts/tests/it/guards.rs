//! What each transition demands, and what it causes.

use interrupt_router::{InterruptType, StopMode};
use interrupts::life::{
    AdmissionError, Effect, Event, Evidence, ExpiryOutcome, Limits, Notice, Refusal, Role,
    RunState, State,
};
use jiff::SignedDuration;

use crate::scene::{
    actor, admission, admitted, after, at, interrupt_id, owner, question, request, reroute, route,
    shown, take,
};

pub(crate) fn notices(effects: &[Effect]) -> Vec<&Notice> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Tell(notice) => Some(notice),
            _ => None,
        })
        .collect()
}

#[test]
fn row_1_admits_with_mode_deadline_notice_and_reroute() {
    let mut asked = admission(InterruptType::HumanReview);
    asked.reroute = Some(route("OTHER"));
    let step = admitted(&asked);
    assert_eq!(step.interrupt.state, State::Requested);
    assert_eq!(step.interrupt.deadline, Some(at(100)));
    assert_eq!(notices(&step.effects), [&Notice::Admitted]);
    assert!(step.effects.iter().any(
        |effect| matches!(effect, Effect::StoreReroute { event, target }
            if event.as_str() == "key-1" && *target == route("OTHER"))
    ));
}

#[test]
fn row_1_refuses_what_does_not_fit() {
    let admit = |change: &dyn Fn(&mut interrupts::life::Admission), run| {
        let mut asked = admission(InterruptType::Pause);
        change(&mut asked);
        asked.admit(asked.digest(), run, &Limits::default(), at(0))
    };
    for state in [RunState::Completed, RunState::Failed, RunState::Cancelled] {
        let refused = admit(&|_asked| {}, state);
        assert_eq!(refused, Err(AdmissionError::RunEnded { state }));
    }
    let running = RunState::Running;
    let unknown = Err(AdmissionError::RouteUnknown {
        route: route("NOWHERE"),
    });
    assert_eq!(
        admit(&|asked| asked.origin = route("NOWHERE"), running),
        unknown
    );
    assert_eq!(
        admit(&|asked| asked.reroute = Some(route("NOWHERE")), running),
        unknown
    );
    let to_nowhere = ExpiryOutcome::Reroute {
        target: route("NOWHERE"),
    };
    assert_eq!(
        admit(&|asked| asked.on_expiry = to_nowhere.clone(), running),
        unknown
    );
    assert_eq!(
        admit(&|asked| asked.content = "{".to_owned(), running),
        Err(AdmissionError::NotJson)
    );
    assert!(matches!(
        admit(
            &|asked| asked.content = format!("\"{}\"", "x".repeat(1 << 20)),
            running
        ),
        Err(AdmissionError::TooLarge { .. })
    ));
    assert_eq!(
        admit(&|asked| asked.most_attempts = 0, running),
        Err(AdmissionError::NoAttempts)
    );
    assert_eq!(
        admit(
            &|asked| asked.patience = Some(SignedDuration::ZERO),
            running
        ),
        Err(AdmissionError::NoPatience)
    );
}

#[test]
fn a_request_is_the_same_request_whatever_id_it_brings() {
    let first = admission(InterruptType::Pause);
    let mut again = first.clone();
    again.id = interrupt_id(2);
    assert_eq!(first.digest(), again.digest());
    again.reason = "another".to_owned();
    assert_ne!(first.digest(), again.digest());
}

#[test]
fn rows_2_and_3_take_what_is_free_and_raise_the_epoch() {
    let requested = question(State::Requested);
    let step = requested.after(&take("first", 10), at(1)).unwrap();
    assert_eq!((step.interrupt.epoch, step.interrupt.attempts), (1, 1));
    assert!(step.effects.contains(&Effect::NewEpoch {
        epoch: 1,
        owner: owner("first")
    }));
    let delivered = step.interrupt;
    assert_eq!(
        delivered.after(&take("second", 20), at(9)),
        Err(Refusal::Leased {
            owner: owner("first"),
            until: at(10)
        })
    );
    assert_eq!(after(&delivered, &take("second", 20), 10).epoch, 2);
    let lost = Event::Take {
        owner: owner("second"),
        until: at(20),
        lost: Some(owner("first")),
    };
    assert_eq!(after(&delivered, &lost, 2).epoch, 2);
}

#[test]
fn a_renewed_lease_keeps_others_away_and_never_gets_shorter() {
    let delivered = question(State::Delivered);
    let renew = |until| Event::Renew {
        epoch: 1,
        until: at(until),
    };
    let renewed = after(&after(&delivered, &renew(30), 5), &renew(20), 5);
    assert!(renewed.after(&take("second", 90), at(29)).is_err());
    assert!(renewed.after(&take("second", 90), at(30)).is_ok());
    assert!(question(State::Requested).after(&renew(30), at(1)).is_err());
}

#[test]
fn row_4_demands_the_current_epoch_and_evidence_that_fits() {
    let asked = question(State::Delivered);
    assert_eq!(
        asked.after(&request(0, None), at(2)),
        Err(Refusal::Fenced {
            given: 0,
            current: 1
        })
    );
    let with = |evidence| Event::Acknowledge {
        epoch: 1,
        evidence,
        pending: None,
    };
    for evidence in [Evidence::Boundary, Evidence::Cancelled] {
        assert_eq!(
            asked.after(&with(evidence), at(2)),
            Err(Refusal::EvidenceInsufficient)
        );
    }
    let pause = after(
        &admitted(&admission(InterruptType::Pause)).interrupt,
        &take("worker", 10),
        1,
    );
    assert!(pause.after(&with(Evidence::Boundary), at(2)).is_ok());
    let harder = Event::RaiseMode {
        actor: actor(Role::Supervisor),
        mode: StopMode::Immediate,
    };
    let immediate = after(&pause, &harder, 2);
    assert_eq!(
        immediate.after(&with(Evidence::Boundary), at(2)),
        Err(Refusal::EvidenceInsufficient)
    );
    assert!(immediate.after(&with(Evidence::Cancelled), at(2)).is_ok());
}

#[test]
fn row_4_binds_the_pending_reroute_of_a_question_and_of_a_stop_its_own_alone() {
    let step = question(State::Delivered)
        .after(&request(1, Some(reroute("event", "OTHER"))), at(2))
        .unwrap();
    assert_eq!(step.interrupt.bound, Some(reroute("event", "OTHER")));
    assert!(step.interrupt.content.contains("asked"));
    let pause = after(
        &admitted(&admission(InterruptType::Pause)).interrupt,
        &take("worker", 10),
        1,
    );
    for (event, bound) in [("event", false), ("key-1", true)] {
        let acknowledge = Event::Acknowledge {
            epoch: 1,
            evidence: Evidence::Boundary,
            pending: Some(reroute(event, "OTHER")),
        };
        let step = pause.after(&acknowledge, at(2)).unwrap();
        assert_eq!(step.interrupt.bound.is_some(), bound, "{event}");
        let binds = |effect: &Effect| matches!(effect, Effect::BindReroute { .. });
        assert_eq!(step.effects.iter().any(binds), bound);
    }
}

#[test]
fn row_5_takes_again_without_asking_again() {
    let acknowledged = question(State::Acknowledged);
    let again = after(&acknowledged, &take("second", 30), 10);
    assert_eq!((again.state, again.epoch), (State::Acknowledged, 2));
    assert_eq!(again.bound, acknowledged.bound);
    assert_eq!(again.content, acknowledged.content);
}

#[test]
fn row_6_opens_a_review_of_what_is_shown() {
    let acknowledged = question(State::Acknowledged);
    let needs = |epoch| Event::RequireReview {
        epoch,
        shown: shown(),
    };
    assert!(matches!(
        acknowledged.after(&needs(0), at(2)),
        Err(Refusal::Fenced { .. })
    ));
    let step = acknowledged.after(&needs(1), at(2)).unwrap();
    assert!(
        step.effects
            .contains(&Effect::OpenReview { shown: shown() })
    );
    assert_eq!(notices(&step.effects), [&Notice::ReviewOpened]);
    assert_eq!(step.interrupt.lease, None);
}
