//! Many at once: one wins, the others are told.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use interrupt_router::{InterruptType, RunId, StopMode};
use interrupts::life::{Admission, Refusal, State};
use interrupts::rules::{Reach, Remember};
use interrupts::store::{
    Admitted, ChangeError, Deciders, Filter, NewRun, NewToken, NodeActivity, RunError, Store,
};

use crate::joining::stop;
use crate::nodes::{message, node};
use crate::rules::{deciding, remember};
use crate::running::draft;
use crate::scene::{ALL, Scene, choosing, delivery, person, question, rerouting};
use crate::tokens::token;

/// How many try at once.
const RACERS: usize = 64;

/// Runs the same thing for each racer, in tasks of their own.
async fn race<S: Store, F, T>(
    scene: &Scene<S>,
    attempt: impl Fn(usize, std::sync::Arc<S>) -> F,
) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let racers: Vec<_> = (0..RACERS)
        .map(|number| tokio::spawn(attempt(number, scene.store.clone())))
        .collect();
    let finished = join_all(racers).await;
    finished.into_iter().map(Result::unwrap).collect()
}

pub(crate) async fn of_64_decisions_one_wins_and_the_others_are_told_which<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let open = scene.awaiting(question(&run, "k")).await;
    let answers = race(&scene, |number, store| {
        let judge = person(&open);
        let choice = choosing((number % 2 == 0).then_some("THIRD"));
        let id = open.id;
        async move { (choice.id, store.decide(id, judge, choice).await) }
    })
    .await;
    let stands = scene.interrupt(open.id).await.decision.unwrap();
    let mut winners = 0;
    for (own, answer) in answers {
        match answer {
            Ok(decided) => {
                winners += 1;
                assert_eq!(own, stands.id);
                assert_eq!(decided.decision, Some(stands.clone()));
            }
            Err(ChangeError::Refused(Refusal::Ended { decision, .. })) => {
                assert_eq!(decision.as_deref(), Some(&stands));
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(winners, 1);
    let journal = scene.store.journal(run.id, ALL).await.unwrap();
    assert_eq!(journal.len(), 1, "one dispatch");
    scene.store.verify_audit().await.unwrap();
}

pub(crate) async fn of_64_publishers_with_one_key_all_get_the_same_interrupt<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let answers = race(&scene, |_number, store| {
        let admission = question(&run, "k");
        async move { store.admit(admission).await.unwrap() }
    })
    .await;
    let new = answers
        .iter()
        .filter(|answer| matches!(answer, Admitted::New(_)))
        .count();
    assert_eq!(new, 1);
    let ids: BTreeSet<_> = answers
        .into_iter()
        .map(|answer| answer.into_interrupt().id)
        .collect();
    assert_eq!(ids.len(), 1);
    let stored = scene.store.interrupts(&Default::default(), ALL).await;
    assert_eq!(stored.unwrap().len(), 1);
}

pub(crate) async fn of_64_who_ask_for_one_stop_at_once_one_is_admitted_and_the_others_join<
    S: Store,
>(
    scene: Scene<S>,
) {
    for interrupt_type in [
        InterruptType::Pause,
        InterruptType::Stop,
        InterruptType::Branch,
    ] {
        let run = scene.run().await;
        let answers = race(&scene, |number, store| {
            let mode = if number == RACERS / 2 {
                StopMode::Immediate
            } else {
                StopMode::Graceful
            };
            let admission = Admission {
                interrupt_type,
                ..stop(&run, &format!("{interrupt_type} {number}"), mode)
            };
            async move { store.join(admission).await.unwrap() }
        })
        .await;
        let is_new = |answer: &&Admitted| matches!(answer, Admitted::New(_));
        assert_eq!(answers.iter().filter(is_new).count(), 1);
        let filter = Filter {
            run: Some(run.id),
            ..Filter::default()
        };
        let stored = scene.store.interrupts(&filter, ALL).await.unwrap();
        let [(_position, one)] = &stored[..] else {
            panic!("{stored:?}")
        };
        assert_eq!(one.mode, StopMode::Immediate);
        for answer in answers {
            assert_eq!(answer.into_interrupt().id, one.id);
        }
    }
    scene.store.verify_audit().await.unwrap();
}

pub(crate) async fn of_64_owners_one_has_the_run<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    scene.store.release_run(run.id, 1).await.unwrap();
    let answers = race(&scene, |number, store| {
        let owner = delivery(&format!("owner-{number}"), 60);
        let id = run.id;
        async move { store.own_run(id, owner).await }
    })
    .await;
    let owners = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!(owners, 1);
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Ok(_) | Err(RunError::Owned { .. })))
    );
    let owned = scene.store.run(run.id).await.unwrap().unwrap();
    assert_eq!(owned.epoch, 2);
}

