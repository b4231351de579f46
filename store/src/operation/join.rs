//! Requests for a stop that is under way.

use interrupts::Digest;
use interrupts::life::{Admission, Event, Family, Interrupt, State};
use interrupts::store::{AdmitError, Admitted};
use routing_core::InterruptId;

use super::admit::{admit, check_agent, known, want};
use super::{Halt, Operation};
use crate::tables::{KeyRow, Tables};

/// Makes a request one more for a stop that is under way, or admits it where that one has taken hold or ended.
pub(crate) struct Join {
    under_way: InterruptId,
    admission: Admission,
    /// Made before the operation waits for its turn, so that nobody waits for it.
    digest: Digest,
}

impl Join {
    pub(crate) fn new(under_way: InterruptId, admission: Admission) -> Self {
        let digest = admission.digest();
        Self {
            under_way,
            admission,
            digest,
        }
    }
}

impl Operation for Join {
    type Output = Admitted;
    type Error = AdmitError;

    fn want(&self, tables: &mut Tables) {
        let admission = &self.admission;
        want(admission, tables);
        tables.interrupts.want(&self.under_way);
        tables.nodes.want(&(admission.run, admission.node.clone()));
    }

    fn run(&self, tables: &mut Tables) -> Result<Admitted, Halt<AdmitError>> {
        let admission = &self.admission;
        if let Some(known) = known(admission, self.digest, tables)? {
            return Ok(known);
        }
        let row = tables.interrupts.get(&self.under_way)?;
        let under_way = row.map(|row| row.interrupt.clone());
        let Some(stop) = under_way.filter(|it| is_same_stop(it, admission)) else {
            check_agent(admission, tables)?;
            return admit(admission, self.digest, tables);
        };
        let raise = Event::RaiseMode {
            actor: admission.requested_by.clone(),
            mode: admission.mode,
        };
        let step = stop
            .after(&raise, tables.now)
            .map_err(|refused| Halt::Refused(AdmitError::NotRaised(refused)))?;
        let key = KeyRow {
            interrupt: stop.id,
            digest: self.digest,
            joined: Some(stop.run),
        };
        tables.keys.put(admission.key.clone(), key);
        Ok(Admitted::Known(tables.perform(step)?))
    }
}

/// Whether a stop is under way that does the same, to the same.
fn is_same_stop(stop: &Interrupt, admission: &Admission) -> bool {
    stop.family() == Family::Stop
        && matches!(stop.state, State::Requested | State::Delivered)
        && stop.run == admission.run
        && stop.node == admission.node
        && stop.scope == admission.scope
        && stop.interrupt_type == admission.interrupt_type
}
