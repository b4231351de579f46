//! A scope whose state and waiters the scheduler controls: level-triggered, stopped with what is above it.

use std::sync::Arc;

use interrupt_router::{StopMode, StopReason};
use shuttle::sync::{Condvar, Mutex};

use crate::tree::Stoppable;

/// All scopes of a test share one lock and one way to wake.
#[derive(Debug, Default)]
struct World {
    /// Each scope's mode, and the one above it.
    scopes: Mutex<Vec<(Option<StopMode>, Option<usize>)>>,
    changed: Condvar,
}

/// A scope of a test.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    world: Arc<World>,
    index: usize,
}

impl Level {
    pub(crate) fn new() -> Self {
        let world = Arc::new(World::default());
        world.scopes.lock().unwrap().push((None, None));
        Self { world, index: 0 }
    }

    pub(crate) fn mode(&self) -> Option<StopMode> {
        let scopes = self.world.scopes.lock().unwrap();
        mode_of(&scopes, self.index)
    }

    /// Waits until it is stopped. A stop that nobody tells of leaves the test in a deadlock, which fails it.
    pub(crate) fn wait(&self) {
        let mut scopes = self.world.scopes.lock().unwrap();
        while mode_of(&scopes, self.index).is_none() {
            scopes = self.world.changed.wait(scopes).unwrap();
        }
    }
}

fn mode_of(scopes: &[(Option<StopMode>, Option<usize>)], index: usize) -> Option<StopMode> {
    let (mode, above) = scopes[index];
    mode.max(above.and_then(|above| mode_of(scopes, above)))
}

impl Stoppable for Level {
    fn below(&self) -> Self {
        let mut scopes = self.world.scopes.lock().unwrap();
        scopes.push((None, Some(self.index)));
        Self {
            world: Arc::clone(&self.world),
            index: scopes.len() - 1,
        }
    }

    fn stop(&self, reason: &StopReason) {
        let mut scopes = self.world.scopes.lock().unwrap();
        let mode = &mut scopes[self.index].0;
        *mode = (*mode).max(Some(reason.mode));
        self.world.changed.notify_all();
    }
}
