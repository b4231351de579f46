//! From what the store and the machine cannot do to the problem for the caller.

use std::time::Duration;

use axum::http::{HeaderValue, header};
use interrupts::store::{StoreError, VerifyError};
use serde_json::json;

use super::{Code, Problem};
use crate::launcher::{LaunchError, LaunchRefusal};

/// How long the store may take to answer a health check.
const STORE_ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The store's answer to a health check, within a time limit. The store waits long for a server that is unavailable.
///
/// # Cancel safety
///
/// That of the answer.
pub(crate) async fn in_time<T>(answer: impl Future<Output = T>) -> Result<T, Problem> {
    let answered = tokio::time::timeout(STORE_ANSWERS_WITHIN, answer).await;
    answered.map_err(|_elapsed| {
        Problem::new(
            Code::Unavailable,
            "the store does not answer",
            "see whether its server is reached: irq doctor",
        )
    })
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        of_store(&error)
    }
}

/// The problem for a failing store. The details are in the log, not in the response.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(crate) fn of_store(error: &StoreError) -> Problem {
    if let StoreError::DamagedCheckpoint { .. } = error {
        tracing::warn!(%error, "a run cannot go on");
        let hint = "nothing was changed; go on from another checkpoint";
        return Problem::new(Code::NotInState, error.to_string(), hint);
    }
    if let StoreError::InvalidValue { .. } = error {
        let hint = "change that value: no store keeps it, and nothing was accepted";
        return Problem::new(Code::Shape, error.to_string(), hint);
    }
    tracing::error!(%error, "the store failed");
    if let StoreError::Gone { .. } = error {
        let detail = "the file of the store was deleted, replaced or cut off while it was in use";
        let hint = "nothing was accepted, and nothing will be: stop the server, put the file back, and start it again";
        return Problem::new(Code::StoreGone, detail, hint);
    }
    if let StoreError::Newer { .. } = error {
        let detail = "a newer version of the program has changed the schema of the store";
        let hint = "nothing was accepted, and nothing will be: start the newer program in place of this one";
        return Problem::new(Code::Unavailable, detail, hint);
    }
    if let StoreError::DamagedRow { .. } = error {
        let hint = "other rows can be read; `irq history --verify` names all that is damaged";
        return Problem::new(Code::Unavailable, error.to_string(), hint);
    }
    let detail = match error {
        StoreError::Full => "the disk of the store is full",
        StoreError::ReadOnly => "the store is read-only",
        StoreError::Locked => "another process holds the store",
        StoreError::Closed => "the store is closed",
        StoreError::Corrupt { .. } => "the store is damaged",
        _ => "the store cannot be used now",
    };
    let hint = "nothing was accepted; `irq doctor` says what is wrong";
    Problem::new(Code::Unavailable, detail, hint)
        .header(header::RETRY_AFTER, HeaderValue::from_static("2"))
}

/// The problem for a broken audit.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(crate) fn of_verify(error: &VerifyError) -> Problem {
    match error {
        VerifyError::Store(error) => of_store(error),
        broken => Problem::new(
            Code::NotInState,
            broken.to_string(),
            "compare with a copy of the store; `irq history --verify` reads it again",
        ),
    }
}

/// The problem for a run that cannot be executed.
pub(crate) fn of_launch(error: &LaunchError) -> Problem {
    match error {
        LaunchError::Unsupported => Problem::new(
            Code::NoLauncher,
            error.to_string(),
            "start it with `irq run`, go on with it with `irq resume`",
        ),
        LaunchError::Order { field, reason } => {
            Problem::new(Code::Shape, error.to_string(), "correct the field").with(
                "errors",
                json!([{"pointer": format!("/{}", field.replace('.', "/")), "message": reason}]),
            )
        }
        LaunchError::Taken { run } => Problem::new(
            Code::NameTaken,
            error.to_string(),
            format!("read /v1/runs/{run}, or choose another name"),
        ),
        LaunchError::Refused {
            refusal,
            reason,
            hint,
        } => {
            let kind = match refusal {
                LaunchRefusal::Unknown => Code::NotFound,
                LaunchRefusal::State => Code::NotInState,
                LaunchRefusal::Order => Code::Shape,
            };
            let hint = hint.as_deref();
            Problem::new(
                kind,
                reason.clone(),
                hint.unwrap_or("read the run to see where it stands"),
            )
        }
        LaunchError::Store(error) => of_store(error),
        LaunchError::Unavailable { detail } => {
            tracing::error!(%detail, "a run could not be executed");
            Problem::new(
                Code::Unavailable,
                "the run cannot be executed now",
                "try again; `irq doctor` says what is wrong",
            )
        }
    }
}
