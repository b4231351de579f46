//! The journal of a run: what was recorded of it, and what it records.

mod past;
mod tries;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use interrupt_router::model::{ModelCaller, Purpose, TokenUsage, TurnForm};
use interrupt_router::{InterruptId, NodeId};
use interrupts::store::{Begun, Intent, JournalEntry, JournalError, Repeating};
use interrupts::{EffectId, KindName};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::record::RunRecord;
use super::replay;
use journal::attempts::Tries;
use journal::entry::{
    CallResult, CutOff, FlowPosition, InterruptIntent, InterruptOutcome, TurnStart,
};
use journal::error::KeepError;
use journal::input::GivenInput;
use journal::kind::CUT_OFF;
use journal::message::Origin;
use journal::place;
use past::Past;

/// An effect that was begun before.
#[derive(Debug, Clone)]
pub struct Recorded {
    content: String,
    result: Option<(Came, Timestamp)>,
}

/// What came of an effect.
#[derive(Debug, Clone)]
enum Came {
    /// As the store keeps it.
    Json(String),
    /// The answer of a model, which was read already.
    Answer(CallResult),
}

/// The journal of a run.
pub struct RunJournal {
    pub record: Arc<RunRecord>,
    past: OnceLock<Past>,
    /// Effects that have begun and have no result yet.
    pending: Mutex<BTreeSet<EffectId>>,
    /// When the last result of each node was recorded.
    times: Mutex<HashMap<NodeId, Timestamp>>,
    /// The starts of the turns whose first call is about to be made.
    starts: Mutex<HashMap<NodeId, TurnStart>>,
    /// The tries of the calls that have had one without an answer, and of those that are under way.
    tries: Mutex<HashMap<String, Tries>>,
    /// Whether some flow does what was not done before.
    live: watch::Sender<bool>,
}

impl RunJournal {
    pub fn new(record: Arc<RunRecord>) -> Self {
        Self {
            record,
            past: OnceLock::new(),
            pending: Mutex::default(),
            times: Mutex::default(),
            starts: Mutex::default(),
            tries: Mutex::default(),
            live: watch::Sender::new(false),
        }
    }

    fn past(&self) -> Result<&Past, KeepError> {
        self.past.get().ok_or(KeepError::NotOpen)
    }

    /// The place of a model's call. What follows from the decision about an interrupt is a fork's own: another
    /// decision may have been taken in the run that it was forked off, and filled in by then.
    pub fn call_place(&self, caller: &ModelCaller) -> String {
        let place = place::model_call(caller);
        match caller.purpose {
            Purpose::Resolution | Purpose::Review if self.record.is_fork() => {
                format!("{place}@{}", self.record.run)
            }
            Purpose::Step
            | Purpose::Route
            | Purpose::Resolution
            | Purpose::Review
            | Purpose::Conversation => place,
        }
    }

    /// The form in which a turn was begun, if it was: it goes on in that form, even if the model would be asked in
    /// another one today.
    pub fn form_of(&self, caller: &ModelCaller) -> Result<Option<TurnForm>, KeepError> {
        let first = |purpose| {
            let caller = ModelCaller {
                purpose,
                correction: 0,
                ..caller.clone()
            };
            self.call_place(&caller)
        };
        if self.at(&first(Purpose::Route))?.is_some() {
            return Ok(Some(TurnForm::RouteFirst));
        }
        let is_begun = self.at(&first(Purpose::Step))?.is_some();
        Ok(is_begun.then_some(TurnForm::OneStep))
    }

    /// Whether what follows a call is recorded although its answer is not: earlier versions recorded nothing of an
    /// answer that they rejected before it had arrived whole.
    pub fn went_on_without(&self, caller: &ModelCaller) -> Result<bool, KeepError> {
        let mut corrected = caller.clone();
        corrected.correction += 1;
        if self.at(&self.call_place(&corrected))?.is_some() {
            return Ok(true);
        }
        let (node, turn) = (&caller.node, caller.turn);
        Ok(caller.purpose == Purpose::Step
            && (self.at(&place::interrupt(node, turn))?.is_some()
                || self.start_of(node, turn + 1).is_some()))
    }

    /// What the models of the recorded answers have used.
    pub fn usage(&self) -> TokenUsage {
        self.past
            .get()
            .map_or_else(TokenUsage::default, |past| past.usage)
    }

    /// The tokens that each node has used by the recorded answers.
    pub fn tokens(&self) -> HashMap<NodeId, u64> {
        self.past
            .get()
            .map_or_else(HashMap::new, |past| past.tokens.clone())
    }

    /// The highest number of a step so far.
    pub fn steps(&self) -> u32 {
        self.past.get().map_or(0, |past| past.steps)
    }

    /// The messages that were read.
    pub fn read_origins(&self) -> &[Origin] {
        self.past.get().map_or(&[], |past| &past.read)
    }

    /// The input that was given along each time the run was resumed.
    pub fn inputs(&self) -> &[GivenInput] {
        self.past.get().map_or(&[], |past| &past.inputs)
    }

