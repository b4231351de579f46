//! Standing rules: made of what was shown, used as often as they say, and for nothing else.

use interrupt_router::{InterruptType, NodeId, RuleId, StopSource};
use interrupts::KindName;
use interrupts::life::{Admission, Decider, Interrupt, ReviewChange, Role, State, Verdict};
use interrupts::rules::{Reach, Remember, RuleEnding, RuleRefusal, StandingRule};
use interrupts::store::{Deciders, Deciding, NewRule, RuleError, Run, Store};
use jiff::SignedDuration;

use crate::scene::{
    ALL, Scene, actor, asked, choosing, delivery, person, question, rerouting, route, shown,
};

/// A rule in its run, for a minute and three uses.
pub(crate) fn remember(reach: Reach) -> Remember {
    Remember {
        id: RuleId::generate(),
        reach,
        lifetime: SignedDuration::from_mins(1),
        most_uses: 3,
    }
}

pub(crate) fn deciding(interrupt: &Interrupt, remember: Option<Remember>) -> Deciding {
    Deciding {
        interrupt: interrupt.id,
        judge: person(interrupt),
        choosing: choosing(None),
        remember,
    }
}

/// Decides a question of a run and remembers that.
pub(crate) async fn remembered<S: Store>(
    scene: &Scene<S>,
    run: &Run,
    remember: Remember,
) -> StandingRule {
    let id = remember.id;
    let open = scene
        .awaiting(question(run, format!("first of {id}")))
        .await;
    let decision = deciding(&open, Some(remember));
    let decided = scene.store.decide_together(vec![decision]).await.unwrap();
    assert_eq!(decided[0].state, State::Resolved);
    scene.store.rule(id).await.unwrap().unwrap()
}

/// The interrupt, if a rule has decided it.
pub(crate) async fn by_rule<S: Store>(scene: &Scene<S>, raised: &Interrupt) -> Option<Interrupt> {
    let consulted = scene
        .store
        .consult(raised.id, raised.epoch, Deciders::rules())
        .await;
    Some(consulted.unwrap()).filter(|row| row != raised)
}

/// Whether a rule answers a question that an agent raises.
pub(crate) async fn is_answered<S: Store>(scene: &Scene<S>, admission: Admission) -> bool {
    let raised = scene.raised(admission).await;
    by_rule(scene, &raised).await.is_some()
}

