//! One exchange: reads the stream until its end, a limit, a failure or an interrupt.

use std::sync::Arc;
use std::time::Duration;

use genai::chat::{ChatStreamEvent, StopReason as EndReason, StreamEnd, ToolCall};
use routing_core::model::{Awaited, ChunkSink, ModelError, ModelReply, PartialReply, ToolRequest};
use routing_core::{Outcome, StopReason, StopScope};
use tokio::time::Instant;

use super::background::CancelOnDrop;
use super::failure::{self, FailureContext};
use super::frames::FrameWatch;
use super::io_thread::{Broken, Events};
use super::telemetry::CallSpan;
use super::usage;
use crate::chat::{
    AtProvider, ChatOutcome, ChatPartial, ChatReply, ChatUsage, Discarded, characters,
};

/// Why an answer ends that a model refuses, with Anthropic.
const REFUSAL: &str = "refusal";

/// Why an answer ends for which no room is left, with Anthropic.
const CONTEXT_FULL: &str = "model_context_window_exceeded";

/// How an exchange ends, for either port.
type Ending = Result<Exchanged, ModelError>;

/// What an exchange gives.
#[derive(Debug)]
pub(crate) enum Exchanged {
    /// A whole answer.
    Whole(ModelReply),
    /// An answer that was stopped.
    Stopped {
        reason: StopReason,
        partial: PartialReply,
        discarded: Discarded,
        at_provider: AtProvider,
    },
}

impl Exchanged {
    /// The stop of a call that had not begun.
    pub(crate) fn not_begun(reason: StopReason) -> Self {
        Self::Stopped {
            reason,
            partial: PartialReply::default(),
            discarded: Discarded::default(),
            at_provider: AtProvider::NothingUnderWay,
        }
    }

    /// Tells the span of the call how it ended.
    pub(crate) fn tell(&self, span: &CallSpan) {
        match self {
            Self::Whole(reply) => span.used(reply.usage),
            Self::Stopped {
                reason,
                partial,
                at_provider,
                ..
            } => {
                span.used(partial.usage);
                span.interrupted(reason, *at_provider);
            }
        }
    }

    /// The outcome of the model port.
    pub(crate) fn into_outcome(self) -> Outcome<ModelReply, PartialReply> {
        match self {
            Self::Whole(reply) => Outcome::Completed(reply),
            Self::Stopped {
                reason, partial, ..
            } => Outcome::Interrupted { reason, partial },
        }
    }

    /// The outcome of the chat port, for a call that gave so many characters to read.
    pub(crate) fn into_chat(self, read: usize) -> ChatOutcome {
        match self {
            Self::Whole(reply) => Outcome::Completed(ChatReply {
                text: reply.text,
                tool_requests: reply.tool_requests,
                usage: ChatUsage::reported(reply.usage),
                cut_off: reply.cut_off,
            }),
            Self::Stopped {
                reason,
                at_provider: AtProvider::NothingUnderWay,
                ..
            } => ChatPartial::nothing_sent().interrupted(reason),
            Self::Stopped {
                reason,
                partial:
                    PartialReply {
                        text,
                        tool_requests,
                        usage,
                    },
                discarded,
                at_provider,
            } => ChatPartial {
                usage: ChatUsage::of_interrupted(
                    usage,
                    read,
                    characters::written(&text, &tool_requests),
                ),
                text,
                tool_requests,
                discarded,
                at_provider,
            }
            .interrupted(reason),
        }
    }
}

pub(crate) struct Exchange {
    text: String,
    discarded: Discarded,
    chunks: Option<Arc<dyn ChunkSink>>,
    watch: Arc<FrameWatch>,
    context: FailureContext,
    /// Of an answer that is made in the background.
    cancel: Option<CancelOnDrop>,
    span: CallSpan,
}

/// When the stream is given up on for saying nothing.
struct Silence {
    events_seen: u64,
    /// When it is looked at again.
    until: Instant,
    /// Until when the first event has to come.
    first: Instant,
}

impl Exchange {
    pub(crate) fn new(
        chunks: Option<Arc<dyn ChunkSink>>,
        watch: Arc<FrameWatch>,
        context: FailureContext,
        cancel: Option<CancelOnDrop>,
        span: CallSpan,
    ) -> Self {
        Self {
            cancel,
            span,
            text: String::new(),
            discarded: Discarded::default(),
            chunks,
            watch,
            context,
        }
    }

