//! How much a call gives a model to read, and how much it wrote, in characters.

use interrupt_router::model::{Message, ToolOffer, ToolRequest};

/// What these messages and tools give to read.
pub(crate) fn read(messages: &[Message], tools: &[ToolOffer]) -> usize {
    let said = messages
        .iter()
        .map(|message| written(&message.text, &message.tool_requests));
    let offered = tools.iter().map(|offer| {
        count(&offer.name) + count(&offer.description) + count(&offer.arguments.to_string())
    });
    said.chain(offered).sum()
}

/// What an answer of this text wrote that asks for these tools.
pub(crate) fn written(text: &str, requests: &[ToolRequest]) -> usize {
    let asked = requests
        .iter()
        .map(|request| count(&request.name) + count(&request.arguments));
    count(text) + asked.sum::<usize>()
}

fn count(text: &str) -> usize {
    text.chars().count()
}
