//! Lists: pages, filters, the outbox and the audit.

use interrupt_router::{NodeId, RunId};
use interrupts::OwnerName;
use interrupts::life::{Role, RunState, State, WithdrawCause};
use interrupts::store::{Filter, Notification, OutboxRow, Page, PageBack, Store};

use crate::running::draft;
use crate::scene::{ALL, Scene, actor, choosing, person, question, rerouting};

pub(crate) async fn pages_cover_everything_once_and_in_order<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    let mut admitted = Vec::new();
    for number in 0..25 {
        admitted.push(
            scene
                .admitted(question(&run, format!("k{number}")))
                .await
                .id,
        );
    }
    let (mut seen, mut after) = (Vec::new(), 0);
    loop {
        let page = Page { after, limit: 10 };
        let rows = scene.store.interrupts(&Filter::default(), page).await;
        let rows = rows.unwrap();
        let Some((last, _interrupt)) = rows.last() else {
            break;
        };
        after = *last;
        seen.extend(rows.into_iter().map(|(_position, interrupt)| interrupt.id));
    }
    assert_eq!(seen, admitted);
    let runs = scene.store.runs(&[], ALL).await.unwrap();
    assert_eq!(runs.len(), 1);
    let ended = scene.store.runs(&[RunState::Completed], ALL).await.unwrap();
    assert!(ended.is_empty());
}

pub(crate) async fn filters_choose_by_run_node_and_state<S: Store>(scene: Scene<S>) {
    let (first, second) = (scene.run().await, scene.run().await);
    let child = NodeId::root().child("worker").unwrap();
    scene.admitted(question(&first, "a")).await;
    let mut of_child = question(&first, "b");
    of_child.node = child.clone();
    scene.admitted(of_child).await;
    scene.awaiting(question(&second, "c")).await;
    let keys = |filter: Filter| {
        let store = scene.store.clone();
        async move {
            let rows = store.interrupts(&filter, ALL).await.unwrap();
            rows.into_iter()
                .map(|(_position, interrupt)| interrupt.key.as_str().to_owned())
                .collect::<String>()
        }
    };
    let of_first = Filter {
        run: Some(first.id),
        ..Filter::default()
    };
    assert_eq!(keys(Filter::default()).await, "abc");
    assert_eq!(keys(of_first.clone()).await, "ab");
    let of_node = Filter {
        node: Some(child),
        ..Filter::default()
    };
    assert_eq!(keys(of_node.clone()).await, "b");
    let requested = vec![State::Requested, State::Delivered];
    let in_states = Filter {
        states: requested.clone(),
        ..Filter::default()
    };
    assert_eq!(keys(in_states).await, "ab");
    let all_three = Filter {
        states: requested,
        node: of_node.node,
        ..of_first
    };
    assert_eq!(keys(all_three).await, "b");
    let open = Filter {
        states: vec![State::AwaitingReview],
        ..Filter::default()
    };
    assert_eq!(keys(open).await, "c");
}

pub(crate) async fn the_outbox_has_no_gaps_and_cursors_never_go_back<S: Store>(scene: Scene<S>) {
    let run = scene.run().await;
    for number in 0..5 {
        scene.admitted(question(&run, format!("k{number}"))).await;
        // What is refused or known already leaves no gap.
        let mut other = question(&run, format!("k{number}"));
        other.reason = "else".to_owned();
        assert!(scene.store.admit(other).await.is_err());
    }
    let rows = scene.store.outbox(ALL).await.unwrap();
    let positions: Vec<u64> = rows.iter().map(|row| row.position).collect();
    assert_eq!(
        positions,
        [1, 2, 3, 4, 5, 6],
        "the run itself is told of too"
    );
    let page = Page { after: 2, limit: 2 };
    let part = scene.store.outbox(page).await.unwrap();
    assert_eq!(part, rows[2..4]);
    let relay = OwnerName::new("relay").unwrap();
    let store = &scene.store;
    assert_eq!(store.cursor(&relay).await, Ok(0));
    for (through, stands) in [(3, 3), (1, 3), (1_000, 6)] {
        assert_eq!(store.consumed(&relay, through).await, Ok(stands));
        assert_eq!(store.cursor(&relay).await, Ok(stands));
    }
    let other = OwnerName::new("watcher").unwrap();
    assert_eq!(store.cursor(&other).await, Ok(0));
}

