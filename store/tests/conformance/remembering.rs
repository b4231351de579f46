//! What becomes a standing rule with a decision, by whom, and what is told of it.

use interrupts::Digest;
use interrupts::life::{Admission, Choosing, Refusal, Role, State, Verdict};
use interrupts::rules::{Reach, Remember, RuleRefusal};
use interrupts::store::{
    AuditSubject, ChangeError, NewRule, Notification, RuleError, RuleEvent, Store, TogetherError,
};
use jiff::SignedDuration;

use crate::rules::{deciding, is_answered, remember, remembered};
use crate::scene::{ALL, Scene, actor, choosing, person, question, shown};

/// A rule in its run, for a minute and three uses.
pub(crate) async fn a_rule_needs_somebody_who_may_and_something_that_was_shown<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let open = scene.awaiting(question(&run, "open")).await;
    let unseen = scene.raised(question(&run, "unseen")).await;
    let new = |role, remember| NewRule {
        interrupt: open.id,
        shown: shown(),
        choosing: choosing(None),
        remember,
        by: actor(role),
    };
    let verdict = |verdict| NewRule {
        choosing: Choosing {
            verdict,
            ..choosing(None)
        },
        ..new(Role::Reviewer, remember(Reach::Run))
    };
    let lasting = |seconds| Remember {
        lifetime: SignedDuration::from_secs(seconds),
        ..remember(Reach::Run)
    };
    let often = |most_uses| Remember {
        most_uses,
        ..remember(Reach::Run)
    };
    let elsewhere = NewRule {
        shown: Digest::of(b"else"),
        ..new(Role::Reviewer, remember(Reach::Run))
    };
    let of_unseen = NewRule {
        interrupt: unseen.id,
        ..new(Role::Reviewer, remember(Reach::Run))
    };
    let refused = [
        new(Role::Reviewer, remember(Reach::Everywhere)),
        new(Role::Requester, remember(Reach::Run)),
        new(Role::Observer, remember(Reach::Agent)),
        verdict(Verdict::Edit),
        verdict(Verdict::Cancel),
        verdict(Verdict::Reroute),
        new(Role::Operator, lasting(0)),
        new(Role::Operator, lasting(31 * 24 * 3_600)),
        new(Role::Operator, often(0)),
        new(Role::Operator, often(1_001)),
        elsewhere,
        of_unseen,
    ];
    let before = scene.store.audit(ALL).await.unwrap().len();
    for (number, new) in refused.into_iter().enumerate() {
        let refused = scene.store.put_rule(new).await;
        assert!(
            matches!(refused, Err(RuleError::Refused(_))),
            "{number}: {refused:?}"
        );
    }
    assert_eq!(scene.store.rules(ALL).await, Ok(Vec::new()));
    assert_eq!(scene.store.audit(ALL).await.unwrap().len(), before);
}

pub(crate) async fn what_cannot_be_remembered_is_not_decided_either<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let asked_by_person = Admission {
        requested_by: actor(Role::Supervisor),
        ..question(&run, "a person asks")
    };
    let open = scene.awaiting(asked_by_person).await;
    let remembering = deciding(&open, Some(remember(Reach::Run)));
    let refused = scene.store.decide_together(vec![remembering]).await;
    let Err(TogetherError::Refused(refused)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        refused[0].error,
        ChangeError::NotRemembered(RuleRefusal::NotAskedByAgent)
    );
    assert_eq!(scene.interrupt(open.id).await, open);
    scene
        .store
        .decide_together(vec![deciding(&open, None)])
        .await
        .unwrap();
}

pub(crate) async fn each_moment_of_a_rule_is_audited_and_told<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let rule = Remember {
        most_uses: 1,
        ..remember(Reach::Run)
    };
    let rule = remembered(&scene, &run, rule).await;
    assert!(is_answered(&scene, question(&run, "again")).await);
    let audited: Vec<_> = scene
        .store
        .audit(ALL)
        .await
        .unwrap()
        .iter()
        .filter_map(|row| match row.read().unwrap().subject {
            AuditSubject::Rule {
                rule,
                event,
                run,
                detail,
                ..
            } => Some((rule, event, run, detail.unwrap())),
            _ => None,
        })
        .collect();
    let told: Vec<_> = scene
        .store
        .outbox(ALL)
        .await
        .unwrap()
        .into_iter()
        .filter_map(|row| match row.notification {
            Notification::Rule {
                rule, event, why, ..
            } => Some((rule, event, why)),
            _ => None,
        })
        .collect();
    let said = |event, detail: &str| (rule.id, event, Some(run.id), detail.to_owned());
    let made = "respond 1 times until 1970-01-12T13:47:40Z";
    assert_eq!(
        audited,
        [
            said(RuleEvent::Created, made),
            said(RuleEvent::Used, "respond, use 1 of 1"),
            said(RuleEvent::Expired, "uses"),
        ]
    );
    let why = Some("uses".to_owned());
    assert_eq!(
        told,
        [
            (rule.id, RuleEvent::Created, None),
            (rule.id, RuleEvent::Used, None),
            (rule.id, RuleEvent::Expired, why)
        ]
    );
    scene.store.verify_audit().await.unwrap();
}

pub(crate) async fn several_decisions_are_made_together_or_not_at_all<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let mut open = Vec::new();
    for number in 0..3 {
        open.push(scene.awaiting(question(&run, format!("{number}"))).await);
    }
    let ended = &open[1];
    store
        .decide(ended.id, person(ended), choosing(None))
        .await
        .unwrap();
    let before = store.audit(ALL).await.unwrap().len();
    let mut all: Vec<_> = open.iter().map(|open| deciding(open, None)).collect();
    let refused = store.decide_together(all.clone()).await;
    let Err(TogetherError::Refused(refused)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        (refused.len(), refused[0].place, refused[0].interrupt),
        (1, 1, ended.id)
    );
    assert!(matches!(
        refused[0].error,
        ChangeError::Refused(Refusal::Ended { .. })
    ));
    assert_eq!(
        store.audit(ALL).await.unwrap().len(),
        before,
        "nothing happened"
    );
    for still in [&open[0], &open[2]] {
        assert_eq!(scene.interrupt(still.id).await, *still);
    }
    all.remove(1);
    let decided = store.decide_together(all.clone()).await.unwrap();
    let states: Vec<_> = decided.iter().map(|one| one.state).collect();
    assert_eq!(states, [State::Resolved, State::Resolved]);
    let after = store.audit(ALL).await.unwrap().len();
    assert_eq!(
        store.decide_together(all).await,
        Ok(decided),
        "the same ones again"
    );
    assert_eq!(store.audit(ALL).await.unwrap().len(), after);
}
