//! Permission for a call: an interrupt to a person, about exactly this call.

use std::sync::Arc;

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupts::life::{Decider, Interrupt, Recurrence, State, Verdict};
use serde_json::Value;
use tools::{Approver, CallDigest, PermissionAnswer, PermissionRequest};

use super::asking::{AskingNode, CallAnswer, CallQuestion};
use super::excerpt;
use super::round::RoundState;
use super::tooling::Tooling;
use journal::brief::in_brief;
use journal::error::KeepError;
use journal::place;
use journal::tool::{ToolQuestion, ToolQuestionContent, ToolQuestionKind};

/// What an agent is told if its call cannot be shown in full.
const TOO_LONG: &str = "its arguments, or the preview of what it would change, exceed 24 KiB, which a person cannot be shown in full; \
     nobody was asked: split the call, or have it allowed in the permissions";

/// Asks a person about the calls of one round.
pub(super) struct StoreApprover {
    pub(super) tooling: Arc<Tooling>,
    pub(super) state: Arc<RoundState>,
    pub(super) asker: AskingNode,
    /// The place of the model's answer that asked for the calls.
    pub(super) asked_at: String,
    /// The ids of the calls, each at its index.
    pub(super) ids: Vec<String>,
    /// The tools' own schemas, by their names.
    pub(super) schemas: Vec<(String, Value)>,
}

impl StoreApprover {
    fn matter(&self, request: &PermissionRequest, index: usize) -> ToolQuestionContent {
        let call = &request.call;
        let tool = call.tool.as_str();
        let schema = self.schemas.iter().find(|(name, _schema)| name == tool);
        let root = self.tooling.settings.workspace.root();
        let arguments = excerpt::arguments(&call.arguments);
        let preview = request.preview.as_deref().map(excerpt::text);
        let mut context = format!(
            "The exact call of `{tool}`:\n{:#}\nIt works in: {}\n",
            arguments.value,
            root.display()
        );
        if let Some(preview) = &preview {
            context.push_str(&format!("What it would change:\n{}\n", preview.value));
        }
        context.push_str(&format!(
            "What is allowed is this one call, once (digest {}).",
            request.digest
        ));
        let reason = format!(
            "{} wants to use `{tool}`: {}",
            self.asker.agent_type,
            gist(&call.arguments)
        );
        let about = ToolQuestion {
            asks: ToolQuestionKind::Permission,
            tool: tool.to_owned(),
            description: request.description.clone(),
            call: call.id.clone(),
            is_excerpt: !arguments.is_whole || preview.as_ref().is_some_and(|it| !it.is_whole),
            arguments: arguments.value,
            digest: Some(request.digest),
            folder: Some(root.display().to_string()),
            preview: preview.map(|preview| preview.value),
            allowed_before: None,
            schema: schema
                .map(|(_name, schema)| schema.clone())
                .unwrap_or_default(),
            place: place::tool_call(&self.asked_at, index),
        };
        ToolQuestionContent::new(reason, context, about)
    }

    async fn decided(
        &self,
        request: &PermissionRequest,
        index: usize,
        scope: &StopScope,
    ) -> Result<PermissionAnswer, KeepError> {
        let id = request.call.id.as_str();
        let matter = self.matter(request, index);
        // A person approves only what was shown in full.
        if matter.tool_call.is_excerpt {
            self.state.unpark(id);
            return Ok(deny(TOO_LONG));
        }
        // A changed call is another question.
        let name = format!("permission/{}", request.digest);
        let questions = &self.tooling.questions;
        let asking = CallQuestion {
            name: &name,
            matter: &matter,
            recurrence: Recurrence::Same(request.recurring),
        };
        match questions.ask(&self.asker, asking, scope).await? {
            CallAnswer::Ended(row) => {
                questions.carried_out(&row).await?;
                let answer = answer_of(&row)?;
                self.state.unpark(id);
                Ok(answer)
            }
            CallAnswer::Stopped(reason) => Ok(deny(reason.message)),
            CallAnswer::NoReviewer(question) => {
                self.state.nobody_answers(*question);
                Ok(deny(
                    "it needs a permission that was not given yet".to_owned(),
                ))
            }
        }
    }
}

/// The arguments for a sentence: the beginning and the end of a long one, with its true length.
fn gist(arguments: &Value) -> String {
    in_brief(&ToolQuestion::line(arguments))
}

fn deny(reason: impl Into<String>) -> PermissionAnswer {
    PermissionAnswer::Deny {
        reason: reason.into(),
    }
}

/// What the question's end allows. The approval is of the call that was shown, no matter what is about to start.
fn answer_of(row: &Interrupt) -> Result<PermissionAnswer, KeepError> {
    let Some(decision) = &row.decision else {
        return Ok(deny(match row.state {
            State::Cancelled => "the question was withdrawn",
            State::Requested
            | State::Delivered
            | State::Acknowledged
            | State::AwaitingReview
            | State::Resolved
            | State::Rerouted
            | State::Expired
            | State::DeadLettered => "it was not allowed",
        }));
    };
    if decision.by == Decider::Deadline {
        return Ok(deny("no answer came in time"));
    }
    let unreadable = |source| KeepError::Unreadable {
        place: format!("the decision of {}", row.id),
        source,
    };
    let (answer, _confidence) = decision.answer().map_err(unreadable)?;
    let shown: Option<CallDigest> =
        ToolQuestionContent::of(&row.content).and_then(|matter| matter.tool_call.digest);
    let words = answer.text.filter(|words| !words.trim().is_empty());
    Ok(match (decision.verdict, shown, answer.edited_request) {
        (Verdict::Approve, Some(digest), None) => PermissionAnswer::Approve { digest, words },
        (Verdict::Edit, _, Some(arguments)) => PermissionAnswer::Edit { arguments, words },
        (verdict, _, _) => deny(match words {
            Some(text) => format!("a person says: {text}"),
            None if verdict == Verdict::Reject => "a person does not allow it".to_owned(),
            None => "the answer allows nothing".to_owned(),
        }),
    })
}

#[async_trait]
impl Approver for StoreApprover {
    async fn ask(&self, request: PermissionRequest, scope: &StopScope) -> PermissionAnswer {
        let id = request.call.id.as_str();
        let Some(index) = self.ids.iter().position(|known| known == id) else {
            return deny("the call is none that was asked for");
        };
        // Nothing is recorded of the call until there is an answer: a resumed run asks again, or finds the answer.
        self.state.park(id);
        match self.decided(&request, index, scope).await {
            Ok(answer) => answer,
            Err(error) => deny(self.state.fail(error).reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::gist;

    #[test]
    fn a_call_is_named_on_one_line() {
        assert_eq!(gist(&json!({"command": "ls\n-l"})), "ls -l");
        assert_eq!(gist(&json!({"a": 1})), r#"{"a":1}"#);
        let long = gist(&json!({"command": format!("{}; touch PWNED", "x".repeat(200))}));
        assert!(long.ends_with("; touch PWNED (213 characters)"), "{long}");
    }
}
