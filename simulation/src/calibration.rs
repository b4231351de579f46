//! The model next to measurements: publishers and renewals that follow one another without a pause, on the two cores of
//! the benches.

use std::time::Duration;

use crate::measured::{ADMISSIONS, Costs, HEARD, RENEWALS, microseconds};
use crate::store::{FinishedOperation, Store, StoreEvent, StoreOperation};
use crate::timeline::Timeline;

/// How long each is simulated.
const TIME: Duration = Duration::from_secs(5);

/// The cores of the machine of the benches.
const CORES: f64 = 2.0;

/// A figure of the model and the measured one.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What it measures.
    pub what: String,
    /// The model's figure.
    pub model: f64,
    /// The measured figure.
    pub measured: f64,
}

impl Comparison {
    /// How far the model is off, as a share of what was measured.
    pub fn deviation(&self) -> f64 {
        self.model / self.measured - 1.0
    }
}

/// All comparisons.
pub fn comparisons(costs: &Costs) -> Vec<Comparison> {
    let mut costs = Costs {
        cores: CORES,
        ..costs.clone()
    };
    let mut all = Vec::new();
    for (publishers, measured) in ADMISSIONS {
        all.push(Comparison {
            what: format!("admissions/s of {publishers} at once"),
            model: in_a_row(&costs, (1, publishers), costs.telling),
            measured,
        });
    }
    // The commit, its notification, and the reads of the process that receives it: the outbox with a row.
    let heard = 2.0 * costs.asker + costs.notifier + costs.read + costs.row;
    all.push(Comparison {
        what: "microseconds until another store has read it".to_owned(),
        model: costs.transaction + costs.telling + costs.flush + heard,
        measured: HEARD,
    });
    costs.flush = 0.0;
    for (stores, runs, measured) in RENEWALS {
        all.push(Comparison {
            what: format!("renewals/s in {stores} processes, {runs} runs each, no disk"),
            model: in_a_row(&costs, (stores, runs), costs.renewal),
            measured,
        });
    }
    all
}

/// What happens in a calibration.
enum CalibrationEvent {
    Store(StoreEvent),
    Asks(usize),
}

/// Operations a second of so many processes, in each of which so many askers ask again as soon as they have an answer.
fn in_a_row(costs: &Costs, (processes, askers): (usize, usize), work: f64) -> f64 {
    let mut store: Store<(), usize> = Store::usual(costs, processes);
    let mut timeline = Timeline::default();
    for asker in 0..processes * askers {
        timeline.at(Duration::ZERO, CalibrationEvent::Asks(asker));
    }
    let (mut answers, work) = (0_u64, microseconds(work));
    while let Some(event) = timeline.next_until(TIME) {
        let now = timeline.now();
        match event {
            CalibrationEvent::Asks(asker) => {
                let operation = StoreOperation { work, then: asker };
                store.write(now, asker % processes, operation);
            }
            CalibrationEvent::Store(event) => {
                let (done, next) = store.on(now, event);
                if let Some((at, next)) = next {
                    timeline.at(at, CalibrationEvent::Store(next));
                }
                if let Some(FinishedOperation::Committed(batch)) = done {
                    answers += batch.len() as u64;
                    // One after the other, by the writing thread.
                    for operation in batch {
                        timeline.after(Duration::ZERO, CalibrationEvent::Asks(operation.then));
                    }
                }
            }
        }
        if let Some((at, event)) = store.plan() {
            timeline.at(at, CalibrationEvent::Store(event));
        }
    }
    answers as f64 / TIME.as_secs_f64()
}
