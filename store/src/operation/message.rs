//! Messages to nodes.

use interrupt_router::RunId;
use interrupts::life::Actor;
use interrupts::store::{
    AuditSubject, Intent, JournalEntry, JournalError, MessageError, MessageEvent, MessageState,
    NewMessage, Notification, RunError, StoredMessage,
};
use interrupts::{Digest, IdempotencyKey};

use super::join::ends;
use super::journal::check_run;
use super::run::check_epoch;
use super::{Halt, Operation, undelivered};
use crate::tables::Tables;

/// Accepts a message.
pub(crate) struct SendMessage {
    pub(crate) message: NewMessage,
}

impl Operation for SendMessage {
    type Output = StoredMessage;
    type Error = MessageError;

    fn want(&self, tables: &mut Tables) {
        let message = &self.message;
        tables.heads.want(&());
        tables.messages.want(&message.key);
        tables.runs.want(&message.run);
        tables.nodes.want(&(message.run, message.node.clone()));
        tables.live.want(&message.run);
        undelivered::want(message.run, tables);
    }

    fn run(&self, tables: &mut Tables) -> Result<StoredMessage, Halt<MessageError>> {
        let message = &self.message;
        // What was accepted once stays accepted, regardless of what became of its run since.
        if let Some(known) = tables.messages.get(&message.key)? {
            return if known.message == *message {
                Ok(known.clone())
            } else {
                let key = message.key.clone();
                Err(Halt::Refused(MessageError::OtherContent { key }))
            };
        }
        self.check_reader(tables)?;
        self.check_text(tables)?;
        let mut heads = tables.heads()?;
        heads.messages += 1;
        let stored = StoredMessage {
            position: heads.messages,
            at: tables.now,
            state: MessageState::Waiting,
            message: message.clone(),
        };
        tables.heads.put((), heads);
        tables.audit(AuditSubject::Message {
            run: message.run,
            node: message.node.clone(),
            message: stored.position,
            from: message.from.clone(),
            text: Digest::of(message.text.as_bytes()),
            event: MessageEvent::Sent,
        })?;
        tables.tell(Notification::Message {
            run: message.run,
            node: message.node.clone(),
            message: stored.position,
        })?;
        tables.messages.put(message.key.clone(), stored.clone());
        undelivered::note(message.run, message.key.clone(), tables)?;
        Ok(stored)
    }
}

impl SendMessage {
    /// There is, or will be, a turn of the node that can read it.
    fn check_reader(&self, tables: &mut Tables) -> Result<(), Halt<MessageError>> {
        let (run, node) = (self.message.run, self.message.node.clone());
        let Some(row) = tables.runs.get(&run)? else {
            return Err(Halt::Refused(MessageError::UnknownRun { run }));
        };
        let state = row.run.state;
        if state.is_final() {
            return Err(Halt::Refused(MessageError::RunEnded { state }));
        }
        let Some(known) = tables.nodes.get(&(run, node.clone()))? else {
            return Err(Halt::Refused(MessageError::UnknownNode { run, node }));
        };
        if known.node.activity.is_final() {
            return Err(Halt::Refused(MessageError::NodeEnded { node }));
        }
        if !known.node.takes_messages {
            return Err(Halt::Refused(MessageError::TakesNoMessages { node }));
        }
        match ends(run, &node, tables)? {
            Some(stop) => Err(Halt::Refused(MessageError::NodeStops {
                node,
                interrupt: stop.id,
                interrupt_type: stop.interrupt_type,
                is_cancelable: stop.is_cancelable(),
            })),
            None => Ok(()),
        }
    }

    fn check_text(&self, tables: &Tables) -> Result<(), Halt<MessageError>> {
        if self.message.text.trim().is_empty() {
            return Err(Halt::Refused(MessageError::Empty));
        }
        let (given, most) = (self.message.text.len(), tables.settings.limits.content);
        if given <= most {
            Ok(())
        } else {
            Err(Halt::Refused(MessageError::TooLarge { given, most }))
        }
    }
}

/// Takes an unread message back.
pub(crate) struct WithdrawMessage {
    pub(crate) key: IdempotencyKey,
    pub(crate) message: u64,
    pub(crate) run: RunId,
    pub(crate) by: Actor,
}

