//! What a tool asks of a person while it runs: a question of the run, like all others.

use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use interrupt_router::StopScope;
use interrupts::Digest;
use interrupts::life::{Decider, Interrupt, Recurrence, Verdict};
use tools::{
    CallId, ElicitationAnswer, ElicitationForm, ElicitationRequest, Elicitor, FormField, ToolCall,
};

use super::asking::{CallAnswer, CallQuestion};
use super::excerpt;
use super::tooling::Tooling;
use journal::tool::{ToolQuestion, ToolQuestionContent, ToolQuestionKind};

/// Asks people on behalf of a run's tools. Made before the run, which it serves from its start to its end.
#[derive(Clone, Default)]
pub struct RunElicitor {
    tooling: Arc<OnceLock<Weak<Tooling>>>,
}

impl Debug for RunElicitor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RunElicitor")
            .finish_non_exhaustive()
    }
}

impl RunElicitor {
    /// One that serves no run yet: it answers nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// As the port that tools ask.
    pub fn port(&self) -> Arc<dyn Elicitor> {
        Arc::new(self.clone())
    }

    /// From now on it asks the people of this run.
    pub(super) fn serve(&self, tooling: &Arc<Tooling>) {
        let _first = self.tooling.set(Arc::downgrade(tooling));
    }

    async fn asked(
        &self,
        request: &ElicitationRequest,
        scope: &StopScope,
    ) -> Option<ElicitationAnswer> {
        let tooling = self.tooling.get()?.upgrade()?;
        let all = tooling.running(request.call.as_ref(), request.server.as_str());
        let running = all.first()?;
        let matter = matter(request, &running.call, running.place.clone());
        let name = name_of(&tooling, &matter);
        let asking = CallQuestion {
            name: &name,
            matter: &matter,
            recurrence: Recurrence::Once,
        };
        let heard = tooling.questions.ask(&running.asker, asking, scope).await;
        let row = match heard {
            Ok(CallAnswer::Ended(row)) => row,
            // The question stays open, and its call goes on with the run.
            Ok(CallAnswer::NoReviewer(question)) => {
                for running in &all {
                    running.state.park(running.call.id.as_str());
                    running.state.nobody_answers((*question).clone());
                }
                return Some(ElicitationAnswer::Unanswered);
            }
            // The call ends with it: later answers have no effect.
            Ok(CallAnswer::Stopped(_)) => {
                let withdrawn = tooling
                    .questions
                    .withdraw(&running.asker, &name, &matter)
                    .await;
                if let Err(error) = withdrawn {
                    tracing::warn!(%error, "a tool's question could not be withdrawn");
                }
                return None;
            }
            Err(error) => {
                tracing::warn!(%error, "a tool's question could not be asked");
                return None;
            }
        };
        if let Err(error) = tooling.questions.carried_out(&row).await {
            tracing::warn!(%error, "an answer to a tool could not be recorded");
        }
        answer_of(&row)
    }
}

/// What the question's end says; `None` if it says nothing. Only a person or a person's rule can decline.
fn answer_of(row: &Interrupt) -> Option<ElicitationAnswer> {
    let decision = row.decision.as_ref()?;
    let (answer, _confidence) = decision.answer().ok()?;
    match (decision.verdict, answer.edited_request, &decision.by) {
        (Verdict::Edit, Some(content), _) => Some(ElicitationAnswer::Accept { content }),
        (_, _, Decider::Person { .. } | Decider::Rule { .. }) => Some(ElicitationAnswer::Decline),
        (_, _, Decider::Policy | Decider::Deadline) => None,
    }
}

/// Names a question among those of its call. A server may ask several things within one call, and the same again when
/// the call is repeated.
fn name_of(tooling: &Tooling, matter: &ToolQuestionContent) -> String {
    let about = &matter.tool_call;
    let schema = about.schema.to_string();
    let parts = [matter.context_for_decision.as_bytes(), schema.as_bytes()];
    let name = format!("input/{}", Digest::of_parts(parts));
    match tooling.asked_again(&format!("{}/{name}", about.place)) {
        1 => name,
        number => format!("{name}/{number}"),
    }
}

fn matter(request: &ElicitationRequest, call: &ToolCall, place: String) -> ToolQuestionContent {
    let ElicitationForm::Fields { schema } = &request.form;
    let mut context = format!(
        "The server says (nobody has checked it):\n{}\n",
        request.message
    );
    if let Some(problem) = &request.problem {
        context.push_str(&format!("The answer before did not fit: {problem}\n"));
    }
    context.push_str("It wants:\n");
    for field in FormField::all(schema) {
        context.push_str(&format!("- {}", field.name));
        if let Some(title) = &field.title {
            context.push_str(&format!(" ({title})"));
        }
        context.push_str(&format!(": {}\n", field.wanted()));
        if let Some(description) = &field.description {
            context.push_str(&format!("  {description}\n"));
        }
    }
    context.push_str("Fill it in (edit), or decline (reject).");
    let arguments = excerpt::arguments(&call.arguments);
    let about = ToolQuestion {
        asks: ToolQuestionKind::Input,
        tool: call.tool.as_str().to_owned(),
        description: String::new(),
        call: CallId::new(call.id.as_str()),
        is_excerpt: !arguments.is_whole,
        arguments: arguments.value,
        digest: None,
        folder: None,
        preview: None,
        allowed_before: None,
        schema: schema.clone(),
        place,
    };
    let reason = format!("The server {} asks for input", request.server);
    ToolQuestionContent::new(reason, context, about)
}

#[async_trait]
impl Elicitor for RunElicitor {
    async fn elicit(&self, request: ElicitationRequest, scope: &StopScope) -> ElicitationAnswer {
        let answer = self.asked(&request, scope).await;
        answer.unwrap_or(ElicitationAnswer::Cancel)
    }
}
