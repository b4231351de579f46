//! What a question about a tool says, as the store keeps it and as people are shown it.

use interrupt_router::review::{Answer, Question, QuestionKind};
use interrupt_router::{Choice, ConfirmationItem, InterruptDetails, InterruptType};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use interrupts::life::Verdict;

use super::call::CallId;
use super::digest::CallDigest;
use super::repeated::AllowedBefore;

/// The value of the choice that lets it be done.
pub const CHOICE_YES: &str = "approve";

/// The value of the choice that does not.
pub const CHOICE_NO: &str = "reject";

/// What is asked about a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolQuestionKind {
    /// Whether the call may be made, once.
    Permission,
    /// The call had begun when its process died: what is to be done about it.
    UnknownOutcome,
    /// The tool wants something of a person while it runs: a value that fits a schema.
    Input,
}

impl ToolQuestionKind {
    /// What a question asks about a tool; `None` if it is about none.
    pub fn of(question: &Question) -> Option<Self> {
        let QuestionKind::Tool { .. } = question.kind else {
            return None;
        };
        // The asker has only the call; a reader of the store has the whole content.
        let payload = &question.payload;
        let asks = payload.pointer("/toolCall/asks").or(payload.get("asks"))?;
        serde_json::from_value(asks.clone()).ok()
    }
}

/// The exact call that a question is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolQuestion {
    /// What is asked.
    pub asks: ToolQuestionKind,
    /// The tool.
    pub tool: String,
    /// What the tool says it does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The call's id, as the model gave it.
    pub call: CallId,
    /// Its arguments; where they are large, the beginnings of their texts.
    pub arguments: Value,
    /// Whether the call, or what it would change, is more than is shown here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_excerpt: bool,
    /// Identifies the exact call: an approval names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<CallDigest>,
    /// Where it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What the call would change, if the tool can say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// Who allowed it in an earlier form, if it is asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_before: Option<AllowedBefore>,
    /// What an edited request must fit: other arguments, or the value that is wanted.
    pub schema: Value,
    /// The place of the call in its run.
    pub place: String,
}

impl ToolQuestion {
    /// The arguments on one line: a single text as it is, anything else as JSON. Nothing is cut.
    pub fn line(arguments: &Value) -> String {
        let members = arguments.as_object().map(|object| object.values());
        let only = members.and_then(|mut values| match (values.next(), values.next()) {
            (Some(Value::String(text)), None) => Some(text.clone()),
            _ => None,
        });
        let text = only.unwrap_or_else(|| arguments.to_string());
        text.chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .collect()
    }
}

/// The content of an interrupt that asks about a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolQuestionContent {
    /// What is asked, in a sentence.
    pub reason: String,
    /// None: what may be decided says it all.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// None.
    #[serde(default)]
    pub confirmation_items: Vec<ConfirmationItem>,
    /// What the reviewer needs to know to decide.
    #[serde(default)]
    pub context_for_decision: String,
    /// The exact call.
    pub tool_call: ToolQuestion,
}

impl ToolQuestionContent {
    /// What a question about a call says.
    pub fn new(reason: String, context_for_decision: String, about: ToolQuestion) -> Self {
        Self {
            reason,
            choices: Vec::new(),
            confirmation_items: Vec::new(),
            context_for_decision,
            tool_call: about,
        }
    }

    /// The same question, asked again because the call is not what was allowed.
    #[must_use]
    pub fn after(mut self, before: AllowedBefore) -> Self {
        let sentence = before.sentence();
        self.context_for_decision = format!("{sentence}\n{}", self.context_for_decision);
        self.tool_call.allowed_before = Some(before);
        self
    }

    /// Reads the content of an interrupt; `None` if it asks about no tool.
    pub fn of(content: &str) -> Option<Self> {
        serde_json::from_str(content).ok()
    }