impl Operation for WithdrawMessage {
    type Output = StoredMessage;
    type Error = MessageError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.messages.want(&self.key);
        undelivered::want(self.run, tables);
    }

    fn run(&self, tables: &mut Tables) -> Result<StoredMessage, Halt<MessageError>> {
        let message = self.message;
        let Some(mut stored) = tables.messages.get(&self.key)?.cloned() else {
            // It was purged with its run.
            let run = self.run;
            return Err(Halt::Refused(MessageError::UnknownMessage { run, message }));
        };
        match stored.state {
            MessageState::Withdrawn { .. } => return Ok(stored),
            MessageState::Waiting | MessageState::Unread { .. } => {}
            MessageState::Read { at } => {
                return Err(Halt::Refused(MessageError::AlreadyRead { message, at }));
            }
        }
        stored.state = MessageState::Withdrawn {
            at: tables.now,
            by: self.by.clone(),
        };
        tables.audit(AuditSubject::Message {
            run: stored.message.run,
            node: stored.message.node.clone(),
            message,
            from: self.by.clone(),
            text: Digest::of(stored.message.text.as_bytes()),
            event: MessageEvent::Withdrawn,
        })?;
        tables.messages.put(self.key.clone(), stored.clone());
        undelivered::forget(stored.message.run, std::slice::from_ref(&self.key), tables)?;
        Ok(stored)
    }
}

/// Takes messages for a turn that is about to read them.
pub(crate) struct ReadMessages {
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    pub(crate) keys: Vec<IdempotencyKey>,
}

impl Operation for ReadMessages {
    type Output = Vec<u64>;
    type Error = RunError;

    fn want(&self, tables: &mut Tables) {
        tables.runs.want(&self.run);
        undelivered::want(self.run, tables);
        for key in &self.keys {
            tables.messages.want(key);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Vec<u64>, Halt<RunError>> {
        let Some(row) = tables.runs.get(&self.run)? else {
            return Err(Halt::Refused(RunError::Unknown { run: self.run }));
        };
        check_epoch(&row.run, self.epoch)?;
        let mut read = Vec::new();
        for key in &self.keys {
            let Some(mut stored) = tables.messages.get(key)?.cloned() else {
                continue;
            };
            if matches!(stored.state, MessageState::Withdrawn { .. }) {
                continue;
            }
            read.push(stored.position);
            match stored.state {
                // One whose agent had ended, and that has a turn again all the same, is read like any other.
                MessageState::Waiting | MessageState::Unread { .. } => {
                    stored.state = MessageState::Read { at: tables.now };
                    tables.messages.put(key.clone(), stored);
                }
                MessageState::Read { .. } | MessageState::Withdrawn { .. } => {}
            }
        }
        undelivered::forget(self.run, &self.keys, tables)?;
        Ok(read)
    }
}

/// Reads waiting messages under an entry of the journal.
pub(crate) struct KeepReading {
    pub(crate) epoch: u64,
    pub(crate) reading: Intent,
    pub(crate) keys: Vec<IdempotencyKey>,
}

impl Operation for KeepReading {
    type Output = Option<JournalEntry>;
    type Error = JournalError;

    fn want(&self, tables: &mut Tables) {
        let run = self.reading.run;
        tables.heads.want(&());
        tables.runs.want(&run);
        tables.journal.want(&self.reading.effect);
        undelivered::want(run, tables);
        for key in &self.keys {
            tables.messages.want(key);
        }
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<JournalEntry>, Halt<JournalError>> {
        let run = self.reading.run;
        check_run(run, self.epoch, tables)?;
        if let Some(known) = tables.journal.get(&self.reading.effect)? {
            return Ok(Some(known.clone()));
        }
        let mut read = Vec::new();
        for key in &self.keys {
            match tables.messages.get(key)? {
                Some(stored) if stored.state.is_waiting() => read.push(stored.clone()),
                Some(_) | None => return Ok(None),
            }
        }
        for mut stored in read {
            stored.state = MessageState::Read { at: tables.now };
            tables.messages.put(stored.message.key.clone(), stored);
        }
        undelivered::forget(run, &self.keys, tables)?;
        let entry = tables.journal_intent(self.reading.clone())?;
        // Its intent says all that there is to say.
        Ok(Some(tables.journal_result(entry, "{}".to_owned())?))
    }
}
