//! The reference of the interface: all of the description, and nothing that it does not say.

use std::collections::BTreeSet;

use interrupts::life::Role;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::house::{House, problem};
use crate::page::Browser;
use crate::rights::roles_of;
use crate::scene::{checkpoint, open_question, running};
use crate::socket::Socket;

/// The reference, as somebody reads it whom nobody knows.
async fn reference(house: &House) -> String {
    let response = house.client.get(house.url("/docs")).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    response.text().await.unwrap()
}

/// The part of the page that an element with an id begins, to the end of its article.
fn article<'page>(page: &'page str, id: &str) -> &'page str {
    let start = format!("<h3 id=\"{id}\">");
    let rest = page.split(&start).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{start} is not there"));
    rest.split("</article>").next().unwrap()
}

/// What somebody reads of a part, with its code in backticks as the description has it.
fn read(part: &str) -> String {
    let mut read = String::new();
    for piece in part.split('<') {
        let (tag, text) = piece.split_once('>').unwrap_or(("", piece));
        if matches!(tag, "code" | "/code") {
            read.push('`');
        }
        read.push_str(text);
    }
    for (entity, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ] {
        read = read.replace(entity, character);
    }
    read
}

fn operations(api: &Value) -> Vec<(String, &Value)> {
    let mut operations = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            operations.push((format!("{} {path}", method.to_uppercase()), operation));
        }
    }
    operations
}

#[tokio::test]
async fn every_operation_is_there_with_its_meaning_its_roles_its_parameters_and_its_answers() {
    let house = House::open().await;
    let page = reference(&house).await;
    let api = server::openapi();
    let operations = operations(&api);
    assert!(operations.len() > 30, "{}", operations.len());
    let shown = page.matches("data-testid=\"operation\"").count();
    assert_eq!(shown, operations.len());
    for (name, operation) in operations {
        let id = operation["operationId"].as_str().unwrap();
        assert!(
            page.contains(&format!("href=\"#{id}\">{name}</a>")),
            "{name}"
        );
        let part = article(&page, id);
        let said = read(part);
        let summary = operation["summary"].as_str().unwrap();
        for text in [&*name, summary] {
            assert!(said.contains(text), "{name}, {text}: {said}");
        }
        let who = match operation["x-right"].as_str() {
            Some(right) => format!(
                "Needs the right to {right}: {}.",
                roles_of(right).join(", ")
            ),
            None => "no token is needed".to_owned(),
        };
        assert!(said.contains(&who), "{name}, {who}: {said}");
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let (parameter_name, place) = (
                parameter["name"].as_str().unwrap(),
                parameter["in"].as_str().unwrap(),
            );
            let needed = match parameter["required"].as_bool() {
                Some(true) => ", needed: ",
                _ => ": ",
            };
            let text = format!("`{parameter_name}`in the {place}{needed}");
            assert!(said.contains(&text), "{name}, {text}: {said}");
            let meaning = parameter["description"].as_str().unwrap_or_default();
            assert!(said.contains(meaning), "{name}, {meaning}: {said}");
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let status = match status.as_str() {
                "default" => "Otherwise".to_owned(),
                status => format!("`{status}`"),
            };
            assert!(said.contains(&status), "{name}, {status}: {said}");
            names_schemas(part, answer);
        }
        names_schemas(part, &operation["requestBody"]);
    }
}

/// What a body is made of is a link to where it stands.
fn names_schemas(part: &str, body: &Value) {
    for (media, content) in body["content"].as_object().into_iter().flatten() {
        assert!(
            part.contains(&format!("<code>{media}</code>")),
            "{media}: {part}"
        );
        if let Some(of) = content["schema"]["$ref"].as_str() {
            let name = of.rsplit('/').next().unwrap();
            assert!(
                part.contains(&format!("href=\"#schema-{name}\"")),
                "{name}: {part}"
            );
        }
    }
}

