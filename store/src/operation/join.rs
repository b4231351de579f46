//! Requests for a stop that is under way.

use interrupt_router::{InterruptType, NodeId, RunId};
use interrupts::Digest;
use interrupts::life::{Admission, Event, Family, Interrupt, NewAsking, Refusal, Scope};
use interrupts::store::{AdmitError, Admitted};

use super::admit::{admit, check_agent, check_key, known, want};
use super::{Halt, Operation};
use crate::tables::{Failed, KeyRow, Tables};

/// Makes a request one more for the same stop, where one is under way, or admits it. Which of the two it is, is
/// decided here and not before: of many requests at once the first is admitted, and the others find it.
pub(crate) struct Join {
    admission: Admission,
    /// Computed before the operation waits for its turn, so that no other operation waits for it.
    digest: Digest,
}

impl Join {
    pub(crate) fn new(admission: Admission) -> Self {
        let digest = admission.digest();
        Self { admission, digest }
    }
}

impl Operation for Join {
    type Output = Admitted;
    type Error = AdmitError;

    fn want(&self, tables: &mut Tables) {
        let admission = &self.admission;
        want(admission, tables);
        tables.live.want(&admission.run);
        tables.nodes.want(&(admission.run, admission.node.clone()));
    }

    fn run(&self, tables: &mut Tables) -> Result<Admitted, Halt<AdmitError>> {
        let admission = &self.admission;
        if let Some(known) = known(admission, self.digest, tables)? {
            return Ok(known);
        }
        check_key(admission)?;
        let live = tables.live_interrupts(admission.run)?;
        // The oldest.
        let Some(stop) = live.iter().find(|it| is_same_stop(it, admission)) else {
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
    let most = tables.settings.limits.reason;
    let given = asking.reason.len();
    if given > most {
        return Err(Refusal::ReasonTooLong { given, most });
    }
    Ok(Event::Ask { asking })
}

/// The stop that is under way and ends a node, where there is one: of the node, of one above it, or of its run.
pub(super) fn ends(
    run: RunId,
    node: &NodeId,
    tables: &mut Tables,
) -> Result<Option<Interrupt>, Failed> {
    let live = tables.live_interrupts(run)?.into_iter();
    let mut stops = live.filter(|it| it.family() == Family::Stop);
    Ok(stops.find(|stop| ends_node(stop, node)))
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
fn is_same_stop(stop: &Interrupt, admission: &Admission) -> bool {
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
