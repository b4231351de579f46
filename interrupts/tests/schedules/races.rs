//! Threads that race for the registry.

use std::sync::Arc;

use interrupt_router::{
    InterruptId, InterruptType, NodeId, RunId, StopMode, StopReason, StopSource,
};
use jiff::Timestamp;
use shuttle::thread;

use crate::registry::{Job, Recorder, Registry, RequestedStop, StopPlacement};
use crate::scope::Level;
use crate::tree::Reach;

const SCHEDULES: usize = 5_000;

/// What is to be recorded, by the id of its interrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Record {
    placed: StopPlacement,
}

impl Job for Record {
    fn covers(&self, _other: &Self) -> bool {
        false
    }

    fn rename(&mut self, _from: InterruptId, _to: InterruptId) {}
}

type Stops = Arc<Registry<Level, Record>>;

fn stops() -> (Stops, RunId) {
    (Arc::new(Registry::new(Level::new())), RunId::generate())
}

fn asked(reach: Reach, mode: StopMode) -> RequestedStop {
    RequestedStop {
        id: InterruptId::generate(),
        reach,
        interrupt_type: InterruptType::Pause,
        reason: StopReason {
            source: StopSource::User,
            mode,
            message: "stop".to_owned(),
            timestamp: Timestamp::UNIX_EPOCH,
        },
        alone: false,
    }
}

fn ask(stops: &Stops, run: RunId, reach: Reach, mode: StopMode) -> (StopPlacement, Recorder) {
    let (record, recorder) = stops.ask(run, &asked(reach, mode), |placed| Record { placed });
    (record.placed, recorder)
}

fn take(stops: &Stops, run: RunId) -> bool {
    let job = |_run, _later: &Record, id| Record {
        placed: StopPlacement::New(id),
    };
    stops.take(run, job, InterruptId::generate)
}

/// Everything that is still to be recorded, by whoever it is for.
fn left(stops: &Stops, run: RunId) -> Vec<Record> {
    let mut left = Vec::new();
    while let Some((run, record)) = stops.next_outside() {
        left.push(record);
        stops.job_done(run);
    }
    while let Some(record) = stops.next_job(run) {
        left.push(record);
        stops.job_done(run);
    }
    left
}

fn worker() -> Reach {
    Reach::Node(NodeId::new("root/worker").unwrap())
}

fn helper() -> Reach {
    Reach::Node(NodeId::new("root/worker/helper").unwrap())
}

#[test]
fn a_stop_that_is_asked_for_while_its_run_is_taken_is_in_force_and_recorded_once() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            let asking = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || ask(&stops, run, worker(), StopMode::Graceful))
            };
            assert!(take(&stops, run));
            let scope = stops.scope(run, &helper());
            asking.join().unwrap();
            assert_eq!(scope.mode(), Some(StopMode::Graceful));
            assert_eq!(left(&stops, run).len(), 1);
        },
        SCHEDULES,
    );
}

#[test]
fn whoever_waits_is_woken_whenever_the_stop_comes() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            assert!(take(&stops, run));
            let waiting: Vec<_> = [Reach::Run, worker(), helper()]
                .into_iter()
                .map(|reach| {
                    let stops = Arc::clone(&stops);
                    thread::spawn(move || stops.scope(run, &reach).wait())
                })
                .collect();
            ask(&stops, run, Reach::Run, StopMode::Immediate);
            for waiter in waiting {
                waiter.join().unwrap();
            }
        },
        SCHEDULES,
    );
}

#[test]
fn modes_join_upwards_whoever_comes_first() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            assert!(take(&stops, run));
            let asking: Vec<_> = [StopMode::Immediate, StopMode::Graceful, StopMode::Graceful]
                .into_iter()
                .map(|mode| {
                    let stops = Arc::clone(&stops);
                    thread::spawn(move || ask(&stops, run, Reach::Run, mode).0)
                })
                .collect();
            let scope = stops.scope(run, &helper());
            let seen = [scope.mode(), scope.mode(), scope.mode()];
            assert!(seen.is_sorted(), "{seen:?}");
            let placed: Vec<_> = asking
                .into_iter()
                .map(|asks| asks.join().unwrap())
                .collect();
            assert_eq!(scope.mode(), Some(StopMode::Immediate));
            let standing = stops.active_stops(run);
            assert_eq!(standing.len(), 1);
            assert_eq!(standing[0].reason.mode, StopMode::Immediate);
            let id = standing[0].id;
            let new = placed
                .iter()
                .filter(|placed| **placed == StopPlacement::New(id));
            assert_eq!(new.count(), 1, "{placed:?}");
            let joined = placed
                .iter()
                .filter(|placed| **placed == StopPlacement::Joined(id));
            assert_eq!(joined.count(), 2, "{placed:?}");
            let first = left(&stops, run).remove(0);
            assert_eq!(
                first.placed,
                StopPlacement::New(id),
                "the new one is recorded first"
            );
        },
        SCHEDULES,
    );
}

