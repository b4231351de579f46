//! What a server answers, as a text for a model: what cannot be shown is described.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

use crate::containment::BoundedOutput;
use crate::tool::ToolOutput;

/// The result of a call, bounded to so many bytes of text.
pub(super) fn output(result: &CallToolResult, most: usize) -> ToolOutput {
    let mut text = result
        .content
        .iter()
        .map(block)
        .collect::<Vec<_>>()
        .join("\n");
    if let (true, Some(value)) = (result.content.is_empty(), &result.structured_content) {
        text = value.to_string();
    }
    let text = bounded(&text, most);
    if result.is_error == Some(true) {
        ToolOutput::failed(text)
    } else {
        ToolOutput::done(text)
    }
}

/// Whether an answer that the library cannot read is a result of a tool all the same.
pub(super) fn is_result(answer: &Value) -> bool {
    answer.get("content").is_some_and(Value::is_array)
}

/// The result in an answer some of whose blocks cannot be read: a note takes the place of each of those.
pub(super) fn without_unknown(mut answer: Value) -> serde_json::Result<CallToolResult> {
    let blocks = answer.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten() {
        if serde_json::from_value::<ContentBlock>(block.clone()).is_err() {
            let kind = block
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or("unknown");
            let size = block.to_string().len();
            let note =
                format!("[a block of the type `{kind}`, {size} bytes, which cannot be read]");
            *block = json!({"type": "text", "text": note});
        }
    }
    serde_json::from_value(answer)
}

/// A text of a server, of which the start and the end are kept.
pub(super) fn bounded(text: &str, most: usize) -> String {
    let mut kept = BoundedOutput::new(most);
    kept.push(text.as_bytes());
    kept.text()
}

fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => binary("an image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => binary("a sound", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => {
            let kind = link.mime_type.as_deref().unwrap_or("unknown type");
            format!("[a link to `{}`, {kind}: {}]", link.name, link.uri)
        }
        _ => "[something of a kind that is not known here]".to_owned(),
    }
}

pub(super) fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[the resource {uri}:]\n{text}")
        }
        ResourceContents::BlobResourceContents {
            uri,
            blob,
            mime_type,
            ..
        } => {
            let kind = mime_type.as_deref().unwrap_or("unknown type");
            binary(&format!("the resource {uri}"), kind, blob)
        }
        _ => "[a resource of a kind that is not known here]".to_owned(),
    }
}

fn binary(what: &str, kind: &str, base64: &str) -> String {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'=')
        .count();
    let length = (base64.len() / 4 * 3).saturating_sub(padding);
    format!("[{what}, {kind}, {length} bytes, which cannot be shown as text]")
}

#[cfg(test)]
mod tests {
    use rmcp::model::CallToolResult;
    use serde_json::json;

    use super::output;
    use crate::tool::Verdict;

    fn read(value: serde_json::Value) -> CallToolResult {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_no_text_is_described_with_its_kind_and_size() {
        let result = read(json!({"content": [
            {"type": "text", "text": "hello"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGVsbG8h", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "aGk=", "mimeType": "x/y"}},
            {"type": "resource_link", "uri": "file:///c", "name": "c"},
        ]}));
        let text = output(&result, 1000).text;
        assert_eq!(
            text,
            "hello\n[an image, image/png, 5 bytes, which cannot be shown as text]\n\
             [a sound, audio/wav, 6 bytes, which cannot be shown as text]\n\
             [the resource file:///a:]\ninside\n\
             [the resource file:///b, x/y, 2 bytes, which cannot be shown as text]\n\
             [a link to `c`, unknown type: file:///c]"
        );
    }

    #[test]
    fn a_block_that_cannot_be_read_takes_nothing_else_with_it() {
        let answer = json!({"isError": false, "content": [
            {"type": "text", "text": "before"},
            {"type": "hologram", "light": [1, 2, 3]},
            {"type": "image", "mimeType": "image/png"},
            {"type": "text", "text": "after"},
        ]});
        assert!(super::is_result(&answer));
        let text = output(&super::without_unknown(answer).unwrap(), 1000).text;
        assert_eq!(
            text,
            "before\n[a block of the type `hologram`, 35 bytes, which cannot be read]\n\
             [a block of the type `image`, 39 bytes, which cannot be read]\nafter"
        );
        assert!(!super::is_result(&json!({"weather": "fine"})));
    }

    #[test]
    fn an_error_of_the_tool_is_a_result_that_says_so() {
        let result = read(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!(output(&result, 1000).verdict, Verdict::Failed);
    }

    #[test]
    fn a_structured_result_without_a_text_is_shown_and_a_long_one_is_cut() {
        let result = read(json!({"content": [], "structuredContent": {"n": [1, 2]}}));
        assert_eq!(output(&result, 1000).text, r#"{"n":[1,2]}"#);
        let long = read(json!({"content": [{"type": "text", "text": "x".repeat(5000)}]}));
        let text = output(&long, 100).text;
        assert!(text.contains("4900 bytes left out"), "{text}");
    }
}
