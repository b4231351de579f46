//! Refusals, in the words and with the advice that callers get over every way in.

use interrupts::life::RunState;
use interrupts::store::{MessageError, Run};
use routing_core::RunId;

/// A run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{run} is {state}; it has ended")]
pub struct EndedRun {
    run: RunId,
    state: RunState,
}

impl EndedRun {
    /// Refuses a run that has ended.
    ///
    /// # Errors
    ///
    /// That it has.
    pub const fn refuse(run: &Run) -> Result<(), Self> {
        if run.state.is_final() {
            return Err(Self {
                run: run.id,
                state: run.state,
            });
        }
        Ok(())
    }

    /// What to do instead.
    pub fn hint(&self) -> String {
        format!(
            "`irq fork {}` begins another one from its last checkpoint",
            self.run
        )
    }
}

/// What to do about a message that was refused; nothing, if the store failed.
pub fn message_hint(error: &MessageError) -> Option<String> {
    Some(match error {
        MessageError::Store(_) => return None,
        MessageError::Empty => "say something".to_owned(),
        MessageError::UnknownRun { .. } => "`irq ps --all` lists the runs".to_owned(),
        MessageError::UnknownNode { .. } => "`irq ps` lists the agents".to_owned(),
        MessageError::UnknownMessage { .. } => {
            "`irq send AGENT --waiting` lists what it has not read".to_owned()
        }
        MessageError::AlreadyRead { .. } => {
            "send another message that says what holds now".to_owned()
        }
        MessageError::NodeStops {
            interrupt,
            is_cancelable: true,
            ..
        } => format!("`irq withdraw {interrupt}` gives the stop up"),
        MessageError::NodeStops { .. } => {
            "send it to an agent that goes on; `irq ps` shows them".to_owned()
        }
        MessageError::OtherContent { .. } => "use another key for another message".to_owned(),
        MessageError::TooLarge { .. } => "send less; name a file instead".to_owned(),
        MessageError::RunEnded { .. }
        | MessageError::NodeEnded { .. }
        | MessageError::TakesNoMessages { .. }
        | _ => "`irq ps` shows which agents take messages".to_owned(),
    })
}
