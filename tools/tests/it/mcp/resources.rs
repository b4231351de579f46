//! The resources of a server, which agents read with tools.

use interrupts::store::Repeating;
use serde_json::json;

use super::stage::{Setting, Stage, finished, modules, source};

async fn library(more: &str) -> Stage {
    let table = format!(
        "command = \"python3\"\nargs = [{}]\n{more}",
        json!(source("library.py"))
    );
    let folder = tempfile::tempdir().unwrap();
    Stage::of(&table, &Setting::default(), folder).await
}

fn names(stage: &Stage) -> Vec<String> {
    let specs = stage.executor.config().registry.specs();
    let names = specs.iter().map(|spec| spec.name.as_str().to_owned());
    names.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_has_resources_alone_offers_the_tools_that_read_them() {
    let stage = library("").await;
    assert_eq!(
        names(&stage),
        [
            "s__list_resource_templates",
            "s__list_resources",
            "s__read_resource"
        ]
    );
    for spec in stage.executor.config().registry.specs() {
        assert_eq!(spec.repeating, Repeating::Idempotent, "{}", spec.name);
        assert!(
            spec.description
                .ends_with("[Of the MCP server `s`. It only reads.]")
        );
    }
    let first = stage.call("list_resources", json!({})).await;
    assert_eq!(
        finished(&first),
        "book://a (a, text/plain): A book\nbook://b (b, text/plain): A book\n\
         [There are more: ask again with the cursor \"next\".]"
    );
    let rest = stage
        .call("list_resources", json!({"cursor": "next"}))
        .await;
    assert_eq!(finished(&rest), "book://c (c, text/plain): A book");
    let forms = stage.call("list_resource_templates", json!({})).await;
    assert_eq!(finished(&forms), "There are none.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resource_is_read_and_what_is_no_text_is_described() {
    let stage = library("").await;
    let read = async |uri: &str| stage.call("read_resource", json!({"uri": uri})).await;
    assert_eq!(
        finished(&read("book://a").await),
        "[the resource book://a:]\nonce upon a time"
    );
    assert_eq!(
        finished(&read("book://b").await),
        "[the resource book://b, image/png, 5 bytes, which cannot be shown as text]"
    );
    assert_eq!(
        finished(&read("book://c").await),
        "[a resource of 31 bytes, of a kind that is not known here]\n[the resource book://c:]\nthe end"
    );
    let gone = read("book://d").await.text();
    assert!(gone.contains("not here"), "{gone}");
    let without = stage.call("read_resource", json!({})).await.text();
    assert!(without.contains("uri"), "{without}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_configuration_chooses_among_them_too() {
    let stage = library("tools = [\"read_resource\"]").await;
    assert_eq!(names(&stage), ["s__read_resource"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_of_the_reference_server_are_listed_and_read() {
    let program = format!(
        "{}/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
        modules()
    );
    let table = format!("command = \"node\"\nargs = [{}, \"stdio\"]", json!(program));
    let stage = Stage::of(&table, &Setting::default(), tempfile::tempdir().unwrap()).await;
    let all = stage.call("list_resources", json!({})).await;
    let line = finished(&all).lines().next().unwrap();
    let uri = line.split(' ').next().unwrap();
    let read = stage.call("read_resource", json!({"uri": uri})).await;
    let text = finished(&read);
    assert!(
        text.starts_with(&format!("[the resource {uri}:]\n")),
        "{text}"
    );
    let forms = stage.call("list_resource_templates", json!({})).await;
    assert!(finished(&forms).contains('{'), "{forms:?}");
}
