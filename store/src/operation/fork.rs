//! Runs that continue from a checkpoint of another one.

use interrupts::EffectId;
use interrupts::store::{
    AuditSubject, CheckpointId, ForkStart, Intent, JournalEntry, KnownEffect, NewRun, Repeating,
    Run, RunError,
};
use routing_core::RunId;

use super::run::{alias_of, place};
use super::{Halt, Operation, node, undelivered};
use crate::tables::{Failed, Tables};

/// Creates a run that continues from a checkpoint.
pub(crate) struct Fork {
    pub(crate) from: CheckpointId,
    pub(crate) new: NewRun,
    /// What had its result in the other run's journal when the checkpoint was saved, in order. It is read
    /// before the transaction, for neither a result nor its count ever changes.
    pub(crate) done: Vec<JournalEntry>,
    pub(crate) start: ForkStart,
}

impl Operation for Fork {
    type Output = Run;
    type Error = RunError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.runs.want(&self.new.id);
        tables.checkpoint_ids.want(&self.from);
        tables.runs.want(&self.from.run);
        undelivered::want(self.from.run, tables);
        if let Some(alias) = &self.new.alias {
            tables.aliases.want(alias);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Run, Halt<RunError>> {
        let NewRun {
            id, alias, content, ..
        } = &self.new;
        if let Some(row) = tables.runs.get(id)? {
            let same = row.run.alias == *alias
                && row.run.content == *content
                && row.run.forked_from == Some(self.from);
            return if same {
                Ok(row.run.clone())
            } else {
                Err(Halt::Refused(RunError::Taken { run: *id }))
            };
        }
        if tables.checkpoint_ids.get(&self.from)?.is_none() {
            let checkpoint = self.from;
            return Err(Halt::Refused(RunError::NoCheckpoint { checkpoint }));
        }
        if !self.start.drops_pending
            && let Some(waiting) = undelivered::waiting(self.from.run, tables)?
        {
            return Err(Halt::Refused(RunError::MessagesWait(waiting)));
        }
        alias_of(&self.new, tables)?;
        let mut effects = 0;
        for entry in &self.done {
            if let (Some(place), Some(result)) = (&entry.intent.place, &entry.result) {
                let mut intent = entry.intent.clone();
                intent.effect = EffectId::in_run(*id, place);
                intent.run = *id;
                tables.journal_taken_over(intent, result.content.clone())?;
                effects += 1;
            }
        }
        if let Some(said) = &self.start.said {
            keep(*id, said, tables)?;
        }
        tables.audit(AuditSubject::Fork {
            run: *id,
            from: self.from,
            effects,
        })?;
        let left = tables.runs.get(&self.from.run)?;
        let root = left.and_then(|row| row.run.root.clone());
        let catalogue = left.and_then(|row| row.run.catalogue);
        if let Some(root) = &root {
            node::begin(*id, root.clone(), tables)?;
        }
        let mut run = Run::created(self.new.clone(), tables.now);
        run.forked_from = Some(self.from);
        run.root = root;
        run.catalogue = catalogue;
        Ok(place(run, tables)?)
    }
}

/// Keeps an effect that a run has from its beginning, with its result.
fn keep(run: RunId, known: &KnownEffect, tables: &mut Tables) -> Result<(), Failed> {
    let intent = Intent {
        effect: EffectId::in_run(run, &known.place),
        run,
        node: known.node.clone(),
        kind: known.kind.clone(),
        repeating: Repeating::Idempotent,
        content: known.content.clone(),
        place: Some(known.place.clone()),
    };
    let entry = tables.journal_intent(intent)?;
    tables.journal_result(entry, known.result.clone())?;
    Ok(())
}
