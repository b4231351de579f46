//! The standard words about interrupted tools: what the model reads, and what a person does.

use routing_core::{StopReason, StopSource};

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

/// What a result with nothing in it says.
const NO_OUTPUT: &str = "(no output)";

/// The line that a person reads about one tool after an interrupt.
pub fn line(message: &ToolMessage) -> String {
    format!(
        "{} ({}): {}",
        message.tool,
        message.call,
        state(&message.end)
    )
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
        CallEnd::Interrupted { partial, .. } => format!("interrupted; {}", death(&partial.stopped)),
        CallEnd::FinishedAnyway { .. } => "interrupted, but finished anyway".to_owned(),
        CallEnd::FailedAnyway { .. } => "interrupted, but had failed by then".to_owned(),
        CallEnd::Skipped { .. } => "skipped, never started".to_owned(),
        CallEnd::TimedOut { limit, partial } => {
            format!(
                "stopped by its time limit of {limit:?}; {}",
                death(&partial.stopped)
            )
        }
    }
}

fn death(stopped: &Stopped) -> String {
    match stopped {
        Stopped::Verified { mechanism, took } => {
            format!(
                "all of its processes are dead ({}, {} ms)",
                mechanism.word(),
                took.as_millis()
            )
        }
        Stopped::Returned => "it has ended".to_owned(),
        Stopped::Quiet => "it was told to stop, and has been quiet since".to_owned(),
        Stopped::LeftBehind { reason } => format!("something of it may still run: {reason}"),
    }
}

/// What the model reads as the result of a call.
pub(crate) fn result(end: &CallEnd) -> String {
    match end {
        CallEnd::Finished { output } => finished(output),
        CallEnd::Failed { reason } => format!("The tool failed: {reason}"),
        CallEnd::Denied { reason } => {
            format!("The call was not allowed, and was not executed: {reason}")
        }
        CallEnd::Interrupted { reason, partial } => {
            let first = format!(
                "Tool execution interrupted {}{}.",
                by(reason),
                colon(&reason.message)
            );
            with_partial(&first, partial)
        }
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
        CallEnd::TimedOut { limit, partial } => with_partial(
            &format!("The tool was stopped after its time limit of {limit:?}."),
            partial,
        ),
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
    if let Some(report) = &output.containment {
        if !report.verified {
            said.push_str("\n[something that it started may still run]");
        } else if report.leftovers > 0 {
            said.push_str(&format!(
                "\n[{} processes that it had left running were ended with it]",
                report.leftovers
            ));
        }
    }
    said
}

fn with_partial(first: &str, partial: &PartialOutput) -> String {
    let mut text = first.to_owned();
    if let Stopped::LeftBehind { reason } = &partial.stopped {
        text.push_str(&format!(" Something of it may still run: {reason}."));
    }
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
