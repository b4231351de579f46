//! The tries of the run's calls, as they are recorded.

use interrupt_router::NodeId;
use interrupts::EffectId;

use super::RunJournal;
use journal::attempts::{ATTEMPT, AttemptEnd, AttemptIntent, Tries, Unended};
use journal::entry::Prompt;
use journal::error::KeepError;
use journal::place;

impl RunJournal {
    /// Ends the tries that died with the process that made them.
    pub(super) async fn end_attempts(&self, unended: Vec<Unended>) -> Result<(), KeepError> {
        for Unended { node, intent, end } in unended {
            let place = place::attempt(&intent.call, intent.attempt);
            let effect = EffectId::in_run(self.record.run, &place);
            if end == AttemptEnd::Unknown && intent.attempt == 1 {
                let content = serde_json::to_string(&intent)?;
                let intent = self.intent_of(&node, ATTEMPT, &place, content)?;
                let epoch = self.record.epoch()?;
                self.record.store().begin(epoch, intent).await?;
            }
            self.finish_effect(effect, serde_json::to_string(&end)?)
                .await?;
            self.pending().remove(&effect);
        }
        Ok(())
    }

    /// A call is about to be tried, for the first time or again.
    pub async fn attempt_begins(
        &self,
        node: &NodeId,
        call: &str,
        prompt: Prompt,
    ) -> Result<(), KeepError> {
        let is_left = self.tries().get(call).is_some_and(|tries| tries.is_open);
        if is_left {
            // The process that made the earlier try gave it up and did not see its end.
            self.attempt_ended(node, call, prompt, &AttemptEnd::Unknown)
                .await?;
        }
        let ended = {
            let mut tries = self.tries();
            let tries = tries.entry(call.to_owned()).or_default();
            tries.is_open = true;
            tries.ended
        };
        if ended > 0 {
            self.begin_attempt(node, call, ended + 1, prompt).await?;
        }
        Ok(())
    }

    /// A try has ended.
    pub async fn attempt_ended(
        &self,
        node: &NodeId,
        call: &str,
        prompt: Prompt,
        end: &AttemptEnd,
    ) -> Result<(), KeepError> {
        let ended = {
            let mut tries = self.tries();
            let so_far = tries.get(call).map_or(0, |tries| tries.ended);
            if *end == AttemptEnd::Answered {
                tries.remove(call);
            }
            so_far
        };
        if ended == 0 {
            if *end == AttemptEnd::Answered {
                return Ok(());
            }
            self.begin_attempt(node, call, 1, prompt).await?;
        }
        let attempt = ended + 1;
        let place = place::attempt(call, attempt);
        let effect = EffectId::in_run(self.record.run, &place);
        self.finish_effect(effect, serde_json::to_string(end)?)
            .await?;
        self.pending().remove(&effect);
        if *end != AttemptEnd::Answered {
            let is_open = false;
            let tries = Tries {
                ended: attempt,
                is_open,
            };
            self.tries().insert(call.to_owned(), tries);
        }
        Ok(())
    }

    async fn begin_attempt(
        &self,
        node: &NodeId,
        call: &str,
        attempt: u32,
        prompt: Prompt,
    ) -> Result<(), KeepError> {
        let intent = AttemptIntent {
            call: call.to_owned(),
            attempt,
            prompt,
        };
        let content = serde_json::to_string(&intent)?;
        let place = place::attempt(call, attempt);
        self.begin(node, ATTEMPT, &place, &content).await
    }
}
