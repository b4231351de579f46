//! Requests for a stop that is under way.

use interrupts::Digest;
use interrupts::life::{Admission, Event, Family, Interrupt, NewAsking, Refusal, Scope};
use interrupts::store::{AdmitError, Admitted};
use routing_core::{InterruptId, InterruptType, NodeId, RunId};

use super::admit::{admit, check_agent, known, want};
use super::{Halt, Operation};
use crate::tables::{Failed, KeyRow, Tables};

/// Makes a request one more for the same stop, where one is under way, or admits it. Which of the two it is, is
/// decided here and not before: of many requests at once the first is admitted, and the others find it.
pub(crate) struct Join {
    admission: Admission,
    /// The same stops that were seen to be under way just before: what earlier versions admitted is in no slot.
    seen: Vec<InterruptId>,
    /// Computed before the operation waits for its turn, so that no other operation waits for it.
    digest: Digest,
}

impl Join {
    pub(crate) fn new(admission: Admission, seen: Vec<InterruptId>) -> Self {
        let digest = admission.digest();
        Self {
            admission,
            seen,
            digest,
        }
    }

    /// The same stop, where one is under way: the oldest.
    fn under_way(&self, tables: &mut Tables) -> Result<Option<Interrupt>, Failed> {
        let (run, node) = place(&self.admission);
        let noted = tables.slot(run, &node)?.stops;
        for id in self.seen.iter().chain(&noted) {
            let row = tables.interrupts.get(id)?;
            if let Some(row) = row.filter(|row| is_same_stop(&row.interrupt, &self.admission)) {
                return Ok(Some(row.interrupt.clone()));
            }
        }
        Ok(None)
    }
}

impl Operation for Join {
    type Output = Admitted;
    type Error = AdmitError;

    fn want(&self, tables: &mut Tables) {
        let admission = &self.admission;
        want(admission, tables);
        for id in &self.seen {
            tables.interrupts.want(id);
        }
        tables.nodes.want(&(admission.run, admission.node.clone()));
    }

    fn run(&self, tables: &mut Tables) -> Result<Admitted, Halt<AdmitError>> {
        let admission = &self.admission;
        if let Some(known) = known(admission, self.digest, tables)? {
            return Ok(known);
        }
        let Some(stop) = self.under_way(tables)? else {
            check_agent(admission, tables)?;
            return admit(admission, self.digest, tables);
        };
        let key = KeyRow {
            interrupt: stop.id,
            digest: self.digest,
            joined: Some(stop.run),
        };
        tables.keys.put(admission.key.clone(), key);
        let step = one_more(admission.asking(), tables)
            .and_then(|ask| stop.after(&ask, tables.now))
            .map_err(|refused| Halt::Refused(AdmitError::NotRaised(refused)))?;
        Ok(Admitted::Known(tables.perform(step)?))
    }
}

/// One more asks for a stop.
pub(super) fn one_more(asking: NewAsking, tables: &Tables) -> Result<Event, Refusal> {
    let most = tables.rules.limits.reason;
    let given = asking.reason.len();
    if given > most {
        return Err(Refusal::ReasonTooLong { given, most });
    }
    Ok(Event::Ask { asking })
}

/// Where the stops of one reach are noted: those of a run at its root, whichever of its agents they name.
fn place(admission: &Admission) -> (RunId, NodeId) {
    let node = match admission.scope {
        Scope::Run => NodeId::root(),
        Scope::Agent => admission.node.clone(),
    };
    (admission.run, node)
}

/// Says that noting a stop needs its slot.
pub(super) fn want_slot(admission: &Admission, tables: &mut Tables) {
    if Family::of(admission.interrupt_type) == Family::Stop {
        tables.slots.want(&place(admission));
    }
}

/// Notes a stop that was admitted, so that requests for the same find it. What has ended is forgotten.
pub(super) fn note(admission: &Admission, tables: &mut Tables) -> Result<(), Failed> {
    if Family::of(admission.interrupt_type) == Family::Question {
        return Ok(());
    }
    let (run, node) = place(admission);
    let mut slot = tables.slot(run, &node)?;
    let mut stops = Vec::with_capacity(slot.stops.len() + 1);
    for id in slot.stops {
        let row = tables.interrupts.get(&id)?;
        if row.is_some_and(|row| row.interrupt.state.is_live()) {
            stops.push(id);
        }
    }
    stops.push(admission.id);
    slot.stops = stops;
    tables.slots.put((run, node), slot);
    Ok(())
}

/// The stop that is under way and ends a node, where there is one: of the node, of one above it, or of its run.
pub(super) fn ends(
    run: RunId,
    node: &NodeId,
    tables: &mut Tables,
) -> Result<Option<Interrupt>, Failed> {
    for place in places_above(node) {
        for id in tables.slot(run, &place)?.stops {
            let row = tables.interrupts.get(&id)?;
            let stop = row.map(|row| row.interrupt.clone());
            if let Some(stop) = stop.filter(|stop| stop.state.is_live() && ends_node(stop, node)) {
                return Ok(Some(stop));
            }
        }
    }
    Ok(None)
}

/// Where the stops that reach a node are noted.
fn places_above(node: &NodeId) -> impl Iterator<Item = NodeId> {
    let above = std::iter::successors(Some(node.clone()), NodeId::parent);
    above.chain([NodeId::root()])
}

/// Says that [`ends`] will be asked.
pub(super) fn want_ends(run: RunId, node: &NodeId, tables: &mut Tables) {
    for place in places_above(node) {
        tables.slots.want(&(run, place));
    }
}

fn ends_node(stop: &Interrupt, node: &NodeId) -> bool {
    let reaches = stop.scope == Scope::Run || node.is_within(&stop.node);
    reaches
        && match stop.interrupt_type {
            InterruptType::Stop | InterruptType::Prune => true,
            InterruptType::Pause
            | InterruptType::Branch
            | InterruptType::HumanReview
            | InterruptType::AgentReview => false,
        }
}

/// Whether a stop is under way that does the same, to the same: it has not been carried out, or waits to be resumed. A
/// pause that an agent has raised by itself is another: its run waits on it, and is not paused by it.
pub(crate) fn is_same_stop(stop: &Interrupt, admission: &Admission) -> bool {
    let same_reach = match admission.scope {
        Scope::Run => true,
        Scope::Agent => stop.node == admission.node,
    };
    stop.family() == Family::Stop
        && stop.state.is_live()
        && stop.run == admission.run
        && stop.scope == admission.scope
        && same_reach
        && stop.interrupt_type == admission.interrupt_type
        && !stop.is_raised_by_agent()
}
