//! What a mailbox refuses.

use interrupts::store::{MessageError, WaitingMessages};

use super::{Code, NotDone, Refusal};

/// Why a message was not accepted, or not taken back.
pub fn not_sent(error: MessageError) -> NotDone {
    let (code, hint) = match &error {
        MessageError::Store(error) => return NotDone::Store(error.clone()),
        MessageError::Empty => (Code::Shape, "say something".to_owned()),
        MessageError::TooLarge { .. } => {
            (Code::TooLarge, "send less; name a file instead".to_owned())
        }
        MessageError::UnknownRun { .. } => (
            Code::RunNotFound,
            "`irq ps --all` lists the runs".to_owned(),
        ),
        MessageError::UnknownNode { .. } => {
            (Code::AgentNotFound, "`irq ps` lists the agents".to_owned())
        }
        MessageError::UnknownMessage { .. } => (
            Code::MessageNotFound,
            "`irq send AGENT --waiting` lists what it has not read".to_owned(),
        ),
        MessageError::AlreadyRead { .. } => (
            Code::AlreadyRead,
            "send another message that says what holds now".to_owned(),
        ),
        MessageError::NodeStops {
            interrupt,
            is_cancelable: true,
            ..
        } => (
            Code::RunFinished,
            format!("`irq withdraw {interrupt}` gives the stop up"),
        ),
        MessageError::NodeStops { .. } => (
            Code::RunFinished,
            "send it to an agent that goes on; `irq ps` shows them".to_owned(),
        ),
        MessageError::OtherContent { .. } => (
            Code::IdempotencyConflict,
            "use another key for another message".to_owned(),
        ),
        MessageError::RunEnded { .. } | MessageError::NodeEnded { .. } => {
            (Code::RunFinished, takers())
        }
        _ => (Code::NotInState, takers()),
    };
    Refusal::new(code, error.to_string(), hint).into()
}

fn takers() -> String {
    "`irq ps` shows which agents take messages".to_owned()
}

/// A fork that would go on without what agents were sent.
pub fn not_read(waiting: &WaitingMessages) -> Refusal {
    Refusal::new(
        Code::NotInState,
        waiting.to_string(),
        "go on with the run first, so that they are read: `irq resume RUN`; or take them back: \
         `irq send AGENT --waiting` lists them, `irq send AGENT --take-back N` takes one back",
    )
}
