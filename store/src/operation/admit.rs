//! Admitting interrupts.

use interrupt_router::InterruptType;
use interrupts::Digest;
use interrupts::life::{Admission, AdmissionError, Event, Evidence, Family, Interrupt, Scope};
use interrupts::store::{AdmitError, Admitted, RaisedQuestion, StoreError};

use super::question::consult;
use super::{Halt, Operation, undelivered};
use crate::tables::{KeyRow, Tables};

/// Admits an interrupt.
pub(crate) struct Admit {
    admission: Admission,
    /// Computed before the operation waits for its turn, so that no other operation waits for it.
    digest: Digest,
}

impl Admit {
    pub(crate) fn new(admission: Admission) -> Self {
        let digest = admission.digest();
        Self { admission, digest }
    }
}

impl Operation for Admit {
    type Output = Admitted;
    type Error = AdmitError;

    fn want(&self, tables: &mut Tables) {
        let admission = &self.admission;
        want(admission, tables);
        if stops_agent(admission) {
            tables.nodes.want(&(admission.run, admission.node.clone()));
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Admitted, Halt<AdmitError>> {
        let admission = &self.admission;
        if let Some(known) = known(admission, self.digest, tables)? {
            return Ok(known);
        }
        check_key(admission)?;
        check_agent(admission, tables)?;
        admit(admission, self.digest, tables)
    }
}

/// Admits, delivers and acknowledges what an agent raises by itself: a question, or a stop of its own.
pub(crate) struct Raise {
    pub(crate) raised: RaisedQuestion,
}

impl Operation for Raise {
    type Output = Admitted;
    type Error = AdmitError;

    fn want(&self, tables: &mut Tables) {
        let admission = &self.raised.admission;
        want(admission, tables);
        tables.slots.want(&(admission.run, admission.node.clone()));
    }

    fn run(&self, tables: &mut Tables) -> Result<Admitted, Halt<AdmitError>> {
        raise(&self.raised, tables)
    }
}

/// Admits, delivers and acknowledges.
pub(super) fn raise(
    raised: &RaisedQuestion,
    tables: &mut Tables,
) -> Result<Admitted, Halt<AdmitError>> {
    let RaisedQuestion {
        admission,
        delivery,
        deciders,
    } = raised;
    let digest = admission.digest();
    if let Some(known) = known(admission, digest, tables)? {
        return Ok(known);
    }
    let requested = admit(admission, digest, tables)?.into_interrupt();
    let take = Event::Take {
        owner: delivery.owner.clone(),
        until: tables.after(delivery.lease),
        lost: None,
    };
    let delivered = step(&requested, &take, tables)?;
    let pending = tables.pending_reroute(admission.run, &admission.node)?;
    let acknowledge = Event::Acknowledge {
        epoch: delivered.epoch,
        // An agent that asks to be stopped is at its boundary when it does.
        evidence: match delivered.family() {
            Family::Question => Evidence::Request {
                content: admission.content.clone(),
                form: None,
            },
            Family::Stop => Evidence::Boundary,
        },
        pending,
    };
    let acknowledged = step(&delivered, &acknowledge, tables)?;
    tables.supersede(&acknowledged)?;
    let epoch = acknowledged.epoch;
    let consulted = consult(acknowledged, epoch, deciders, tables)?;
    let raised = consulted.map_err(|refused| Halt::Refused(AdmitError::NotRaised(refused)))?;
    Ok(Admitted::New(raised))
}

pub(super) fn want(admission: &Admission, tables: &mut Tables) {
    tables.heads.want(&());
    tables.keys.want(&admission.key);
    tables.runs.want(&admission.run);
    tables.interrupts.want(&admission.id);
    if admission.interrupt_type == InterruptType::Branch {
        undelivered::want(admission.run, tables);
    }
}

/// What became of the request with this key, where there was one.
pub(super) fn known(
    admission: &Admission,
    digest: Digest,
    tables: &mut Tables,
) -> Result<Option<Admitted>, Halt<AdmitError>> {
    let Some(known) = tables.keys.get(&admission.key)?.cloned() else {
        return Ok(None);
    };
    if known.digest != digest {
        return Err(Halt::Refused(AdmitError::OtherContent {
            key: admission.key.clone(),
            interrupt: known.interrupt,
        }));
    }
    let row = tables.interrupts.get(&known.interrupt)?;
    let row = row.ok_or_else(|| {
        let detail = format!("key {:?} names no interrupt", admission.key);
        Halt::Refused(StoreError::Corrupt { detail }.into())
    })?;
    Ok(Some(Admitted::Known(row.interrupt.clone())))
}

/// Refuses a key that would make a request from outside look like one of the run's own agents, or stand in an agent's way.
pub(super) fn check_key(admission: &Admission) -> Result<(), Halt<AdmitError>> {
    match admission.key.is_of_agent(admission.run) {
        true => {
            let run = admission.run;
            Err(Halt::Refused(AdmissionError::KeyReserved { run }.into()))
        }
        false => Ok(()),
    }
}

/// Whether one agent shall stop.
fn stops_agent(admission: &Admission) -> bool {
    admission.scope == Scope::Agent && Family::of(admission.interrupt_type) == Family::Stop
}

/// Checks that something is left of the agent that shall stop. An unknown agent may still come to be.
pub(super) fn check_agent(
    admission: &Admission,
    tables: &mut Tables,
) -> Result<(), Halt<AdmitError>> {
    if !stops_agent(admission) {
        return Ok(());
    }
    let run = tables.runs.get(&admission.run)?;
    if run.is_none_or(|row| row.run.state.is_final()) {
        // That says more than how the agent ended.
        return Ok(());
    }
    let agent = tables
        .nodes
        .get(&(admission.run, admission.node.clone()))?
        .map(|row| row.node.activity);
    match agent {
        Some(activity) if activity.is_final() => Err(Halt::Refused(AdmitError::NodeEnded {
            node: admission.node.clone(),
            activity,
        })),
        Some(_) | None => Ok(()),
    }
}

/// Admits what was not admitted before.
pub(super) fn admit(
    admission: &Admission,
    digest: Digest,
    tables: &mut Tables,
) -> Result<Admitted, Halt<AdmitError>> {
    if tables.interrupts.get(&admission.id)?.is_some() {
        let interrupt = admission.id;
        return Err(Halt::Refused(AdmitError::IdTaken { interrupt }));
    }
    let Some(run) = tables.runs.get(&admission.run)? else {
        let run = admission.run;
        return Err(Halt::Refused(AdmitError::UnknownRun { run }));
    };
    let (state, catalogue) = (run.run.state, run.run.catalogue);
    if admission.interrupt_type == InterruptType::Branch
        && let Some(waiting) = undelivered::waiting(admission.run, tables)?
    {
        return Err(Halt::Refused(AdmitError::MessagesWait(waiting)));
    }
    let mut step = admission
        .admit(digest, state, &tables.settings.limits, tables.now)
        .map_err(|refused| Halt::Refused(refused.into()))?;
    step.interrupt.catalogue = catalogue;
    let key = KeyRow {
        interrupt: admission.id,
        digest,
        joined: None,
    };
    tables.keys.put(admission.key.clone(), key);
    let admitted = tables.perform(step)?;
    Ok(Admitted::New(admitted))
}

fn step(
    interrupt: &Interrupt,
    event: &Event,
    tables: &mut Tables,
) -> Result<Interrupt, Halt<AdmitError>> {
    let step = interrupt
        .after(event, tables.now)
        .map_err(|refused| Halt::Refused(AdmitError::NotRaised(refused)))?;
    Ok(tables.perform(step)?)
}
