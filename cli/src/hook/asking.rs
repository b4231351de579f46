//! Asking a person whether an agent may use a tool.

use std::sync::Arc;
use std::time::Duration;

use interrupt_router::AnswerForm;
use interrupts::life::{DecidedAs, Verdict};
use interrupts::signals::{OsSignals, SignalSource as _};
use jiff::SignedDuration;
use serde_json::{Map, Value};
use tokio::time::Instant;
use uuid::Uuid;
use workers::{QuestionState, QuestionStatus};

use super::CodingAgent;
use super::event::{HookAnswer, HookEvent};
use crate::arguments::StoreArguments;
use crate::asker::{Asker, AskerStore, ProgramQuestion, QuestionWait};
use crate::exit::Failure;

/// Asks, and waits for so long.
///
/// # Errors
///
/// If the question cannot be asked, or a person has stopped its run: the agent is refused then.
///
/// # Cancel safety
///
/// Dropped, the question stays open until another process finds that this one is gone.
pub(super) async fn ask(
    agent: CodingAgent,
    event: &HookEvent,
    timeout: SignedDuration,
    store: &StoreArguments,
) -> anyhow::Result<HookAnswer> {
    let until = Instant::now() + Duration::try_from(timeout)?;
    let store = AskerStore::open(store, agent.name()).await?;
    let tool_use = event.tool_use.clone();
    let tool_use = tool_use.unwrap_or_else(|| Uuid::now_v7().simple().to_string());
    let name = format!("{}/{tool_use}", event.session);
    let asker = Asker::of_this_process(Arc::clone(&store), name);
    let question = question(agent, event, timeout);
    // From here on a signal does not end the process before its question is withdrawn.
    let mut signals = OsSignals::listen()?;
    let answered = async {
        tokio::select! {
            answered = answered(&asker, question, (until, &mut signals)) => answered,
            () = asker.tend() => Ok(None),
            () = store.hear() => Ok(None),
        }
    };
    let answer = answered
        .await
        .map(|answer| answer.unwrap_or_else(|| refused(timeout)));
    // The decision is valid whether or not the run can be ended.
    if let Err(error) = asker.close().await {
        tracing::warn!(%error, "the run of the hook could not be ended");
    }
    Ok(answer?)
}

fn refused(timeout: SignedDuration) -> HookAnswer {
    HookAnswer::Deny(format!(
        "No person answered within {timeout:#}; take it as a refusal."
    ))
}

async fn answered(
    asker: &Asker,
    question: ProgramQuestion,
    (until, signals): (Instant, &mut OsSignals),
) -> Result<Option<HookAnswer>, Failure> {
    let asked = asker.ask(question).await?;
    let key = asked.key.clone();
    let waited = tokio::select! {
        waited = asker.wait(&key, until) => waited?,
        _signal = signals.next() => QuestionWait::Open(asked),
    };
    let over = match waited {
        QuestionWait::Over(over) => over,
        // One that is decided at the last moment stays decided.
        QuestionWait::Open(open) => asker.withdraw(&open.key).await?,
    };
    let over = asker.hand_over(over).await?;
    Ok(of_question(&over))
}

/// The answer of a question that is over; `None` if no person gave one.
fn of_question(over: &QuestionStatus) -> Option<HookAnswer> {
    if over.state != QuestionState::Decided {
        return None;
    }
    let decided = over.decided.as_ref()?;
    let words = decided.answer.text.as_deref().unwrap_or_default();
    let decided_as = over.interrupt.decided_as()?;
    Some(answer(decided_as, decided.verdict, &decided.by, words))
}

/// What an agent is told of a decision. Only an approval of the tool as it was asked about allows it: an agent cannot be
/// given another input.
fn answer(decided_as: DecidedAs, verdict: Verdict, by: &str, words: &str) -> HookAnswer {
    let refused = |did: &str| {
        let colon = if words.is_empty() { "" } else { ": " };
        HookAnswer::Deny(format!("{by} {did}{colon}{words}"))
    };
    match (decided_as, verdict) {
        (DecidedAs::Approved, Verdict::Approve) => HookAnswer::Allow(format!("{by} approved it")),
        (DecidedAs::Declined, Verdict::Ignore) => HookAnswer::Ask(format!("{by} leaves it to you")),
        (DecidedAs::Declined | DecidedAs::Expired, _) => refused("refused it"),
        (DecidedAs::Approved | DecidedAs::Answered | DecidedAs::Rerouted, _) => {
            refused("answered without approving it")
        }
    }
}

/// What a person is asked: the tool in a sentence, its input as fields.
fn question(agent: CodingAgent, event: &HookEvent, timeout: SignedDuration) -> ProgramQuestion {
    let mut fields = Map::new();
    fields.insert("tool".to_owned(), Value::from(event.tool.clone()));
    fields.insert("input".to_owned(), event.input.clone());
    if let Some(folder) = &event.cwd {
        fields.insert("folder".to_owned(), Value::from(folder.clone()));
    }
    let folder = event.cwd.as_deref();
    let folder = folder.map_or_else(String::new, |folder| format!(" in {folder}"));
    ProgramQuestion {
        tool: "permission",
        reason: format!("{} wants to use {}{folder}", agent.title(), event.tool),
        context: input_text(&event.input),
        answer_form: Some(AnswerForm::YesOrNo),
        fields,
        deadline: Some(timeout),
        ..ProgramQuestion::default()
    }
}

/// The input of a tool as people read it: each argument by itself.
fn input_text(input: &Value) -> String {
    let Some(arguments) = input.as_object() else {
        return input.to_string();
    };
    let argument = |(name, value): (&String, &Value)| match value.as_str() {
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    };
    arguments
        .iter()
        .map(argument)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use interrupts::life::{DecidedAs, Verdict};

    use super::{HookAnswer, answer};

    #[test]
    fn only_an_approval_of_what_was_asked_allows_it() {
        for decided_as in DecidedAs::ALL {
            for verdict in Verdict::ALL {
                let told = answer(decided_as, verdict, "ann", "be quick");
                let is_allowed = matches!(told, HookAnswer::Allow(_));
                let is_yes = (decided_as, verdict) == (DecidedAs::Approved, Verdict::Approve);
                assert_eq!(is_allowed, is_yes, "{verdict:?} as {decided_as:?}");
            }
        }
    }
}
