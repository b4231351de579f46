//! Bodies of requests: read whole, bounded in every way, and strictly.

mod guard;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use interrupt_router::answer::{AnswerError, AnswerFault, read_strictly};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::app::App;
use crate::problem::{Code, Problem};

pub(crate) use guard::{GuardError, check_json};

/// A JSON body: no unknown fields, no duplicate keys, no array for an object, no integer that would lose digits. An
/// empty body counts as an object without fields.
#[derive(Debug)]
pub(crate) struct StrictJson<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for StrictJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let is_json = says_json(request.headers());
        let bytes = read(request, app).await?;
        if bytes.is_empty() {
            return parse(b"{}", app.config.limits.json_depth).map(Self);
        }
        if !is_json {
            return Err(Problem::new(
                Code::MediaType,
                "the body is not declared as JSON",
                "send `Content-Type: application/json`",
            ));
        }
        parse(&bytes, app.config.limits.json_depth).map(Self)
    }
}

/// A JSON body as it was sent, checked as [`StrictJson`] is.
#[derive(Debug)]
pub(crate) struct RawJson(pub(crate) Bytes);

impl FromRequest<App> for RawJson {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let is_json = says_json(request.headers());
        let bytes = read(request, app).await?;
        if !is_json {
            return Err(Problem::new(
                Code::MediaType,
                "the body is not declared as JSON",
                "send `Content-Type: application/json`",
            ));
        }
        check_json(&bytes, app.config.limits.json_depth).map_err(unguarded)?;
        Ok(Self(bytes))
    }
}

/// The fields of a form.
#[derive(Debug)]
pub(crate) struct FormFields(pub(crate) Vec<(String, String)>);

impl FromRequest<App> for FormFields {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let bytes = read(request, app).await?;
        let fields = url::form_urlencoded::parse(&bytes)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        Ok(Self(fields))
    }
}

impl FormFields {
    /// The first value of a field, if it is not blank.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(field, _)| field == name)
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// All values of a field.
    pub(crate) fn all<'fields>(
        &'fields self,
        name: &'fields str,
    ) -> impl Iterator<Item = &'fields str> {
        self.0
            .iter()
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Reads JSON text strictly, as [`StrictJson`] does.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8], depth: usize) -> Result<T, Problem> {
    check_json(bytes, depth).map_err(unguarded)?;
    read_strictly(bytes).map_err(|error| unread(&error))
}

/// Reads a body whole, bounded in length and time.
pub(crate) async fn read(request: Request, app: &App) -> Result<Bytes, Problem> {
    let limits = &app.config.limits;
    let declared = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > limits.body_bytes) {
        return Err(too_large(limits.body_bytes));
    }
    let body = axum::body::to_bytes(request.into_body(), limits.body_bytes);
    match tokio::time::timeout(limits.body_time, body).await {
        Ok(Ok(bytes)) => Ok(bytes),
        // Besides its length, a body can only fail because its connection broke: no one reads this then.
        Ok(Err(_error)) => Err(too_large(limits.body_bytes)),
        Err(_elapsed) => Err(Problem::new(
            Code::Slow,
            "the body did not come in time",
            "send it at once",
        )),
    }
}

fn too_large(most: usize) -> Problem {
    Problem::new(
        Code::TooLarge,
        format!("the body has more than {most} bytes"),
        "send less; large contexts belong into files",
    )
}

fn says_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn unguarded(error: GuardError) -> Problem {
    let kind = match error {
        GuardError::TooDeep { .. } => Code::Malformed,
        GuardError::Integer { .. } | GuardError::Number { .. } => Code::Shape,
    };
    Problem::new(
        kind,
        error.to_string(),
        "`/openapi.json` describes what is taken",
    )
}

/// The problem for an unreadable body.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the rest of these errors, which may become more, is told in the same way"
)]
pub(crate) fn unread(error: &AnswerError) -> Problem {
    let kind = match error.fault() {
        AnswerFault::CutOff | AnswerFault::Syntax | AnswerFault::TooLong => Code::Malformed,
        AnswerFault::DuplicateKey => Code::Malformed,
        _ => Code::Shape,
    };
    Problem::new(
        kind,
        error.to_string(),
        "`/openapi.json` describes what is taken",
    )
    .with(
        "errors",
        json!([{"pointer": pointer(error.path()), "message": error.reason()}]),
    )
}

/// The JSON pointer of a path such as `$.a.b[2]`.
fn pointer(path: &str) -> String {
    path.trim_start_matches('$')
        .replace('[', ".")
        .replace(']', "")
        .split('.')
        .filter(|step| !step.is_empty())
        .map(|step| format!("/{step}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::pointer;

    #[test]
    fn a_path_becomes_a_pointer() {
        assert_eq!(pointer("$"), "");
        assert_eq!(pointer("$.a.b[2].c"), "/a/b/2/c");
    }
}
