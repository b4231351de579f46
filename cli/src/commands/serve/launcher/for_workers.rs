//! Runs that workers execute, those of other programs or `irq worker`: while no worker has one, this server carries out its
//! stops and lets it go on.

use interrupt_router::RunId;
use interrupts::life::RunState;
use interrupts::store::Run;
use journal::ResumeRequest;

use super::{Launcher, Word};
use crate::commands::serve::predecessor::{Hindrance, hindrance};
use crate::exit::{Exit, Failure};
use crate::run_owner::{refuse_said, workflow_of};

impl Launcher {
    /// Handles a run that a worker executes. A worker that has it learns the news from the store.
    pub(super) async fn see_to_work(
        &self,
        run: &Run,
        word: Word,
        asked: Option<&ResumeRequest>,
    ) -> Result<(), Failure> {
        let run_owner = &self.0.run_owner;
        refuse_said(&workflow_of(run), asked.and_then(|it| it.input.as_deref()))?;
        if run_owner.is_held_elsewhere(run) {
            // Its worker may die before the stop takes effect.
            if run_owner.is_told_to_stop(run).await? {
                self.look_when_left(run.id);
            }
            return Ok(());
        }
        let claimed = match word {
            // A person's request must have taken effect when it is answered.
            Word::Person => self.claim_once_let_go(run.id).await?,
            Word::News | Word::Successor | Word::Policy => self.claim(run.id)?,
        };
        let Some(_here) = claimed else {
            return Ok(());
        };
        // If it is stopping without a stop request, its worker died before it had stopped.
        if run.state == RunState::Stopping || run_owner.is_told_to_stop(run).await? {
            run_owner.carry_out(run).await?;
            return self.goes_on_unless_held(run.id).await;
        }
        // If a person says so, an open question does not keep the other agents from going on.
        let state_words = match run.state {
            RunState::Paused => true,
            RunState::Waiting => word == Word::Person,
            RunState::Created
            | RunState::Running
            | RunState::Stopping
            | RunState::Completed
            | RunState::Failed
            | RunState::Cancelled => false,
        };
        if !state_words {
            return Ok(());
        }
        let found = hindrance(self.0.store(), run).await?;
        if !word.overcomes(found) {
            let text = format!("{} is paused", run.id);
            let hint = format!("irq resume {} lets its worker go on", run.id);
            return Err(Failure::new(Exit::Conflict, text).hint(hint));
        }
        run_owner.let_worker_go_on(run, None, asked).await
    }

    /// No person pauses a run that stopped for a stop which was withdrawn meanwhile: it goes on.
    async fn goes_on_unless_held(&self, run: RunId) -> Result<(), Failure> {
        let row = self.0.store().run(run).await?;
        let Some(row) = row.filter(|row| row.state == RunState::Paused) else {
            return Ok(());
        };
        let found = hindrance(self.0.store(), &row).await;
        match found? {
            Hindrance::None => self.0.run_owner.let_worker_go_on(&row, None, None).await,
            Hindrance::Shutdown | Hindrance::Branched | Hindrance::Paused => Ok(()),
        }
    }
}
