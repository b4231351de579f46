//! The journal: intents and results.

use interrupt_router::RunId;
use interrupts::EffectId;
use interrupts::store::{Begun, Intent, JournalEntry, JournalError};

use super::{Halt, Operation};
use crate::tables::Tables;

/// Records an intent.
pub(crate) struct Begin {
    pub(crate) epoch: u64,
    pub(crate) intent: Intent,
}

impl Operation for Begin {
    type Output = Begun;
    type Error = JournalError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.intent.run);
        tables.journal.want(&self.intent.effect);
    }

    fn run(&self, tables: &mut Tables) -> Result<Begun, Halt<JournalError>> {
        check_run(self.intent.run, self.epoch, tables)?;
        begin(&self.intent, tables)
    }
}

/// Records an intent of a run whose owner has been checked.
pub(super) fn begin(intent: &Intent, tables: &mut Tables) -> Result<Begun, Halt<JournalError>> {
    if let Some(entry) = tables.journal.get(&intent.effect)? {
        return if entry.intent == *intent {
            Ok(Begun::Known(entry.clone()))
        } else {
            let effect = intent.effect;
            Err(Halt::Refused(JournalError::OtherIntent { effect }))
        };
    }
    Ok(Begun::New(tables.journal_intent(intent.clone())?))
}

/// Records a result.
pub(crate) struct Finish {
    pub(crate) epoch: u64,
    pub(crate) effect: EffectId,
    pub(crate) content: String,
}

impl Operation for Finish {
    type Output = JournalEntry;
    type Error = JournalError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.journal.want(&self.effect);
    }

    fn run(&self, tables: &mut Tables) -> Result<JournalEntry, Halt<JournalError>> {
        let effect = self.effect;
        let Some(entry) = tables.journal.get(&effect)?.cloned() else {
            return Err(Halt::Refused(JournalError::UnknownEffect { effect }));
        };
        check_run(entry.intent.run, self.epoch, tables)?;
        match &entry.result {
            Some(result) if result.content == self.content => Ok(entry),
            Some(_) => Err(Halt::Refused(JournalError::OtherResult { effect })),
            None => Ok(tables.journal_result(entry, self.content.clone())?),
        }
    }
}

pub(super) fn check_run(
    run: RunId,
    given: u64,
    tables: &mut Tables,
) -> Result<(), Halt<JournalError>> {
    let Some(row) = tables.runs.get(&run)? else {
        return Err(Halt::Refused(JournalError::UnknownRun { run }));
    };
    let current = row.run.epoch;
    if given == current {
        Ok(())
    } else {
        Err(Halt::Refused(JournalError::Fenced { given, current }))
    }
}
