//! What each transition demands that decides, reviews or ends, and what it causes.

use interrupt_router::InterruptType;
use interrupts::life::{
    Decider, Effect, Event, Judge, Notice, Refusal, ReviewChange, Role, State, Verdict,
};
use interrupts::{Digest, EffectId, IdempotencyKey, OwnerName};

use crate::guards::notices;
use crate::scene::{
    actor, after, at, choosing, deadline, decision_id, failed, interrupt_id, named, person, policy,
    question, redrive, review, route, shown, take, withdraw,
};

#[test]
fn rows_7_and_9_go_where_the_person_says_else_the_bound_reroute_else_the_origin() {
    let open = question(State::AwaitingReview);
    let mut unbound = open.clone();
    unbound.bound = None;
    for (interrupt, target, state, there) in [
        (&open, Some("THIRD"), State::Rerouted, "THIRD"),
        (&open, Some("ORIGIN"), State::Resolved, "ORIGIN"),
        (&open, None, State::Rerouted, "OTHER"),
        (&unbound, None, State::Resolved, "ORIGIN"),
    ] {
        let step = interrupt
            .after(&person(interrupt, choosing(5, target)), at(2))
            .unwrap();
        let decision = step.interrupt.decision.clone().unwrap();
        assert_eq!(step.interrupt.state, state);
        assert_eq!(decision.target, route(there));
        assert_eq!(decision.version, step.interrupt.version);
        assert_eq!(
            decision.effect,
            EffectId::of_dispatch(interrupt.id, step.interrupt.version)
        );
        let consumes = step
            .effects
            .iter()
            .filter(|effect| matches!(effect, Effect::ConsumeReroute { .. }))
            .count();
        assert_eq!(consumes, usize::from(interrupt.bound.is_some()));
        let chooses = step
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::ChooseReroute { .. }));
        assert_eq!(chooses, target.is_some());
        assert!(step.effects.contains(&Effect::Dispatch {
            effect: decision.effect,
            target: route(there),
            decision: decision_id(5)
        }));
    }
}

#[test]
fn rows_7_and_9_refuse_what_the_table_does_not_allow() {
    let open = question(State::AwaitingReview);
    assert_eq!(
        open.after(&person(&open, choosing(5, Some("NOWHERE"))), at(2)),
        Err(Refusal::TargetNotAllowed {
            target: route("NOWHERE")
        })
    );
    let mut without = choosing(5, None);
    without.verdict = Verdict::Reroute;
    assert_eq!(
        open.after(&person(&open, without), at(2)),
        Err(Refusal::TargetMismatch)
    );
    for verdict in [Verdict::Applied, Verdict::Resume] {
        let mut choice = choosing(5, None);
        choice.verdict = verdict;
        assert!(matches!(
            open.after(&person(&open, choice), at(2)),
            Err(Refusal::VerdictNotAllowed { .. })
        ));
    }
    assert!(matches!(
        open.after(&policy(&open, choosing(5, None)), at(2)),
        Err(Refusal::Illegal { .. })
    ));
    let acknowledged = question(State::Acknowledged);
    assert!(matches!(
        acknowledged.after(&person(&acknowledged, choosing(5, None)), at(2)),
        Err(Refusal::Illegal { .. })
    ));
    assert_eq!(
        open.after(&person(&open, choosing(5, None)), at(100)),
        Err(Refusal::DeadlinePassed { deadline: at(100) })
    );
}

/// An earlier version has stored that a stop may be sent elsewhere, and passed over that it was.
#[test]
fn no_person_sends_a_stop_elsewhere_whatever_was_stored_of_it() {
    let mut pause = question(State::AwaitingReview);
    pause.interrupt_type = InterruptType::Pause;
    pause.allowed = vec![Verdict::Resume, Verdict::Reroute, Verdict::Cancel];
    let mut away = choosing(5, Some("OTHER"));
    away.verdict = Verdict::Reroute;
    assert_eq!(
        pause.after(&person(&pause, away), at(2)),
        Err(Refusal::VerdictNotAllowed {
            verdict: Verdict::Reroute,
            allowed: vec![Verdict::Resume, Verdict::Cancel],
        })
    );
}

#[test]
fn row_9_demands_role_version_and_the_digest_of_what_was_shown() {
    let open = question(State::AwaitingReview);
    let decide = |role, version, digest| {
        let judge = Judge::Person {
            actor: actor(role),
            version,
            shown: digest,
        };
        let choosing = choosing(5, None);
        open.after(&Event::Decide { judge, choosing }, at(2))
    };
    for role in [Role::Observer, Role::Requester, Role::System] {
        assert!(matches!(
            decide(role, open.version, shown()),
            Err(Refusal::Role { .. })
        ));
    }
    assert!(matches!(
        decide(Role::Reviewer, open.version - 1, shown()),
        Err(Refusal::StaleVersion { .. })
    ));
    assert_eq!(
        decide(Role::Reviewer, open.version, Digest::of(b"else")),
        Err(Refusal::ShownDiffers)
    );
    assert!(decide(Role::Reviewer, open.version, shown()).is_ok());
}