#[test]
fn a_stop_that_comes_while_its_run_is_let_go_is_recorded_once() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            assert!(take(&stops, run));
            let asking = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || ask(&stops, run, Reach::Run, StopMode::Graceful))
            };
            let mut recorded = Vec::new();
            if let Some(record) = stops.next_job(run) {
                recorded.push(record);
                stops.job_done(run);
            }
            stops.leave(run);
            asking.join().unwrap();
            recorded.extend(left(&stops, run));
            assert_eq!(recorded.len(), 1);
            assert_eq!(stops.known(), 0, "nothing is left of it");
        },
        SCHEDULES,
    );
}

#[test]
fn a_new_turn_takes_no_stop_away_that_has_not_been_acknowledged() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            assert!(take(&stops, run));
            let old = stops.scope(run, &helper());
            let asking = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || ask(&stops, run, worker(), StopMode::Graceful))
            };
            stops.new_turn(run, &Reach::Run);
            asking.join().unwrap();
            let new = stops.scope(run, &helper());
            assert_eq!(new.mode(), Some(StopMode::Graceful));
            let id = stops.active_stops(run)[0].id;
            stops.settle(run, id);
            assert_eq!(stops.new_turn(run, &worker()).mode(), None);
            assert_eq!(new.mode(), Some(StopMode::Graceful), "nothing is cleared");
            let _unused_old_scope_stays_as_it_is = old.mode();
        },
        SCHEDULES,
    );
}

#[test]
fn a_stop_of_everything_reaches_a_run_that_is_taken_meanwhile_once() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            let asking = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || {
                    let asked = asked(Reach::Run, StopMode::Graceful);
                    let later = Record {
                        placed: StopPlacement::New(asked.id),
                    };
                    let job = |_run, placed| Record { placed };
                    stops.ask_all(&asked, later, job, InterruptId::generate);
                })
            };
            assert!(take(&stops, run));
            asking.join().unwrap();
            assert_eq!(stops.scope(run, &helper()).mode(), Some(StopMode::Graceful));
            assert_eq!(stops.active_stops(run).len(), 1);
            assert_eq!(left(&stops, run).len(), 1);
        },
        SCHEDULES,
    );
}

#[test]
fn a_run_that_changes_hands_between_recorders_has_its_requests_recorded_in_their_order() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            ask(&stops, run, Reach::Run, StopMode::Graceful);
            ask(&stops, run, Reach::Run, StopMode::Immediate);
            let log = Arc::new(shuttle::sync::Mutex::new(Vec::new()));
            let outside = {
                let (stops, log) = (Arc::clone(&stops), Arc::clone(&log));
                thread::spawn(move || {
                    while let Some((run, record)) = stops.next_outside() {
                        // Recording takes a while.
                        thread::yield_now();
                        log.lock().unwrap().push(record.placed);
                        stops.job_done(run);
                    }
                })
            };
            take(&stops, run);
            while let Some(record) = stops.next_job(run) {
                log.lock().unwrap().push(record.placed);
                stops.job_done(run);
            }
            outside.join().unwrap();
            while let Some(record) = stops.next_job(run) {
                log.lock().unwrap().push(record.placed);
                stops.job_done(run);
            }
            let log = log.lock().unwrap();
            assert!(
                matches!(log[..], [StopPlacement::New(first), StopPlacement::Joined(second)] if first == second),
                "{log:?}"
            );
        },
        SCHEDULES,
    );
}

#[test]
fn a_request_whose_recorder_is_cut_short_is_recorded_by_the_next_one() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            assert!(take(&stops, run));
            ask(&stops, run, Reach::Run, StopMode::Graceful);
            let asking = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || ask(&stops, run, Reach::Run, StopMode::Immediate))
            };
            let cut_short = stops.next_job(run).unwrap();
            assert!(!stops.is_recorded(run), "it is not recorded before it is");
            assert_eq!(stops.next_job(run), None);
            stops.give_back(run, cut_short.clone());
            stops.leave(run);
            asking.join().unwrap();
            let left = left(&stops, run);
            assert_eq!((left.len(), &left[0]), (2, &cut_short));
            assert_eq!(stops.known(), 0);
        },
        SCHEDULES,
    );
}

#[test]
fn a_run_is_taken_once_whoever_races_for_it() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            let other = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || take(&stops, run))
            };
            let mine = take(&stops, run);
            assert_ne!(mine, other.join().unwrap());
        },
        SCHEDULES,
    );
}

#[test]
fn a_stop_of_a_node_that_comes_before_its_run_is_one_stops_all_of_it() {
    shuttle::check_random(
        || {
            let (stops, run) = stops();
            let asking = {
                let stops = Arc::clone(&stops);
                thread::spawn(move || ask(&stops, run, worker(), StopMode::Graceful))
            };
            assert!(take(&stops, run));
            stops.stops_as_one(run);
            asking.join().unwrap();
            assert_eq!(
                stops.scope(run, &Reach::Run).mode(),
                Some(StopMode::Graceful)
            );
        },
        SCHEDULES,
    );
}
