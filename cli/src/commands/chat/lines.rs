//! A conversation without a terminal: each line of standard input is a message.

use std::io;

use llm::{Conversation, ConversationEvent, RunEnd, RunError};
use routing_core::{StopReason, StopSource};
use tokio::signal::unix::{SignalKind, signal};
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
    fn told(&mut self, event: &ConversationEvent) -> io::Result<()>;

    /// A signal interrupts whatever is under way.
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
    let mut interrupts = signal(SignalKind::interrupt())?;
    let mut terminations = signal(SignalKind::terminate())?;
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
            _ = terminations.recv() => return Ok(Exit::Terminated),
            _ = interrupts.recv() => return Ok(Exit::Interrupted),
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
                _ = terminations.recv() => {
                    output.interrupting()?;
                    conversation.interrupt(now("SIGTERM"));
                    signalled.get_or_insert(Exit::Terminated);
                }
                _ = interrupts.recv() => {
                    output.interrupting()?;
                    conversation.interrupt(now("Ctrl+C"));
                    signalled.get_or_insert(Exit::Interrupted);
                }
                Some(event) = events.recv() => output.told(&event)?,
                ended = &mut run => break ended,
            }
        };
        tell_rest(&mut events, &mut *output)?;
        match ended {
            Ok(RunEnd::Interrupted { reason, .. }) if is_of_budget(&reason, signalled) => {
                return Err(unpaid(reason).into());
            }
            Ok(RunEnd::Paused { reason }) if is_of_budget(&reason, signalled) => {
                return Err(Failure::new(Exit::LimitHit, reason.message).into());
            }
            Ok(RunEnd::Interrupted { .. } | RunEnd::Paused { .. }) => {
                return Ok(signalled.unwrap_or(Exit::Interrupted));
            }
            Err(RunError::Model(error)) => return Err(failure(&error).into()),
            Err(error) => return Err(error.into()),
            Ok(RunEnd::Answered) => {}
        }
    }
}

/// Whether no signal and no person has stopped it: a limit did.
fn is_of_budget(reason: &StopReason, signalled: Option<Exit>) -> bool {
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
        output.told(&event)?;
    }
    Ok(())
}
