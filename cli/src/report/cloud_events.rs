//! One CloudEvent (version 1.0) a line, for programs: those of a server's feed of the run, and between them transient
//! ones.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use engine::run::{RunEvent, RunOccurrence};
use interrupt_router::NodeId;
use serde_json::{Value, json};
use server::RunEvents;
use tokio::runtime::Handle;

use super::{Finished, Report};
use crate::model::UnansweredCall;
use crate::visible::visible_json;

/// The events of a run, of which each is written once, even if several stages follow each other.
pub(crate) type SharedEvents = Arc<Mutex<RunEvents>>;

/// Writes each event of a run as a CloudEvent to standard output, and words for people to standard error.
pub(crate) struct CloudEvents {
    output: Box<dyn Write + Send>,
    error_output: Box<dyn Write + Send>,
    events: SharedEvents,
    /// Reads the store: the thread that writes does not belong to the runtime.
    runtime: Handle,
}

impl CloudEvents {
    /// Writes to the process's own outputs. To be called within the runtime that reads the store.
    pub(crate) fn new(events: SharedEvents) -> Self {
        Self {
            output: Box::new(io::stdout()),
            error_output: Box::new(io::stderr()),
            events,
            runtime: Handle::current(),
        }
    }

    /// Writes the events that the store has by now; that the run rests only once its execution has ended, as the last.
    fn catch_up(&mut self, has_ended: bool) -> io::Result<()> {
        loop {
            let lines = {
                // Only whole positions are stored, so a panic elsewhere leaves it intact.
                let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
                self.runtime.block_on(events.next(has_ended))
            };
            match lines {
                Ok(lines) if lines.is_empty() => return Ok(()),
                Ok(lines) => lines.iter().try_for_each(|line| self.write(line))?,
                Err(error) => {
                    // The run itself ends when its store is gone, and says so.
                    tracing::warn!(%error, "events of the run cannot be read");
                    return Ok(());
                }
            }
        }
    }

    fn write(&mut self, json: &str) -> io::Result<()> {
        self.output.write_all(visible_json(json).as_bytes())?;
        self.output.write_all(b"\n")?;
        // Each line must be complete when it is read: its reader may answer to it.
        self.output.flush()
    }

    fn say(&mut self, text: &str) {
        // Messages without a reader are no reason to end the work.
        let _ = self
            .error_output
            .write_all(text.as_bytes())
            .and_then(|()| self.error_output.flush());
    }
}

/// A transient event, which no store has. Its name, its agent and its data.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all else is in the store, and told from there"
)]
fn transient(event: &RunEvent) -> Option<(&'static str, Option<&NodeId>, Value)> {
    Some(match event {
        RunEvent::ModelNoted { node, note } => {
            ("llm.noted", Some(node), json!({"text": note.to_string()}))
        }
        RunEvent::AnswerCorrected {
            node,
            correction,
            path,
            reason,
        } => {
            let data = json!({"correction": correction, "path": path, "reason": reason});
            ("llm.answer_refused", Some(node), data)
        }
        // Followers of a server's runs do not get these: they may be long, and contain what tools have read.
        RunEvent::ToolStarted {
            node,
            call,
            tool,
            arguments,
        } => {
            let data = json!({"call_id": call, "tool": tool, "arguments": arguments});
            ("tool.arguments", Some(node), data)
        }
        RunEvent::ToolEnded { node, message } => {
            let data = json!({
                "call_id": message.call, "tool": message.tool, "outcome": message.end.word(),
                "message": message.text(),
            });
            ("tool.result", Some(node), data)
        }
        RunEvent::ToolProgress {
            node,
            call,
            tool,
            progress,
        } => {
            let data = json!({"call_id": call, "tool": tool, "progress": progress});
            ("tool.progress", Some(node), data)
        }
        RunEvent::ToolLateResultDropped { node, tool } => {
            let data = json!({"tool": tool});
            ("tool.late_result_dropped", Some(node), data)
        }
        RunEvent::StopDeferred { node } => ("tool.stop_deferred", Some(node), json!({})),
        RunEvent::Told { node, name, data } => (*name, node.as_ref(), data.clone()),
        _ => return None,
    })
}

impl Report for CloudEvents {
    fn shares_the_prompt(&self) -> bool {
        false
    }

    fn occurrence(&mut self, occurrence: &RunOccurrence) -> io::Result<()> {
        if let RunEvent::AnswerChunk { .. } = &occurrence.event {
            return Ok(());
        }
        self.catch_up(false)?;
        // Replayed events were reported by the process that caused them.
        let passing = transient(&occurrence.event).filter(|_passing| !occurrence.replayed);
        let Some((name, node, data)) = passing else {
            return Ok(());
        };
        let line = {
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            events.transient(name, node, (occurrence.at, data))
        };
        self.write(&line)
    }

    fn unanswered(&mut self, _call: &UnansweredCall) -> io::Result<()> {
        self.catch_up(false)
    }

    fn notice(&mut self, text: &str) -> io::Result<()> {
        self.say(&format!("{text}\n"));
        Ok(())
    }

    fn ask(&mut self, text: &str) -> io::Result<()> {
        self.say(text);
        Ok(())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.catch_up(true)
    }

    fn tick(&mut self) -> io::Result<()> {
        self.catch_up(false)
    }

    fn finish(&mut self, _finished: &Finished) -> io::Result<()> {
        self.catch_up(true)?;
        self.output.flush()
    }
}
