//! What is served, beside what the description says is served: the status and the media type of each answer.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::house::House;
use crate::rights::{gaps, operations};
use crate::scene::{open_question, running};

/// Each media type that the description names for an answer, and those that clients of this kind of interface ask for.
fn asked_for(api: &Value) -> BTreeSet<String> {
    let others = [
        "*/*",
        "application/x-ndjson",
        "application/jsonl",
        "text/html",
        "text/plain",
    ];
    let mut types: BTreeSet<String> = others.map(str::to_owned).into();
    for item in api["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            for answer in operation["responses"].as_object().unwrap().values() {
                types.extend(types_of(answer));
            }
        }
    }
    types
}

fn types_of(answer: &Value) -> BTreeSet<String> {
    let types = answer["content"].as_object();
    types
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

/// What an operation answers with by its description: the media types of each status.
fn described(operation: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let answers = operation["responses"].as_object().unwrap().iter();
    answers
        .map(|(status, answer)| (status.clone(), types_of(answer)))
        .collect()
}

/// The media type without its parameters; empty where nothing is answered.
fn essence(response: &reqwest::Response) -> String {
    let whole = response.headers().get("content-type");
    let whole = whole.map_or("", |it| it.to_str().unwrap());
    whole.split(';').next().unwrap().trim().to_owned()
}

#[tokio::test]
async fn every_answer_has_a_status_and_a_media_type_that_the_description_names() {
    // As fast as it goes, by one caller.
    let house = House::with(|config| config.limits.request_burst = NonZeroU32::MAX).await;
    let run = running(&*house.store, None).await;
    let asked = open_question(&*house.store, &run).await;
    let api = server::openapi();
    let mut unsaid = Vec::new();
    for (method, path, operation) in operations(&api, &gaps(&run, &asked)) {
        let described = described(&operation);
        let (mut served, mut succeeded) = (BTreeSet::new(), false);
        for accept in asked_for(&api) {
            let request = house.client.request(method.clone(), house.url(&path));
            let request = request
                .bearer_auth(&house.tokens["admin"])
                .header("accept", &accept);
            let request = match method {
                Method::GET => request,
                // Nothing is changed: what is asked is never the right thing.
                _ => request
                    .header("content-type", "application/json")
                    .body("{\"nothing\": ["),
            };
            // Only the head is read: a stream has no end.
            let response = request.send().await.unwrap();
            let (status, essence) = (response.status(), essence(&response));
            assert_ne!(
                status,
                StatusCode::TOO_MANY_REQUESTS,
                "{path} was not looked at"
            );
            let named = described.get(status.as_str());
            // Of what is refused, all is said together.
            let refused = status.is_client_error().then(|| described.get("default"));
            let types = named.or(refused.flatten());
            if !types.is_some_and(|types| {
                types.contains(&essence) || types.is_empty() && essence.is_empty()
            }) {
                unsaid.push(json!([
                    method.as_str(),
                    path,
                    accept,
                    status.as_u16(),
                    essence
                ]));
            }
            if status.is_success() {
                succeeded = true;
                served.insert(essence);
            }
        }
        let said = described
            .iter()
            .filter(|(status, _)| status.starts_with('2'));
        for unserved in said
            .flat_map(|(_, types)| types)
            .filter(|it| succeeded && !served.contains(*it))
        {
            unsaid.push(json!([method.as_str(), path, "never serves", unserved]));
        }
    }
    assert!(unsaid.is_empty(), "{:#}", Value::Array(unsaid));
}
