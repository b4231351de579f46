//! What a tool answers: structured for programs, and a sentence for models.

use interrupts::life::{DecidedAs, Verdict};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};
use workers::{Decided, QuestionState, QuestionStatus};

use super::tools::ToolName;
use crate::exit::Failure;

/// The state of a question, as its program reads it.
#[derive(Debug, Serialize)]
struct AnswerState<'a> {
    state: &'static str,
    decision: Option<&'static str>,
    decided_as: Option<&'static str>,
    text: Option<&'a str>,
    choices: &'a [String],
    by: Option<&'a str>,
    ticket: &'a str,
}

/// A question as a result.
pub(super) fn of_question(status: &QuestionStatus) -> CallToolResult {
    let decided = status.decided.as_ref();
    let answer = AnswerState {
        state: status.state.name(),
        decision: decided.map(|it| it.verdict.name()),
        decided_as: status.decided_as(),
        text: decided.and_then(|it| it.answer.text.as_deref()),
        choices: decided.map_or(&[], |it| &it.answer.selected_choices),
        by: decided.map(|it| it.by.as_str()),
        ticket: status.key.as_str(),
    };
    tool_result(sentence(status), json!(answer))
}

/// A list of questions as a result.
pub(super) fn of_list(questions: &[QuestionStatus]) -> CallToolResult {
    let listed = questions.iter().map(|it| {
        json!({
            "ticket": it.key.as_str(),
            "state": it.state.name(),
            "question": it.interrupt.reason,
            "asked_at": it.interrupt.requested_at.to_string(),
        })
    });
    let listed: Vec<Value> = listed.collect();
    let mut text = match listed.len() {
        0 => "No question waits.".to_owned(),
        1 => "1 question waits:".to_owned(),
        count => format!("{count} questions wait:"),
    };
    for it in questions {
        let reason = &it.interrupt.reason;
        text.push_str(&format!("\n- {} ({}): {reason}", it.key, it.state.name()));
    }
    tool_result(text, json!({"questions": listed}))
}

/// A failure as a result, with the ticket of the question that it is about.
pub(super) fn of_failure(failure: &Failure) -> CallToolResult {
    let mut text = failure.to_string();
    if let Some(hint) = failure.advice() {
        text.push_str("\nHint: ");
        text.push_str(hint);
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn tool_result(text: String, structured: Value) -> CallToolResult {
    let mut result = CallToolResult::structured(structured);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// What became of a question, in words.
fn sentence(status: &QuestionStatus) -> String {
    let (key, interrupt) = (&status.key, status.interrupt.id);
    match (status.state, &status.decided) {
        (QuestionState::Open, _) => format!(
            "No answer yet; the question stays open. To go on waiting, call await_answer with the ticket {key}. \
             People find it as {interrupt}."
        ),
        (QuestionState::Expired, _) => {
            "No answer came in time. Do not go on as if there had been one.".to_owned()
        }
        (QuestionState::Withdrawn, _) => "The question was withdrawn; no answer comes.".to_owned(),
        (QuestionState::Decided, None) => "The question is decided.".to_owned(),
        (QuestionState::Decided, Some(decided)) => of_decision(status, decided),
    }
}

fn of_decision(status: &QuestionStatus, decided: &Decided) -> String {
    let by = &decided.by;
    let is_approval = status
        .key
        .as_str()
        .starts_with(ToolName::RequestApproval.name());
    // What was chosen may say no.
    let is_yes = status.interrupt.decided_as() == Some(DecidedAs::Approved);
    let mut text = match (decided.verdict, is_approval) {
        (Verdict::Approve, true) if is_yes => {
            format!("{by} approved: {}", status.interrupt.reason)
        }
        (Verdict::Approve, false) if is_yes => format!("{by} said yes"),
        (Verdict::Reject, true) => format!("{by} refused: do not do it"),
        (Verdict::Reject, false) => format!("{by} said no"),
        (Verdict::Ignore, _) => format!("{by} gives no answer"),
        (Verdict::Cancel, _) => format!("{by} cancelled the question: leave it"),
        (
            Verdict::Approve
            | Verdict::Edit
            | Verdict::Respond
            | Verdict::Reroute
            | Verdict::ModifyPlan
            | Verdict::Resume
            | Verdict::Applied,
            true,
        ) => format!("{by} answered without approving"),
        (
            Verdict::Approve
            | Verdict::Edit
            | Verdict::Respond
            | Verdict::Reroute
            | Verdict::ModifyPlan
            | Verdict::Resume
            | Verdict::Applied,
            false,
        ) => format!("{by} answered"),
    };
    let answer = &decided.answer;
    if !answer.selected_choices.is_empty() {
        text.push_str(&format!("\nChosen: {}", answer.selected_choices.join(", ")));
    }
    if let Some(words) = answer.text.as_deref().filter(|words| !words.is_empty()) {
        text.push_str(&format!("\n{words}"));
    }
    if let Some(edited) = &answer.edited_request {
        text.push_str(&format!("\nChanged to: {edited}"));
    }
    text
}
