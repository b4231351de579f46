//! The limit of steps.

use std::sync::Arc;
use std::thread;

use interrupts::limits::{LimitKind, StepLimit};

use crate::scene::{Heard, Still};

#[test]
fn steps_are_numbered_and_the_one_too_many_asks_for_a_stop_once() {
    let heard = Arc::new(Heard::default());
    let limit = StepLimit::new(5, 3, Arc::<Heard>::clone(&heard), Arc::new(Still));
    assert_eq!((limit.begin(), limit.begin()), (Ok(4), Ok(5)));
    assert!(heard.stops().is_empty());
    assert_eq!(
        limit.begin().unwrap_err().message,
        "the limit of 5 steps is reached"
    );
    assert!(limit.clone().begin().is_err());
    assert_eq!(heard.stops().len(), 1);
    assert_eq!(heard.stops()[0].limit, LimitKind::Steps);
    assert_eq!(limit.begun(), 5);
}

#[test]
fn workers_that_begin_at_once_share_the_limit() {
    let heard = Arc::new(Heard::default());
    let limit = StepLimit::new(1_000, 0, Arc::<Heard>::clone(&heard), Arc::new(Still));
    let begun: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_worker| scope.spawn(|| (0..400).filter(|_try| limit.begin().is_ok()).count()))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(begun, 1_000);
    assert_eq!(heard.stops().len(), 1);
}
