//! The standard words about interrupted tools: what the model reads, and what a person does.

use interrupt_router::{StopReason, StopSource};

use super::end::{CallEnd, ToolMessage};
use super::output::{PartialOutput, Stopped, ToolOutput, Verdict};

/// The first line that a person reads after an interrupt, before anything has stopped.
pub const RECEIVED: &str = "Received interrupt. Cancelling all running tools...";

/// The same while a section runs that must not be interrupted.
pub const DEFERRED: &str =
    "Received interrupt. A call that must not be interrupted is running; waiting for it to end.";

/// The reminder of the remaining choices after an interrupt, for the person and the model.
pub const CHOICES: &str = "The running tools were interrupted. Decide what comes next: retry the interrupted call, \
     choose another approach, or finish.";

/// What is said of a call whose end was not seen.
const UNKNOWN: &str = "its outcome is unknown, and it may have been done";

/// What a result with nothing in it says.
const NO_OUTPUT: &str = "(no output)";

/// What of an ended call may still run, as a person and the model read it; `None` if nothing may.
pub fn may_still_run(end: &CallEnd) -> Option<String> {
    let why = end.may_still_run()?;
    Some(format!("Something of it may still run: {why}"))
}

/// The line that a person reads about one tool after an interrupt.
pub fn line(message: &ToolMessage) -> String {
    let mut line = format!(
        "{} ({}): {}",
        message.tool,
        message.call,
        state(&message.end)
    );
    if let Some(note) = may_still_run(&message.end) {
        line.push_str(&format!(". {note}"));
    }
    line
}

/// All that a person reads after an interrupt: the first line, a line for each tool, the reminder.
pub fn summary(messages: &[ToolMessage]) -> String {
    let lines = messages.iter().map(line);
    let all: Vec<String> = std::iter::once(RECEIVED.to_owned())
        .chain(lines)
        .chain(std::iter::once(CHOICES.to_owned()))
        .collect();
    all.join("\n")
}

fn state(end: &CallEnd) -> String {
    match end {
        CallEnd::Finished { .. } => "finished before the interrupt".to_owned(),
        CallEnd::Failed { .. } => "failed before the interrupt".to_owned(),
        CallEnd::Denied { .. } => "was not allowed, never started".to_owned(),
        CallEnd::Interrupted { partial, .. } => format!("interrupted{}", death(&partial.stopped)),
        CallEnd::FinishedAnyway { .. } => "interrupted, but finished anyway".to_owned(),
        CallEnd::FailedAnyway { .. } => "interrupted, but had failed by then".to_owned(),
        CallEnd::Skipped { .. } => "skipped, never started".to_owned(),
        CallEnd::TimedOut { limit, partial } => {
            format!(
                "stopped by its time limit of {limit:?}{}",
                death(&partial.stopped)
            )
        }
        CallEnd::Unknown { reason, .. } => format!("{UNKNOWN}: {reason}"),
    }
}

/// What is known of a call that was stopped, beside what may still run of it.
fn death(stopped: &Stopped) -> String {
    match stopped {
        Stopped::Verified { mechanism, took } => {
            format!(
                "; all of its processes are dead ({}, {} ms)",
                mechanism.word(),
                took.as_millis()
            )
        }
        Stopped::Returned => "; it has ended".to_owned(),
        Stopped::Quiet => "; it was told to stop, and has been quiet since".to_owned(),
        Stopped::LeftBehind { .. } => String::new(),
    }
}

/// What the model reads as the result of a call.
pub(crate) fn result(end: &CallEnd) -> String {
    let note = may_still_run(end);
    match (end, outcome(end)) {
        (CallEnd::Interrupted { partial, .. } | CallEnd::TimedOut { partial, .. }, mut first) => {
            if let Some(note) = note {
                first.push_str(&format!(" {note}."));
            }
            with_partial(first, partial)
        }
        (_, text) => match note {
            Some(note) => format!("{text}\n[{note}]"),
            None => text,
        },
    }
}

/// The result of a call, or the sentence that says why there is none.
fn outcome(end: &CallEnd) -> String {
    match end {
        CallEnd::Finished { output } => finished(output),
        CallEnd::Failed { reason } => format!("The tool failed: {reason}"),
        CallEnd::Denied { reason, .. } => {
            format!("The call was not allowed, and was not executed: {reason}")
        }
        CallEnd::Interrupted { reason, .. } => format!(
            "Tool execution interrupted {}{}.",
            by(reason),
            colon(&reason.message)
        ),
        CallEnd::FinishedAnyway { reason, output } => format!(
            "The call was interrupted {}, but it finished anyway. Its result:\n{}",
            by(reason),
            finished(output)
        ),
        CallEnd::FailedAnyway { stop, reason } => {
            format!(
                "The call was interrupted {}, but it had failed by then: {reason}",
                by(stop)
            )
        }
        CallEnd::Skipped { reason } => {
            format!(
                "Not executed: skipped because of an earlier interrupt {}{}.",
                by(reason),
                colon(&reason.message)
            )
        }
        CallEnd::TimedOut { limit, .. } => {
            format!("The tool was stopped after its time limit of {limit:?}.")
        }
        CallEnd::Unknown { reason, stop, .. } => {
            let interrupted = stop.as_ref().map(|stop| {
                format!(
                    "The call was interrupted {}{}. ",
                    by(stop),
                    colon(&stop.message)
                )
            });
            let interrupted = interrupted.unwrap_or_default();
            format!("{interrupted}The call was made; {UNKNOWN}: {reason}")
        }
    }
}

