//! What the chat port and the model port have in common, so that what wraps a model is written once.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interrupt_router::model::{
    ChunkSink, LanguageModel, ModelCall, ModelError, ModelReply, PartialReply,
};
use interrupt_router::{Outcome, StopScope};

use crate::chat::{ChatCall, ChatModel, ChatPartial, ChatReply, ChatUsage, characters};

/// How a call of a port ends.
pub(crate) type Ended<P> = Result<Outcome<<P as Port>::Reply, <P as Port>::Partial>, ModelError>;

/// One of the two ports.
pub(crate) trait Port: 'static {
    /// A call.
    type Call: Clone + Send;
    /// A whole answer.
    type Reply: Send;
    /// What there is of an interrupted one.
    type Partial: Send;

    /// Where the call's pieces go.
    fn chunks(call: &mut Self::Call) -> &mut Option<Arc<dyn ChunkSink>>;

    /// Of a call of which nothing was sent.
    fn nothing_sent() -> Self::Partial;

    /// Of a call whose tries have failed, with the pieces that count.
    fn between_tries(text: String) -> Self::Partial;

    /// The text of a partial answer.
    fn text(partial: &mut Self::Partial) -> &mut String;

    /// The characters that a call gives the model to read.
    fn reads(call: &Self::Call) -> usize;

    /// What a whole answer cost.
    fn usage_of_whole(call: &Self::Call, reply: &Self::Reply) -> ChatUsage;

    /// What an interrupted answer cost.
    fn usage_of_partial(call: &Self::Call, partial: &Self::Partial) -> ChatUsage;
}

/// A model of a port.
pub(crate) trait Speaks<P: Port>: Send + Sync {
    /// What it is called.
    fn title(&self) -> &str;

    /// Runs one call.
    fn run<'call>(
        &'call self,
        call: P::Call,
        scope: &'call StopScope,
    ) -> BoxFuture<'call, Ended<P>>;
}

/// The port of [`ChatModel`].
pub(crate) struct Chat;

/// The port of [`LanguageModel`].
pub(crate) struct Language;

impl<M: ChatModel + ?Sized> Speaks<Chat> for M {
    fn title(&self) -> &str {
        self.name()
    }

    fn run<'call>(
        &'call self,
        call: ChatCall,
        scope: &'call StopScope,
    ) -> BoxFuture<'call, Ended<Chat>> {
        self.chat(call, scope)
    }
}

impl<M: LanguageModel + ?Sized> Speaks<Language> for M {
    fn title(&self) -> &str {
        self.name()
    }

    fn run<'call>(
        &'call self,
        call: ModelCall,
        scope: &'call StopScope,
    ) -> BoxFuture<'call, Ended<Language>> {
        self.call(call, scope)
    }
}

impl Port for Chat {
    type Call = ChatCall;
    type Reply = ChatReply;
    type Partial = ChatPartial;

    fn chunks(call: &mut ChatCall) -> &mut Option<Arc<dyn ChunkSink>> {
        &mut call.chunks
    }

    fn nothing_sent() -> ChatPartial {
        ChatPartial::nothing_sent()
    }

    fn between_tries(text: String) -> ChatPartial {
        // No provider said what the failed tries cost.
        ChatPartial {
            text,
            ..ChatPartial::default()
        }
    }

    fn text(partial: &mut ChatPartial) -> &mut String {
        &mut partial.text
    }

    fn reads(call: &ChatCall) -> usize {
        characters::read(&call.messages, &call.tools)
    }

    fn usage_of_whole(_call: &ChatCall, reply: &ChatReply) -> ChatUsage {
        reply.usage
    }

    fn usage_of_partial(_call: &ChatCall, partial: &ChatPartial) -> ChatUsage {
        partial.usage
    }
}

impl Port for Language {
    type Call = ModelCall;
    type Reply = ModelReply;
    type Partial = PartialReply;

    fn chunks(call: &mut ModelCall) -> &mut Option<Arc<dyn ChunkSink>> {
        &mut call.chunks
    }

    fn nothing_sent() -> PartialReply {
        PartialReply::default()
    }

    fn between_tries(text: String) -> PartialReply {
        PartialReply {
            text,
            ..PartialReply::default()
        }
    }

    fn text(partial: &mut PartialReply) -> &mut String {
        &mut partial.text
    }

    fn reads(call: &ModelCall) -> usize {
        characters::read(&call.messages, &call.tools) + call.schema.text().len()
    }

    fn usage_of_whole(call: &ModelCall, reply: &ModelReply) -> ChatUsage {
        let read = characters::read(&call.messages, &call.tools);
        let written = characters::written(&reply.text, &reply.tool_requests);
        ChatUsage::of_interrupted(reply.usage, read, written)
    }

    fn usage_of_partial(call: &ModelCall, partial: &PartialReply) -> ChatUsage {
        ChatUsage::of_partial(call, partial)
    }
}

/// The ending of a call that was stopped before anything was sent.
pub(crate) fn not_sent<P: Port>(reason: interrupt_router::StopReason) -> Ended<P> {
    Ok(Outcome::Interrupted {
        reason,
        partial: P::nothing_sent(),
    })
}