pub(crate) async fn a_remembered_decision_answers_the_same_question_in_its_run<S: Store>(
    scene: Scene<S>,
) {
    let (run, other) = (scene.run().await, scene.run().await);
    let rule = remembered(&scene, &run, remember(Reach::Run)).await;
    let raised = scene.raised(question(&run, "again")).await;
    let decided = by_rule(&scene, &raised).await.unwrap();
    let decision = decided.decision.clone().unwrap();
    let by = Decider::Rule {
        rule: rule.id,
        name: actor(Role::Reviewer).name,
    };
    assert_eq!((decided.state, decision.by), (State::Resolved, by));
    assert_eq!(decision.content.as_deref(), Some(r#"{"answer":1}"#));
    assert_eq!(scene.interrupt(raised.id).await, decided);
    let used = scene.store.rule(rule.id).await.unwrap().unwrap();
    assert_eq!((used.uses, used.last_used_at), (1, Some(decision.at)));
    assert!(!is_answered(&scene, question(&other, "elsewhere")).await);
}

pub(crate) async fn a_rule_reaches_as_far_as_it_says<S: Store>(scene: Scene<S>) {
    let (run, other) = (scene.run().await, scene.run().await);
    let sibling = |key: &str| Admission {
        node: NodeId::root().child("sibling").unwrap(),
        ..question(&run, key)
    };
    let of_agent = remembered(&scene, &run, remember(Reach::Agent)).await;
    assert!(is_answered(&scene, question(&run, "a1")).await);
    assert!(!is_answered(&scene, sibling("a2")).await);
    let by = actor(Role::Reviewer);
    scene.store.revoke_rule(of_agent.id, by).await.unwrap();
    let of_run = remembered(&scene, &run, remember(Reach::Run)).await;
    assert!(is_answered(&scene, sibling("r1")).await);
    assert!(!is_answered(&scene, question(&other, "r2")).await);
    let by = actor(Role::Operator);
    scene.store.revoke_rule(of_run.id, by).await.unwrap();
    let open = scene.awaiting(question(&run, "e1")).await;
    let new = NewRule {
        interrupt: open.id,
        shown: shown(),
        choosing: choosing(None),
        remember: remember(Reach::Everywhere),
        by: actor(Role::Supervisor),
    };
    let everywhere = scene.store.put_rule(new.clone()).await.unwrap();
    assert_eq!(scene.store.put_rule(new).await, Ok(everywhere));
    assert!(is_answered(&scene, question(&other, "e2")).await);
    let still = scene.interrupt(open.id).await.state;
    assert_eq!(
        still,
        State::AwaitingReview,
        "what people see already stays with them"
    );
}

pub(crate) async fn a_rule_answers_nothing_that_differs_from_what_was_shown<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    remembered(&scene, &run, remember(Reach::Run)).await;
    let base = |key: &str| question(&run, key);
    let differing = [
        Admission {
            kind: KindName::new("OTHER_WORKER").unwrap(),
            ..base("kind")
        },
        Admission {
            interrupt_type: InterruptType::AgentReview,
            ..base("type")
        },
        Admission {
            origin: route("OTHER"),
            ..base("origin")
        },
        Admission {
            routes: vec![route("ORIGIN")],
            ..base("routes")
        },
        Admission {
            reason: "which of the three?".to_owned(),
            ..base("reason")
        },
        Admission {
            content: r#"{"question":"which one?"}"#.to_owned(),
            ..base("content")
        },
        Admission {
            allowed: vec![Verdict::Respond],
            ..base("allowed")
        },
        Admission {
            source: StopSource::User,
            ..base("a person asks")
        },
        Admission {
            source: StopSource::System,
            ..base("the system asks")
        },
        Admission {
            requested_by: actor(Role::Supervisor),
            ..base("a supervisor asks")
        },
    ];
    for admission in differing {
        let key = admission.key.clone();
        assert!(!is_answered(&scene, admission).await, "{key}");
    }
    let order = Admission {
        content: "{ \"question\" : \"which?\" }".to_owned(),
        ..base("spaces")
    };
    assert!(
        is_answered(&scene, order).await,
        "the same JSON is the same question"
    );
}

pub(crate) async fn a_rule_leaves_to_people_what_a_supervisor_or_a_person_waits_for<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let rule = remembered(&scene, &run, remember(Reach::Run)).await;
    scene.admitted(rerouting(&run, "event", "OTHER")).await;
    let bound = scene.raised(question(&run, "bound")).await;
    assert!(bound.bound.is_some());
    let applied = by_rule(&scene, &bound).await;
    assert_eq!(applied, None, "a supervisor has sent the answer elsewhere");
    let pause = Admission {
        interrupt_type: InterruptType::Pause,
        source: StopSource::User,
        requested_by: actor(Role::Supervisor),
        ..question(&run, "pause")
    };
    let pause = scene.admitted(pause).await;
    let pause = scene
        .store
        .deliver(pause.id, delivery("worker", 60))
        .await
        .unwrap();
    let applied = by_rule(&scene, &pause).await;
    assert_eq!(applied, None, "a stop is no question");
    let open = scene.awaiting(question(&run, "open")).await;
    let applied = by_rule(&scene, &open).await;
    assert_eq!(applied, None, "a person looks at it already");
    let hold = ReviewChange::Hold { by: pause.id };
    let held = scene
        .store
        .review(open.id, actor(Role::System), open.version, hold)
        .await;
    assert_eq!(held.unwrap().held_by, Some(pause.id));
    let none = scene.store.rule(rule.id).await.unwrap().unwrap();
    assert_eq!(none.uses, 0);
    let requested = scene.admitted(question(&run, "requested")).await;
    let delivered = scene
        .store
        .deliver(requested.id, delivery("worker", 60))
        .await
        .unwrap();
    assert_eq!(by_rule(&scene, &delivered).await, None);
    let unknown = scene
        .store
        .acknowledge(delivered.id, delivered.epoch, asked())
        .await
        .unwrap();
    assert_eq!(by_rule(&scene, &unknown).await, None, "its words differ");
}

