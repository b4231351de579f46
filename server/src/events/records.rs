//! The records that events are about, with only their immutable parts: read once for a whole part of the feed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use control::RunProgress;
use futures_util::{Stream, StreamExt, stream};
use interrupt_router::{EventId, InterruptId, RunId};
use interrupts::EffectId;
use interrupts::life::{Interrupt, RunState};
use interrupts::store::{
    JournalEntry, Notification, OutboxRow, Page, RerouteRow, Run, Store, StoreError,
};
use journal::attempts::ATTEMPT;
use journal::entry::{InterruptEnd, InterruptIntent, InterruptOutcome};
use journal::kind::{INTERRUPT, MAIL, MODEL_CALL, TOOL_CALL};
use journal::message::{AgentMessage, Mail};
use journal::tool::StoredCall;
use journal::{RunHeader, goal_in};
use serde_json::{Map, Value, json};

use super::known::Interrupts;
use super::model_call::{StoredAttempt, StoredModelCall};

/// How many are read from the store at a time.
const TOGETHER: usize = 8;

/// An effect, as its journal stores it.
#[derive(Debug)]
pub(crate) enum StoredEffect {
    /// A call of a tool.
    Tool(StoredCall),
    /// A call of a model.
    Model(Box<StoredModelCall>),
    /// A try of an effect that has an entry of its own.
    Attempt(StoredAttempt),
    /// What became of an interrupt.
    Interrupt(Box<StoredOutcome>),
    /// What an agent has read outside of a turn.
    Mail(Vec<AgentMessage>),
}

/// The outcome of an interrupt that an agent raised, as the journal stores it.
#[derive(Debug)]
pub(crate) struct StoredOutcome {
    interrupt: InterruptId,
    outcome: Option<InterruptEnd>,
}

impl StoredOutcome {
    fn of(entry: &JournalEntry) -> Option<Self> {
        let intent: InterruptIntent = serde_json::from_str(&entry.intent.content).ok()?;
        let outcome = entry.result.as_ref();
        let outcome = outcome
            .and_then(|result| serde_json::from_str::<InterruptOutcome>(&result.content).ok());
        Some(Self {
            interrupt: intent.interrupt,
            outcome: outcome.map(|outcome| outcome.end),
        })
    }

    /// Adds its beginning, or its end.
    pub(super) fn tell(&self, done: bool, data: &mut Map<String, Value>) {
        data.insert("interrupt_id".to_owned(), json!(self.interrupt));
        let Some(outcome) = self.outcome.as_ref().filter(|_outcome| done) else {
            return;
        };
        // The decision's event has the answer; the request that a model wrote is the agent's business.
        if let InterruptEnd::Declined {
            verdict,
            decided_by,
            reroute,
            ..
        } = outcome
        {
            data.insert("verdict".to_owned(), json!(verdict));
            data.insert("decided_by".to_owned(), json!(decided_by));
            if let Some(event) = reroute {
                data.insert("event_id".to_owned(), event.as_str().into());
            }
        }
        if let InterruptEnd::Routed {
            origin,
            target,
            decided_by,
            filled_by,
            reroute,
            ..
        } = outcome
        {
            data.insert("origin".to_owned(), origin.as_str().into());
            data.insert("target".to_owned(), target.as_str().into());
            data.insert("decided_by".to_owned(), json!(decided_by));
            data.insert("filled_by".to_owned(), json!(filled_by));
            if let Some(event) = reroute {
                data.insert("event_id".to_owned(), event.as_str().into());
            }
        }
    }
}

impl StoredEffect {
    /// Whether events contain more about effects of this kind than that they exist.
    fn is_told(kind: &str) -> bool {
        [MODEL_CALL, TOOL_CALL, ATTEMPT, INTERRUPT, MAIL].contains(&kind)
    }

    fn of(entry: &JournalEntry) -> Option<Self> {
        match entry.intent.kind.as_str() {
            TOOL_CALL => StoredCall::of(entry).map(Self::Tool),
            MODEL_CALL => {
                let call = StoredModelCall::of(entry)?;
                Some(Self::Model(Box::new(call)))
            }
            ATTEMPT => StoredAttempt::of(entry).map(Self::Attempt),
            INTERRUPT => Some(Self::Interrupt(Box::new(StoredOutcome::of(entry)?))),
            MAIL => {
                let mail: Mail = serde_json::from_str(&entry.intent.content).ok()?;
                Some(Self::Mail(mail.letters))
            }
            _ => None,
        }
    }
}

