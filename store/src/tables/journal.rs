//! Writing the journal: intents and results, counted and told.

use interrupts::store::{Intent, JournalEntry, JournalResult, Notification};

use super::{Absent, Failed, Tables};

impl Tables {
    /// Writes an intent at the end of the journal, and publishes it.
    pub(crate) fn journal_intent(&mut self, intent: Intent) -> Result<JournalEntry, Failed> {
        let entry = self.append_intent(intent)?;
        self.tell_effect(&entry)?;
        Ok(entry)
    }

    /// Writes the result of an effect, and publishes it.
    pub(crate) fn journal_result(
        &mut self,
        mut entry: JournalEntry,
        content: String,
    ) -> Result<JournalEntry, Failed> {
        entry.result = Some(self.counted_result(content)?);
        self.tell_effect(&entry)?;
        self.journal.put(entry.intent.effect, entry.clone());
        Ok(entry)
    }

    /// Takes an effect over from the journal of another run. Nothing is published: it happened in that run.
    pub(crate) fn journal_taken_over(
        &mut self,
        intent: Intent,
        content: String,
    ) -> Result<(), Failed> {
        let mut entry = self.append_intent(intent)?;
        entry.result = Some(self.counted_result(content)?);
        self.journal.put(entry.intent.effect, entry);
        Ok(())
    }

    fn tell_effect(&mut self, entry: &JournalEntry) -> Result<(), Absent> {
        self.tell(Notification::Effect {
            run: entry.intent.run,
            node: entry.intent.node.clone(),
            effect: entry.intent.effect,
            kind: entry.intent.kind.clone(),
            done: entry.result.is_some(),
        })
    }

    fn counted_result(&mut self, content: String) -> Result<JournalResult, Absent> {
        let mut heads = self.heads()?;
        heads.journal_count += 1;
        let count = heads.journal_count;
        self.heads.put((), heads);
        Ok(JournalResult {
            content,
            at: self.now,
            count,
        })
    }

    fn append_intent(&mut self, intent: Intent) -> Result<JournalEntry, Absent> {
        let mut heads = self.heads()?;
        heads.journal += 1;
        heads.journal_count += 1;
        let entry = JournalEntry {
            position: heads.journal,
            intent,
            begun_at: self.now,
            result: None,
        };
        self.heads.put((), heads);
        self.journal.put(entry.intent.effect, entry.clone());
        Ok(entry)
    }
}
