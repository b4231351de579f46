//! The tools that a server lists.

use interrupts::store::Repeating;
use serde_json::json;
use tools::{CallEnd, CallLimits, McpConfig, McpServers, McpServersConfig, Verdict};

use super::stage::{Sdk, Setting, Stage, Way, finished};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_have_the_name_of_their_server_and_hints_are_told_as_its_word() {
    let stage = Stage::new(Sdk::Node, Way::Stdio).await;
    let specs = stage.executor.config().registry.specs();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        ["s__ask", "s__die", "s__hide", "s__ignore", "s__work"]
    );
    let work = specs.last().unwrap();
    assert_eq!(work.arguments["required"], json!(["name", "seconds"]));
    assert!(
        work.description.ends_with(
            "[A tool of the MCP server `s`, which says that it changes nothing and that doing it twice is the same as \
             once; nobody has checked that.]"
        ),
        "{}",
        work.description
    );
    assert_eq!(work.repeating, Repeating::AskPerson, "a hint is no promise");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_count_where_the_configuration_trusts_them() {
    let setting = Setting {
        more: "trust_hints = true\ntools = [\"work\", \"ignore\"]".to_owned(),
        ..Setting::default()
    };
    let stage = Stage::with(Sdk::Node, Way::Stdio, setting).await;
    let specs = stage.executor.config().registry.specs();
    let said: Vec<_> = specs
        .iter()
        .map(|spec| (spec.name.as_str(), spec.repeating))
        .collect();
    assert_eq!(
        said,
        [
            ("s__ignore", Repeating::AskPerson),
            ("s__work", Repeating::Idempotent)
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_says_it_failed_has_a_result_that_says_so() {
    let stage = Stage::new(Sdk::Python, Way::Stdio).await;
    let message = stage.call("fail", json!({})).await;
    let CallEnd::Finished { output } = &message.end else {
        panic!("{:?}", message.end);
    };
    assert_eq!(output.verdict, Verdict::Failed);
    assert!(
        output.text.contains("Error executing tool fail"),
        "{}",
        output.text
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_changes_is_read_again() {
    let mut stage = Stage::new(Sdk::Python, Way::Stdio).await;
    let mut changes = stage.servers.changes();
    changes.mark_unchanged();
    assert_eq!(finished(&stage.call("grow", json!({})).await), "grown");
    tokio::time::timeout(std::time::Duration::from_secs(10), changes.changed())
        .await
        .unwrap()
        .unwrap();
    stage.take_tools();
    assert_eq!(finished(&stage.call("grown", json!({})).await), "new");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_inherited_that_is_not_named() {
    // Cargo sets this one for tests, as somebody might set a secret.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let stage = Stage::new(Sdk::Python, Way::Stdio).await;
    let message = stage.call("variables", json!({})).await;
    let names: Vec<&str> = finished(&message).split(' ').collect();
    assert!(names.contains(&"LOG"), "{names:?}");
    for name in &names {
        let known = tools::ALLOWED_VARIABLES.contains(name)
            // What an interpreter sets for itself.
            || ["LOG", "MODULES", "LC_CTYPE"].contains(name);
        assert!(known, "{name} is inherited");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_of_calls_come_from_the_configuration() {
    let setting = Setting {
        more: "limits = { call = \"90s\" }\ntools = [\"work\"]".to_owned(),
        ..Setting::default()
    };
    let stage = Stage::with(Sdk::Node, Way::Stdio, setting).await;
    let mut limits = CallLimits::default();
    stage.servers.limit(&mut limits);
    let limits: Vec<_> = limits.by_tool.into_iter().collect();
    assert_eq!(limits[0].0.as_str(), "s__work");
    assert_eq!(limits[0].1, Some(std::time::Duration::from_secs(90)));
}

#[tokio::test]
async fn a_server_that_cannot_be_connected_is_reported_and_the_others_work() {
    let text = r#"
        [servers.absent]
        command = "/no/such/program"
        [servers.crashing]
        command = "sh"
        args = ["-c", "echo no licence >&2; exit 7"]
        [servers.silent]
        command = "sleep"
        args = ["1000"]
        limits = { start = "200ms" }
        [servers.nowhere]
        url = "http://127.0.0.1:9/mcp"
    "#;
    let config = McpConfig::from_toml(text, &|_name| None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let servers = McpServers::new(McpServersConfig {
        containment: crate::scene::containment(tools::WantedMechanism::Best),
        ..McpServersConfig::new(config, folder.path())
    });
    let failures = servers.connect().await;
    let said: Vec<String> = failures
        .iter()
        .map(|failure| failure.error.to_string())
        .collect();
    assert_eq!(said.len(), 4, "{said:?}");
    for (text, part) in said.iter().zip([
        "`absent` could not be connected: `/no/such/program` cannot be run",
        "it left with code 7; the end of its standard error:\nno licence",
        "took longer than 200ms to start; raise `limits.start`",
        "127.0.0.1:9",
    ]) {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(crate::census::with_word(folder.path().to_str().unwrap()).is_empty());
}
