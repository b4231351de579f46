//! What had come for the run's nodes when it was cut off, and was not read.

use std::collections::HashSet;

use interrupt_router::{EventId, InterruptType, NodeId};
use interrupts::life::{Interrupt, State, Verdict};
use interrupts::store::{Filter, MessageState, Pages};

use super::cancelled_pause::given_up_because;
use super::journal::RunJournal;
use super::kinds::NamedEvent;
use super::stored_interrupts::StoredInterrupts;
use journal::error::KeepError;
use journal::input::{self, GivenInput, said_with};
use journal::message::{AgentMessage, Origin};

const PAGE: u32 = 1_000;

/// The messages that wait for their nodes.
#[derive(Debug, Default)]
pub struct Undelivered {
    /// For nodes that are named.
    pub letters: Vec<(NodeId, AgentMessage)>,
    /// For the node of the run's own flow that has the turn.
    pub inputs: Vec<AgentMessage>,
    /// Why the run shall not go on, if it was given up.
    pub given_up: Option<String>,
}

/// The event of an interrupt that a supervisor's event asked for.
pub fn event_of(interrupt: &Interrupt) -> Option<NamedEvent> {
    let event: NamedEvent = serde_json::from_str(&interrupt.content).ok()?;
    (event.event_id.as_str() == interrupt.key.as_str()).then_some(event)
}

/// The message that tells a node of an event.
pub fn event_message(event: &NamedEvent) -> AgentMessage {
    AgentMessage {
        origin: Origin::Event {
            event: event.event_id.clone(),
        },
        text: event.message().text.to_string(),
    }
}

impl Undelivered {
    /// Gathers it, and takes the events that were not taken yet.
    pub async fn gather(
        journal: &RunJournal,
        stored_interrupts: &StoredInterrupts,
    ) -> Result<Self, KeepError> {
        let read: HashSet<&Origin> = journal.read_origins().iter().collect();
        let mut unread = Self::default();
        unread
            .of_interrupts(journal, stored_interrupts, &read)
            .await?;
        unread.of_messages(journal, &read).await?;
        for given in journal.inputs() {
            let letter = given.letter();
            if !read.contains(&letter.origin) {
                unread.inputs.push(letter);
            }
        }
        Ok(unread)
    }

    async fn of_interrupts(
        &mut self,
        journal: &RunJournal,
        stored_interrupts: &StoredInterrupts,
        read: &HashSet<&Origin>,
    ) -> Result<(), KeepError> {
        let record = &journal.record;
        let filter = Filter {
            run: Some(record.run),
            ..Filter::default()
        };
        let mut pages = Pages::of(PAGE);
        while let Some(found) = pages
            .next(|page| record.store().interrupts(&filter, page))
            .await?
        {
            for (_, interrupt) in &found {
                if let Some(reason) = given_up(journal, interrupt).await? {
                    self.given_up = Some(reason);
                } else if let Some(words) = resume_input(journal, interrupt) {
                    self.of_decision(journal, interrupt, &words, read).await?;
                } else if let Some(event) = event_of(interrupt) {
                    record.event_came();
                    let origin = Origin::Event {
                        event: event.event_id.clone(),
                    };
                    if !read.contains(&origin) && stored_interrupts.deliver(interrupt).await? {
                        self.letters
                            .push((interrupt.node.clone(), event_message(&event)));
                    }
                }
            }
        }
        Ok(())
    }

    /// What was said with the decision about a pause is kept in the journal before anything goes on.
    async fn of_decision(
        &mut self,
        journal: &RunJournal,
        pause: &Interrupt,
        words: &str,
        read: &HashSet<&Origin>,
    ) -> Result<(), KeepError> {
        let before = Origin::Resumed {
            interrupt: pause.id,
        };
        let place = said_with(pause.id);
        let is_kept = |given: &GivenInput| given.place.as_deref() == Some(&*place);
        if read.contains(&before) || journal.inputs().iter().any(is_kept) {
            return Ok(());
        }
        let record = &journal.record;
        let (store, owned) = (record.store(), (record.run, record.epoch()?));
        let given = input::keep(store, owned, &pause.node, place, words).await?;
        self.inputs.push(given.letter());
        Ok(())
    }

    async fn of_messages(
        &mut self,
        journal: &RunJournal,
        read: &HashSet<&Origin>,
    ) -> Result<(), KeepError> {
        let record = &journal.record;
        let mut pages = Pages::of(PAGE);
        while let Some(messages) = pages
            .next(|page| record.store().messages(record.run, page))
            .await?
        {
            let mut were_read = Vec::new();
            for stored in messages {
                let letter = agent_message(stored.position, &stored.message.text);
                if read.contains(&letter.origin) {
                    // An older version, without message states, has read it.
                    were_read.extend(stored.state.is_waiting().then_some(stored.position));
                } else if !matches!(stored.state, MessageState::Withdrawn { .. }) {
                    self.letters.push((stored.message.node, letter));
                }
            }
            if !were_read.is_empty() {
                let epoch = record.epoch()?;
                let store = record.store();
                store.read_messages(record.run, epoch, &were_read).await?;
            }
        }
        Ok(())
    }
}

/// The message of a message that the store keeps.
pub fn agent_message(position: u64, text: &str) -> AgentMessage {
    AgentMessage {
        origin: Origin::Message { position },
        text: format!("[message]\n{text}"),
    }
}

/// Whether it is a stop from outside that has been decided. A stop that an agent raised is resumed by the handler,
/// which reads its decision.
fn is_decided_pause(journal: &RunJournal, interrupt: &Interrupt) -> bool {
    interrupt.interrupt_type == InterruptType::Pause
        && !journal.raised().contains(&interrupt.id)
        && !EventId::try_from(interrupt.key.as_str().to_owned())
            .is_ok_and(|_| event_of(interrupt).is_some())
        && matches!(interrupt.state, State::Resolved | State::Rerouted)
}

/// Why the run shall not go on, if that was decided and not carried out yet. An earlier version ignored such decisions
/// and recorded them as carried out: a run that went on then still goes on.
async fn given_up(
    journal: &RunJournal,
    interrupt: &Interrupt,
) -> Result<Option<String>, KeepError> {
    let reason = given_up_because(interrupt).filter(|_| is_decided_pause(journal, interrupt));
    let (Some(reason), Some(decision)) = (reason, &interrupt.decision) else {
        return Ok(None);
    };
    let record = &journal.record;
    let mut pages = Pages::of(PAGE);
    while let Some(open) = pages
        .next(|page| record.store().unknown_effects(record.run, page))
        .await?
    {
        if open.iter().any(|it| it.intent.effect == decision.effect) {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// The input that resumed the run after a stop from outside, or the requested change.
fn resume_input(journal: &RunJournal, interrupt: &Interrupt) -> Option<String> {
    if !is_decided_pause(journal, interrupt) {
        return None;
    }
    let decision = interrupt.decision.as_ref()?;
    if !matches!(
        decision.verdict,
        Verdict::Resume | Verdict::Respond | Verdict::ModifyPlan
    ) {
        return None;
    }
    let content: serde_json::Value = serde_json::from_str(decision.content.as_deref()?).ok()?;
    Some(content.get("input")?.as_str()?.to_owned())
}