    /// What may be decided.
    pub const fn allowed(&self) -> &'static [Verdict] {
        match self.tool_call.asks {
            // Older versions stored such questions. What was not shown in full cannot be approved.
            ToolQuestionKind::Permission if self.tool_call.is_excerpt => &[Verdict::Reject],
            ToolQuestionKind::Permission => &[Verdict::Approve, Verdict::Edit, Verdict::Reject],
            ToolQuestionKind::UnknownOutcome if self.tool_call.is_excerpt => {
                &[Verdict::Reject, Verdict::Respond]
            }
            ToolQuestionKind::UnknownOutcome => {
                &[Verdict::Approve, Verdict::Reject, Verdict::Respond]
            }
            ToolQuestionKind::Input => &[Verdict::Edit, Verdict::Reject],
        }
    }

    /// What an answer without a verdict of its own decides, such as one at a terminal. `None` if it is unclear: silence
    /// allows nothing.
    pub fn verdict(&self, answer: &Answer) -> Option<Verdict> {
        let chosen: Vec<&str> = answer.selected_choices.iter().map(String::as_str).collect();
        let meant = match (chosen.as_slice(), &answer.edited_request, &answer.text) {
            ([CHOICE_YES], None, _) => Verdict::Approve,
            ([CHOICE_NO], None, _) => Verdict::Reject,
            ([], Some(_), _) => Verdict::Edit,
            ([], None, Some(_)) => match self.tool_call.asks {
                // Words instead of a yes are a no, with its reason.
                ToolQuestionKind::Permission | ToolQuestionKind::Input => Verdict::Reject,
                ToolQuestionKind::UnknownOutcome => Verdict::Respond,
            },
            _ => return None,
        };
        self.allowed().contains(&meant).then_some(meant)
    }

    /// The question with what is asked about the tool in it: the choices, what an edited request must fit.
    pub fn shown_in(&self, question: Question) -> Question {
        Question {
            kind: QuestionKind::Tool {
                tool: self.tool_call.tool.clone(),
            },
            details: InterruptDetails {
                choices: self.shown_choices(),
                context_for_decision: self.context_for_decision.clone(),
                ..InterruptDetails::new(InterruptType::HumanReview, &self.reason)
            },
            // The answer goes back to the call, no matter where its agent's interrupts go.
            routes: Vec::new(),
            target_field: "",
            request_schema: self.tool_call.schema.clone(),
            ..question
        }
    }

    /// What may be decided, as choices for people who answer in choices alone.
    pub fn shown_choices(&self) -> Vec<Choice> {
        let choice = |label: &str, value: &str, description: &str| Choice {
            label: label.to_owned(),
            value: value.to_owned(),
            description: description.to_owned(),
        };
        match self.tool_call.asks {
            ToolQuestionKind::Permission => vec![
                choice(
                    "Allow",
                    CHOICE_YES,
                    "This one call may be made, as it is shown.",
                ),
                choice(
                    "Deny",
                    CHOICE_NO,
                    "It is not made. Words alone deny it too, and the agent reads them as the reason.",
                ),
            ],
            ToolQuestionKind::UnknownOutcome => vec![
                choice("Run it again", CHOICE_YES, "It may have its effect twice."),
                choice(
                    "Leave it",
                    CHOICE_NO,
                    "The agent is told that the outcome is unknown. Words alone are taken for the outcome.",
                ),
            ],
            ToolQuestionKind::Input => vec![choice(
                "Decline",
                CHOICE_NO,
                "The tool is told that nothing is given to it.",
            )],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CallId, ToolQuestion, ToolQuestionContent, ToolQuestionKind};
    use interrupt_router::review::Answer;
    use interrupts::life::Verdict;
    use serde_json::json;

    fn matter(asks: ToolQuestionKind) -> ToolQuestionContent {
        let about = ToolQuestion {
            asks,
            tool: "shell".to_owned(),
            description: String::new(),
            call: CallId::new("a"),
            arguments: json!({"command": "ls"}),
            is_excerpt: false,
            digest: None,
            folder: None,
            preview: None,
            allowed_before: None,
            schema: json!({"type": "object"}),
            place: "a#1/step/0/tool/0".to_owned(),
        };
        ToolQuestionContent::new("may it?".to_owned(), String::new(), about)
    }

    #[test]
    fn nothing_but_a_clear_yes_allows() {
        let permission = matter(ToolQuestionKind::Permission);
        let chosen = |value: &str| Answer {
            selected_choices: vec![value.to_owned()],
            ..Answer::default()
        };
        let said = Answer {
            text: Some("yes, please".to_owned()),
            ..Answer::default()
        };
        assert_eq!(
            permission.verdict(&chosen("approve")),
            Some(Verdict::Approve)
        );
        assert_eq!(permission.verdict(&chosen("reject")), Some(Verdict::Reject));
        assert_eq!(permission.verdict(&said), Some(Verdict::Reject));
        assert_eq!(permission.verdict(&Answer::default()), None);
        let both = Answer {
            edited_request: Some(json!({})),
            ..chosen("approve")
        };
        assert_eq!(permission.verdict(&both), None);
        let unknown = matter(ToolQuestionKind::UnknownOutcome);
        assert_eq!(unknown.verdict(&said), Some(Verdict::Respond));
    }

    #[test]
    fn it_is_read_back_from_what_the_store_keeps_and_nothing_else_is() {
        let permission = matter(ToolQuestionKind::Permission);
        let content = serde_json::to_string(&permission).unwrap();
        assert_eq!(ToolQuestionContent::of(&content), Some(permission));
        assert_eq!(
            ToolQuestionContent::of(r#"{"reason": "why", "choices": []}"#),
            None
        );
    }
}
