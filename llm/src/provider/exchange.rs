//! One exchange: reads the stream until its end, a limit, a failure or an interrupt.

use std::sync::Arc;
use std::time::Duration;

use genai::chat::ChatStreamEvent;
use interrupt_router::model::{
    AtProvider, Awaited, ChunkSink, ModelError, ModelReply, PartialReply, ToolOffer,
};
use interrupt_router::{Outcome, StopReason, StopScope};
use tokio::time::Instant;

use super::answer::{Answer, Fault};
use super::background::CancelOnDrop;
use super::ending::End;
use super::event_stream::Frame;
use super::failure::{self, FailureContext};
use super::io_thread::{Broken, Item, Items};
use super::telemetry::CallSpan;
use crate::Ended;

/// How long the rest of a stream is waited for once the provider has said why the answer ends: what it cost may follow, and some
/// servers never close the connection.
const REST_WITHIN: Duration = Duration::from_secs(5);

/// The longest text that is kept of a server that sends no events.
const LONGEST_STRAY: usize = 64 * 1024;

pub(crate) struct Exchange {
    answer: Answer,
    /// The tools that were offered.
    offers: Arc<[ToolOffer]>,
    /// Lines that belong to no event.
    stray: String,
    chunks: Option<Arc<dyn ChunkSink>>,
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
        answer: Answer,
        offers: Arc<[ToolOffer]>,
        chunks: Option<Arc<dyn ChunkSink>>,
        context: FailureContext,
        cancel: Option<CancelOnDrop>,
        span: CallSpan,
    ) -> Self {
        Self {
            answer,
            offers,
            stray: String::new(),
            chunks,
            context,
            cancel,
            span,
        }
    }

    /// Reads the stream. However it ends, it is dropped with it, and that closes the connection.
    pub(crate) async fn run(mut self, mut items: Items, scope: &StopScope) -> Ended {
        let limits = self.context.limits;
        let start = Instant::now();
        let deadline = start + limits.whole;
        let mut silence = Silence {
            events_seen: 0,
            until: start + limits.first.min(limits.silence),
            first: start + limits.first,
        };
        loop {
            let item = tokio::select! {
                biased; // An interrupt must not queue behind a chatty model.
                reason = scope.stopped_now() => return Ok(self.stopped(reason, items).await),
                () = tokio::time::sleep_until(silence.until.min(deadline)) => {
                    if self.answer.end.is_some() {
                        return self.ended();
                    }
                    if let Some((awaited, limit)) = self.overdue(&mut silence, deadline, items.seen()) {
                        return Err(ModelError::TimedOut { limit, awaited });
                    }
                    continue;
                }
                item = items.recv() => item,
            };
            silence.events_seen = items.seen();
            if silence.events_seen > 0 {
                let limit = match self.answer.end {
                    Some(_) => limits.silence.min(REST_WITHIN),
                    None => limits.silence,
                };
                silence.until = Instant::now() + limit;
            }
            match item {
                Some(Ok(Item::Frame(frame))) => self.read(frame)?,
                Some(Ok(Item::Library(event))) => self.read_library(&event),
                // What had to be said was said before the connection broke.
                Some(Err(_)) if self.answer.end.is_some() => return self.ended(),
                Some(Err(broken)) => return Err(self.broken(broken)),
                None => return self.ended(),
            }
            self.pass_on()?;
            if self.answer.is_over {
                return self.ended();
            }
        }
    }

    fn read(&mut self, frame: Frame) -> Result<(), ModelError> {
        match frame {
            Frame::Event(event) => {
                match self.answer.read(&event) {
                    // What had to be said was said before.
                    Err(Fault::Cut) if self.answer.end.is_some() => Ok(()),
                    read => read.map_err(|fault| self.faulty(fault)),
                }
            }
            Frame::Stray(line) => {
                if self.stray.len() + line.len() < LONGEST_STRAY {
                    self.stray.push_str(&line);
                    self.stray.push('\n');
                }
                Ok(())
            }
            Frame::Nothing => Ok(()),
        }
    }

    fn read_library(&mut self, event: &ChatStreamEvent) {
        match event {
            ChatStreamEvent::Chunk(chunk) => self.answer.say(&chunk.content),
            ChatStreamEvent::End(end) => self.answer.read_library_end(end),
            ChatStreamEvent::Start
            | ChatStreamEvent::ReasoningChunk(_)
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ThoughtSignatureChunk(_)
            // The end has all of them.
            | ChatStreamEvent::ToolCallChunk(_) => {}
        }
    }

    /// Passes on the text that an event brought. The limit applies to the text and the calls together.
    fn pass_on(&mut self) -> Result<(), ModelError> {
        let limit = self.context.limits.answer;
        if self.answer.bytes() > limit {
            return Err(ModelError::TooLong { limit });
        }
        let is_first = !self.answer.has_passed_on();
        if let Some(piece) = self.answer.take_text() {
            if is_first {
                self.span.first_chunk();
            }
            if let Some(sink) = &self.chunks {
                sink.chunk(piece);
            }
        }
        Ok(())
    }

    /// Lets go of the connection, and says what there is.
    async fn stopped(self, reason: StopReason, items: Items) -> Outcome<ModelReply, PartialReply> {
        let tool_requests = self.answer.whole_calls(&self.offers);
        let will_tell = self.cancel.as_ref().map(CancelOnDrop::will_tell);
        // Told before anything is waited for.
        drop(self.cancel);
        let is_closed = items.close().await;
        let at_provider = match will_tell {
            Some(true) => AtProvider::BeingTold,
            // A background answer continues after its connection is closed.
            Some(false) => AtProvider::OnlyDiscarded,
            None if is_closed => AtProvider::ConnectionClosed,
            None => AtProvider::OnlyDiscarded,
        };
        Outcome::Interrupted {
            reason,
            partial: PartialReply {
                text: self.answer.text().to_owned(),
                tool_requests,
                usage: self.answer.usage,
                at_provider,
            },
        }
    }

    /// The limit that has been reached, or `None` where events that carry nothing have arrived.
    fn overdue(
        &self,
        silence: &mut Silence,
        deadline: Instant,
        seen: u64,
    ) -> Option<(Awaited, Duration)> {
        let now = Instant::now();
        let limits = self.context.limits;
        if now >= deadline {
            return Some((Awaited::Whole, limits.whole));
        }
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

    /// The stream is over. Whether the answer is whole is said by the reason of its end alone.
    fn ended(mut self) -> Ended {
        if let Some(error) = self.withheld() {
            return Err(error);
        }
        let Some(word) = self.answer.end.take() else {
            return Err(self.broken_off());
        };
        self.span.finished(&word);
        if let Some(response) = &self.answer.id {
            self.span.named(response);
        }
        let end = self.answer.form().end(&word);
        if let Some(error) = self.no_answer(end, &word) {
            return Err(error);
        }
        let cut_off = end == End::CutOff;
        self.answer.finish(cut_off);
        self.pass_on()?;
        let usage = self.answer.usage;
        let (text, tool_requests) = self.answer.into_parts(&self.offers).map_err(|without| {
            let detail = format!("no arguments arrived for its call of `{}`", without.tool);
            ModelError::Malformed { detail }
        })?;
        Ok(Outcome::Completed(ModelReply {
            text,
            tool_requests,
            usage,
            cut_off,
        }))
    }

    /// Why there is no answer, if the provider or the model said so before the end.
    fn withheld(&self) -> Option<ModelError> {
        if !self.answer.refusal.is_empty() {
            let detail = self.context.detail(&self.answer.refusal);
            return Some(ModelError::Refused { detail });
        }
        self.answer.blocked.as_ref().map(|why| {
            let detail = format!("it did not take the prompt ({why})");
            ModelError::Filtered { detail }
        })
    }

    /// Why an answer that ended with this word is none, if it is.
    fn no_answer(&self, end: End, word: &str) -> Option<ModelError> {
        let why = self.answer.why.as_ref().map(|why| format!(": {why}"));
        let said = self
            .context
            .detail(&format!("{word}{}", why.clone().unwrap_or_default()));
        match end {
            End::Whole | End::CutOff => None,
            End::Filtered => {
                let detail = format!("it ended with `{word}`{}", why.unwrap_or_default());
                Some(ModelError::Filtered { detail })
            }
            End::Refused => {
                let words = self.context.detail(self.answer.text());
                let said = format!("it ended with `{word}`{}", why.unwrap_or_default());
                let detail = if words.is_empty() { said } else { words };
                Some(ModelError::Refused { detail })
            }
            End::ContextFull => {
                let detail = format!("the provider ended the answer with `{word}`");
                Some(ModelError::ContextFull { detail })
            }
            End::Failed { again } => Some(ModelError::EndedWith {
                reason: said,
                again,
            }),
        }
    }

    /// The error that an event is, or that it makes of the answer; what had arrived before may be billed.
    fn faulty(&self, fault: Fault) -> ModelError {
        let mut error = self.error_of(fault);
        if let ModelError::ProviderFailed { begun, .. } = &mut error {
            *begun = self.answer.bytes() > 0;
        }
        error
    }

    fn error_of(&self, fault: Fault) -> ModelError {
        let malformed = |detail: String| ModelError::Malformed { detail };
        match fault {
            Fault::Error(error) => failure::in_stream(&error, &self.context),
            Fault::Words(words) => failure::in_words(&words, &self.context),
            Fault::NoJson { data, is_first } => {
                let looks_like_json = data.starts_with(['{', '[']);
                if is_first {
                    let detail = self.context.detail(&data);
                    malformed(format!(
                        "the server sent an event that is no JSON: {detail}"
                    ))
                } else if looks_like_json {
                    self.broken_off()
                } else {
                    failure::in_words(&data, &self.context)
                }
            }
            Fault::Cut => self.broken_off(),
            Fault::Unknown(event) => {
                let detail = self.context.detail(&event);
                malformed(format!("there is text of an unknown kind in it: {detail}"))
            }
            Fault::Orphan => {
                malformed("arguments arrived for a call of a tool that never began".to_owned())
            }
        }
    }

    /// The error of a stream that says nothing more.
    fn broken(&self, broken: Broken) -> ModelError {
        if let Some(error) = self.withheld() {
            return error;
        }
        match broken {
            Broken::Refused {
                status,
                headers,
                body,
            } => failure::refused_with(status, &headers, &body, &self.context),
            Broken::Connection(error) => {
                failure::of_connection(error, &self.context, self.received())
            }
            Broken::NoText => ModelError::Malformed {
                detail: "the server sent bytes that are no text".to_owned(),
            },
            Broken::Client(error) => failure::of(error, &self.context, self.received()),
            Broken::LineTooLong(reads) => ModelError::LineTooLong { reads },
        }
    }

    fn received(&self) -> usize {
        self.answer.text().len()
    }

    fn broken_off(&self) -> ModelError {
        let stray = self.stray.trim();
        if !stray.is_empty() {
            if let Some(error) = failure::in_place_of_stream(stray, &self.context) {
                return error;
            }
            if !self.answer.has_events {
                let detail = "the server did not answer with a stream of events".to_owned();
                return ModelError::Malformed { detail };
            }
        }
        ModelError::BrokenOff {
            received: self.received(),
        }
    }
}