#[test]
fn row_8_claims_keep_others_away_until_they_lapse() {
    let open = question(State::AwaitingReview);
    let claim = ReviewChange::Claim { until: at(20) };
    let claimed = after(
        &open,
        &review(named("bob", Role::Reviewer), open.version, claim.clone()),
        2,
    );
    assert_eq!(claimed.version, open.version + 1);
    let ada = actor(Role::Reviewer);
    let again = review(ada, claimed.version, claim);
    assert!(matches!(
        claimed.after(&again, at(19)),
        Err(Refusal::Claimed { .. })
    ));
    assert!(matches!(
        claimed.after(&person(&claimed, choosing(5, None)), at(19)),
        Err(Refusal::Claimed { .. })
    ));
    assert!(claimed.after(&again, at(20)).is_ok());
    assert!(
        claimed
            .after(&person(&claimed, choosing(5, None)), at(20))
            .is_ok()
    );
    let release = review(
        named("bob", Role::Reviewer),
        claimed.version,
        ReviewChange::Release,
    );
    assert!(after(&claimed, &release, 3).review.unwrap().claim.is_none());
}

#[test]
fn row_8_holds_a_question_until_the_users_interrupt_lets_it_go() {
    let open = question(State::AwaitingReview);
    let system = |version, change| review(actor(Role::System), version, change);
    let by = interrupt_id(50);
    let held = after(&open, &system(open.version, ReviewChange::Hold { by }), 2);
    assert!(held.state.is_live());
    assert_eq!(
        held.after(&person(&held, choosing(5, None)), at(2)),
        Err(Refusal::Held { by })
    );
    let other = interrupt_id(51);
    for change in [
        ReviewChange::Hold { by: other },
        ReviewChange::Unhold { by: other },
        ReviewChange::Hold { by: open.id },
    ] {
        assert!(matches!(
            held.after(&system(held.version, change), at(2)),
            Err(Refusal::NotHeld { .. })
        ));
    }
    let shown_again = after(&held, &system(held.version, ReviewChange::Unhold { by }), 3);
    assert!(
        shown_again
            .after(&person(&shown_again, choosing(5, None)), at(3))
            .is_ok()
    );
}

#[test]
fn row_8_keeps_one_vote_of_each_person() {
    let mut open = question(State::AwaitingReview);
    for verdict in [Verdict::Approve, Verdict::Reject] {
        let vote = ReviewChange::Vote { verdict };
        open = after(&open, &review(actor(Role::Reviewer), open.version, vote), 2);
    }
    let votes = open.review.unwrap().votes;
    assert_eq!(votes.len(), 1);
    assert_eq!(votes[0].verdict, Verdict::Reject);
}

#[test]
fn row_10_expires_at_the_deadline_with_the_policys_outcome() {
    for state in State::ALL.into_iter().filter(|state| state.is_live()) {
        let open = question(state);
        assert_eq!(open.after(&deadline(), at(99)), Err(Refusal::NotDue));
        let step = open.after(&deadline(), at(100)).unwrap();
        let decision = step.interrupt.decision.unwrap();
        assert_eq!(decision.verdict, Verdict::Reject);
        assert_eq!(decision.by, Decider::Deadline);
        assert_eq!(decision.target, route("ORIGIN"));
        let releases = |effect: &Effect| matches!(effect, Effect::ReleaseReroute { .. });
        assert_eq!(step.effects.iter().any(releases), open.bound.is_some());
    }
    let mut patient = question(State::AwaitingReview);
    patient.deadline = None;
    assert_eq!(
        patient.after(&deadline(), jiff::Timestamp::MAX),
        Err(Refusal::NotDue)
    );
}

#[test]
fn row_11_cancels_by_role_and_lets_the_reroute_go() {
    for state in State::ALL.into_iter().filter(|state| state.is_live()) {
        let open = question(state);
        for role in [Role::Observer, Role::Reviewer, Role::Requester] {
            assert!(matches!(
                open.after(&withdraw(role), at(2)),
                Err(Refusal::Role { .. })
            ));
        }
        for role in [Role::Supervisor, Role::Operator, Role::System] {
            let step = open.after(&withdraw(role), at(2)).unwrap();
            assert_eq!(step.interrupt.state, State::Cancelled);
            assert_eq!(step.interrupt.bound, None);
            assert_eq!(notices(&step.effects), [&Notice::Ended]);
        }
        let own = Event::Withdraw {
            actor: open.requested_by.clone(),
            cause: interrupts::life::WithdrawCause::Withdrawn,
        };
        assert!(open.after(&own, at(2)).is_ok());
    }
}

