//! What was recorded of a run before this process took it.

use std::collections::HashMap;
use std::sync::Arc;

use interrupt_router::model::TokenUsage;
use interrupt_router::{InterruptId, NodeId};
use interrupts::store::{Intent, JournalEntry, JournalResult, Page, StoreError};
use jiff::Timestamp;
use serde_json::Value;
use tokio::task::JoinHandle;

use super::{Came, Recorded, RunJournal, read};
use journal::attempts::{ATTEMPT, AttemptEnd, AttemptIntent, PastTries};
use journal::entry::{CallIntent, CallResult, CutOff, FlowPosition, InterruptIntent, TurnStart};
use journal::error::KeepError;
use journal::input::GivenInput;
use journal::kind::{CUT_OFF, DISPATCH, INTERRUPT, MAIL, MODEL_CALL, OF_OLD_FORKS};
use journal::message::{Mail, Origin};

/// How many entries are read at a time.
const PAGE: u32 = 1_000;

/// What was recorded before this process took the run. Never changes.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) effects: HashMap<String, Recorded>,
    /// How each turn that was begun began.
    pub(super) starts: HashMap<(NodeId, u32), TurnStart>,
    /// The last turn of the run's own flow.
    pub(super) main: u64,
    /// The last turn of each worker's flow.
    pub(super) workers: HashMap<NodeId, u64>,
    /// The highest number of a step.
    pub(super) steps: u32,
    /// What the recorded answers cost.
    pub(super) usage: TokenUsage,
    /// The tokens of each node's part of it.
    pub(super) tokens: HashMap<NodeId, u64>,
    /// The messages that were read.
    pub(super) read: Vec<Origin>,
    /// The input that came with resumings, read or not.
    pub(super) inputs: Vec<GivenInput>,
    /// The interrupts of the run's own nodes.
    pub(super) interrupts: Vec<InterruptId>,
    pub(super) last: Option<Timestamp>,
    /// The tries of the calls, until they are settled.
    tries: PastTries,
}

impl Past {
    /// A node used this much.
    fn used(&mut self, node: &NodeId, usage: TokenUsage) {
        self.usage = self.usage.plus(usage);
        match self.tokens.get_mut(node) {
            Some(sum) => *sum = sum.saturating_add(usage.total()),
            None => {
                self.tokens.insert(node.clone(), usage.total());
            }
        }
    }

    /// A call to a model was begun. Returns its answer, if it has one.
    fn call(
        &mut self,
        place: &str,
        node: &NodeId,
        content: &str,
        result: Option<&JournalResult>,
    ) -> Result<Option<CallResult>, KeepError> {
        let intent: CallIntent = read(place, content)?;
        let answer = match result.map(|result| CallResult::read(&result.content)) {
            Some(answer) => answer.map_err(|source| KeepError::Unreadable {
                place: place.to_owned(),
                source,
            })?,
            None => None,
        };
        if let Some(answer) = &answer {
            self.used(node, answer.usage);
        }
        self.tries.saw_call(place, node, &intent, answer.is_some());
        if let Some(start) = intent.start {
            self.steps = self.steps.max(start.step);
            self.reach(&start.place);
            let read = start.letters.iter().map(|letter| letter.origin.clone());
            self.read.extend(read);
            self.starts.insert((node.clone(), intent.turn), start);
        }
        Ok(answer)
    }

    /// An agent has read this outside of a turn.
    fn read_mail(&mut self, mail: &Mail) {
        let read = mail.letters.iter().map(|letter| letter.origin.clone());
        self.read.extend(read);
    }

    /// A flow came this far.
    fn reach(&mut self, place: &FlowPosition) {
        // A worker's flow began after the turn of the run's own flow that its place names.
        self.main = self.main.max(place.main);
        if let Some(worker) = &place.worker {
            let last = self.workers.entry(worker.clone()).or_default();
            *last = (*last).max(place.own);
        }
    }
}