fn finished(output: &ToolOutput) -> String {
    let text = if output.text.trim().is_empty() {
        NO_OUTPUT
    } else {
        &output.text
    };
    let mut said = match output.verdict {
        Verdict::Done => text.to_owned(),
        Verdict::Failed => format!("The tool says that it failed:\n{text}"),
    };
    let report = output.containment.as_ref();
    if let Some(report) = report.filter(|report| report.verified && report.leftovers > 0) {
        said.push_str(&format!(
            "\n[{} processes that it had left running were ended with it]",
            report.leftovers
        ));
    }
    said
}

fn with_partial(mut text: String, partial: &PartialOutput) -> String {
    if partial.stopped == Stopped::Quiet {
        text.push_str(" Whoever does the work was told to stop, and has been quiet since.");
    }
    if !partial.text.trim().is_empty() {
        text.push_str("\nWhat had come until then:\n");
        text.push_str(&partial.text);
    }
    text
}

const fn by(reason: &StopReason) -> &'static str {
    match reason.source {
        StopSource::User => "by the user",
        StopSource::System => "by the system",
        StopSource::Programmatic => "by the program",
    }
}

fn colon(message: &str) -> String {
    if message.trim().is_empty() {
        String::new()
    } else {
        format!(": {message}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use interrupt_router::StopReason;
    use serde_json::json;

    use super::super::{
        CallEnd, CallId, ContainmentReport, Mechanism, PartialOutput, ProcessKey, Stopped,
        StoredCallEnd, ToolMessage, ToolOutput,
    };
    use super::{line, may_still_run};

    fn stop() -> StopReason {
        let stop = json!({"source": "user", "mode": "immediate", "message": "enough",
            "timestamp": "2026-11-22T05:00:00Z"});
        serde_json::from_value(stop).unwrap()
    }

    /// A daemon that has become another user.
    fn report() -> Option<ContainmentReport> {
        Some(ContainmentReport {
            mechanism: Mechanism::Sweep,
            verified: false,
            forced: true,
            leftovers: 1,
            survivors: vec![ProcessKey {
                pid: 4711,
                started: 1,
            }],
            took: None,
        })
    }

    /// Each end that a call with processes can have.
    fn ends() -> Vec<CallEnd> {
        let (reason, limit) = (stop(), Duration::from_secs(1));
        let output = ToolOutput {
            containment: report(),
            ..ToolOutput::done("long\noutput")
        };
        let partial = PartialOutput {
            text: "half".to_owned(),
            stopped: Stopped::of(&report().unwrap()),
            containment: report(),
        };
        let unknown = |stop| CallEnd::Unknown {
            reason: "its keeper died".to_owned(),
            stop,
            containment: report(),
        };
        vec![
            CallEnd::Finished {
                output: output.clone(),
            },
            CallEnd::FinishedAnyway {
                reason: reason.clone(),
                output,
            },
            CallEnd::Interrupted {
                reason,
                partial: partial.clone(),
            },
            CallEnd::TimedOut { limit, partial },
            unknown(None),
            unknown(Some(stop())),
        ]
    }

    #[test]
    fn what_may_still_run_is_told_to_the_person_and_to_the_model_in_every_end() {
        for end in ends() {
            let message = ToolMessage {
                call: CallId::new("1"),
                tool: "shell".to_owned(),
                edited: None,
                words: None,
                said: None,
                end,
            };
            let note = may_still_run(&message.end).unwrap();
            assert_eq!(
                note,
                "Something of it may still run: processes 4711 did not die"
            );
            for said in [message.text(), line(&message)] {
                assert_eq!(said.matches(&note).count(), 1, "{said}");
            }
            let stored = StoredCallEnd::of(&message).said.unwrap();
            assert_eq!(stored.matches(&note).count(), 1, "{stored}");
            let is_unknown = matches!(message.end, CallEnd::Unknown { .. });
            for said in [message.text(), line(&message)] {
                assert_eq!(said.contains("it may have been done"), is_unknown, "{said}");
            }
        }
    }
}