pub(crate) async fn a_rule_ends_by_its_uses_its_time_or_a_word<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let store = &scene.store;
    let by_uses = remembered(&scene, &run, remember(Reach::Run)).await;
    for number in 0..3 {
        assert!(is_answered(&scene, question(&run, format!("use {number}"))).await);
    }
    assert!(!is_answered(&scene, question(&run, "use 4")).await);
    let by_time = remembered(&scene, &run, remember(Reach::Run)).await;
    scene.wait(59);
    assert!(is_answered(&scene, question(&run, "in time")).await);
    scene.wait(1);
    assert!(
        !is_answered(&scene, question(&run, "late")).await,
        "before any sweep"
    );
    assert_eq!(store.expire_rules(10).await, Ok(vec![by_time.id]));
    assert_eq!(store.expire_rules(10).await, Ok(Vec::new()));
    let by_word = remembered(&scene, &run, remember(Reach::Run)).await;
    let stranger = interrupts::life::Actor {
        name: interrupts::ActorName::new("bob").unwrap(),
        role: Role::Reviewer,
    };
    let refused = store.revoke_rule(by_word.id, stranger).await;
    assert!(matches!(
        refused,
        Err(RuleError::Refused(RuleRefusal::Role { .. }))
    ));
    let revoked = store
        .revoke_rule(by_word.id, actor(Role::Reviewer))
        .await
        .unwrap();
    assert!(!is_answered(&scene, question(&run, "revoked")).await);
    let again = store.revoke_rule(by_word.id, actor(Role::Operator)).await;
    assert_eq!(again, Ok(revoked), "the first end stands");
    let endings: Vec<_> = store
        .rules(ALL)
        .await
        .unwrap()
        .into_iter()
        .map(|(position, rule)| (position, rule.id, rule.end.unwrap().ending))
        .collect();
    let revoker = actor(Role::Reviewer);
    assert_eq!(
        endings,
        [
            (1, by_uses.id, RuleEnding::Uses),
            (2, by_time.id, RuleEnding::Time),
            (3, by_word.id, RuleEnding::Revoked { by: revoker })
        ]
    );
    let unknown = store
        .revoke_rule(RuleId::generate(), actor(Role::Operator))
        .await;
    assert!(matches!(unknown, Err(RuleError::Unknown { .. })));
}

pub(crate) async fn a_rule_goes_with_the_run_that_it_is_confined_to<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let confined = remembered(&scene, &run, remember(Reach::Run)).await;
    let open = scene.awaiting(question(&run, "everywhere")).await;
    let new = NewRule {
        interrupt: open.id,
        shown: shown(),
        choosing: choosing(None),
        remember: remember(Reach::Everywhere),
        by: actor(Role::Supervisor),
    };
    let everywhere = scene.store.put_rule(new).await.unwrap();
    let end = interrupts::life::RunState::Cancelled;
    scene.store.change_run(run.id, 1, end, None).await.unwrap();
    scene.wait(10);
    scene
        .store
        .purge(SignedDuration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(scene.store.rule(confined.id).await, Ok(None));
    let left = scene.store.rule(everywhere.id).await.unwrap();
    assert_eq!(left, Some(everywhere));
}
