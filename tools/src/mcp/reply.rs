//! Replies that cannot be read. The protocol library drops them, and their requests would wait for ever: each is
//! replaced by an error that says so, for the request whose id can still be seen in it.

use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use serde_json::json;

use super::connection::LONGEST_REASON;
use super::content::bounded;

/// Marks the errors that are made here.
const MARK: &str = "the reply cannot be read";

/// The error that a request gets in place of its reply.
pub(super) fn unreadable(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    let why = bounded(why, LONGEST_REASON);
    let error = ErrorData::new(ErrorCode::PARSE_ERROR, why, Some(json!(MARK)));
    ServerJsonRpcMessage::error(error, Some(id))
}

/// Why the reply could not be read that this error is in place of; `None` if it is a server's own error.
pub(super) fn why_unreadable(error: &ErrorData) -> Option<&str> {
    let is_ours = error.code == ErrorCode::PARSE_ERROR && error.data == Some(json!(MARK));
    is_ours.then_some(&*error.message)
}

/// What is read in place of a text that has replies which cannot be read; `None` if there are none in it. `only` is the
/// request that a reply without an id is for, where that is known.
pub(super) fn in_place_of(
    text: &[u8],
    only: Option<RequestId>,
) -> Option<Vec<ServerJsonRpcMessage>> {
    let why = match serde_json::from_slice::<ServerJsonRpcMessage>(text) {
        Ok(JsonRpcMessage::Error(JsonRpcError {
            id: None, error, ..
        })) => {
            format!("it names no request: {}", error.message)
        }
        Ok(_) => return None,
        Err(error) => error.to_string(),
    };
    let replies = replies_in(&String::from_utf8_lossy(text));
    let ids = replies
        .into_iter()
        .filter_map(|id| id.or_else(|| only.clone()));
    let errors: Vec<_> = ids.map(|id| unreadable(id, &why)).collect();
    (!errors.is_empty()).then_some(errors)
}

/// The members of a message that tell what it is, as far as its text can be read.
#[derive(Default)]
struct Seen {
    version: bool,
    method: bool,
    outcome: bool,
    id: Option<RequestId>,
}

impl Seen {
    fn note(&mut self, name: &str, value: &str) {
        match name {
            "jsonrpc" => self.version = true,
            "method" => self.method = true,
            "result" | "error" => self.outcome = true,
            "id" => self.id = leading_id(value.trim_start()),
            _ => {}
        }
    }

    /// The id of the request that it replies to, if it has one; `None` if it is no reply.
    fn reply(self) -> Option<Option<RequestId>> {
        let is_reply = match self.id {
            Some(_) => self.version || self.outcome,
            None => self.version && self.outcome,
        };
        (is_reply && !self.method).then_some(self.id)
    }
}

/// The id at the start of a text.
fn leading_id(text: &str) -> Option<RequestId> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<RequestId>();
    values.next()?.ok()
}

/// The replies in a text that need not be JSON: one, or those of a list.
fn replies_in(text: &str) -> Vec<Option<RequestId>> {
    let outside = usize::from(text.trim_start().starts_with('['));
    let (mut depth, mut seen, mut replies) = (0, Seen::default(), Vec::new());
    let mut name = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let (_, after) = rest.split_at(next.len_utf8());
        rest = after;
        match next {
            '"' => {
                let (inside, after) = string(after);
                name = Some(inside);
                rest = after;
            }
            ':' if depth == outside + 1 => seen.note(name.take().unwrap_or_default(), after),
            '{' | '[' => depth += 1,
            '}' | ']' => {
                if depth == outside + 1 {
                    replies.extend(std::mem::take(&mut seen).reply());
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    // One that is cut off.
    replies.extend(seen.reply());
    replies
}

/// A string whose opening quote has gone, and what comes after it.
fn string(text: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = text.find(|char| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends
    });
    let (inside, after) = text.split_at(end.unwrap_or(text.len()));
    (inside, after.strip_prefix('"').unwrap_or(after))
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::{in_place_of, replies_in};

    #[test]
    fn replies_are_found_in_what_is_no_json_and_nothing_else_is_taken_for_one() {
        let id = |id: i64| Some(RequestId::Number(id));
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"x":NaN}}"#,
                vec![id(7)],
            ),
            (
                r#"{"result":{"text":"} \" \"id\":9"},"id":"a","x"#,
                vec![Some(RequestId::String("a".into()))],
            ),
            (
                r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":NaN"#,
                vec![id(1), id(2)],
            ),
            (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, vec![None]),
            // A request and a notification of the server, and what it logs.
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":NaN}"#,
                vec![],
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":NaN}"#,
                vec![],
            ),
            (r#"{"level":"info","id":7,"msg":"done"}"#, vec![]),
            (r#"{"level":"error","error":"oops"}"#, vec![]),
            ("hello", vec![]),
            ("[]", vec![]),
            ("{", vec![]),
            (r#"{"jsonrpc": "2.0"}"#, vec![]),
            ("\u{fffd}\"", vec![]),
        ] {
            assert_eq!(replies_in(text), expected, "{text}");
        }
    }

    #[test]
    fn what_can_be_read_is_left_alone() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#,
            "hello",
        ] {
            let replaced = in_place_of(text.as_bytes(), Some(RequestId::Number(1)));
            assert!(replaced.is_none(), "{text}: {replaced:?}");
        }
    }
}
