//! Making a prompt fit into what its model can read, before it is sent.
//!
//! What is left out first is the oldest: instructions, the first message and the last ones stay. How many tokens a text
//! has only its model knows; it is guessed high.

use interrupt_router::model::{CallNote, Message, ModelCall, ModelError, Role};

/// How many bytes a token has at least, on average: English prose has more than four, JSON about three.
const BYTES_OF_TOKEN: u64 = 3;

/// What a message takes beside its text, in tokens.
const TOKENS_OF_MESSAGE: u64 = 8;

/// What is kept free for the answer where nothing is said about it: a quarter, and at most this.
const MOST_FOR_ANSWER: u64 = 2_048;

/// How many of the last messages are always kept.
const LAST: usize = 2;

/// The fewest bytes that a message is shortened to.
const LEAST: usize = 400;

/// Replaces what was left out.
const LEFT_OUT: &str = "[note]\nOlder messages stood here. They were left out, for all of it is more than you can read.";
const SHORTENED: &str = "\n[the rest was left out, for all of it is more than you can read]";

/// The call, with a prompt that fits; its sink learns what was left out.
pub(super) fn fit(
    mut call: ModelCall,
    context: Option<u64>,
    max_tokens: Option<u32>,
) -> Result<ModelCall, ModelError> {
    let Some(context) = context else {
        return Ok(call);
    };
    let for_answer = max_tokens
        .map_or(MOST_FOR_ANSWER, u64::from)
        .min(context / 4);
    let room = context.saturating_sub(for_answer);
    let before = tokens(&call.messages);
    if before <= room {
        return Ok(call);
    }
    let count = call.messages.len();
    let bytes = size(&call.messages);
    leave_out_oldest(&mut call.messages, room);
    shorten_longest(&mut call.messages, room);
    let after = tokens(&call.messages);
    if after > room {
        let detail = format!("about {before} tokens, and its model reads {context}");
        return Err(ModelError::ContextFull { detail });
    }
    if let Some(sink) = &call.chunks {
        sink.noted(&CallNote::Cut {
            messages: count.saturating_sub(call.messages.len()),
            bytes: bytes.saturating_sub(size(&call.messages)),
        });
    }
    Ok(call)
}

fn size(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.text.len()).sum()
}

fn tokens(messages: &[Message]) -> u64 {
    let of = |message: &Message| {
        let asked: usize = message
            .tool_requests
            .iter()
            .map(|request| request.arguments.len() + request.name.len())
            .sum();
        let bytes = u64::try_from(message.text.len() + asked).unwrap_or(u64::MAX);
        bytes / BYTES_OF_TOKEN + TOKENS_OF_MESSAGE
    };
    messages.iter().map(of).sum()
}

/// Leaves out messages behind the first one to the model, the oldest first, until the rest fits.
fn leave_out_oldest(messages: &mut Vec<Message>, room: u64) {
    let instructions = messages.iter().take_while(|it| it.role == Role::System);
    let first = instructions.count() + 1;
    let mut is_noted = false;
    while tokens(messages) > room && messages.len() > first + LAST + usize::from(is_noted) {
        let place = first + usize::from(is_noted);
        messages.remove(place);
        // What came of a tool means nothing without the request for it.
        while messages.get(place).is_some_and(|it| it.role == Role::Tool) {
            messages.remove(place);
        }
        if !is_noted {
            messages.insert(first, Message::user(LEFT_OUT));
            is_noted = true;
        }
    }
}

/// Shortens the longest messages, their ends first, until all fits.
fn shorten_longest(messages: &mut [Message], room: u64) {
    while tokens(messages) > room {
        let longest = messages
            .iter_mut()
            .filter(|message| message.role != Role::System)
            .max_by_key(|message| message.text.len());
        let Some(longest) = longest.filter(|it| it.text.len() > LEAST + SHORTENED.len()) else {
            return;
        };
        let text = longest
            .text
            .strip_suffix(SHORTENED)
            .unwrap_or(&longest.text);
        let mut end = (text.len() * 3 / 4).max(LEAST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        longest.text = format!("{}{SHORTENED}", &text[..end]).into();
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::{Message, Role, ToolRequest};

    use super::{LEFT_OUT, SHORTENED, leave_out_oldest, shorten_longest, tokens};

    fn long(sign: &str) -> String {
        sign.repeat(3_000)
    }

    #[test]
    fn the_oldest_is_left_out_first_and_goal_and_last_words_stay() {
        let mut messages = vec![
            Message::system("role"),
            Message::user("goal"),
            Message::asking("old", vec![ToolRequest::new("1", "read", long("a"))]),
            Message::result("1", long("b")),
            Message::assistant(long("c")),
            Message::user("asked"),
            Message::user("last"),
        ];
        leave_out_oldest(&mut messages, 1_200);
        let said: Vec<&str> = messages.iter().map(|it| &*it.text).collect();
        assert_eq!(said[..3], ["role", "goal", LEFT_OUT]);
        assert_eq!(said[said.len() - 2..], ["asked", "last"]);
        assert!(messages.iter().all(|it| it.role != Role::Tool));
        assert!(tokens(&messages) <= 1_200);
    }

    #[test]
    fn a_message_that_is_too_long_by_itself_is_shortened_at_its_end() {
        let mut messages = vec![Message::system("role"), Message::user(long("é"))];
        shorten_longest(&mut messages, 500);
        assert!(tokens(&messages) <= 500);
        assert!(messages[1].text.ends_with(SHORTENED));
        assert_eq!(messages[1].text.matches(SHORTENED).count(), 1);
    }
}