    /// The interrupts that nodes of the run had raised.
    pub fn raised(&self) -> &[InterruptId] {
        self.past.get().map_or(&[], |past| &past.interrupts)
    }

    /// When the last thing was recorded; `None` if nothing was.
    pub fn last(&self) -> Option<Timestamp> {
        self.past.get().and_then(|past| past.last)
    }

    /// Whether what follows a flow at this place happened before: a turn of its own, or one of the run's own flow, which
    /// waits until a worker's has ended.
    pub fn goes_on(&self, at: &FlowPosition) -> bool {
        self.past.get().is_some_and(|past| {
            let own = |worker| past.workers.get(worker).is_some_and(|last| *last > at.own);
            past.main > at.main || at.worker.as_ref().is_some_and(own)
        })
    }

    /// How a turn began, if it did.
    pub fn start_of(&self, node: &NodeId, turn: u32) -> Option<TurnStart> {
        let past = self.past.get()?;
        past.starts.get(&(node.clone(), turn)).cloned()
    }

    /// What was recorded at a place.
    pub fn at(&self, place: &str) -> Result<Option<&Recorded>, KeepError> {
        Ok(self.past()?.effects.get(place))
    }

    /// Whether the effect at a place has its result.
    pub fn is_answered(&self, place: &str) -> Result<bool, KeepError> {
        Ok(self
            .at(place)?
            .is_some_and(|recorded| recorded.result.is_some()))
    }

    /// The result of the effect at a place. The task's flow is then at the point where it was recorded.
    pub fn result<T: DeserializeOwned>(
        &self,
        place: &str,
        node: &NodeId,
    ) -> Result<Option<T>, KeepError> {
        let Some((came, at)) = self.came(place)? else {
            return Ok(None);
        };
        let result = match came {
            Came::Json(content) => read(place, content)?,
            Came::Answer(answer) => serde_json::from_value(serde_json::to_value(answer)?)?,
        };
        self.was_read(node, *at);
        Ok(Some(result))
    }

    /// The answer of the model that was called at a place. The task's flow is then at the point where it was recorded.
    pub fn answer(&self, place: &str, node: &NodeId) -> Result<Option<CallResult>, KeepError> {
        match self.came(place)? {
            Some((Came::Answer(answer), at)) => {
                self.was_read(node, *at);
                Ok(Some(answer.clone()))
            }
            Some(_) | None => self.result(place, node),
        }
    }

    fn came(&self, place: &str) -> Result<Option<&(Came, Timestamp)>, KeepError> {
        let recorded = self.at(place)?;
        Ok(recorded.and_then(|recorded| recorded.result.as_ref()))
    }

    /// Notes that an entry recorded at this time was read for a node.
    fn was_read(&self, node: &NodeId, at: Timestamp) {
        self.keep_time(node, at);
        replay::read(at);
    }

    fn keep_time(&self, node: &NodeId, at: Timestamp) {
        let mut times = self.times();
        match times.get_mut(node) {
            Some(last) => *last = at,
            None => {
                times.insert(node.clone(), at);
            }
        }
    }

    /// What was to be done at a place.
    pub fn intent<T: DeserializeOwned>(&self, place: &str) -> Result<Option<T>, KeepError> {
        self.at(place)?
            .map(|recorded| read(place, &recorded.content))
            .transpose()
    }

    /// The interrupt of a node's turn, and what became of it.
    pub fn interrupt(
        &self,
        node: &NodeId,
        turn: u32,
    ) -> Result<Option<(InterruptIntent, Option<InterruptOutcome>)>, KeepError> {
        let place = place::interrupt(node, turn);
        match self.intent(&place)? {
            Some(intent) => Ok(Some((intent, self.result(&place, node)?))),
            None => Ok(None),
        }
    }

    /// Whether a node was cut off from outside instead of taking this turn.
    pub fn cut_off(&self, node: &NodeId, turn: u32) -> Result<Option<CutOff>, KeepError> {
        self.intent(&place::cut_off(node, turn))
    }

    /// Records that a node was cut off from outside: intent and result in one.
    pub async fn record_cut_off(
        &self,
        node: &NodeId,
        turn: u32,
        cut_off: &CutOff,
    ) -> Result<(), KeepError> {
        let place = place::cut_off(node, turn);
        self.begin(node, CUT_OFF, &place, &serde_json::to_string(cut_off)?)
            .await?;
        self.finish(node, &place, "{}".to_owned()).await?;
        Ok(())
    }

    /// Records what is about to be done at a place, and may be done again; does nothing if it was recorded before.
    pub async fn begin(
        &self,
        node: &NodeId,
        kind: &str,
        place: &str,
        content: &str,
    ) -> Result<(), KeepError> {
        self.begin_once(node, kind, place, content, Repeating::Idempotent)
            .await
    }

