//! Tools over the wire forms: what is offered, what is asked for, and what comes of it.

use std::sync::Arc;

use interrupt_router::model::{
    LanguageModel, Message, ModelCall, ModelError, ModelReply, ToolOffer, ToolRequest,
};
use interrupt_router::{Outcome, StopScope};
use llm::{Provider, ProviderConfig, ProviderModel, Secret};
use serde_json::{Value, json};
use tests::providers::{Behaviour, ProviderDouble, RIGHT_KEY, Said, SaidCall, WireForm};

use crate::calls::{Pieces, call, limits, model, stop_now, talk};

pub(crate) fn offers() -> Arc<[ToolOffer]> {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}},
        "required": ["path"], "additionalProperties": false});
    // The name is one that the client library takes for a tool of the providers' own.
    ["read_file", "web_search"]
        .map(|name| ToolOffer {
            name: name.to_owned(),
            description: format!("What {name} does."),
            arguments: schema.clone(),
        })
        .into()
}

pub(crate) fn calls() -> Vec<SaidCall> {
    vec![
        SaidCall::new("call_a", "read_file", r#"{"path":"one.txt"}"#).signed("c2lnbmVk"),
        SaidCall::new("call_b", "web_search", r#"{"path":"two.txt"}"#),
    ]
}

pub(crate) async fn asking(form: WireForm, said: Said) -> ProviderDouble {
    let answering = move |received: &tests::providers::Received| {
        if form.tool_results(&received.body).is_empty() {
            said.clone()
        } else {
            Said::from("I see.")
        }
    };
    ProviderDouble::answering(form, [Behaviour::Answers], answering)
        .await
        .unwrap()
}

fn chat_call(messages: Vec<Message>) -> ModelCall {
    ModelCall {
        tools: offers(),
        ..talk(messages)
    }
}

async fn reply(model: &dyn LanguageModel, call: ModelCall) -> Result<ModelReply, ModelError> {
    let outcome = model.call(call, &StopScope::new()).await?;
    Ok(outcome.completed().unwrap())
}

/// The tools of a request, each with its name and the schema of its arguments.
fn offered(form: WireForm, body: &Value) -> Vec<(String, Value)> {
    let (list, name, schema) = match form {
        WireForm::OpenAi => ("/tools", "/function/name", "/function/parameters"),
        WireForm::OpenAiResponses => ("/tools", "/name", "/parameters"),
        WireForm::Anthropic => ("/tools", "/name", "/input_schema"),
        WireForm::Gemini => (
            "/tools/0/functionDeclarations",
            "/name",
            "/parametersJsonSchema",
        ),
    };
    let tools = body.pointer(list).and_then(Value::as_array);
    let at = |tool: &Value, pointer| tool.pointer(pointer).cloned().unwrap_or_default();
    let one = |tool| {
        (
            at(tool, name).as_str().unwrap().to_owned(),
            at(tool, schema),
        )
    };
    tools.into_iter().flatten().map(one).collect()
}

#[tokio::test]
async fn tools_are_offered_and_asked_for_at_once_and_their_results_are_taken() {
    for form in WireForm::ALL {
        let double = asking(form, Said::asking("I look.", calls())).await;
        let model = model(&double, form);
        let mut messages = vec![Message::user("What is in there?")];
        let first = reply(&model, chat_call(messages.clone())).await.unwrap();
        assert_eq!(first.text, "I look.");
        let expected: Vec<_> = calls()
            .into_iter()
            .map(|call| (call.id, call.name, call.arguments))
            .collect();
        let found: Vec<_> = first
            .tool_requests
            .iter()
            .cloned()
            .map(|asked| (asked.id, asked.name, asked.arguments))
            .collect();
        assert_eq!(found, expected, "{form:?}");

        let sent = offered(form, &double.received()[0].body);
        let schema = offers()[0].arguments.clone();
        let named = |name: &str| (name.to_owned(), schema.clone());
        assert_eq!(sent, [named("read_file"), named("web_search")], "{form:?}");

        messages.push(Message::asking(first.text, first.tool_requests));
        messages.push(Message::result("call_a", "one"));
        messages.push(Message::result("call_b", "two"));
        messages.push(Message::user("And now?"));
        // The double refuses what its provider would.
        let second = reply(&model, chat_call(messages)).await.unwrap();
        assert_eq!(second.text, "I see.", "{form:?}");
        let body = &double.received()[1].body;
        assert_eq!(form.tool_results(body), ["one", "two"], "{form:?}");
        if matches!(form, WireForm::Anthropic | WireForm::Gemini) {
            let sent = body.to_string();
            assert_eq!(sent.matches("c2lnbmVk").count(), 1, "{form:?}: as it came");
        }
    }
}

#[tokio::test]
async fn a_call_for_an_answer_that_fits_a_schema_may_ask_for_tools_first() {
    for form in WireForm::ALL {
        let double = asking(form, Said::asking("", calls())).await;
        let model = model(&double, form);
        let call = ModelCall {
            tools: offers(),
            ..call(model.dialect())
        };
        let schema = call.schema.as_deref().unwrap().value().clone();
        let outcome = model.call(call, &StopScope::new()).await.unwrap();
        let Outcome::Completed(reply) = outcome else {
            panic!("{form:?}");
        };
        assert_eq!(reply.text, "");
        assert_eq!(reply.tool_requests.len(), 2, "{form:?}");
        let body = &double.received()[0].body;
        assert_eq!(offered(form, body).len(), 2, "{form:?}");
        assert_eq!(form.schema(body), Some(&schema), "{form:?}");
    }
}

#[tokio::test]
async fn where_a_provider_refuses_a_schema_beside_tools_it_goes_into_the_instructions() {
    let places = [
        ("gemini", "gemini-2.5-flash", WireForm::Gemini),
        ("ollama", "some-model", WireForm::OpenAi),
    ];
    for (provider, name, form) in places {
        let double = asking(form, Said::asking("", calls())).await;
        let model = ProviderModel::new(ProviderConfig {
            provider: provider.parse::<Provider>().unwrap(),
            model: name.to_owned(),
            base_url: Some(double.address().to_owned()),
            key: Some(Secret::new(RIGHT_KEY)),
            limits: limits(),
        })
        .unwrap();
        let plain = call(model.dialect());
        let with_tools = ModelCall {
            tools: offers(),
            ..plain.clone()
        };
        for (call, has_tools) in [(plain, false), (with_tools, true)] {
            let text = call.schema_text().to_owned();
            model.call(call, &StopScope::new()).await.unwrap();
            let received = double.received().pop().unwrap();
            assert_eq!(form.schema(&received.body).is_some(), !has_tools, "{name}");
            let instructed = received
                .body
                .to_string()
                .contains(&json!(text).to_string()[1..40]);
            assert_eq!(instructed, has_tools, "{name}");
        }
    }
}

#[tokio::test]
async fn odd_requests_become_a_history_that_every_provider_takes() {
    let odd = vec![
        ToolRequest::new("", "no such tool!", "not json"),
        ToolRequest::new("same", "read_file", "[1]"),
        ToolRequest::new("same", "", ""),
        ToolRequest::new("ü".repeat(80), "x".repeat(200), r#"{"deep":{}}"#),
    ];
    for form in WireForm::ALL {
        let double = asking(form, Said::from("I see.")).await;
        let model = model(&double, form);
        let mut messages = vec![Message::user("Go.")];
        for _ in 0..2 {
            messages.push(Message::asking("", odd.clone()));
            let results = odd.iter().enumerate();
            messages.extend(
                results.map(|(index, asked)| Message::result(asked.id.as_str(), index.to_string())),
            );
        }
        for tools in [offers(), Arc::default()] {
            let call = ModelCall {
                tools,
                ..talk(messages.clone())
            };
            reply(&model, call).await.unwrap();
            let body = &double.received().pop().unwrap().body;
            let results = form.tool_results(body);
            assert_eq!(
                results,
                ["0", "1", "2", "3", "0", "1", "2", "3"],
                "{form:?}"
            );
        }
    }
}

#[tokio::test]
async fn tools_are_read_though_none_was_offered() {
    for form in WireForm::ALL {
        let double = asking(form, Said::asking("", calls())).await;
        let model = model(&double, form);
        let call = talk(vec![Message::user("Go.")]);
        let asked = reply(&model, call).await.unwrap().tool_requests;
        assert_eq!(asked.len(), 2, "{form:?}");
    }
}

#[tokio::test]
async fn an_answer_cut_off_at_its_length_limit_keeps_the_whole_requests() {
    for form in WireForm::ALL {
        if form == WireForm::Gemini {
            // It sends no half of a call.
            continue;
        }
        let said = Said::asking("I look.", calls());
        let cut = [Behaviour::ReachesLengthLimit];
        let double = ProviderDouble::answering(form, cut, move |_| said.clone());
        let double = double.await.unwrap();
        let model = model(&double, form);
        let messages = vec![Message::user("Go.")];
        let reply = reply(&model, chat_call(messages)).await.unwrap();
        assert!(reply.cut_off);
        let ids: Vec<_> = reply.tool_requests.iter().map(|asked| &asked.id).collect();
        assert_eq!(ids, ["call_a"], "{form:?}");
    }
}

#[tokio::test]
async fn endless_arguments_reach_the_limit_of_an_answer() {
    let long = format!(r#"{{"path":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    for form in WireForm::ALL {
        let call = SaidCall::new("a", "read_file", &long);
        let double = asking(form, Said::asking("", [call])).await;
        let model = model(&double, form);
        let ended = reply(&model, chat_call(vec![Message::user("Go.")])).await;
        assert!(
            matches!(ended, Err(ModelError::TooLong { .. })),
            "{form:?} {ended:?}"
        );
    }
}

#[tokio::test]
async fn an_interrupt_keeps_whole_requests_and_counts_the_pieces_of_others() {
    for form in WireForm::ALL {
        let recorded = ProviderDouble::recording(form, Said::asking("I look.", calls()));
        // In the midst of the second request, or of what comes after both.
        let place = recorded.rfind("web_search").unwrap() + 60;
        let said = Said::asking("I look.", calls());
        let stalls = [Behaviour::StallsAtByte(place)];
        let double = ProviderDouble::answering(form, stalls, move |_| said.clone());
        let double = double.await.unwrap();
        let model = model(&double, form);
        let mut kept = 0;
        // Requests are told to nobody before the end, so this looks until the first is there.
        for _ in 0..200 {
            let pieces = Pieces::new();
            let call = ModelCall {
                chunks: Some(pieces.clone()),
                ..chat_call(vec![Message::user("Go.")])
            };
            let scope = StopScope::new();
            let (outcome, ()) = tokio::join!(model.call(call, &scope), async {
                pieces.reached(2).await;
                tokio::task::yield_now().await;
                stop_now(&scope);
            });
            let Outcome::Interrupted { partial, .. } = outcome.unwrap() else {
                panic!("{form:?}");
            };
            for (asked, said) in partial.tool_requests.iter().zip(calls()) {
                assert_eq!((&asked.id, &asked.arguments), (&said.id, &said.arguments));
            }
            kept = kept.max(partial.tool_requests.len());
            if kept > 0 {
                break;
            }
        }
        let expected = usize::from(form != WireForm::Gemini);
        assert!(kept >= expected, "{form:?}");
    }
}

/// What providers were seen to refuse, and one that cannot be rewritten.
fn refused_offers() -> Vec<ToolOffer> {
    let cases = include_str!("../../../routing-core/src/schema/tests/refused-tool-schemas.json");
    let cases: serde_json::Map<String, Value> = serde_json::from_str(cases).unwrap();
    let no_object = ("no_object".to_owned(), json!({"type": "string"}));
    let all = cases.into_iter().chain([no_object]);
    all.map(|(name, arguments)| ToolOffer {
        name,
        description: "Does it.".to_owned(),
        arguments,
    })
    .collect()
}

#[tokio::test]
async fn a_schema_that_a_provider_refuses_breaks_no_call() {
    for form in WireForm::ALL {
        let double = asking(form, Said::from("I see.")).await;
        let model = model(&double, form);
        let call = ModelCall {
            tools: refused_offers().into(),
            ..talk(vec![Message::user("Go.")])
        };
        // The double refuses what its provider would.
        assert_eq!(
            reply(&model, call).await.unwrap().text,
            "I see.",
            "{form:?}"
        );
        let sent = offered(form, &double.received()[0].body);
        let names: Vec<&str> = sent.iter().map(|(name, _schema)| name.as_str()).collect();
        let expected = [
            "top_any_of",
            "one_of_without_type",
            "no_type",
            "draft_04",
            "odd_names",
        ];
        assert_eq!(names, expected, "{form:?}");
    }
}

#[test]
fn what_helps_against_a_refused_tool_is_about_the_tool() {
    for detail in [
        "tools.0.custom.input_schema.type: Field required",
        "Invalid schema for function 'a': schema must have type 'object'",
        "GenerateContentRequest.tools[0].function_declarations[0].name: invalid",
    ] {
        let error = ModelError::Rejected {
            status: 400,
            detail: detail.to_owned(),
        };
        let hint = llm::hint(&error);
        assert!(hint.contains("leave the tool out"), "{detail}: {hint}");
    }
}