#[tokio::test]
async fn every_schema_is_there_with_its_fields_and_every_link_leads_somewhere() {
    let house = House::open().await;
    let page = reference(&house).await;
    let api = server::openapi();
    for (name, schema) in api["components"]["schemas"].as_object().unwrap() {
        let part = article(&page, &format!("schema-{name}"));
        let said = read(part);
        let meaning = schema["description"].as_str().unwrap_or_default();
        assert!(said.contains(meaning), "{name}, {meaning}: {said}");
        for (field, about) in schema["properties"].as_object().into_iter().flatten() {
            let text = format!("<dt><code>{field}</code></dt>");
            assert!(part.contains(&text), "{name}, {text}: {part}");
            let needed = schema["required"].as_array();
            let needed = needed.is_some_and(|needed| needed.contains(&json!(field)));
            let after = part.split(&text).nth(1).unwrap();
            let after = after.split("</dd>").next().unwrap();
            assert_eq!(
                after.contains("required: "),
                needed,
                "{name}.{field}: {after}"
            );
            let meaning = about["description"].as_str().unwrap_or_default();
            assert!(read(after).contains(meaning), "{name}.{field}: {after}");
        }
        for value in schema["enum"].as_array().into_iter().flatten() {
            assert!(
                said.contains(&format!("`{value}`")),
                "{name}, {value}: {said}"
            );
        }
        // As it is, for those who want all of it.
        let json = read(part.split("<pre>").nth(1).unwrap());
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(&json, schema, "{name}");
    }
    let ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|part| part.split('"').next().unwrap())
        .collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "each id stands once");
    for part in page.split("href=\"#").skip(1) {
        let id = part.split('"').next().unwrap();
        assert!(known.contains(id), "#{id}");
    }
    for code in api["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
        .as_array()
        .unwrap()
    {
        let row = format!("<dt><code>{}</code></dt>", code.as_str().unwrap());
        assert!(page.contains(&row), "{row}");
    }
}

/// What the reference says of the live feed, from a heading on.
fn of_feed<'page>(page: &'page str, heading: &str) -> &'page str {
    let start = format!("<h3 id=\"{heading}\">");
    let part = page.split(&start).nth(1).unwrap();
    part.split("<h").next().unwrap()
}

#[tokio::test]
async fn every_event_that_is_told_is_in_the_reference() {
    let house = House::open().await;
    let page = reference(&house).await;
    let listed = of_feed(&page, "events");
    let run = running(&*house.store, None).await;
    open_question(&*house.store, &run).await;
    checkpoint(&*house.store, &run).await;
    let told = house.read(&format!("/v1/runs/{}/events", run.id)).await;
    let told = told["events"].as_array().unwrap();
    let types: BTreeSet<&str> = told
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert!(types.len() > 5, "{types:?}");
    for name in types {
        let row = format!("<dt><code>{name}</code></dt>");
        assert!(listed.contains(&row), "{name}");
    }
}

#[tokio::test]
async fn every_frame_and_every_event_that_the_reference_names_is_accepted() {
    let house = House::open().await;
    let page = reference(&house).await;
    let frames: Vec<&str> = of_feed(&page, "frames")
        .split("<dt><code>")
        .skip(1)
        .map(|frame| frame.split('<').next().unwrap())
        .collect();
    assert!(frames.len() > 6, "{frames:?}");
    let mut socket = Socket::open(&house, "admin").await;
    let unknown = "is no type of a frame";
    // Nothing is answered to a pong.
    for frame in frames.iter().filter(|frame| **frame != "pong") {
        let frame = json!({"type": frame, "id": "1", "payload": {}}).to_string();
        socket.send(&frame).await;
        let answer = socket.text().await.unwrap();
        assert!(!answer.contains(unknown), "{frame}: {answer}");
    }
    socket.send(r#"{"type":"shout","id":"1"}"#).await;
    let answer = socket.text().await.unwrap();
    assert!(answer.contains(unknown), "{answer}");
    // Of events the server itself says which ones it takes.
    let event =
        json!({"specversion": "1.0", "id": "1", "source": "/test", "type": "shout", "data": {}});
    let sent = house
        .client
        .post(house.url("/v1/events"))
        .bearer_auth(&house.tokens["admin"])
        .header("content-type", "application/cloudevents+json")
        .body(event.to_string());
    let refused = problem(sent.send().await.unwrap(), StatusCode::UNPROCESSABLE_ENTITY).await;
    let accepted: Vec<&str> = of_feed(&page, "events-in")
        .split("<li><code>")
        .skip(1)
        .map(|name| name.split('<').next().unwrap())
        .collect();
    assert_eq!(refused["types"], json!(accepted));
}

#[tokio::test]
async fn anybody_reads_the_reference_and_whoever_is_known_has_the_way_back() {
    let house = House::open().await;
    let page = reference(&house).await;
    assert!(page.contains("href=\"/openapi.json\""), "{page}");
    assert!(
        !page.contains("aria-label=\"Main\""),
        "there is nothing of the house in it"
    );
    for outside in ["src=\"http", "href=\"http", "src=\"//", "<style", " style="] {
        assert!(!page.contains(outside), "{outside}");
    }
    let browser = Browser::of(&house, "alex", Role::Observer).await;
    let (status, page) = browser.get("/docs").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("alex (viewer)"));
    assert!(page.contains("<a href=\"/docs\" aria-current=\"page\">"));
}