    /// Records what is about to be done at a place, and what may be done if its outcome is unknown; does nothing if it
    /// was recorded before.
    pub async fn begin_once(
        &self,
        node: &NodeId,
        kind: &str,
        place: &str,
        content: &str,
        repeating: Repeating,
    ) -> Result<(), KeepError> {
        self.go_live();
        if self.at(place)?.is_some() {
            self.record.stops_where_lost();
            return Ok(());
        }
        let mut intent = self.intent_of(node, kind, place, content.to_owned())?;
        intent.repeating = repeating;
        let effect = intent.effect;
        match self
            .record
            .store()
            .begin(self.record.epoch()?, intent)
            .await?
        {
            Begun::New(_) | Begun::Known(_) => {}
        }
        self.has_begun(effect);
        Ok(())
    }

    /// Notes that an effect has begun, and that this is recorded.
    pub fn has_begun(&self, effect: EffectId) {
        self.pending().insert(effect);
        // The answer may have come long after it was written.
        self.record.stops_where_lost();
    }

    /// What is about to be done at a place, to be recorded.
    pub fn intent_of(
        &self,
        node: &NodeId,
        kind: &str,
        place: &str,
        content: String,
    ) -> Result<Intent, KeepError> {
        Ok(Intent {
            effect: EffectId::in_run(self.record.run, place),
            run: self.record.run,
            node: node.clone(),
            kind: KindName::new(kind)?,
            repeating: Repeating::Idempotent,
            content,
            place: Some(place.to_owned()),
        })
    }

    /// Records what came of the effect at a place. Returns when.
    pub async fn finish(
        &self,
        node: &NodeId,
        place: &str,
        content: String,
    ) -> Result<Timestamp, KeepError> {
        let effect = EffectId::in_run(self.record.run, place);
        let entry = self.finish_effect(effect, content).await?;
        self.pending().remove(&effect);
        let at = entry
            .result
            .map_or(Timestamp::UNIX_EPOCH, |result| result.at);
        self.times().insert(node.clone(), at);
        Ok(at)
    }

    async fn finish_effect(
        &self,
        effect: EffectId,
        content: String,
    ) -> Result<JournalEntry, JournalError> {
        let epoch = self.record.epoch().map_err(|_not_open| {
            // Nothing can be finished before the run was taken.
            JournalError::UnknownEffect { effect }
        })?;
        self.record.store().finish(epoch, effect, content).await
    }

    /// Records that a decision was carried out.
    pub async fn dispatched(&self, effect: EffectId) -> Result<(), KeepError> {
        self.finish_effect(effect, "{}".to_owned()).await?;
        Ok(())
    }

    /// Records that an effect is not continued. An effect that already has a result keeps it.
    pub async fn leave_out(&self, effect: EffectId, content: String) -> Result<(), KeepError> {
        match self.finish_effect(effect, content).await {
            Ok(_) | Err(JournalError::OtherResult { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.pending().remove(&effect);
        Ok(())
    }

    /// Effects that have begun and have no result.
    pub fn unfinished(&self) -> Vec<EffectId> {
        self.pending().iter().copied().collect()
    }

    /// When the last result of a node was recorded.
    pub fn time_of(&self, node: &NodeId) -> Timestamp {
        let times = self.times();
        times.get(node).copied().unwrap_or(Timestamp::UNIX_EPOCH)
    }

    /// The same, or that of the nearest node above it that has one.
    pub fn time_near(&self, node: &NodeId) -> Timestamp {
        let own = self.time_of(node);
        match node.parent() {
            Some(above) if own == Timestamp::UNIX_EPOCH => self.time_near(&above),
            Some(_) | None => own,
        }
    }

    /// Says how the turn begins whose first call follows.
    pub fn turn_begins(&self, node: &NodeId, start: TurnStart) {
        self.starts().insert(node.clone(), start);
    }

    /// How the turn begins whose first call is made now.
    pub fn take_start(&self, node: &NodeId) -> Option<TurnStart> {
        self.starts().remove(node)
    }

    /// The running task's flow goes live: it does what was not done before.
    pub fn go_live(&self) {
        replay::go_live();
        self.live
            .send_if_modified(|live| !std::mem::replace(live, true));
    }

    /// Releases the tasks that wait for the run to catch up, if it ends before it does.
    pub fn close(&self) {
        self.live.send_replace(true);
    }

    /// Waits until some flow has caught up with where the run was cut off.
    pub async fn until_live(&self) {
        let mut live = self.live.subscribe();
        // An error says that the journal is gone, and the run with it.
        let _ended = live.wait_for(|live| *live).await;
    }

    fn pending(&self) -> MutexGuard<'_, BTreeSet<EffectId>> {
        // Every change is one insertion or removal, so a panic elsewhere leaves it whole; below as well.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn times(&self) -> MutexGuard<'_, HashMap<NodeId, Timestamp>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tries(&self) -> MutexGuard<'_, HashMap<String, Tries>> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn starts(&self) -> MutexGuard<'_, HashMap<NodeId, TurnStart>> {
        self.starts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: DeserializeOwned>(place: &str, content: &str) -> Result<T, KeepError> {
    serde_json::from_str(content).map_err(|source| KeepError::Unreadable {
        place: place.to_owned(),
        source,
    })
}
