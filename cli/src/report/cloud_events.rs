//! One CloudEvent (version 1.0) a line, for programs.

mod fact;

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::run::{RunEvent, RunOccurrence};
use jiff::Timestamp;
use routing_core::{InterruptId, NodeId, RunId};
use serde::Serialize;
use serde_json::Value;

use super::{Finished, Report};
use crate::model::CallMoment;
use crate::visible::visible_json;

use fact::{EventSubject, Fact, fact_of_going_on, facts_of, facts_of_call};

/// What stands before the name of every type of event.
const TYPE_PREFIX: &str = "dev.irq.";

#[derive(Serialize)]
struct Envelope<'e> {
    specversion: &'static str,
    id: String,
    source: String,
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    time: Timestamp,
    datacontenttype: &'static str,
    /// Which owner of the run tells it: a number that grows with each.
    epoch: u64,
    /// Its place in what this owner tells; nothing that passes has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<&'e str>,
    /// Whether it tells of what passes: no store has it, and it is never told again.
    #[serde(skip_serializing_if = "Option::is_none")]
    transient: Option<bool>,
    data: Value,
}

/// How many events this process has written of its run in the epoch in which it had it last: whoever tells more in that
/// epoch counts on. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally(Arc<Mutex<EventCounts>>);

#[derive(Debug, Clone, Copy, Default)]
struct EventCounts {
    epoch: u64,
    written: u64,
    /// How many that pass were written.
    transient: u64,
}

impl Tally {
    fn told(&self) -> MutexGuard<'_, EventCounts> {
        // A whole value is put in, so a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The epoch that was told of last.
    pub(crate) fn epoch(&self) -> u64 {
        self.told().epoch
    }

    /// Counts one more event of an epoch, among those that pass or among the others.
    fn next(&self, epoch: u64, is_transient: bool) -> u64 {
        let mut told = self.told();
        if told.epoch != epoch {
            *told = EventCounts {
                epoch,
                ..EventCounts::default()
            };
        }
        let count = if is_transient {
            &mut told.transient
        } else {
            &mut told.written
        };
        *count += 1;
        *count
    }
}

/// Writes each event of a run as a CloudEvent to standard output, and words for people to standard error.
pub(crate) struct CloudEvents {
    output: Box<dyn Write + Send>,
    error_output: Box<dyn Write + Send>,
    /// The epoch of the run in which this process has it.
    epoch: u64,
    /// How many events were written.
    tally: Tally,
    /// That the run has stopped: told at its end, when it is known what waits.
    stopped: Option<(RunId, Timestamp, Fact)>,
    /// The nodes that raised the interrupts.
    nodes: HashMap<InterruptId, NodeId>,
}

impl CloudEvents {
    /// Writes to the process's own outputs, of a run that it has in this epoch.
    pub(crate) fn new(epoch: u64, tally: Tally) -> Self {
        Self::over(Box::new(io::stdout()), Box::new(io::stderr()), epoch, tally)
    }

    fn over(
        output: Box<dyn Write + Send>,
        error_output: Box<dyn Write + Send>,
        epoch: u64,
        tally: Tally,
    ) -> Self {
        Self {
            output,
            error_output,
            epoch,
            tally,
            stopped: None,
            nodes: HashMap::new(),
        }
    }

    fn write(&mut self, run: RunId, at: Timestamp, fact: Fact) -> io::Result<()> {
        let is_transient = fact.is_transient();
        let count = format!("{:016}", self.tally.next(self.epoch, is_transient));
        let kind = if is_transient { "transient-" } else { "" };
        let envelope = Envelope {
            specversion: "1.0",
            // Every process that goes on with the run counts anew, in an epoch of its own.
            id: format!("{run}-{}-{kind}{count}", self.epoch),
            source: format!("/irq/local/runs/{run}"),
            r#type: format!("{TYPE_PREFIX}{}.v1", fact.name),
            subject: self.subject(fact.subject),
            time: at,
            datacontenttype: "application/json",
            epoch: self.epoch,
            sequence: (!is_transient).then_some(&count),
            transient: is_transient.then_some(true),
            data: fact.data,
        };
        let json = serde_json::to_string(&envelope).map_err(io::Error::other)?;
        self.output.write_all(visible_json(&json).as_bytes())?;
        self.output.write_all(b"\n")?;
        // Each line is whole when it is read: whoever reads may answer to it.
        self.output.flush()
    }

    fn subject(&self, subject: EventSubject) -> Option<String> {
        match subject {
            EventSubject::Run => None,
            EventSubject::Agent(node) => Some(format!("agents/{node}")),
            EventSubject::Interrupt(interrupt) => {
                let node = self.nodes.get(&interrupt)?;
                Some(format!("agents/{node}/interrupts/{interrupt}"))
            }
        }
    }

    fn say(&mut self, text: &str) {
        // Words that nobody can read any more are no reason to end the work.
        let _ = self
            .error_output
            .write_all(text.as_bytes())
            .and_then(|()| self.error_output.flush());
    }
}

impl Report for CloudEvents {
    fn shares_the_prompt(&self) -> bool {
        false
    }

    fn occurrence(&mut self, occurrence: &RunOccurrence) -> io::Result<()> {
        if let RunEvent::InterruptRaised {
            interrupt, node, ..
        } = &occurrence.event
        {
            self.nodes.insert(*interrupt, node.clone());
        }
        if occurrence.replayed {
            // It was told by the process that did it; that the run goes on was not.
            return match fact_of_going_on(&occurrence.event, self.epoch) {
                Some(fact) => self.write(occurrence.run, Timestamp::now(), fact),
                None => Ok(()),
            };
        }
        for fact in facts_of(&occurrence.event) {
            if let RunEvent::Stopped { .. }
            | RunEvent::Failed {
                resumable: true, ..
            } = &occurrence.event
            {
                self.stopped = Some((occurrence.run, occurrence.at, fact));
                continue;
            }
            self.write(occurrence.run, occurrence.at, fact)?;
        }
        Ok(())
    }

    fn model_call(&mut self, moment: &CallMoment) -> io::Result<()> {
        self.write(moment.caller.run, moment.at, facts_of_call(moment))
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
        Ok(())
    }

    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn into_file(self: Box<Self>) -> Box<dyn Report> {
        self
    }

    fn finish(&mut self, finished: &Finished) -> io::Result<()> {
        if let Some((run, at, fact)) = self.stopped.take() {
            self.write(run, at, fact.with_open(&finished.open))?;
        }
        self.output.flush()
    }
}

#[cfg(test)]
mod tests;
