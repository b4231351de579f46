//! Messages to nodes.

use interrupts::Digest;
use interrupts::store::{AuditSubject, MessageError, NewMessage, Notification, StoredMessage};

use super::{Halt, Operation};
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
    }

    fn run(&self, tables: &mut Tables) -> Result<StoredMessage, Halt<MessageError>> {
        let message = &self.message;
        // What was accepted once stays accepted, whatever became of its run since.
        if let Some(known) = tables.messages.get(&message.key)? {
            return if known.message == *message {
                Ok(known.clone())
            } else {
                let key = message.key.clone();
                Err(Halt::Refused(MessageError::OtherContent { key }))
            };
        }
        self.check_reader(tables)?;
        self.check_size(tables)?;
        let mut heads = tables.heads()?;
        heads.messages += 1;
        let stored = StoredMessage {
            position: heads.messages,
            at: tables.now,
            message: message.clone(),
        };
        tables.heads.put((), heads);
        tables.audit(AuditSubject::Message {
            run: message.run,
            node: message.node.clone(),
            message: stored.position,
            from: message.from.clone(),
            text: Digest::of(message.text.as_bytes()),
        })?;
        tables.tell(Notification::Message {
            run: message.run,
            node: message.node.clone(),
            message: stored.position,
        })?;
        tables.messages.put(message.key.clone(), stored.clone());
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
        if known.node.takes_messages {
            Ok(())
        } else {
            Err(Halt::Refused(MessageError::TakesNoMessages { node }))
        }
    }

    fn check_size(&self, tables: &Tables) -> Result<(), Halt<MessageError>> {
        let (given, most) = (self.message.text.len(), tables.rules.limits.content);
        if given <= most {
            Ok(())
        } else {
            Err(Halt::Refused(MessageError::TooLarge { given, most }))
        }
    }
}
