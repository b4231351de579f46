//! An interrupt at every point of a script of parallel and queued calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use engine::run::{RunEvent, RunObserver, RunOccurrence, RunStatus};
use interrupt_router::{StopMode, StopReason, StopScope, StopSource};
use jiff::Timestamp;
use serde_json::json;

use super::bench::*;
use crate::stage::assert_completed;

/// Stops the run at the n-th thing that is told of the worker's step, and notes what starts after it.
struct StopsAt {
    scope: StopScope,
    mode: StopMode,
    left: AtomicUsize,
    /// Whether the worker is at its step.
    is_at_work: AtomicBool,
    started_after: AtomicUsize,
}

impl RunObserver for StopsAt {
    fn observe(&self, occurrence: &RunOccurrence) {
        if self.scope.is_stopping() && matches!(occurrence.event, RunEvent::ToolStarted { .. }) {
            self.started_after.fetch_add(1, Ordering::SeqCst);
        }
        let is_of_worker = |node: &interrupt_router::NodeId| node.as_str() == WORKER;
        match &occurrence.event {
            RunEvent::StepStarted { node, .. } if is_of_worker(node) => {
                self.is_at_work.store(true, Ordering::SeqCst);
            }
            RunEvent::StepFinished { node, .. } if is_of_worker(node) => {
                self.is_at_work.store(false, Ordering::SeqCst);
            }
            _ => {}
        }
        let is_counted = !matches!(
            occurrence.event,
            RunEvent::AnswerChunk { .. } | RunEvent::ModelCallRecorded { .. }
        );
        if is_counted
            && self.is_at_work.load(Ordering::SeqCst)
            && self.left.fetch_sub(1, Ordering::SeqCst) == 1
        {
            self.scope.stop(StopReason {
                source: StopSource::User,
                mode: self.mode,
                message: "enough".to_owned(),
                timestamp: Timestamp::UNIX_EPOCH,
            });
        }
    }
}

fn script() -> Asking {
    // Two at once: the others queue.
    Asking::of(vec![
        vec![
            takes("work", "a", 10),
            takes("work", "b", 50),
            takes("work", "c", 10),
            takes("work", "d", 10),
        ],
        vec![takes("work", "e", 10), takes("work", "f", 10)],
    ])
}

fn permissions() -> serde_json::Value {
    json!({"otherwise": "allow", "at_once": 2})
}

/// Every end of every call, over all lives.
type Ends = BTreeMap<String, Vec<&'static str>>;

fn note(ends: &mut Ends, events: &[RunOccurrence]) {
    for occurrence in events.iter().filter(|it| !it.replayed) {
        if let RunEvent::ToolEnded { message, .. } = &occurrence.event {
            let call = ends.entry(message.call.to_string()).or_default();
            call.push(message.end.word());
        }
    }
}

async fn interrupted_at(point: usize, mode: StopMode) -> (bool, Ends) {
    let done = Arc::new(Done::default());
    let (mut first, _) = stage(script(), &done, permissions(), Arc::new(Decider::default()));
    let scope = StopScope::new();
    let stops = Arc::new(StopsAt {
        scope: scope.clone(),
        mode,
        left: AtomicUsize::new(point),
        is_at_work: AtomicBool::new(false),
        started_after: AtomicUsize::new(0),
    });
    first.observers = vec![Arc::clone(&stops) as _];
    let report = first.run().execute(&scope).await;
    assert_eq!(
        done.running.load(Ordering::SeqCst),
        0,
        "point {point}: a tool outlives its run"
    );
    assert_eq!(
        stops.started_after.load(Ordering::SeqCst),
        0,
        "point {point}: a call started after the stop"
    );
    let mut ends = Ends::new();
    note(&mut ends, &first.log.told.lock().unwrap());
    let was_stopped = matches!(report.status, RunStatus::Paused { .. });
    if was_stopped {
        first.observers.clear();
        let (second, _) = resumed(first, script());
        let last = second.execute().await;
        assert_completed(&last);
        note(&mut ends, &second.log.told.lock().unwrap());
    }
    for name in ["a", "b", "c", "d", "e", "f"] {
        let started = done.count(&format!("{name} started"));
        assert!(
            started <= 1,
            "point {point}: {name} was started {started} times"
        );
    }
    (was_stopped, ends)
}

async fn at_every_point(mode: StopMode) {
    let (mut stopped, mut interrupted, mut skipped) = (0, 0, 0);
    for point in 1.. {
        let (was_stopped, ends) = interrupted_at(point, mode).await;
        let calls: Vec<&String> = ends.keys().collect();
        assert_eq!(calls, ["a", "b", "c", "d", "e", "f"], "point {point}");
        for (call, words) in &ends {
            assert_eq!(words.len(), 1, "point {point}: {call} has ends {words:?}");
            let end = words[0];
            assert!(
                ["finished", "interrupted", "skipped", "finished_anyway"].contains(&end),
                "point {point}: {call} is {end}"
            );
            interrupted += usize::from(end == "interrupted");
            skipped += usize::from(end == "skipped");
        }
        if !was_stopped && stopped > 0 {
            // The run was over before the point.
            break;
        }
        stopped += usize::from(was_stopped);
    }
    assert!(
        stopped > 15 && interrupted > 0 && skipped > 0,
        "{stopped} {interrupted} {skipped}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_graceful_stop_at_any_point_leaves_one_message_for_each_call() {
    at_every_point(StopMode::Graceful).await;
}

#[tokio::test(start_paused = true)]
async fn an_immediate_stop_at_any_point_leaves_one_message_for_each_call() {
    at_every_point(StopMode::Immediate).await;
}
