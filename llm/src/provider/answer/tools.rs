//! The calls of tools in an answer, as far as they have come.
//!
//! A call is whole
//!
//! - with Anthropic once its block has stopped,
//! - with the Responses API once its item is done,
//! - with Gemini at once, for it comes in one event,
//! - with chat completions once the provider says why the answer ends, unless that is its length limit,
//!
//! and with all of them once its arguments are one whole JSON object, for nothing can be added to that. What is not whole is
//! thrown away and counted: half a call can only dangle.
//!
//! That no arguments arrived is not that they are `{}`: a call has what its provider sent for it, and nothing else. Only for a
//! tool that takes no arguments the two are the same.

use interrupt_router::model::{ToolOffer, ToolRequest};
use serde_json::{Map, Value};

/// What a call takes beside its texts, in bytes: a stream of empty ones has a bound too.
const BYTES_OF_CALL: usize = 64;

/// What a call of a tool without arguments has.
pub(crate) const NO_ARGUMENTS: &str = "{}";

/// The calls so far.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    calls: Vec<Call>,
    /// What belongs to the next call that begins.
    thoughts: Vec<String>,
    bytes: usize,
}

/// A call that grows.
#[derive(Debug)]
pub(super) struct Call {
    /// Its position in the answer, as the provider gives it.
    place: u64,
    pub(super) id: String,
    pub(super) name: String,
    /// What arrived in pieces; `None` while nothing did.
    arguments: Option<String>,
    /// What stood where the call began. It counts if no pieces follow.
    at_once: Option<String>,
    signatures: Vec<String>,
    whole: bool,
}

/// A piece of arguments for a call that never began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Orphan;

/// A whole call whose arguments did not arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithoutArguments {
    /// The name of the tool.
    pub(crate) tool: String,
}

impl Tools {
    /// How much is kept, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is whole by now, of tools that were offered so.
    pub(crate) fn whole(&self, offers: &[ToolOffer]) -> Vec<ToolRequest> {
        let requests = self.calls.iter().map(|call| call.request(offers));
        requests
            .filter_map(|request| request.ok().flatten())
            .collect()
    }

    /// The calls of an answer that has come to its end.
    pub(crate) fn finished(
        &self,
        offers: &[ToolOffer],
    ) -> Result<Vec<ToolRequest>, WithoutArguments> {
        let requests = self.calls.iter().map(|call| call.request(offers));
        requests.filter_map(Result::transpose).collect()
    }

    /// All calls so far are whole.
    pub(crate) fn end(&mut self) {
        for call in &mut self.calls {
            call.whole = true;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// A call begins; what was thought before belongs to it.
    pub(super) fn begin(&mut self, place: u64, id: &str, name: &str) {
        self.bytes += BYTES_OF_CALL + id.len() + name.len();
        self.calls.push(Call {
            place,
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: None,
            at_once: None,
            signatures: std::mem::take(&mut self.thoughts),
            whole: false,
        });
    }

    /// The last call that began at a place.
    pub(super) fn at(&mut self, place: u64) -> Option<&mut Call> {
        let mut newest_first = self.calls.iter_mut().rev();
        newest_first.find(|call| call.place == place)
    }

    /// The place of the call that began last.
    pub(super) fn last_place(&self) -> Option<u64> {
        self.calls.last().map(|call| call.place)
    }

    /// More of the arguments of the call at a place.
    pub(super) fn grow(&mut self, place: u64, piece: &str) -> Result<(), Orphan> {
        let Some(call) = self.at(place) else {
            return if piece.is_empty() {
                Ok(())
            } else {
                Err(Orphan)
            };
        };
        if !piece.is_empty() {
            if call.whole {
                return Err(Orphan);
            }
            call.arguments.get_or_insert_default().push_str(piece);
            self.bytes += piece.len();
        }
        Ok(())
    }

    /// The call at a place is whole. These are its arguments, where they are said again or at once.
    pub(super) fn finish(&mut self, place: u64, arguments: Option<&str>) {
        if let Some(call) = self.at(place) {
            call.whole = true;
            if let Some(arguments) = arguments
                && call.arguments.as_deref() != Some(arguments)
            {
                call.arguments = Some(arguments.to_owned());
                self.bytes += arguments.len();
            }
        }
    }

    /// The arguments of the call at a place, for the case that none arrive in pieces.
    pub(super) fn arrived_at_once(&mut self, place: u64, arguments: &Value) {
        let arguments = arguments.to_string();
        let length = arguments.len();
        if let Some(call) = self.at(place) {
            call.at_once = Some(arguments);
            self.bytes += length;
        }
    }

    /// What the provider wants to see again with the next call.
    pub(super) fn think(&mut self, signature: String) {
        self.bytes += signature.len();
        self.thoughts.push(signature);
    }

    /// Puts together what a character was cut into.
    pub(super) fn mend(&mut self, mend: impl Fn(&str) -> String) {
        for call in &mut self.calls {
            if let Some(arguments) = &mut call.arguments {
                *arguments = mend(arguments);
            }
        }
    }
}

impl Call {
    /// The request, if it is whole.
    fn request(&self, offers: &[ToolOffer]) -> Result<Option<ToolRequest>, WithoutArguments> {
        let in_pieces = self.arguments.as_deref();
        if !self.whole && !in_pieces.is_some_and(is_object) {
            return Ok(None);
        }
        let arguments = in_pieces.or(self.at_once.as_deref()).unwrap_or_default();
        let arguments = if !arguments.trim().is_empty() {
            arguments
        } else if takes_nothing(&self.name, offers) {
            NO_ARGUMENTS
        } else {
            let tool = self.name.clone();
            return Err(WithoutArguments { tool });
        };
        let mut request = ToolRequest::new(self.id.as_str(), self.name.as_str(), arguments);
        request.signatures.clone_from(&self.signatures);
        Ok(Some(request))
    }
}

/// Whether nothing can be added to it: one JSON object from its first brace to its last.
fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// Whether a tool was offered that has no arguments at all.
fn takes_nothing(tool: &str, offers: &[ToolOffer]) -> bool {
    let is_empty =
        |part: Option<&Value>| part.is_none_or(|part| part.as_object().is_some_and(Map::is_empty));
    let offer = offers.iter().find(|offer| offer.name == tool);
    offer.is_some_and(|offer| {
        let schema = &offer.arguments;
        let closed = ["anyOf", "oneOf", "allOf", "$ref", "patternProperties"];
        is_empty(schema.get("properties")) && closed.iter().all(|part| schema.get(part).is_none())
    })
}
