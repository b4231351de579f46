//! Runs that continue from a checkpoint of another one.

use interrupt_router::RunId;
use interrupts::EffectId;
use interrupts::store::{
    AuditSubject, CheckpointId, ForkStart, Intent, JournalEntry, KnownEffect, NewRun, Repeating,
    Run, RunError,
};

use super::run::{alias_of, place};
use super::{Halt, Operation, node, pending};
use crate::tables::{Failed, Tables};

/// Creates a run that continues from a checkpoint.
pub(crate) struct Fork {
    pub(crate) from: CheckpointId,
    pub(crate) new: NewRun,
    /// How many intents and results there were when the checkpoint was saved.
    pub(crate) count: u64,
    /// The journal of the checkpoint's run. Before the transaction most of it is read, for what has its result never changes.
    pub(crate) journal: Vec<JournalEntry>,
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
        pending::want(self.leaves(), tables);
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
        self.check_pending(tables)?;
        alias_of(&self.new, tables)?;
        let mut effects = 0;
        for entry in &self.journal {
            if let (Some(place), Some(result)) = (&entry.intent.place, &entry.result)
                && result.count <= self.count
            {
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

impl Fork {
    /// The run that it leaves.
    fn leaves(&self) -> RunId {
        self.start.leaves.unwrap_or(self.from.run)
    }

    /// Refuses to go on without something that the run was told and has not carried out.
    fn check_pending(&self, tables: &mut Tables) -> Result<(), Halt<RunError>> {
        if self.start.drops_pending {
            return Ok(());
        }
        let Some(run) = tables.runs.get(&self.leaves())?.map(|row| row.run.clone()) else {
            return Ok(());
        };
        match pending::of(&run, self, tables)? {
            Some(pending) => Err(Halt::Refused(RunError::Pending {
                run: run.id,
                pending,
                goes_on: !run.state.is_final(),
            })),
            None => Ok(()),
        }
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