    /// Reads the events. However it ends, they are dropped with it, and that closes the connection.
    pub(crate) async fn run(mut self, mut events: Events, scope: &StopScope) -> Ending {
        let limits = self.context.limits;
        let start = Instant::now();
        let deadline = start + limits.whole;
        let mut silence = Silence {
            events_seen: 0,
            until: start + limits.first.min(limits.silence),
            first: start + limits.first,
        };
        loop {
            let event = tokio::select! {
                biased; // An interrupt must not queue behind a chatty model.
                reason = scope.stopped_now() => return Ok(self.stopped(reason, events).await),
                () = tokio::time::sleep_until(silence.until.min(deadline)) => {
                    if let Some((awaited, limit)) = self.overdue(&mut silence, deadline) {
                        return Err(ModelError::TimedOut { limit, awaited });
                    }
                    continue;
                }
                event = events.recv() => event,
            };
            silence.events_seen = self.watch.events();
            if silence.events_seen > 0 {
                silence.until = Instant::now() + limits.silence;
            }
            self.check_length("")?;
            match event {
                Some(Ok(ChatStreamEvent::Chunk(chunk))) => self.take(&chunk.content)?,
                Some(Ok(ChatStreamEvent::End(end))) => return self.ended(&end),
                Some(Ok(
                    ChatStreamEvent::Start
                    | ChatStreamEvent::Heartbeat
                    | ChatStreamEvent::ThoughtSignatureChunk(_)
                    // Read from the provider's own event.
                    | ChatStreamEvent::ToolCallChunk(_),
                )) => {}
                Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => {
                    self.discarded.reasoning += chunk.content.len();
                }
                Some(Err(_)) if self.watch.withheld().blocked.is_some() => {
                    return Err(self.broken_off());
                }
                Some(Err(Broken::LineTooLong(reads))) => {
                    return Err(ModelError::LineTooLong { reads });
                }
                Some(Err(Broken::Garbled)) => return Err(self.broken_off()),
                Some(Err(Broken::Client(error))) => {
                    return Err(failure::of(error, &self.context, self.text.len()));
                }
                None => return Err(self.broken_off()),
            }
        }
    }

    /// Lets go of the connection, and says what there is.
    async fn stopped(self, reason: StopReason, mut events: Events) -> Exchanged {
        let waiting = events.drain();
        let mut tools = self.watch.tools_so_far();
        // Requests are read ahead of the text, so it is unknown whether they came before the text that is dropped.
        let is_text = |event: &ChatStreamEvent| matches!(event, ChatStreamEvent::Chunk(_));
        if waiting.iter().any(is_text) {
            tools.thrown_away += std::mem::take(&mut tools.kept_pieces);
            tools.requests.clear();
        }
        let discarded = Discarded {
            tool_call_pieces: tools.thrown_away,
            waiting_events: waiting.len(),
            ..self.discarded
        };
        let will_tell = self.cancel.as_ref().map(CancelOnDrop::will_tell);
        // Told before anything is waited for.
        drop(self.cancel);
        let is_closed = events.close().await;
        let at_provider = match will_tell {
            Some(true) => AtProvider::BeingTold,
            // A background answer continues after its connection is closed.
            Some(false) => AtProvider::OnlyDiscarded,
            None if is_closed => AtProvider::ConnectionClosed,
            None => AtProvider::OnlyDiscarded,
        };
        Exchanged::Stopped {
            reason,
            partial: PartialReply {
                text: self.text,
                tool_requests: tools.requests,
                usage: self.watch.usage(),
            },
            discarded,
            at_provider,
        }
    }

    /// The limit that has been reached, or `None` where events that carry nothing have arrived.
    fn overdue(&self, silence: &mut Silence, deadline: Instant) -> Option<(Awaited, Duration)> {
        let now = Instant::now();
        let limits = self.context.limits;
        if now >= deadline {
            return Some((Awaited::Whole, limits.whole));
        }
        let seen = self.watch.events();
        if seen == silence.events_seen {
            if seen > 0 {
                return Some((Awaited::Next, limits.silence));
            }
            if now >= silence.first {
                return Some((Awaited::Beginning, limits.first));
            }
            // Some events pass nothing on, so this looks again before the first one is too late.
            silence.until = silence.first.min(now + limits.silence);
            return None;
        }
        silence.events_seen = seen;
        silence.until = now + limits.silence;
        None
    }

