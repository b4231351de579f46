//! What is sent, and what a whole answer becomes.

use interrupt_router::model::{LanguageModel, Message, ModelReply, TokenUsage};
use interrupt_router::schema::Dialect;
use interrupt_router::{Outcome, StopScope};
use llm::{ModelProfile, Provider, ProviderConfig, ProviderModel};
use serde_json::{Value, json};
use tests::providers::{Behaviour, WireForm};

use crate::calls::{ANSWER, Pieces, call, double, ending, limits, model};

#[tokio::test]
async fn a_whole_answer_arrives_in_pieces_and_with_its_cost() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form);
        let pieces = Pieces::new();
        let mut call = call(model.dialect());
        call.chunks = Some(pieces.clone());
        let outcome = model.call(call, &StopScope::new()).await.unwrap();
        let usage = TokenUsage {
            input: Some(11),
            output: Some(7),
        };
        let reply = ModelReply {
            tool_requests: Vec::new(),
            text: ANSWER.to_owned(),
            usage,
            cut_off: false,
        };
        assert_eq!(outcome, Outcome::Completed(reply), "{form:?}");
        assert_eq!(pieces.text(), ANSWER);
        pieces.reached(4).await;
    }
}

#[tokio::test]
async fn the_schema_arrives_as_it_was_given_and_the_provider_takes_it() {
    for form in WireForm::ALL {
        let double = double(form, [Behaviour::Answers]).await;
        let model = model(&double, form);
        let call = call(model.dialect());
        let sent = call.schema_text().to_owned();
        model.call(call, &StopScope::new()).await.unwrap();
        let received = double.received();
        let body = &received[0].body;
        assert_eq!(
            form.schema(body).map(Value::to_string),
            Some(sent.clone()),
            "{form:?}"
        );
        // Not only the same tree: the same bytes.
        assert!(received[0].text.contains(&sent), "{form:?}");
    }
}

#[tokio::test]
async fn the_conversation_arrives_in_order() {
    let double = double(WireForm::OpenAi, [Behaviour::Answers]).await;
    let model = model(&double, WireForm::OpenAi);
    model
        .call(call(model.dialect()), &StopScope::new())
        .await
        .unwrap();
    let expected = json!([
        {"role": "system", "content": "You look for things."},
        {"role": "user", "content": "Goal: find the answer"},
        {"role": "assistant", "content": "{}"},
        {"role": "user", "content": "That was empty."},
    ]);
    let body = &double.received()[0].body;
    assert_eq!(body["messages"], expected);
    assert_eq!(body["stream"], true);
    for form in WireForm::ALL {
        let double = crate::calls::double(form, [Behaviour::Answers]).await;
        let model = crate::calls::model(&double, form);
        model
            .call(call(model.dialect()), &StopScope::new())
            .await
            .unwrap();
        let texts = form.user_texts(&double.received()[0].body);
        assert_eq!(
            texts,
            ["Goal: find the answer", "That was empty."],
            "{form:?}"
        );
    }
    assert_eq!(body["response_format"]["json_schema"]["strict"], true);
}

/// Templates of Gemma and Mistral refuse a conversation in which somebody speaks twice in a row.
#[tokio::test]
async fn nobody_speaks_twice_in_a_row_to_a_server_of_ones_own() {
    let double = double(WireForm::OpenAi, [Behaviour::Answers]).await;
    let profile = ModelProfile {
        base_url: Some(double.address().to_owned()),
        dialect: Some(Dialect::Grammar),
        ..ModelProfile::default()
    };
    let model = ProviderModel::of_profile(&"openai:local".parse().unwrap(), &profile).unwrap();
    let mut asked = call(model.dialect());
    asked.messages.insert(1, Message::system("Be quick."));
    asked.messages.push(Message::user("Try again."));
    let _refused = model.call(asked, &StopScope::new()).await;
    let body = &double.received()[0].body;
    let expected = json!([
        {"role": "system", "content": "You look for things.\n\nBe quick."},
        {"role": "user", "content": "Goal: find the answer"},
        {"role": "assistant", "content": "{}"},
        {"role": "user", "content": "That was empty.\n\nTry again."},
    ]);
    assert_eq!(body["messages"], expected);
}

#[tokio::test]
async fn an_answer_at_the_length_limit_says_so() {
    for form in WireForm::ALL {
        let outcome = ending(form, Behaviour::ReachesLengthLimit).await.unwrap();
        assert!(outcome.completed().unwrap().cut_off, "{form:?}");
    }
}

#[tokio::test]
async fn a_models_name_that_ends_like_an_effort_is_sent_whole() {
    let double = double(WireForm::OpenAi, [Behaviour::Answers]).await;
    let model = ProviderModel::new(ProviderConfig {
        provider: Provider::OPENAI,
        model: "qwen-max".to_owned(),
        base_url: Some(double.address().to_owned()),
        key: Some(llm::Secret::new(tests::providers::RIGHT_KEY)),
        limits: limits(),
    })
    .unwrap();
    model
        .call(call(model.dialect()), &StopScope::new())
        .await
        .unwrap();
    let body = &double.received()[0].body;
    assert_eq!(body["model"], "qwen-max");
    assert_eq!(body.get("reasoning_effort"), None);
}
