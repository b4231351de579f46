use interrupt_router::model::{ToolOffer, ToolRequest};
use proptest::prelude::*;
use serde_json::{Value, json};
use tests::providers::{ProviderDouble, Said, SaidCall, WireForm};

use super::super::event_stream::{Event, EventReader, Frame};
use super::super::wire::Form;
use super::{Answer, Fault};

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

fn form(form: WireForm) -> Form {
    match form {
        WireForm::OpenAi => Form::ChatCompletions,
        WireForm::OpenAiResponses => Form::Responses,
        WireForm::Anthropic => Form::Anthropic,
        WireForm::Gemini => Form::Gemini,
    }
}

/// The events of a recorded stream.
fn events(form: WireForm, said: Said) -> Vec<Event> {
    let stream = ProviderDouble::recording(form, said);
    let frames = EventReader::default().read(stream.as_bytes()).unwrap();
    let event = |frame| match frame {
        Frame::Event(event) => Some(event),
        Frame::Nothing | Frame::Stray(_) => None,
    };
    frames.into_iter().filter_map(event).collect()
}

fn read(form: Form, events: &[Event]) -> Answer {
    let mut answer = Answer::new(form);
    for event in events {
        answer.read(event).unwrap();
    }
    answer
}

fn whole(form: Form, events: &[Event]) -> Vec<ToolRequest> {
    read(form, events).whole_calls(&[])
}

fn plain(request: &ToolRequest) -> (&str, &str, &str) {
    (&request.id, &request.name, &request.arguments)
}

#[test]
fn at_every_boundary_of_a_stream_exactly_the_whole_calls_are_there() {
    for wire in WireForm::ALL {
        let events = events(wire, Said::asking("I look.", calls()));
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
        for count in 0..=events.len() {
            let mut answer = read(form(wire), &events[..count]);
            if answer.end.is_some() {
                answer.finish(false);
            }
            let read = answer.whole_calls(&[]);
            let found: Vec<_> = read.iter().map(plain).collect();
            // Never half a call: each is byte for byte what was asked for.
            assert_eq!(found, expected[..found.len()], "{wire:?} {count}");
            assert!(found.len() >= before, "{wire:?}: what is whole stays whole");
            before = found.len();
            let begun = |call: &&SaidCall| {
                let named = format!("\"{}\"", call.name);
                events[..count]
                    .iter()
                    .any(|event| event.data.contains(&named))
            };
            let begun = calls.iter().filter(begun).count();
            assert!(
                found.len() + 1 >= begun,
                "{wire:?} {count}: what came before the last that began is whole"
            );
        }
        assert_eq!(before, 3, "{wire:?}");
    }
}

#[test]
fn signatures_are_kept_with_the_call_that_they_came_with() {
    for wire in [WireForm::Anthropic, WireForm::Gemini] {
        let read = whole(form(wire), &events(wire, Said::asking("", calls())));
        let [kept] = read[0].signatures.as_slice() else {
            panic!("{wire:?} {read:?}");
        };
        assert!(kept.contains("c2lnbmVk"), "{wire:?} {kept}");
        assert!(read[1].signatures.is_empty());
    }
}

fn event(data: &Value) -> Event {
    Event {
        data: data.to_string(),
        ..Event::default()
    }
}

fn chat(delta: &Value) -> Event {
    event(&json!({"choices": [{"delta": {"tool_calls": delta}, "finish_reason": null}]}))
}

fn piece(index: u64, text: &str) -> Value {
    json!({"index": index, "function": {"arguments": text}})
}

fn head(index: u64, id: &str) -> Value {
    json!({"index": index, "id": id, "function": {"name": "list", "arguments": ""}})
}

#[test]
fn pieces_of_calls_may_be_mixed_and_an_end_makes_all_of_them_whole() {
    let events = [
        chat(&json!([head(0, "a"), head(1, "b")])),
        chat(&json!([piece(1, "{\"x\":"), piece(0, "{")])),
        chat(&json!([piece(0, "}"), piece(1, "no")])),
    ];
    let mut answer = read(Form::ChatCompletions, &events);
    let found = answer.whole_calls(&[]);
    assert_eq!(found.len(), 1);
    assert_eq!(plain(&found[0]), ("a", "list", "{}"));
    answer.finish(true);
    assert_eq!(answer.whole_calls(&[]).len(), 1, "the rest was cut off");
    answer.finish(false);
    assert_eq!(answer.whole_calls(&[])[1].arguments, "{\"x\":no");
}

