//! Checkpoints.

use interrupts::store::{
    AuditSubject, Checkpoint, CheckpointDraft, CheckpointError, JournalError, Notification,
};

use super::{Halt, Operation, journal};
use crate::tables::Tables;

/// Saves a checkpoint, with the intents of the effects that begin with it.
pub(crate) struct Save {
    pub(crate) draft: CheckpointDraft,
}

impl Operation for Save {
    type Output = Checkpoint;
    type Error = CheckpointError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.draft.run);
        if let Some(parent) = &self.draft.parent {
            tables.checkpoint_ids.want(parent);
        }
        let begun = self.draft.intents.iter().map(|intent| &intent.effect);
        for effect in self.draft.pending.iter().chain(begun) {
            tables.journal.want(effect);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Checkpoint, Halt<CheckpointError>> {
        let draft = &self.draft;
        let Some(mut row) = tables.runs.get(&draft.run)?.cloned() else {
            let run = draft.run;
            return Err(Halt::Refused(CheckpointError::UnknownRun { run }));
        };
        if draft.epoch != row.run.epoch {
            return Err(Halt::Refused(CheckpointError::Fenced {
                given: draft.epoch,
                current: row.run.epoch,
            }));
        }
        if let Some(parent) = draft.parent
            && tables.checkpoint_ids.get(&parent)?.is_none()
        {
            return Err(Halt::Refused(CheckpointError::UnknownParent { parent }));
        }
        self.begin_effects(tables)?;
        row.run.checkpoint += 1;
        let journal = tables.heads()?.journal_count;
        let checkpoint = Checkpoint::of(draft, row.run.checkpoint, journal, tables.now);
        tables.runs.put(draft.run, row);
        tables.audit(AuditSubject::Checkpoint {
            run: draft.run,
            number: checkpoint.id.number,
            content: checkpoint.digest,
        })?;
        tables.tell(Notification::Checkpoint {
            checkpoint: checkpoint.id,
        })?;
        tables.checkpoint_ids.put(checkpoint.id, ());
        tables.checkpoints.put(checkpoint.id, checkpoint.clone());
        Ok(checkpoint)
    }
}

impl Save {
    fn begin_effects(&self, tables: &mut Tables) -> Result<(), Halt<CheckpointError>> {
        let refused = |error: JournalError| Halt::Refused(CheckpointError::Journal(error));
        for intent in &self.draft.intents {
            if intent.run != self.draft.run {
                return Err(refused(JournalError::UnknownRun { run: intent.run }));
            }
            journal::begin(intent, tables).map_err(|halt| match halt {
                Halt::Absent => Halt::Absent,
                Halt::Refused(error) => refused(error),
            })?;
        }
        for effect in &self.draft.pending {
            if tables.journal.get(effect)?.is_none() {
                let effect = *effect;
                return Err(refused(JournalError::UnknownEffect { effect }));
            }
        }
        Ok(())
    }
}