#[test]
fn row_12_dead_letters_after_the_last_delivery_and_not_before() {
    let mut interrupt = question(State::Requested);
    for attempt in 1..=3_u64 {
        interrupt = after(&interrupt, &take("worker", 10), 1);
        let stale = interrupt.after(&failed(Some(attempt - 1)), at(1));
        assert!(matches!(stale, Err(Refusal::Fenced { .. })));
        assert!(
            interrupt.after(&failed(None), at(1)).is_err(),
            "the lease still holds"
        );
        interrupt = after(&interrupt, &failed(Some(attempt)), 1);
        let expected = if attempt == 3 {
            State::DeadLettered
        } else {
            State::Delivered
        };
        assert_eq!(interrupt.state, expected);
        assert!(
            interrupt.after(&failed(Some(attempt)), at(1)).is_err(),
            "what arrives twice counts once"
        );
    }
    assert_eq!(interrupt.last_error.as_deref(), Some("no answer"));
}

#[test]
fn a_spent_interrupt_is_not_delivered_once_more() {
    let mut spent = question(State::Delivered);
    spent.attempts = spent.most_attempts;
    assert_eq!(
        spent.after(&take("second", 20), at(10)),
        Err(Refusal::AttemptsSpent { attempts: 3 })
    );
    assert_eq!(after(&spent, &failed(None), 10).state, State::DeadLettered);
}

#[test]
fn the_loss_of_an_owner_is_no_failed_delivery() {
    let mut taken = after(&question(State::Requested), &take("owner-0", 20), 1);
    for life in 1..=10 {
        let take_over = Event::Take {
            owner: OwnerName::new(format!("owner-{life}")).unwrap(),
            until: at(20),
            lost: taken.lease.as_ref().map(|lease| lease.owner.clone()),
        };
        taken = after(&taken, &take_over, 2);
    }
    assert_eq!((taken.state, taken.attempts), (State::Delivered, 1));
}

#[test]
fn row_13_lets_an_operator_redrive_or_withdraw() {
    let dead = question(State::DeadLettered);
    for role in [Role::Supervisor, Role::System, Role::Reviewer] {
        assert!(matches!(
            dead.after(&redrive(role), at(2)),
            Err(Refusal::Role { .. })
        ));
        assert!(matches!(
            dead.after(&withdraw(role), at(2)),
            Err(Refusal::Role { .. })
        ));
    }
    let again = after(&dead, &redrive(Role::Operator), 2);
    assert_eq!((again.state, again.attempts), (State::Requested, 0));
    assert_eq!(again.epoch, dead.epoch, "epochs are never counted anew");
    assert_eq!(
        after(&dead, &withdraw(Role::Operator), 2).state,
        State::Cancelled
    );
}

#[test]
fn a_name_that_is_a_key_is_an_event_id_too() {
    let longest = IdempotencyKey::new("x".repeat(200)).unwrap();
    assert!(interrupt_router::EventId::try_from(longest.as_str().to_owned()).is_ok());
}

#[test]
fn what_is_asked_again_keeps_nothing_of_what_was_shown_before() {
    let open = question(State::AwaitingReview);
    let claim = ReviewChange::Claim { until: at(20) };
    let vote = ReviewChange::Vote {
        verdict: Verdict::Approve,
    };
    let mut seen = open;
    for change in [claim, vote] {
        seen = after(
            &seen,
            &review(actor(Role::Reviewer), seen.version, change),
            2,
        );
    }
    let asking = |role| Event::AskAgain {
        actor: actor(role),
        catalogue: Digest::of(b"newer"),
        routes: vec![route("OTHER")],
    };
    for role in [
        Role::Observer,
        Role::Requester,
        Role::Worker,
        Role::Reviewer,
    ] {
        let refused = seen.after(&asking(role), at(3));
        assert!(matches!(refused, Err(Refusal::Role { .. })), "{role:?}");
    }
    let again = after(&seen, &asking(Role::Supervisor), 3);
    assert_eq!(again.state, State::AwaitingReview);
    assert_eq!(again.version, seen.version + 1);
    assert_eq!(again.catalogue, Some(Digest::of(b"newer")));
    // Of where it might have gone, its own route is left, and what the catalogue has.
    assert!(seen.routes.len() > 2);
    assert_eq!(again.routes, [again.origin.clone(), route("OTHER")]);
    let review = again.review.as_ref().unwrap();
    assert_ne!(review.shown, shown());
    assert_eq!((&review.claim, review.votes.len()), (&None, 0));
    let as_shown = |shown| Event::Decide {
        judge: Judge::Person {
            actor: actor(Role::Reviewer),
            version: again.version,
            shown,
        },
        choosing: choosing(5, None),
    };
    let before = again.after(&as_shown(shown()), at(4));
    assert_eq!(before, Err(Refusal::ShownDiffers));
    let as_now = again.after(&as_shown(review.shown), at(4));
    assert!(as_now.is_ok(), "{as_now:?}");
}
