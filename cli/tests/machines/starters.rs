//! Those who start runs, over REST, and see each of them to its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::Filter;
use serde_json::json;
use tokio::task::JoinSet;

use crate::installation::{ALL, Installation};

/// How often it is looked how a run stands.
const LOOK: Duration = Duration::from_millis(200);

/// The longest that one run may take. Only what hangs takes so long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Starts runs, so many at once, until it is enough; then all of them end.
pub(crate) fn start_all(installation: &Arc<Installation>, at_once: usize) -> JoinSet<()> {
    let mut starters = JoinSet::new();
    for starter in 0..at_once {
        let installation = Arc::clone(installation);
        starters.spawn(async move {
            for number in 0.. {
                if !installation.goes_on.load(Ordering::SeqCst) {
                    return;
                }
                let goal = format!("Describe-the-bakery-{starter}-{number}");
                let run = start(&installation, &goal).await;
                ends(&installation, run).await;
            }
        });
    }
    starters
}

/// Starts a run with one key until a server has said which run it is.
pub(crate) async fn start(installation: &Installation, goal: &str) -> RunId {
    let headers = [
        ("Content-Type", "application/json"),
        ("Idempotency-Key", goal),
    ];
    loop {
        let order = json!({ "goal": goal });
        if let Some((status, run)) = installation.post("/v1/runs", &headers, &order).await {
            match run["run_id"].as_str() {
                Some(id) if status.is_success() => return id.parse().unwrap(),
                _ => assert!(
                    status.is_server_error() || status.as_u16() == 429,
                    "{status} {run}"
                ),
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until a run is completed.
pub(crate) async fn ends(installation: &Installation, id: RunId) {
    let begun = Instant::now();
    loop {
        let run = installation.store.run(id).await.unwrap().unwrap();
        if run.state.is_final() {
            assert_eq!(run.state, RunState::Completed, "{run:?}");
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "it hangs: {run:?}");
        tokio::time::sleep(LOOK).await;
    }
    let of_run = Filter {
        run: Some(id),
        ..Filter::default()
    };
    let interrupts = installation.store.interrupts(&of_run, ALL).await.unwrap();
    installation
        .interrupts
        .fetch_add(interrupts.len(), Ordering::SeqCst);
    installation.runs_ended.lock().unwrap().push(id);
}
