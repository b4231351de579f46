use proptest::prelude::*;
use routing_core::model::ToolRequest;
use serde_json::json;
use tests::providers::{ProviderDouble, Said, SaidCall, WireForm};

use super::{ReadTools, ToolStream};

fn calls() -> Vec<SaidCall> {
    vec![
        SaidCall::new("call_a", "read_file", r#"{"path":"notes/one.txt"}"#).signed("c2lnbmVk"),
        SaidCall::new(
            "call_b",
            "search",
            r#"{"query":"a } in \"quotes\"","deep":{"er":[1,2]}}"#,
        ),
        SaidCall::new("call_c", "list_files", "{}"),
    ]
}

/// The events of a recorded stream: names and data.
fn frames(form: WireForm, said: Said) -> Vec<(Option<String>, String)> {
    let stream = ProviderDouble::recording(form, said);
    let blocks = stream.split("\n\n").filter(|block| !block.is_empty());
    let part = |block: &str, name: &str| {
        let mut lines = block.lines();
        lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
    };
    let frame = |block| (part(block, "event: "), part(block, "data: ").unwrap());
    blocks.map(frame).collect()
}

fn read(frames: &[(Option<String>, String)]) -> ReadTools {
    let mut stream = ToolStream::default();
    for (name, data) in frames {
        stream.read(name.as_deref(), data);
    }
    stream.so_far()
}

fn plain(request: &ToolRequest) -> (&str, &str, &str) {
    (&request.id, &request.name, &request.arguments)
}

#[test]
fn at_every_boundary_of_a_stream_exactly_the_whole_requests_are_there() {
    for form in WireForm::ALL {
        let frames = frames(form, Said::asking("I look.", calls()));
        let calls = calls();
        let expected: Vec<_> = calls
            .iter()
            .map(|call| {
                (
                    call.id.as_str(),
                    call.name.as_str(),
                    call.arguments.as_str(),
                )
            })
            .collect();
        let mut before = 0;
        for count in 0..=frames.len() {
            let read = read(&frames[..count]);
            let found: Vec<_> = read.requests.iter().map(plain).collect();
            // Never half a request: each is byte for byte what was asked for.
            assert_eq!(found, expected[..found.len()], "{form:?} {count}");
            assert!(found.len() >= before, "{form:?}: what is whole stays whole");
            before = found.len();
            let begun = |call: &&SaidCall| {
                let named = format!("\"{}\"", call.name);
                frames[..count]
                    .iter()
                    .any(|(_, data)| data.contains(&named))
            };
            let begun = calls.iter().filter(begun).count();
            assert!(
                found.len() + 1 >= begun,
                "{form:?} {count}: what came before the last that began is whole"
            );
            assert_eq!(
                read.thrown_away > 0,
                found.len() < begun,
                "{form:?} {count}: what is thrown away is counted"
            );
        }
        assert_eq!(before, 3, "{form:?}");
    }
}

#[test]
fn signatures_are_kept_with_the_request_that_they_came_with() {
    for form in [WireForm::Anthropic, WireForm::Gemini] {
        let read = read(&frames(form, Said::asking("", calls())));
        let [kept] = read.requests[0].signatures.as_slice() else {
            panic!("{form:?} {read:?}");
        };
        assert!(kept.contains("c2lnbmVk"), "{form:?} {kept}");
        assert!(read.requests[1].signatures.is_empty());
    }
}

fn chat(delta: &serde_json::Value, finish: Option<&str>) -> (Option<String>, String) {
    let event = json!({"choices": [{"delta": {"tool_calls": delta}, "finish_reason": finish}]});
    (None, event.to_string())
}

#[test]
fn pieces_of_requests_may_be_mixed_and_an_end_makes_all_of_them_whole() {
    let piece = |index: u64, text: &str| json!({"index": index, "function": {"arguments": text}});
    let first = |index: u64, id: &str| json!({"index": index, "id": id, "function": {"name": "list", "arguments": ""}});
    let frames = [
        chat(&json!([first(0, "a"), first(1, "b")]), None),
        chat(&json!([piece(1, "{\"x\":"), piece(0, "{")]), None),
        chat(&json!([piece(0, "}"), piece(1, "no")]), None),
    ];
    let found = read(&frames);
    assert_eq!(found.requests.len(), 1);
    assert_eq!(plain(&found.requests[0]), ("a", "list", "{}"));
    assert_eq!(found.thrown_away, 4);
    let ended = [&frames[..], &[chat(&json!([]), Some("tool_calls"))]].concat();
    assert_eq!(read(&ended).requests[1].arguments, "{\"x\":no");
    let cut = [&frames[..], &[chat(&json!([]), Some("length"))]].concat();
    assert_eq!(read(&cut).requests.len(), 1, "the rest was cut off");
}

#[test]
fn requests_with_one_index_and_ids_of_their_own_are_told_apart() {
    let whole = |id: &str| json!([{"index": 0, "id": id, "function": {"name": "list", "arguments": {"path": id}}}]);
    let found = read(&[
        chat(&whole("a"), None),
        chat(&whole("b"), Some("tool_calls")),
    ]);
    let ids: Vec<&str> = found
        .requests
        .iter()
        .map(|request| request.id.as_str())
        .collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(found.requests[1].arguments, r#"{"path":"b"}"#);
}

#[test]
fn a_response_that_says_what_it_asks_for_in_its_last_event_alone_is_read() {
    let item = json!({"type": "function_call", "call_id": "a", "name": "list", "arguments": ""});
    let last = json!({"type": "response.completed", "response": {"output": [item]}});
    let found = read(&[(None, last.to_string())]);
    assert_eq!(plain(&found.requests[0]), ("a", "list", "{}"));
}

proptest! {
    #[test]
    fn whatever_a_server_sends_nothing_panics_and_what_is_kept_is_bounded_by_it(
        places in proptest::collection::vec((any::<u64>(), 0..6_usize, "[{}\"a:]{0,6}"), 0..30)
    ) {
        let mut stream = ToolStream::default();
        let mut sent = 0;
        for (place, kind, text) in places {
            let piece = json!({"index": place, "id": text, "function": {"name": text, "arguments": text}});
            let item = json!({"type": "function_call", "call_id": text, "arguments": text});
            let (name, event) = match kind {
                0 => (None, json!({"choices": [{"delta": {"tool_calls": [piece]}}]})),
                1 => (None, json!({"choices": [{"delta": {"tool_calls": text}, "finish_reason": text}]})),
                2 => (Some("content_block_start"), json!({"type": "content_block_start", "index": place,
                    "content_block": {"type": "tool_use", "id": text}})),
                3 => (Some("content_block_stop"), json!({"type": "content_block_stop", "index": place})),
                4 => (Some("response.output_item.done"), json!({"type": "response.output_item.done",
                    "output_index": place, "item": item})),
                _ => (None, json!({"candidates": [{"content": {"parts": [{"functionCall": {"args": text}}]}}]})),
            };
            let event = event.to_string();
            sent += event.len();
            stream.read(name, &event);
            stream.read(name, &text);
        }
        stream.so_far();
        prop_assert!(stream.bytes() <= sent * 2);
    }
}
