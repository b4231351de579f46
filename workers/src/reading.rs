//! Messages that are read under a key: once, and kept.

use interrupt_router::NodeId;
use interrupts::store::{Intent, JournalEntry, Page, Repeating};
use interrupts::{EffectId, KindName};
use journal::kind::MAIL;
use journal::message::{AgentMessage, Mail, Origin};

use crate::error::WorkError;
use crate::key::WorkKey;
use crate::owned::Owned;
use crate::signals::WorkerMessage;

/// The most messages that are read at once.
const MOST: usize = 200;

/// The most bytes of them, except that one message is always read.
const LARGEST: usize = 1 << 20;

impl Owned<'_> {
    /// The messages that wait for an agent: read, and kept under the key, in one transaction. The same key again gives
    /// the same messages, also if there were none; what has come since waits for another key.
    ///
    /// # Errors
    ///
    /// [`WorkError::UnknownAgent`]; [`WorkError::OtherContent`] if another agent read under the key;
    /// [`WorkError::LeaseLost`].
    ///
    /// # Cancel safety
    ///
    /// Safe to repeat: dropped, they were read and kept, or they still wait.
    pub async fn read_under(
        &self,
        key: &WorkKey,
        node: &NodeId,
    ) -> Result<Vec<WorkerMessage>, WorkError> {
        if self.store().node(self.run.id, node).await?.is_none() {
            return Err(WorkError::UnknownAgent { node: node.clone() });
        }
        let kept = loop {
            let mut waiting = self.unread_messages().await?;
            waiting.retain(|message| message.node == *node);
            let mut bytes = 0;
            let letters: Vec<AgentMessage> = waiting
                .into_iter()
                .take(MOST)
                .take_while(|message| {
                    let is_first = bytes == 0;
                    bytes += message.text.len();
                    is_first || bytes <= LARGEST
                })
                .map(|message| AgentMessage {
                    origin: Origin::Message {
                        position: message.position,
                    },
                    text: message.text,
                })
                .collect();
            let positions: Vec<u64> = letters
                .iter()
                .filter_map(AgentMessage::message_place)
                .collect();
            let reading = self.reading(key, node, Mail { letters })?;
            let kept = self.store().keep_reading(self.epoch(), reading, &positions);
            // Else one was taken back, or read under another key, at the same moment.
            if let Some(kept) = kept.await? {
                break kept;
            }
        };
        if kept.intent.node != *node {
            return Err(WorkError::OtherContent {
                key: key.clone(),
                differs: vec!["agent_id".to_owned()],
            });
        }
        self.letters(&kept).await
    }

    fn reading(&self, key: &WorkKey, node: &NodeId, mail: Mail) -> Result<Intent, WorkError> {
        let place = key.reading();
        Ok(Intent {
            effect: EffectId::in_run(self.run.id, &place),
            run: self.run.id,
            node: node.clone(),
            kind: KindName::new(MAIL).map_err(WorkError::name("/key"))?,
            repeating: Repeating::Idempotent,
            content: serde_json::to_string(&mail)?,
            place: Some(place),
        })
    }

    /// The messages that are kept in an entry, with those who sent them.
    async fn letters(&self, kept: &JournalEntry) -> Result<Vec<WorkerMessage>, WorkError> {
        let mail: Mail = serde_json::from_str(&kept.intent.content)?;
        let mut messages = Vec::new();
        for position in mail.letters.iter().filter_map(AgentMessage::message_place) {
            let page = Page {
                after: position.saturating_sub(1),
                limit: 1,
            };
            let found = self.store().messages(self.run.id, page).await?;
            messages.extend(found.into_iter().map(WorkerMessage::from));
        }
        Ok(messages)
    }
}
