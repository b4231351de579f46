//! The phrases at which the rehearsal model calls a tool in a conversation.
//!
//! It understands nothing of them. It is a way to see tools run, be asked about and be interrupted without a
//! key.

use interrupt_router::model::{Message, Role, ToolOffer, ToolRequest};
use serde_json::{Value, json};

/// The most characters of a result that are repeated.
const LONGEST_ECHO: usize = 240;

/// The tools that the last message of the user asks for by a phrase, among those that are offered:
/// `read FILE`, `list` or `list FOLDER`, `search WORD`, and a command line between backticks after `run`.
pub(crate) fn asked_for(messages: &[Message], offers: &[ToolOffer]) -> Vec<ToolRequest> {
    let Some(last) = messages.last().filter(|last| last.role == Role::User) else {
        return Vec::new();
    };
    // The ids of a conversation are not repeated.
    let before: usize = messages
        .iter()
        .map(|message| message.tool_requests.len())
        .sum();
    let is_offered = |name: &str| offers.iter().any(|offer| offer.name == name);
    let wanted = errands(&last.text);
    let offered = wanted.into_iter().filter(|(name, _)| is_offered(name));
    let request = |(index, (name, arguments)): (usize, (&str, Value))| {
        let id = format!("rehearsed_{}", before + index + 1);
        ToolRequest::new(id, name, arguments.to_string())
    };
    offered.enumerate().map(request).collect()
}

/// What is said once the tools that were asked for have returned; `None` where none has.
pub(crate) fn remark(messages: &[Message]) -> Option<String> {
    let results = messages
        .iter()
        .rev()
        .take_while(|message| message.role == Role::Tool);
    let mut results: Vec<&Message> = results.collect();
    if results.is_empty() {
        return None;
    }
    results.reverse();
    let said = results.iter().map(|result| {
        let text: String = result.text.chars().take(LONGEST_ECHO).collect();
        let more = if text.len() < result.text.len() {
            "\u{2026}"
        } else {
            ""
        };
        format!("\n\n{text}{more}")
    });
    let said: String = said.collect();
    Some(format!(
        "I am the rehearsal model: I asked for a tool because of a word in your message, and no model has \
         read what it returned. It was:{said}"
    ))
}

fn errands(text: &str) -> Vec<(&'static str, Value)> {
    if text.trim_start().to_lowercase().starts_with("run ") {
        let commands = text.split('`').skip(1).step_by(2);
        let commands = commands.filter(|command| !command.trim().is_empty());
        return commands
            .map(|command| ("shell", json!({ "command": command })))
            .collect();
    }
    let mut words = text.split_whitespace();
    let word = words.next().map(str::to_lowercase);
    let object = words.next();
    match (word.as_deref(), object) {
        (Some("read"), Some(file)) => vec![("read_file", json!({ "path": file }))],
        (Some("list"), Some(folder)) => vec![("list_files", json!({ "path": folder }))],
        (Some("list"), None) => vec![("list_files", json!({}))],
        (Some("search"), Some(word)) => vec![("search_files", json!({ "pattern": word }))],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use interrupt_router::model::{Message, ToolOffer};
    use serde_json::json;

    use super::{asked_for, remark};

    fn offers() -> Vec<ToolOffer> {
        ["shell", "read_file"]
            .map(|name| ToolOffer {
                name: name.to_owned(),
                description: String::new(),
                arguments: json!({"type": "object"}),
            })
            .into()
    }

    #[test]
    fn a_phrase_asks_for_the_tool_that_it_stands_for_where_that_is_offered() {
        let asked = |text: &str| {
            let asked = asked_for(&[Message::user(text)], &offers());
            let short =
                |request: interrupt_router::model::ToolRequest| (request.name, request.arguments);
            asked.into_iter().map(short).collect::<Vec<_>>()
        };
        let read = ("read_file".to_owned(), r#"{"path":"a.txt"}"#.to_owned());
        assert_eq!(asked("read a.txt"), [read]);
        let commands = asked("run `ls` and `pwd`");
        assert_eq!(commands.len(), 2);
        assert_eq!(commands[1].1, r#"{"command":"pwd"}"#);
        assert!(asked("list").is_empty(), "it is not offered");
        assert!(asked("Please read a.txt").is_empty());
    }

    #[test]
    fn a_result_is_repeated_by_one_that_says_it_has_not_read_it() {
        let messages = [Message::user("read a"), Message::result("x", "contents")];
        let said = remark(&messages).unwrap();
        assert!(said.contains("contents") && said.contains("no model has read"));
        assert!(remark(&messages[..1]).is_none());
        assert!(
            asked_for(&messages, &offers()).is_empty(),
            "it has been run"
        );
    }
}
