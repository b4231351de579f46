//! A conversation without a terminal: each line of standard input is a message.

use std::io;

use interrupt_router::{StopReason, StopSource};
use interrupts::signals::{OsSignals, Signal, SignalSource as _};
use llm::{Conversation, ConversationEvent, ConversationRunEnd, ConversationRunError};
use tokio::sync::mpsc::UnboundedReceiver;

use super::plain::Plain;
use super::record::Records;
use super::{failure, now};
use crate::arguments::{ChatArguments, Global};
use crate::exit::{Exit, Failure};
use crate::reviewer::{Lines, NoLine};

/// Where the answers go.
pub(super) trait Output {
    /// Something happened.
    fn show_event(&mut self, event: &ConversationEvent) -> io::Result<()>;

    /// A signal interrupts the current work.
    fn interrupting(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Answers each line until there are no more.
pub(super) async fn talk(
    conversation: Conversation,
    arguments: &ChatArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let mut signals = OsSignals::listen()?;
    let mut output: Box<dyn Output> = if arguments.json {
        Box::new(Records)
    } else {
        Box::new(Plain::new(global))
    };
    let mut events = conversation.events();
    let lines = Lines::of_standard_input()?;
    loop {
        let line = tokio::select! {
            biased;
            Some(signal) = signals.next() => return Ok(Exit::by(signal)),
            line = lines.next() => line,
        };
        let text = match line {
            Ok(text) => text,
            Err(NoLine::End) => return Ok(Exit::Success),
            Err(error) => return Err(Failure::new(Exit::Failure, crate::causes(&error)).into()),
        };
        if conversation.send_message(text).is_err() {
            // A blank line says nothing.
            continue;
        }
        let run = conversation.run();
        tokio::pin!(run);
        let mut signalled = None;
        let ended = loop {
            tokio::select! {
                biased;
                Some(signal) = signals.next() => {
                    output.interrupting()?;
                    conversation.interrupt(now(name_of(signal)));
                    signalled.get_or_insert(Exit::by(signal));
                }
                Some(event) = events.recv() => output.show_event(&event)?,
                ended = &mut run => break ended,
            }
        };
        tell_rest(&mut events, &mut *output)?;
        if let Some(exit) = left_with(ended, signalled)? {
            return Ok(exit);
        }
    }
}

const fn name_of(signal: Signal) -> &'static str {
    match signal {
        Signal::Interrupt => "Ctrl+C",
        Signal::Terminate => "SIGTERM",
        Signal::Hangup => "SIGHUP",
        Signal::Quit => "SIGQUIT",
    }
}

/// The exit code after a run; `None` if the next line is to be read.
fn left_with(
    ended: Result<ConversationRunEnd, ConversationRunError>,
    signalled: Option<Exit>,
) -> anyhow::Result<Option<Exit>> {
    match ended {
        Ok(ConversationRunEnd::Answered) => Ok(None),
        Ok(ConversationRunEnd::Interrupted { reason, .. }) if is_of_limit(&reason, signalled) => {
            Err(unpaid(reason).into())
        }
        Ok(ConversationRunEnd::Paused { reason }) if is_of_limit(&reason, signalled) => {
            Err(Failure::new(Exit::LimitHit, reason.message).into())
        }
        Ok(ConversationRunEnd::Interrupted { .. } | ConversationRunEnd::Paused { .. }) => {
            Ok(Some(signalled.unwrap_or(Exit::Interrupted)))
        }
        Err(ConversationRunError::Model(error)) => Err(failure(&error).into()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a limit stopped it, not a signal or a person.
fn is_of_limit(reason: &StopReason, signalled: Option<Exit>) -> bool {
    signalled.is_none() && reason.source == StopSource::System
}

fn unpaid(reason: StopReason) -> Failure {
    Failure::new(Exit::LimitHit, reason.message).hint("allow more with --budget-usd")
}

fn tell_rest(
    events: &mut UnboundedReceiver<ConversationEvent>,
    output: &mut dyn Output,
) -> io::Result<()> {
    while let Ok(event) = events.try_recv() {
        output.show_event(&event)?;
    }
    Ok(())
}
