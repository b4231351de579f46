//! Faults.

use std::time::Duration;

use super::{Fault, Model, ModelEvent};
use crate::measured::microseconds;

/// How many connections a process that has lost all of them makes again: to write, to listen, and the first to read.
const CONNECTIONS: u32 = 3;

/// One in this many workers dies.
const OF_SO_MANY: usize = 10;

impl Model<'_> {
    pub(super) fn goes_wrong(&mut self) {
        match self.settings.fault {
            Fault::None | Fault::AllStart => {}
            Fault::TenthDies => {
                for worker in 0..self.settings.workers.div_ceil(OF_SO_MANY) {
                    self.dies(worker);
                }
            }
            Fault::Away(time) => self.goes_away(time),
        }
    }

    fn dies(&mut self, worker: usize) {
        self.processes[worker].is_gone = true;
        self.store.leave(worker);
        for run in 0..self.runs.len() {
            if self.runs[run].worker == Some(worker) {
                self.is_orphaned(run);
            }
        }
    }

    fn goes_away(&mut self, time: Duration) {
        self.store.set_away(self.timeline.now(), true);
        self.timeline.after(time, ModelEvent::IsBack);
    }

    /// Every process reconnects, and continues with what it had asked.
    pub(super) fn is_back(&mut self) {
        let now = self.timeline.now();
        self.store.set_away(now, false);
        for _process in &self.processes {
            let work = microseconds(self.costs.connection) * CONNECTIONS;
            self.store.other_work(now, work);
        }
    }
}
