//! Asking in two steps: which route, and then its request.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::answer::{AnswerError, AnswerFault, read_strictly};
use crate::context::{LlmCallContext, Selection};
use crate::model::{AnswerSchemaRef, CallNote, ChunkSink, Dialect, Message, ModelCall, Purpose};
use crate::route::RouteId;
use crate::route_set::RouteSet;
use crate::routing::Routing;
use crate::schema::AnswerSchema;

/// The field that names the route.
const FIELD: &str = "route";

/// How the messages begin with which a step of an answer is asked for.
pub const STEP_MARK: &str = "[step]";

/// The most of a wrong name that is repeated.
const LONGEST_NAME: usize = 80;

/// What a model answers in the first step.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    route: String,
}

/// The call of the first step: the conversation, and the routes with a line on each.
pub(super) fn choice<T: Routing>(context: &LlmCallContext<T>, dialect: Dialect) -> ModelCall {
    let offered = context.offered();
    let mut call = context.to_call(dialect);
    call.caller.purpose = Purpose::Route;
    call.schema = Some(AnswerSchemaRef::Shared(Arc::new(choice_schema(
        offered, dialect,
    ))));
    call.chunks = context
        .chunks
        .clone()
        .map(|inner| Arc::new(NotesAlone(inner)) as Arc<dyn ChunkSink>);
    let mut text = format!(
        "{STEP_MARK}\nChoose how you go on, and nothing else yet. Answer with one JSON object whose field `{FIELD}` is one of:"
    );
    let forward = context.forward.filter(|route| offered.contains(*route));
    let others = offered.iter().filter(|route| Some(*route) != forward);
    for route in forward.into_iter().chain(others) {
        let info = route.info();
        let meaning: Vec<&str> = info.description.split_whitespace().collect();
        text.push_str(&format!("\n- `{}`: {}", info.field, meaning.join(" ")));
    }
    call.messages.push(Message::user(text));
    call
}

/// The schema of an answer that names one of these routes and says nothing else.
pub fn choice_schema<T: Routing>(offered: RouteSet<T>, dialect: Dialect) -> AnswerSchema {
    let value = json!({
        "type": "object",
        "properties": { (FIELD): { "type": "string", "enum": offered.fields() } },
        "required": [FIELD],
        "additionalProperties": false,
    });
    AnswerSchema::as_it_is(&format!("{}_{FIELD}", T::NAME), dialect, value)
}

/// What an answer of the first step may be, in words.
pub(super) fn allowed<T: Routing>(offered: RouteSet<T>) -> String {
    let fields = offered.fields().join("`, `");
    format!("one JSON object whose field `{FIELD}` is one of these, and nothing else: `{fields}`")
}

/// Reads an answer of the first step.
pub(super) fn read<T: Routing>(
    text: &str,
    cut_off: bool,
    offered: RouteSet<T>,
) -> Result<RouteId<T>, AnswerError> {
    let choice: Choice = read_strictly(text.as_bytes()).map_err(|error| {
        if cut_off {
            return AnswerError::cut_off(text.len());
        }
        error
    })?;
    RouteId::from_field(&choice.route)
        .filter(|route| offered.contains(*route))
        .ok_or_else(|| {
            let named: String = choice.route.chars().take(LONGEST_NAME).collect();
            let reason = format!("`{named}` is no route that may be taken here");
            AnswerError::new(AnswerFault::RouteNotAllowed, format!("$.{FIELD}"), reason)
        })
}

/// The context of the second step: the route that was named is the only one that is left.
pub(super) fn filling<T: Routing>(
    context: &LlmCallContext<T>,
    route: RouteId<T>,
) -> LlmCallContext<T> {
    let mut filling = context.clone();
    filling.selection = Selection::Only(route);
    let info = route.info();
    filling.messages.push(Message::user(format!(
        "{STEP_MARK}\nYou go on with `{field}`: {meaning}\nFill in its request now. Answer with one JSON object that has the field \
         `{field}`, filled as its schema says, and nothing else.",
        field = info.field,
        meaning = info.description
    )));
    filling
}

/// The pieces of a choice are not pieces of the answer. Other notes about its call are passed on.
struct NotesAlone(Arc<dyn ChunkSink>);

impl ChunkSink for NotesAlone {
    fn chunk(&self, _text: &str) {}

    fn noted(&self, note: &CallNote) {
        self.0.noted(note);
    }
}
