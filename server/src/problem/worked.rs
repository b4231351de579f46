//! From what the worker protocol refuses to the problem for the worker.

use axum::http::{HeaderValue, header};
use control::{no_run, not_changed};
use interrupts::Misfit;
use jiff::Timestamp;
use serde_json::{Value, json};
use workers::{RegistrationError, WorkError};

use super::{Code, Problem, of_store};

/// The problem for a workflow that is not registered, with everything that is wrong with it.
pub(crate) fn of_registration(errors: &[RegistrationError]) -> Problem {
    let listed: Vec<Value> = errors
        .iter()
        .map(|error| {
            json!({"pointer": error.pointer, "message": error.reason, "remedy": error.remedy})
        })
        .collect();
    let first = errors.first();
    let detail = first.map_or_else(String::new, |it| format!("{}: {}", it.pointer, it.reason));
    let hint = first.map_or_else(String::new, |it| it.remedy.clone());
    Problem::new(Code::WorkflowRefused, detail, hint).with("errors", listed)
}

/// The problem for a worker's refused request.
#[expect(clippy::too_many_lines, reason = "one row for each refusal")]
pub(crate) fn of_work(error: &WorkError, now: Timestamp) -> Problem {
    let detail = error.to_string();
    match error {
        WorkError::Store(error) => of_store(error),
        WorkError::Change(error) => not_changed(None, error.clone(), now).into(),
        WorkError::UnknownRun { run } => no_run(&run.to_string()).into(),
        WorkError::UnknownWorkflow { .. } => Problem::new(
            Code::WorkflowNotFound,
            detail,
            "register it first: `PUT /v1/workflows/{name}`",
        ),
        WorkError::Taken { run } => Problem::new(
            Code::NameTaken,
            detail,
            "a name and a key stand for one run with one input; use new ones for another",
        )
        .with("run_id", run.to_string()),
        WorkError::Ended { .. } => {
            Problem::new(Code::RunFinished, detail, "create a new run for more work")
        }
        WorkError::Paused { .. } => Problem::new(
            Code::RunPaused,
            detail,
            "a person resumes it, on the page or with `irq resume`; then take it again",
        ),
        WorkError::Owned { lease } => {
            let wait = lease.until.duration_since(now).as_secs().clamp(1, 3_600);
            let problem = Problem::new(
                Code::RunOwned,
                detail,
                "take it once its lease is over, or let its worker release it",
            );
            match HeaderValue::try_from(wait.to_string()) {
                Ok(wait) => problem.header(header::RETRY_AFTER, wait),
                Err(_) => problem,
            }
        }
        WorkError::LeaseLost { current, .. } => Problem::new(
            Code::LeaseLost,
            detail,
            "stop working on the run, and take it again: `POST /v1/work/{run_id}/lease`",
        )
        .with("epoch", *current),
        WorkError::UnknownKind { known, .. } => {
            Problem::new(Code::Shape, detail, "name one of the kinds").with("kinds", known.clone())
        }
        WorkError::OtherKind { .. } => {
            Problem::new(Code::Shape, detail, "give each agent an id of its own")
        }
        WorkError::AgentEnded { .. } => Problem::new(
            Code::AgentEnded,
            detail,
            "an agent that has ended stays so; give a new one another id",
        ),
        WorkError::UnknownAgent { .. } => Problem::new(
            Code::AgentNotFound,
            detail,
            "tell of it first: `PUT /v1/work/{run_id}/agents`",
        ),
        WorkError::UnknownQuestion { .. } => {
            Problem::new(Code::QuestionNotFound, detail, "ask it first")
        }
        WorkError::OtherContent { differs, .. } => Problem::new(
            Code::IdempotencyConflict,
            detail,
            "a key stands for one question or effect with one content; use another key for another content",
        )
        .with("differs", differs.clone()),
        WorkError::OtherResult { .. } => Problem::new(
            Code::IdempotencyConflict,
            detail,
            "begin it to read the result that stands",
        ),
        WorkError::QuestionMisfits(found) => misfitting(
            Code::Shape,
            detail,
            "the workflow says which fields the questions of this kind have",
            ("/fields", found),
        ),
        WorkError::Rejected { misfits, left } => misfitting(
            Code::AnswerRejected,
            detail,
            "tell the model what does not fit, and submit its next answer",
            ("", misfits),
        )
        .with("corrections_left", *left),
        WorkError::NotDecided { .. } => Problem::new(
            Code::NotDecided,
            detail,
            "wait for it: `GET /v1/work/{run_id}/questions/{key}?wait_ms=30000`",
        ),
        WorkError::Declined { decided_as, .. } => Problem::new(
            Code::Declined,
            detail,
            "nothing may be carried out after this; look at `decided_as` of the question",
        )
        .with("decided_as", *decided_as),
        WorkError::NoRoute { .. } => {
            Problem::new(Code::NotInState, detail, "go on with what was decided")
        }
        WorkError::UnknownEffect { .. } => {
            Problem::new(Code::EffectNotFound, detail, "begin it first")
        }
        WorkError::Field { .. } | WorkError::Admit(_) => Problem::new(
            Code::Shape,
            detail,
            "`/openapi.json` describes what is taken",
        ),
        WorkError::Unreadable(_) | _ => {
            tracing::error!(%error, "what is kept of a worker's run cannot be read");
            Problem::new(
                Code::Internal,
                detail,
                "a newer version of this program may have written it",
            )
        }
    }
}

fn misfitting(
    kind: Code,
    detail: String,
    hint: &str,
    (within, found): (&str, &[Misfit]),
) -> Problem {
    let errors: Vec<Value> = found
        .iter()
        .map(|misfit| {
            let pointer = format!("{within}{}", misfit.pointer);
            json!({"pointer": pointer, "path": misfit.path, "message": misfit.reason})
        })
        .collect();
    Problem::new(kind, detail, hint).with("errors", errors)
}
