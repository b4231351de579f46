//! The arguments of the tools.

use std::time::Duration;

use interrupt_router::AnswerForm;
use interrupts::life::Verdict;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use workers::WorkKey;

use super::tools::ToolName;
use crate::asker::ProgramQuestion;
use crate::exit::{Exit, Failure};
use crate::visible::visible_line;

/// The longest wait that a caller may ask for, in seconds: a day.
pub(super) const LONGEST_WAIT: u64 = 86_400;

/// What may be decided about a question that is answered in words or by a choice.
const ANSWERS: [Verdict; 4] = [
    Verdict::Respond,
    Verdict::Reject,
    Verdict::Ignore,
    Verdict::Cancel,
];

/// The most answers to choose from.
pub(super) const MOST_CHOICES: usize = 50;

/// What a call wants.
pub(super) enum AskRequest {
    /// To ask, and wait for so long.
    Ask(ProgramQuestion, Option<Duration>),
    /// To continue waiting.
    Await(WorkKey, Option<Duration>),
    /// To take a question back.
    Withdraw(WorkKey),
    /// To see what is open.
    List,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskHuman {
    question: String,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    choices: Option<Vec<String>>,
    #[serde(default)]
    wait_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestApproval {
    action: String,
    #[serde(default)]
    details: Option<String>,
    #[serde(default)]
    wait_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AwaitAnswer {
    ticket: String,
    #[serde(default)]
    wait_seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Withdraw {
    ticket: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListOpen {}

impl AskRequest {
    /// What a call with these arguments wants.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`] if the arguments do not fit the tool.
    pub(super) fn of(tool: ToolName, arguments: Map<String, Value>) -> Result<Self, Failure> {
        match tool {
            ToolName::AskHuman => {
                let given: AskHuman = read(tool, arguments)?;
                let choices = choices(tool, given.choices.unwrap_or_default())?;
                let question = ProgramQuestion {
                    tool: tool.name(),
                    reason: single_line(tool, "question", given.question)?,
                    context: given.context.unwrap_or_default(),
                    answer_form: AnswerForm::AnyOf.with_choices(!choices.is_empty()),
                    choices,
                    allowed: ANSWERS.to_vec(),
                    ..ProgramQuestion::default()
                };
                Ok(Self::Ask(question, wait(tool, given.wait_seconds)?))
            }
            ToolName::RequestApproval => {
                let given: RequestApproval = read(tool, arguments)?;
                let question = ProgramQuestion {
                    tool: tool.name(),
                    reason: single_line(tool, "action", given.action)?,
                    context: given.details.unwrap_or_default(),
                    answer_form: Some(AnswerForm::YesOrNo),
                    ..ProgramQuestion::default()
                };
                Ok(Self::Ask(question, wait(tool, given.wait_seconds)?))
            }
            ToolName::AwaitAnswer => {
                let given: AwaitAnswer = read(tool, arguments)?;
                Ok(Self::Await(
                    ticket(&given.ticket)?,
                    wait(tool, given.wait_seconds)?,
                ))
            }
            ToolName::Withdraw => {
                let given: Withdraw = read(tool, arguments)?;
                Ok(Self::Withdraw(ticket(&given.ticket)?))
            }
            ToolName::ListOpen => {
                let ListOpen {} = read(tool, arguments)?;
                Ok(Self::List)
            }
        }
    }
}

fn read<T: DeserializeOwned>(tool: ToolName, arguments: Map<String, Value>) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| invalid_argument(tool, &error.to_string()))
}

fn invalid_argument(tool: ToolName, reason: &str) -> Failure {
    let text = format!("the arguments of {} do not fit: {reason}", tool.name());
    Failure::new(Exit::Usage, text).hint("call it again as its input schema says")
}

fn single_line(tool: ToolName, argument: &str, text: String) -> Result<String, Failure> {
    if text.trim().is_empty() {
        return Err(invalid_argument(
            tool,
            &format!("`{argument}` says nothing"),
        ));
    }
    Ok(text)
}

fn choices(tool: ToolName, choices: Vec<String>) -> Result<Vec<String>, Failure> {
    if choices.len() > MOST_CHOICES {
        return Err(invalid_argument(
            tool,
            &format!("at most {MOST_CHOICES} choices are possible"),
        ));
    }
    for (place, choice) in choices.iter().enumerate() {
        if choice.trim().is_empty() {
            return Err(invalid_argument(tool, "a choice says nothing"));
        }
        if choices[..place].contains(choice) {
            let twice = format!("the choice `{}` is there twice", visible_line(choice));
            return Err(invalid_argument(tool, &twice));
        }
    }
    Ok(choices)
}

fn wait(tool: ToolName, seconds: Option<u64>) -> Result<Option<Duration>, Failure> {
    match seconds {
        Some(seconds) if seconds > LONGEST_WAIT => Err(invalid_argument(
            tool,
            &format!("`wait_seconds` is at most {LONGEST_WAIT}"),
        )),
        seconds => Ok(seconds.map(Duration::from_secs)),
    }
}

fn ticket(text: &str) -> Result<WorkKey, Failure> {
    text.parse().map_err(|_unfit| {
        let text = format!("there is no ticket `{}`", visible_line(text));
        Failure::new(Exit::NotFound, text)
            .hint("`list_open` lists the questions that wait, with their tickets")
    })
}