impl RunJournal {
    /// Reads what was recorded before.
    pub async fn load(&self) -> Result<(), KeepError> {
        let mut past = Past::default();
        let mut dispatches = Vec::new();
        let mut reading = Some(self.read_after(0));
        while let Some(page) = reading.take() {
            let entries = page.await.map_err(|error| StoreError::Unavailable {
                detail: error.to_string(),
            })??;
            // The next ones are read while these are sorted in.
            if let Some(last) = entries.last()
                && entries.len() == PAGE as usize
            {
                reading = Some(self.read_after(last.position));
            }
            for entry in entries {
                if entry.intent.kind.as_str() == DISPATCH && entry.result.is_none() {
                    dispatches.push(entry);
                } else {
                    self.take(&mut past, entry)?;
                }
            }
        }
        self.finish_dispatches(&past, dispatches).await?;
        let (unended, tries) = std::mem::take(&mut past.tries).settle();
        *self.tries() = tries;
        self.end_attempts(unended).await?;
        let is_new = past.effects.is_empty();
        let _first = self.past.set(past);
        if is_new {
            self.go_live();
        }
        Ok(())
    }

    /// Begins to read the entries after a position.
    fn read_after(&self, after: u64) -> JoinHandle<Result<Vec<JournalEntry>, StoreError>> {
        let (store, run) = (Arc::clone(&self.record.kept.store), self.record.run);
        let page = Page { after, limit: PAGE };
        tokio::spawn(async move { store.journal(run, page).await })
    }

    /// Sorts in one entry.
    fn take(&self, past: &mut Past, entry: JournalEntry) -> Result<(), KeepError> {
        if let Some(given) = GivenInput::of(&entry) {
            past.inputs.push(given);
            return Ok(());
        }
        let Intent {
            effect,
            node,
            kind,
            content,
            place,
            ..
        } = entry.intent;
        let Some(place) = place else { return Ok(()) };
        if OF_OLD_FORKS.contains(&kind.as_str()) {
            return Ok(());
        }
        let mut answer = None;
        match kind.as_str() {
            MODEL_CALL => answer = past.call(&place, &node, &content, entry.result.as_ref())?,
            INTERRUPT => {
                let intent: InterruptIntent = read(&place, &content)?;
                past.interrupts.push(intent.interrupt);
            }
            ATTEMPT => {
                let intent: AttemptIntent = read(&place, &content)?;
                if let Some(result) = &entry.result {
                    let end: AttemptEnd = read(&place, &result.content)?;
                    past.used(&node, end.usage());
                }
                past.tries.saw_attempt(&intent, entry.result.is_some());
            }
            MAIL => past.read_mail(&read(&place, &content)?),
            CUT_OFF => past.reach(&read::<CutOff>(&place, &content)?.place),
            // A kind that a newer version knows is no effect of these workflows.
            _ => {}
        }
        let result = entry.result.map(|result| {
            let came = answer.map_or(Came::Json(result.content), Came::Answer);
            (came, result.at)
        });
        match &result {
            Some((_, at)) => past.last = past.last.max(Some(*at)),
            None => {
                self.pending().insert(effect);
            }
        }
        past.effects.insert(place, Recorded { content, result });
        Ok(())
    }

    /// Finishes the dispatches that had happened when the run was cut off.
    async fn finish_dispatches(
        &self,
        past: &Past,
        dispatches: Vec<JournalEntry>,
    ) -> Result<(), KeepError> {
        if dispatches.is_empty() {
            // This saves reading what each of many thousand effects was.
            return Ok(());
        }
        let resolved: Vec<InterruptId> = past
            .effects
            .values()
            .filter(|recorded| recorded.result.is_some())
            .filter_map(|recorded| serde_json::from_str::<InterruptIntent>(&recorded.content).ok())
            // The request that a person filled in was carried out with the answer.
            .flat_map(|intent| [intent.interrupt, self.record.request_of(intent.interrupt)])
            .collect();
        for entry in dispatches {
            let content: Value = serde_json::from_str(&entry.intent.content)?;
            let interrupt = content
                .get("interrupt")
                .and_then(Value::as_str)
                .and_then(|text| text.parse().ok());
            if interrupt.is_some_and(|id| resolved.contains(&id)) {
                self.finish_effect(entry.intent.effect, "{}".to_owned())
                    .await?;
            }
        }
        Ok(())
    }
}
