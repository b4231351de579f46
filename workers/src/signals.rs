//! What has come for a run: stops, events of supervisors, messages, decisions.

use interrupt_router::reroute::RerouteState;
use interrupt_router::{EventId, InterruptId, NodeId, RunId};
use interrupts::life::{Family, Interrupt, RunState, State};
use interrupts::store::{ChangeError, Filter, Notification, PageBack, Pages, Run, StoredMessage};
use journal::kind::INTERRUPT;
use serde::Deserialize;

use crate::cut::cuts_off;
use crate::error::WorkError;
use crate::key::WorkKey;
use crate::owned::Owned;
use crate::protocol::Protocol;
use crate::question_status::QuestionStatus;

/// How many rows are read at a time.
const PAGE: u32 = 200;

/// An agent that a supervisor wants to interrupt itself.
#[derive(Debug, Clone, PartialEq)]
pub struct InterruptSignal {
    /// The interrupt of the supervisor's event: it ends once the agent has asked.
    pub interrupt: InterruptId,
    /// The agent.
    pub node: NodeId,
    /// Why.
    pub reason: String,
    /// Where the answer is to go.
    pub reroute_to: Option<String>,
}

/// Where an event wants the answer to go.
#[derive(Deserialize)]
struct EventTarget {
    #[serde(rename = "rerouteToAgentType", default)]
    reroute_to: Option<String>,
}

/// A message for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerMessage {
    /// Its place among all messages.
    pub position: u64,
    /// The agent.
    pub node: NodeId,
    /// What it says.
    pub text: String,
    /// Who sends it.
    pub from: String,
}

impl From<StoredMessage> for WorkerMessage {
    fn from(stored: StoredMessage) -> Self {
        Self {
            position: stored.position,
            node: stored.message.node,
            text: stored.message.text,
            from: stored.message.from.name.to_string(),
        }
    }
}

/// What has come for a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signals {
    /// Stops that are to be applied.
    pub stops: Vec<Interrupt>,
    /// Agents that are to interrupt themselves.
    pub asked: Vec<InterruptSignal>,
    /// Messages that have not been read.
    pub messages: Vec<WorkerMessage>,
    /// The keys of questions that are over, decided or not, and whose outcome the worker has not taken: of all of them, or
    /// of those that were among the news. If the route of a decided one wants a request, it is not taken until the request
    /// is there.
    pub decided: Vec<WorkKey>,
    /// Everything up to here is included: see [`Owned::news`].
    pub cursor: u64,
}

impl Signals {
    /// Whether anything has come.
    pub const fn are_there(&self) -> bool {
        !self.stops.is_empty()
            || !self.asked.is_empty()
            || !self.messages.is_empty()
            || !self.decided.is_empty()
    }
}

/// What has happened since a worker looked last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct News {
    /// Whether a stop, an event or a message came for the run, or is settled.
    pub is_for_the_run: bool,
    /// Its questions that are over; the worker may know that already.
    pub over: Vec<WorkKey>,
    /// Everything up to here is included.
    pub through: u64,
}

impl News {
    /// Whether there is any.
    pub const fn is_there(&self) -> bool {
        self.is_for_the_run || !self.over.is_empty()
    }
}

/// Whether the worker of the run asked it: its key is at a place of the run.
pub fn is_own_question(interrupt: &Interrupt) -> bool {
    let place = interrupt
        .key
        .as_str()
        .strip_prefix(interrupt.run.to_string().as_str());
    place.is_some_and(|place| place.starts_with('/'))
}

impl Protocol<'_> {
    /// The stops and events of a run that are under way and not applied yet.
    pub(crate) async fn under_way(&self, run: RunId) -> Result<Vec<Interrupt>, WorkError> {
        self.in_states(run, vec![State::Requested, State::Delivered])
            .await
    }

    /// The interrupts of a run that have not ended.
    pub(crate) async fn live(&self, run: RunId) -> Result<Vec<Interrupt>, WorkError> {
        let live = State::ALL.into_iter().filter(|state| state.is_live());
        self.in_states(run, live.collect()).await
    }

    async fn in_states(&self, run: RunId, states: Vec<State>) -> Result<Vec<Interrupt>, WorkError> {
        let filter = Filter {
            run: Some(run),
            node: None,
            states,
        };
        let all = Pages::of(PAGE).values(|page| self.store.interrupts(&filter, page));
        Ok(all.await?)
    }
}

impl Protocol<'_> {
    /// The questions of a run whose outcome its worker has not taken, in the order in which they were asked.
    ///
    /// # Errors
    ///
    /// [`WorkError::Store`]; [`WorkError::Unreadable`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn unsettled(&self, run: &Run) -> Result<Vec<QuestionStatus>, WorkError> {
        let (mut unsettled, mut pages) = (Vec::new(), Pages::of(PAGE));
        while let Some(open) = pages
            .next(|page| self.store.unknown_effects(run.id, page))
            .await?
        {
            for entry in open {
                if entry.intent.kind.as_str() != INTERRUPT {
                    continue;
                }
                let key = entry.intent.place.as_deref().and_then(WorkKey::of_question);
                if let Some(key) = key {
                    unsettled.extend(self.find_question(run, &key).await?);
                }
            }
        }
        Ok(unsettled)
    }
}