/// What a run was started with, and its result.
#[derive(Debug, Default)]
pub(super) struct StoredRun {
    /// The texts of its order, by their names.
    pub(super) order: Vec<(&'static str, String)>,
    pub(super) result: Option<String>,
}

/// The records that some rows are about. One that cannot be read is omitted: its events are rendered without it.
#[derive(Debug, Default)]
pub(crate) struct EventRecords {
    /// The interrupts.
    pub(crate) interrupts: Interrupts,
    effects: HashMap<EffectId, StoredEffect>,
    messages: HashMap<u64, String>,
    reroutes: HashMap<EventId, RerouteRow>,
    runs: HashMap<RunId, StoredRun>,
}

impl EventRecords {
    /// Reads the records that rows are about; the rows name these interrupts.
    pub(super) async fn of(store: &dyn Store, rows: &[OutboxRow], interrupts: Interrupts) -> Self {
        let (mut effects, mut messages, mut reroutes, mut runs) = (vec![], vec![], vec![], vec![]);
        for row in rows {
            match &row.notification {
                Notification::Effect { effect, kind, .. }
                    if StoredEffect::is_told(kind.as_str()) =>
                {
                    effects.push(*effect);
                }
                Notification::Message { run, message, .. } => messages.push((*run, *message)),
                Notification::Reroute { event, .. } => reroutes.push(event.clone()),
                Notification::Run {
                    run,
                    state: RunState::Created | RunState::Completed,
                    ..
                } => runs.push(*run),
                Notification::Effect { .. }
                | Notification::Interrupt { .. }
                | Notification::Node { .. }
                | Notification::Checkpoint { .. }
                | Notification::Rule { .. }
                | Notification::Run { .. } => {}
            }
        }
        Self {
            interrupts,
            effects: read(stream::iter(effects).map(|id| async move {
                let entry = store.effect(id).await?;
                Ok(entry
                    .as_ref()
                    .and_then(StoredEffect::of)
                    .map(|effect| (id, effect)))
            }))
            .await,
            messages: read(stream::iter(messages).map(|(run, place)| async move {
                let page = Page {
                    after: place.saturating_sub(1),
                    limit: 1,
                };
                let found = store.messages(run, page).await?.into_iter().next();
                let found = found.filter(|message| message.position == place);
                Ok(found.map(|message| (place, message.message.text)))
            }))
            .await,
            reroutes: read(stream::iter(reroutes).map(|event| async move {
                let row = store.reroute(&event).await?;
                Ok(row.map(|row| (event, row)))
            }))
            .await,
            runs: read(stream::iter(runs).map(|id| async move {
                let Some(run) = store.run(id).await? else {
                    return Ok(None);
                };
                Ok(Some((id, StoredRun::of(store, &run).await?)))
            }))
            .await,
        }
    }

    pub(super) fn interrupt(&self, id: InterruptId) -> Option<&Arc<Interrupt>> {
        self.interrupts.get(&id)
    }

    /// An effect, if events contain more about it than that it exists.
    pub(crate) fn effect(&self, id: EffectId) -> Option<&StoredEffect> {
        self.effects.get(&id)
    }

    pub(super) fn message(&self, place: u64) -> Option<&str> {
        self.messages.get(&place).map(String::as_str)
    }

    pub(super) fn reroute(&self, event: &EventId) -> Option<&RerouteRow> {
        self.reroutes.get(event)
    }

    pub(super) fn run(&self, run: RunId) -> Option<&StoredRun> {
        self.runs.get(&run)
    }
}

impl StoredRun {
    async fn of(store: &dyn Store, run: &Run) -> Result<Self, StoreError> {
        let header = RunHeader::from_content(&run.content).ok();
        let order = serde_json::from_str::<Value>(&run.content).unwrap_or_default();
        let said = |name: &str| order.get(name).and_then(Value::as_str).map(str::to_owned);
        let order = [
            ("goal", goal_of(run)),
            ("workflow", header.map(|it| it.workflow.name().to_owned())),
            ("model", said("model")),
            ("workspace", said("workspace")),
        ];
        let order = order.into_iter();
        Ok(Self {
            order: order
                .filter_map(|(name, text)| Some((name, text?)))
                .collect(),
            result: RunProgress::result_of(store, run).await?,
        })
    }
}

/// The goal of a run, if its order states one.
pub(crate) fn goal_of(run: &Run) -> Option<String> {
    goal_in(&run.content)
}

/// Reads many, some at a time.
async fn read<K: Eq + Hash, V>(
    each: impl Stream<Item = impl Future<Output = Result<Option<(K, V)>, StoreError>>>,
) -> HashMap<K, V> {
    let read = each.buffer_unordered(TOGETHER);
    let read = read.filter_map(async |found| found.ok().flatten());
    read.collect().await
}
