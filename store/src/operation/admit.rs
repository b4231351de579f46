//! Admitting interrupts.

use interrupts::Digest;
use interrupts::life::{Admission, Event, Evidence, Interrupt};
use interrupts::store::{AdmitError, Admitted, RaisedQuestion, StoreError};

use super::{Halt, Operation};
use crate::tables::{KeyRow, Tables};

/// Admits an interrupt.
pub(crate) struct Admit {
    admission: Admission,
    /// Made before the operation waits for its turn, so that nobody waits for it.
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
        want(&self.admission, tables);
    }

    fn run(&self, tables: &mut Tables) -> Result<Admitted, Halt<AdmitError>> {
        admit(&self.admission, self.digest, tables)
    }
}

/// Admits, delivers and acknowledges a question that an agent raises by itself.
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
        let RaisedQuestion {
            admission,
            delivery,
        } = &self.raised;
        let requested = match admit(admission, admission.digest(), tables)? {
            Admitted::New(interrupt) => interrupt,
            known @ Admitted::Known(_) => return Ok(known),
        };
        let take = Event::Take {
            owner: delivery.owner.clone(),
            until: tables.after(delivery.lease),
            lost: None,
        };
        let delivered = step(&requested, &take, tables)?;
        let pending = tables.pending_reroute(admission.run, &admission.node)?;
        let acknowledge = Event::Acknowledge {
            epoch: delivered.epoch,
            evidence: Evidence::Request {
                content: admission.content.clone(),
            },
            pending,
        };
        step(&delivered, &acknowledge, tables).map(Admitted::New)
    }
}

fn want(admission: &Admission, tables: &mut Tables) {
    tables.heads.want(&());
    tables.keys.want(&admission.key);
    tables.runs.want(&admission.run);
    tables.interrupts.want(&admission.id);
}

fn admit(
    admission: &Admission,
    digest: Digest,
    tables: &mut Tables,
) -> Result<Admitted, Halt<AdmitError>> {
    if let Some(known) = tables.keys.get(&admission.key)?.cloned() {
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
        return Ok(Admitted::Known(row.interrupt.clone()));
    }
    if tables.interrupts.get(&admission.id)?.is_some() {
        let interrupt = admission.id;
        return Err(Halt::Refused(AdmitError::IdTaken { interrupt }));
    }
    let Some(run) = tables.runs.get(&admission.run)? else {
        let run = admission.run;
        return Err(Halt::Refused(AdmitError::UnknownRun { run }));
    };
    let state = run.run.state;
    let step = admission
        .admit(digest, state, &tables.rules.limits, tables.now)
        .map_err(|refused| Halt::Refused(refused.into()))?;
    let key = KeyRow {
        interrupt: admission.id,
        digest,
    };
    tables.keys.put(admission.key.clone(), key);
    Ok(Admitted::New(tables.perform(step)?))
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