    /// Applies the limit to the text and what is asked for together.
    fn check_length(&self, piece: &str) -> Result<(), ModelError> {
        let limit = self.context.limits.answer;
        let kept = self.text.len().saturating_add(self.watch.tool_bytes());
        if kept.saturating_add(piece.len()) > limit {
            return Err(ModelError::TooLong { limit });
        }
        Ok(())
    }

    fn take(&mut self, piece: &str) -> Result<(), ModelError> {
        self.check_length(piece)?;
        if self.text.is_empty() {
            self.span.first_chunk();
        }
        self.text.push_str(piece);
        if let Some(sink) = &self.chunks {
            sink.chunk(piece);
        }
        Ok(())
    }

    /// A whole answer has a reason for its end. The client library also makes up an end where a
    /// stream just stops, and that one has none.
    fn ended(self, end: &StreamEnd) -> Ending {
        let Some(reason) = &end.captured_stop_reason else {
            return Err(self.broken_off());
        };
        self.span.finished(reason);
        if let Some(response) = &end.captured_response_id {
            self.span.named(response);
        }
        if let Some(error) = self.no_answer(reason) {
            return Err(error);
        }
        let cut_off = match reason {
            EndReason::MaxTokens(_) | EndReason::ContentFilter(_) => true,
            EndReason::Completed(_)
            | EndReason::ToolCall(_)
            | EndReason::StopSequence(_)
            | EndReason::Other(_) => false,
        };
        let usage = usage::of_whole(end.captured_usage.as_ref());
        Ok(Exchanged::Whole(ModelReply {
            text: self.text,
            tool_requests: asked_for(&self.watch, end),
            usage,
            cut_off,
        }))
    }

    /// Why the stream ended without an answer, if it did.
    fn no_answer(&self, reason: &EndReason) -> Option<ModelError> {
        let withheld = self.watch.withheld();
        if let Some(refusal) = &withheld.refusal
            && !refusal.is_empty()
        {
            let detail = self.context.detail(refusal);
            return Some(ModelError::Refused { detail });
        }
        let said = match reason {
            EndReason::ContentFilter(said) => Some(said.as_str()),
            EndReason::MaxTokens(said) if said == CONTEXT_FULL => {
                let detail = format!("the provider ended the answer with `{said}`");
                return Some(ModelError::ContextFull { detail });
            }
            EndReason::MaxTokens(_)
            | EndReason::Completed(_)
            | EndReason::ToolCall(_)
            | EndReason::StopSequence(_)
            | EndReason::Other(_) => withheld.is_filtered.then_some("content_filter"),
        }?;
        let why = withheld.why.map(|why| format!(": {why}"));
        let detail = format!("it ended with `{said}`{}", why.unwrap_or_default());
        Some(if said == REFUSAL {
            let words = self.context.detail(&self.text);
            let detail = if words.is_empty() { detail } else { words };
            ModelError::Refused { detail }
        } else {
            ModelError::Filtered { detail }
        })
    }

    fn broken_off(&self) -> ModelError {
        let withheld = self.watch.withheld();
        if let Some(refusal) = withheld.refusal.filter(|words| !words.is_empty()) {
            let detail = self.context.detail(&refusal);
            return ModelError::Refused { detail };
        }
        if let Some(why) = withheld.blocked {
            let detail = format!("it did not take the prompt ({why})");
            return ModelError::Filtered { detail };
        }
        if self.watch.is_no_event_stream() {
            let detail = "the server did not answer with a stream of events".to_owned();
            return ModelError::Malformed { detail };
        }
        if self.watch.begins_with_no_json() && self.text.is_empty() {
            let detail = "the server sent an event that is no JSON".to_owned();
            return ModelError::Malformed { detail };
        }
        ModelError::BrokenOff {
            received: self.text.len(),
        }
    }
}

/// What a whole answer asks for. Where nothing was read of it, the client library may know.
fn asked_for(watch: &FrameWatch, end: &StreamEnd) -> Vec<ToolRequest> {
    let read = watch.tools_so_far().requests;
    if !read.is_empty() {
        return read;
    }
    let captured = end.captured_tool_calls().unwrap_or_default();
    let request = |call: &ToolCall| {
        let arguments = call.fn_arguments.as_str().map(str::to_owned);
        let arguments = arguments.unwrap_or_else(|| call.fn_arguments.to_string());
        ToolRequest::new(call.call_id.as_str(), call.fn_name.as_str(), arguments)
    };
    captured.into_iter().map(request).collect()
}