pub(crate) async fn what_is_told_of_one_run_is_found_among_what_others_tell<S: Store>(
    scene: Scene<S>,
) {
    let (one, other) = (scene.run().await, scene.run().await);
    for number in 0..6 {
        let run = if number % 3 == 0 { &one } else { &other };
        let asked = question(run, format!("k{number}"));
        scene.admitted(asked).await;
    }
    scene.store.save(draft(&one, None)).await.unwrap();
    let all = scene.store.outbox(ALL).await.unwrap();
    let is_of_one = |row: &OutboxRow| match &row.notification {
        Notification::Interrupt { run, .. } | Notification::Run { run, .. } => *run == one.id,
        Notification::Checkpoint { checkpoint } => checkpoint.run == one.id,
        other => panic!("{other:?}"),
    };
    let of_one: Vec<OutboxRow> = all.iter().filter(|row| is_of_one(row)).cloned().collect();
    assert!(of_one.len() >= 3 && of_one.len() < all.len(), "{all:?}");
    let last = of_one.last().unwrap();
    assert!(
        matches!(last.notification, Notification::Checkpoint { .. }),
        "{last:?}"
    );
    assert_eq!(scene.store.outbox_of(one.id, ALL).await.unwrap(), of_one);
    let page = Page {
        after: of_one[0].position,
        limit: 1,
    };
    assert_eq!(
        scene.store.outbox_of(one.id, page).await.unwrap(),
        of_one[1..2]
    );
    let newest: Vec<OutboxRow> = of_one.iter().rev().cloned().collect();
    let (before, limit) = (None, 2);
    let page = PageBack { before, limit };
    assert_eq!(
        scene.store.last_outbox_of(one.id, page).await.unwrap(),
        newest[..2]
    );
    let page = PageBack {
        before: Some(newest[1].position),
        limit: 100,
    };
    assert_eq!(
        scene.store.last_outbox_of(one.id, page).await.unwrap(),
        newest[2..]
    );
    let nobody = scene.store.outbox_of(RunId::generate(), ALL).await;
    assert_eq!(nobody.unwrap(), []);
}

pub(crate) async fn the_last_runs_come_first_where_they_are_read_from_the_end<S: Store>(
    scene: Scene<S>,
) {
    for _run in 0..5 {
        scene.run().await;
    }
    let mut all = scene.store.runs(&[], ALL).await.unwrap();
    all.reverse();
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let part = scene.store.last_runs(PageBack { before, limit: 2 }).await;
        let part = part.unwrap();
        let Some((last, _run)) = part.last() else {
            break;
        };
        before = Some(*last);
        seen.extend(part);
    }
    assert_eq!(seen, all);
}

pub(crate) async fn the_audit_has_a_row_for_each_transition_and_verifies<S: Store>(
    scene: Scene<S>,
) {
    assert_eq!(scene.store.verify_audit().await.unwrap().head.position, 0);
    let run = scene.run().await;
    scene.admitted(rerouting(&run, "e", "OTHER")).await;
    let open = scene.awaiting(question(&run, "k")).await;
    scene
        .store
        .decide(open.id, person(&open), choosing(None))
        .await
        .unwrap();
    let other = scene.raised(question(&run, "l")).await;
    let supervisor = actor(Role::Supervisor);
    scene
        .store
        .withdraw(other.id, supervisor, WithdrawCause::Withdrawn)
        .await
        .unwrap();
    assert_eq!(
        scene.audited(open.id).await,
        ["admit", "take", "acknowledge", "require_review", "decide"]
    );
    assert_eq!(
        scene.audited(other.id).await,
        ["admit", "take", "acknowledge", "withdraw"]
    );
    let rows = scene.store.audit(ALL).await.unwrap();
    let head = scene.store.verify_audit().await.unwrap().head;
    assert_eq!(head, rows.last().unwrap().head());
    assert_eq!(head.position, rows.len() as u64);
    for pair in rows.windows(2) {
        assert!(pair[1].follows(&pair[0].head()));
    }
}
