//! A run that somebody else keeps: whoever executes it does not say in the keeper's place how it stands.

use engine::run::RunStatus;
use interrupt_router::{StopMode, StopReason, StopScope, StopSource};
use interrupts::OwnerName;
use interrupts::life::RunState;
use interrupts::store::{Delivery, NewRun, Notification, Page};
use jiff::SignedDuration;

use crate::stage::Stage;

#[tokio::test]
async fn a_run_that_is_told_to_stop_before_its_first_step_is_not_said_to_work_again() {
    let mut stage = Stage::new();
    let (run, store) = (stage.run, stage.store.clone());
    let new = NewRun {
        root: None,
        id: run,
        alias: None,
        content: "{}".to_owned(),
    };
    store.create_run(new).await.unwrap();
    let delivery = Delivery {
        owner: OwnerName::new("test").unwrap(),
        lease: SignedDuration::from_secs(60),
        lost: None,
    };
    let epoch = store.own_run(run, delivery).await.unwrap().epoch;
    // As its keeper does when it begins, and when somebody asks for a stop right then.
    for state in [RunState::Running, RunState::Stopping] {
        store.change_run(run, epoch, state, None).await.unwrap();
    }
    let scope = StopScope::new();
    scope.stop(StopReason {
        source: StopSource::User,
        mode: StopMode::Graceful,
        message: "lunch".to_owned(),
        timestamp: jiff::Timestamp::UNIX_EPOCH,
    });
    stage.kept_in = Some(epoch);
    let report = stage.run().execute(&scope).await;
    assert!(
        matches!(report.status, RunStatus::Paused { .. }),
        "{:#?}",
        report.status
    );
    let page = Page {
        after: 0,
        limit: 1_000,
    };
    let told = store.outbox(page).await.unwrap();
    let states: Vec<RunState> = told
        .iter()
        .filter_map(|row| match &row.notification {
            Notification::Run { state, .. } => Some(*state),
            _ => None,
        })
        .collect();
    let works = states.iter().filter(|state| **state == RunState::Running);
    assert_eq!(works.count(), 1, "{states:?}");
}