pub(crate) async fn of_64_workers_one_has_the_delivery<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let id = scene.admitted(question(&run, "k")).await.id;
    let answers = race(&scene, |number, store| {
        let worker = delivery(&format!("worker-{number}"), 60);
        async move { store.deliver(id, worker).await }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    let delivered = scene.interrupt(id).await;
    assert_eq!((delivered.state, delivered.epoch), (State::Delivered, 1));
}

pub(crate) async fn of_64_users_of_a_token_for_one_use_one_gets_in<S: Store>(scene: Scene<S>) {
    let once = NewToken {
        once: true,
        ..token("once")
    };
    let digest = scene.store.put_token(once).await.unwrap().digest;
    let answers = race(&scene, |_number, store| async move {
        store.use_token(digest).await.unwrap()
    })
    .await;
    assert_eq!(answers.iter().flatten().count(), 1);
}

pub(crate) async fn of_64_questions_at_once_a_rule_answers_as_many_as_it_says<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let first = scene.awaiting(question(&run, "first")).await;
    let rule = Remember {
        most_uses: 7,
        ..remember(Reach::Run)
    };
    let id = rule.id;
    let decision = deciding(&first, Some(rule));
    scene.store.decide_together(vec![decision]).await.unwrap();
    let mut raised = Vec::new();
    for number in 0..RACERS {
        raised.push(scene.raised(question(&run, format!("{number}"))).await);
    }
    let answers = race(&scene, |number, store| {
        let (id, epoch) = (raised[number].id, raised[number].epoch);
        async move { store.consult(id, epoch, Deciders::rules()).await.unwrap() }
    })
    .await;
    let decided = answers.iter().filter(|row| row.decision.is_some());
    assert_eq!(decided.count(), 7);
    let spent = scene.store.rule(id).await.unwrap().unwrap();
    assert_eq!((spent.uses, spent.end.is_some()), (7, true));
}

pub(crate) async fn of_64_who_send_one_message_or_make_one_fork_all_get_the_same<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    let reader = node(&run, "reader", NodeActivity::Running);
    let nodes = vec![reader.clone()];
    scene.store.put_nodes(run.id, 1, nodes).await.unwrap();
    // One whose agents have nothing to read.
    let left = scene.run().await;
    let checkpoint = scene.store.save(draft(&left, None)).await.unwrap().id;
    let sent = message(&reader, "once");
    let new = NewRun {
        root: None,
        id: RunId::generate(),
        alias: Some("fork".to_owned()),
        content: "{}".to_owned(),
    };
    let answers = race(&scene, |_number, store| {
        let (sent, new) = (sent.clone(), new.clone());
        async move {
            let message = store.send_message(sent).await.unwrap();
            (message, store.fork_run(checkpoint, new).await.unwrap())
        }
    })
    .await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let messages = scene.store.messages(run.id, ALL).await.unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(scene.store.runs(&[], ALL).await.unwrap().len(), 3);
}

pub(crate) async fn concurrent_publishers_leave_a_whole_audit_and_outbox<S: Store>(
    scene: Scene<S>,
) {
    let run = scene.run().await;
    race(&scene, |number, store| {
        let run = run.clone();
        async move {
            for round in 0..5 {
                let key = format!("k{number}-{round}");
                store.admit(question(&run, key)).await.unwrap();
            }
        }
    })
    .await;
    let told = scene.store.outbox(ALL).await.unwrap();
    let positions: Vec<u64> = told.iter().map(|row| row.position).collect();
    // One tells of the run itself.
    assert_eq!(positions, (1..=RACERS as u64 * 5 + 1).collect::<Vec<_>>());
    let head = scene.store.verify_audit().await.unwrap().head;
    assert_eq!(head.position, RACERS as u64 * 5 + 2);
}
