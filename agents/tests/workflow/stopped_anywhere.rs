//! Runs that are stopped at any call of their models: each is resumed to the same end.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use engine::run::RunStatus;
use interrupt_router::model::ModelCall;
use interrupt_router::{RunId, StopMode, StopReason, StopScope, StopSource};
use interrupts::life::RunState;
use jiff::Timestamp;

use crate::lives::{Lives, Steady, eventful, left};
use crate::models::{Part, Playing, Reply};
use crate::stage::Stage;

/// Asks for a stop of the run at one of its calls.
struct Stopping {
    at: usize,
    mode: StopMode,
    scope: StopScope,
    seen: Mutex<usize>,
}

#[async_trait]
impl Part for Stopping {
    async fn play(&self, _: &mut ModelCall, _: &StopScope) -> Option<Reply> {
        let mut seen = self.seen.lock().unwrap();
        if *seen == self.at {
            self.scope.stop(StopReason {
                source: StopSource::User,
                mode: self.mode,
                message: "enough".to_owned(),
                timestamp: Timestamp::UNIX_EPOCH,
            });
        }
        *seen += 1;
        None
    }
}

async fn stopped_at_each_call(mode: StopMode) {
    let run = RunId::generate();
    let undisturbed = Lives::of(eventful, run);
    let expected = left(&undisturbed.live().await);
    let calls = undisturbed.calls.lock().unwrap().len();
    let mut paid_more = false;
    for at in (0..calls).step_by(2) {
        let lives = Lives::of(eventful, run);
        let scope = StopScope::new();
        let mut stage = eventful(Stage::new());
        stage.run = run;
        stage.store = Arc::clone(&lives.store);
        stage.reviewer = Some(Arc::new(Steady));
        let part = Stopping {
            at,
            mode,
            scope: scope.clone(),
            seen: Mutex::new(0),
        };
        let model = Playing::new(part, stage.rehearsal());
        let stage = stage.played_by(model);
        let first = stage.run().execute(&scope).await;
        if matches!(first.status, RunStatus::Completed { .. }) {
            continue;
        }
        let paused = RunStatus::Paused {
            reason: "enough".to_owned(),
        };
        assert_eq!(first.status, paused, "{at}");
        let row = lives.store.run(run).await.unwrap().unwrap();
        assert_eq!(row.state, RunState::Paused, "{at}");
        assert!(row.lease.is_none(), "it was given up");
        let checkpoint = first.checkpoint.unwrap();
        let last = lives.store.last_checkpoint(run).await.unwrap().unwrap();
        assert_eq!(last.id, checkpoint, "{at}");
        let mut found = left(&lives.live().await);
        if mode == StopMode::Immediate {
            // What had arrived of the answer that was cut short was paid for, too.
            assert!(found.usage.output >= expected.usage.output, "{at}");
            paid_more |= found.usage.output > expected.usage.output;
            found.usage = expected.usage;
        }
        assert_eq!(found, expected, "{mode:?} at {at}");
        lives.check(&at).await;
    }
    assert_eq!(paid_more, mode == StopMode::Immediate);
}

#[tokio::test]
async fn a_graceful_stop_at_any_call_is_resumed_to_the_same_end() {
    stopped_at_each_call(StopMode::Graceful).await;
}

#[tokio::test]
async fn an_immediate_stop_at_any_call_is_resumed_to_the_same_end() {
    stopped_at_each_call(StopMode::Immediate).await;
}