impl Owned<'_> {
    /// What has come for the run; of its questions, where the worker has looked before, what is new. What is returned counts
    /// as delivered to its worker.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`]; [`WorkError`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat: what was delivered and is not applied is returned again.
    pub async fn signals(&self, since: Option<&News>) -> Result<Signals, WorkError> {
        // Before the rest is read: what comes meanwhile is news.
        let cursor = match since {
            Some(news) => news.through,
            None => self.cursor().await?,
        };
        let mut signals = Signals {
            cursor,
            ..Signals::default()
        };
        for interrupt in self.protocol.under_way(self.run.id).await? {
            let Some(taken) = self.delivered(interrupt).await? else {
                continue;
            };
            match taken.family() {
                Family::Stop => signals.stops.push(taken),
                Family::Question => signals.asked.extend(self.interrupt_signal(taken).await?),
            }
        }
        let mut of_run = signals.stops.iter().filter(|it| !cuts_off(it));
        if let Some(stop) = of_run.next()
            && self.run.state == RunState::Running
        {
            let reason = Some(stop.reason.clone());
            self.turn(RunState::Stopping, reason).await?;
        }
        signals.messages = self.unread_messages().await?;
        let unsettled = match since {
            Some(news) if !news.is_for_the_run => self.still_unsettled(&news.over).await?,
            // A question that a supervisor's event asked for has the key of the event.
            Some(_) | None => self.protocol.unsettled(&self.run).await?,
        };
        let over = unsettled.into_iter().filter(QuestionStatus::is_over);
        signals.decided = over.map(|it| it.key).collect();
        Ok(signals)
    }

    /// Those of some questions whose outcome the worker has not taken.
    async fn still_unsettled(&self, keys: &[WorkKey]) -> Result<Vec<QuestionStatus>, WorkError> {
        let mut unsettled = Vec::new();
        for key in keys {
            let found = self.protocol.find_question(&self.run, key).await?;
            unsettled.extend(found.filter(|status| !status.is_recorded));
        }
        Ok(unsettled)
    }

    async fn cursor(&self) -> Result<u64, WorkError> {
        let last = PageBack {
            before: None,
            limit: 1,
        };
        let last = self.store().last_outbox_of(self.run.id, last).await?;
        Ok(last.first().map_or(0, |row| row.position))
    }

    /// What has come for the run after a cursor.
    ///
    /// # Errors
    ///
    /// [`WorkError::Store`].
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn news(&self, cursor: u64) -> Result<News, WorkError> {
        let (mut news, mut pages) = (News::default(), Pages::after(cursor, PAGE));
        while let Some(rows) = pages
            .next(|page| self.store().outbox_of(self.run.id, page))
            .await?
        {
            for row in rows {
                match row.notification {
                    Notification::Message { .. } => news.is_for_the_run = true,
                    Notification::Interrupt { interrupt, .. } => {
                        self.news_of(interrupt, &mut news).await?;
                    }
                    Notification::Reroute { .. }
                    | Notification::Node { .. }
                    | Notification::Effect { .. }
                    | Notification::Checkpoint { .. }
                    | Notification::Run { .. }
                    | Notification::Rule { .. } => {}
                }
            }
        }
        news.through = pages.position();
        Ok(news)
    }

    async fn news_of(&self, interrupt: InterruptId, news: &mut News) -> Result<(), WorkError> {
        let row = self.store().interrupt(interrupt).await?;
        match row.filter(is_own_question) {
            None => news.is_for_the_run = true,
            // The worker asked it, and waits only for its end.
            Some(row) if row.state.is_live() => {}
            Some(row) => {
                let key = row.key.as_str().split_once('/');
                let key = key.and_then(|(_run, key)| key.parse().ok());
                let new = key.filter(|key| !news.over.contains(key));
                news.over.extend(new);
            }
        }
        Ok(())
    }

    /// Delivers an interrupt to the worker; `None` if it ended meanwhile.
    async fn delivered(&self, interrupt: Interrupt) -> Result<Option<Interrupt>, WorkError> {
        let holder = interrupt.lease.as_ref();
        let owner = self.run.lease.as_ref().map(|lease| &lease.owner);
        if interrupt.state == State::Delivered && holder.map(|lease| &lease.owner) == owner {
            return Ok(Some(interrupt));
        }
        let delivery = self.delivery(holder);
        let taken = match self.store().deliver(interrupt.id, delivery).await {
            Ok(taken) => Some(taken),
            // Another request of the worker was faster, or the interrupt has ended.
            Err(ChangeError::Refused(_)) => self.store().interrupt(interrupt.id).await?,
            Err(error) => return Err(error.into()),
        };
        Ok(taken.filter(|taken| taken.state == State::Delivered))
    }

    async fn interrupt_signal(
        &self,
        interrupt: Interrupt,
    ) -> Result<Option<InterruptSignal>, WorkError> {
        let Ok(event) = EventId::try_from(interrupt.key.as_str().to_owned()) else {
            return Ok(None);
        };
        let reroute = self.store().reroute(&event).await?;
        if reroute.is_none_or(|row| row.state != RerouteState::Pending) {
            return Ok(None);
        }
        let event: EventTarget = serde_json::from_str(&interrupt.content)?;
        Ok(Some(InterruptSignal {
            interrupt: interrupt.id,
            node: interrupt.node,
            reason: interrupt.reason,
            reroute_to: event.reroute_to,
        }))
    }

    pub(crate) async fn unread_messages(&self) -> Result<Vec<WorkerMessage>, WorkError> {
        let (mut unread, mut pages) = (Vec::new(), Pages::of(PAGE));
        while let Some(rows) = pages
            .next(|page| self.store().messages(self.run.id, page))
            .await?
        {
            let waiting = rows.into_iter().filter(|it| it.state.is_waiting());
            unread.extend(waiting.map(WorkerMessage::from));
        }
        Ok(unread)
    }

    /// The worker's agents have read messages.
    ///
    /// # Errors
    ///
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat.
    pub async fn read_messages(&self, positions: &[u64]) -> Result<(), WorkError> {
        let read = self
            .store()
            .read_messages(self.run.id, self.epoch(), positions);
        read.await?;
        Ok(())
    }
}