#[test]
fn calls_with_one_index_and_ids_of_their_own_are_told_apart() {
    let whole_call = |id: &str| json!([{"index": 0, "id": id, "function": {"name": "list", "arguments": {"path": id}}}]);
    let found = whole(
        Form::ChatCompletions,
        &[chat(&whole_call("a")), chat(&whole_call("b"))],
    );
    let found: Vec<_> = found.iter().map(plain).collect();
    let expected = [
        ("a", "list", r#"{"path":"a"}"#),
        ("b", "list", r#"{"path":"b"}"#),
    ];
    assert_eq!(found, expected);
}

#[test]
fn that_no_arguments_arrived_is_not_that_there_are_none() {
    let offer = |properties: Value| ToolOffer {
        name: "list".to_owned(),
        description: String::new(),
        arguments: json!({"type": "object", "properties": properties}),
    };
    let mut answer = read(Form::ChatCompletions, &[chat(&json!([head(0, "a")]))]);
    answer.finish(false);
    let takes_some = [offer(json!({"path": {"type": "string"}}))];
    assert!(answer.whole_calls(&takes_some).is_empty());
    let takes_none = answer.whole_calls(&[offer(json!({}))]);
    assert_eq!(plain(&takes_none[0]), ("a", "list", "{}"));
    assert!(answer.into_parts(&takes_some).is_err());
}

#[test]
fn a_response_that_says_what_it_asks_for_in_its_last_event_alone_is_read() {
    let item = json!({"type": "function_call", "call_id": "a", "name": "list", "arguments": "{}"});
    let last = event(&json!({"type": "response.completed", "response": {"output": [item]}}));
    let found = whole(Form::Responses, &[last]);
    assert_eq!(plain(&found[0]), ("a", "list", "{}"));
}

#[test]
fn arguments_for_a_call_that_never_began_are_a_fault() {
    let mut answer = read(Form::ChatCompletions, &[chat(&json!([head(0, "a")]))]);
    let orphan = answer.read(&chat(&json!([piece(1, "{}")])));
    assert_eq!(orphan, Err(Fault::Orphan));
}

proptest! {
    #[test]
    fn whatever_a_server_sends_nothing_panics_and_what_is_kept_is_bounded_by_it(
        places in proptest::collection::vec((any::<u64>(), 0..7_usize, "[{}\"a:]{0,6}"), 0..30)
    ) {
        for form in [Form::ChatCompletions, Form::Responses, Form::Anthropic, Form::Gemini] {
            let mut answer = Answer::new(form);
            let mut sent = 0;
            for (place, kind, text) in &places {
                let piece = json!({"index": place, "id": text, "function": {"name": text, "arguments": text}});
                let item = json!({"type": "function_call", "call_id": text, "arguments": text});
                let value = match kind {
                    0 => json!({"choices": [{"delta": {"content": text, "tool_calls": [piece]}}]}),
                    1 => json!({"choices": [{"delta": {"tool_calls": text}, "finish_reason": text}]}),
                    2 => json!({"type": "content_block_start", "index": place,
                        "content_block": {"type": "tool_use", "id": text}}),
                    3 => json!({"type": "content_block_stop", "index": place}),
                    4 => json!({"type": "response.output_item.done", "output_index": place, "item": item}),
                    5 => json!({"type": "response.output_text.done", "output_index": place, "text": text}),
                    _ => json!({"candidates": [{"content": {"parts": [{"functionCall": {"args": text}}]}}]}),
                };
                sent += value.to_string().len();
                let _fault = answer.read(&event(&value));
                let words = Event { data: text.clone(), ..Event::default() };
                let _fault = answer.read(&words);
            }
            answer.finish(false);
            let _read = answer.whole_calls(&[]);
            prop_assert!(answer.bytes() <= sent * 2);
        }
    }
}
