//! The file that says which servers there are.

use std::ffi::OsString;
use std::time::Duration;

use tools::{McpConfig, McpServers, McpServersConfig, ServerName, ServerTransport};

fn read(text: &str) -> Result<McpConfig, String> {
    let variables = |name: &str| (name == "TOKEN").then(|| OsString::from("hunter2"));
    McpConfig::from_toml(text, &variables).map_err(|error| error.to_string())
}

#[test]
fn a_program_and_an_address_are_read_with_their_limits() {
    let config = read(
        r#"
        [servers.files]
        command = "npx"
        args = ["-y", "files"]
        env = { MODE = "fast", FILES_TOKEN = { from = "TOKEN" } }
        tools = ["read"]
        limits = { start = "1m", call = "none", cancel = "500ms", restarts = 1 }
        [servers.web]
        url = "https://example.org/mcp"
        headers = { Authorization = { from = "TOKEN", prefix = "Bearer " } }
        "#,
    )
    .unwrap();
    let files = &config.servers[&ServerName::new("files").unwrap()];
    assert_eq!(files.limits.start, Duration::from_secs(60));
    assert_eq!(files.limits.call, None);
    assert_eq!(files.limits.cancel, Duration::from_millis(500));
    let ServerTransport::Process(program) = &files.reach else {
        panic!("{files:?}");
    };
    assert!(
        program
            .environment
            .variables()
            .any(|(name, value)| name == "FILES_TOKEN" && value == "hunter2")
    );
    let web = &config.servers[&ServerName::new("web").unwrap()];
    let ServerTransport::Http(address) = &web.reach else {
        panic!("{web:?}");
    };
    assert_eq!(address.headers["authorization"], "Bearer hunter2");
}

#[test]
fn no_secret_is_shown() {
    let config = read(
        r#"
        [servers.files]
        command = "npx"
        env = { FILES_TOKEN = { from = "TOKEN" }, OTHER = "swordfish" }
        [servers.web]
        url = "https://example.org/mcp"
        headers = { Authorization = { from = "TOKEN" }, X-Key = "swordfish" }
        "#,
    );
    let shown = format!("{config:?}");
    assert!(
        shown.contains("FILES_TOKEN") && shown.contains("authorization"),
        "{shown}"
    );
    assert!(
        !shown.contains("hunter2") && !shown.contains("swordfish"),
        "{shown}"
    );
    for text in [
        "[servers.s]\ncommand = \"a\"\nargs = \"swordfish\"",
        "[servers.s]\nurl = \"https://a\"\nheaders = \"swordfish\"",
        "[servers.s]\nurl = \"https://a\"\nheaders = { X-Key = \"sword\\nfish\" }",
        "[servers.s]\ncommand = \"a\"\nenv = { KEY = \"swordfish }",
        "[servers.s]\nurl = \"https://me:swordfish@a\"",
    ] {
        let error = read(text).unwrap_err();
        assert!(!error.contains("fish"), "{error}");
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_its_remedy() {
    for (text, parts) in [
        (
            "[servers.s]\ncommand = \"a\"\nargz = []",
            &["line 3: servers.s", "argz"][..],
        ),
        ("[servers.s]", &["servers.s.command", "give `command`"]),
        (
            "[servers.s]\ncommand = \"a\"\nurl = \"https://b\"",
            &["servers.s.url", "give one of the two"],
        ),
        (
            "[servers.s]\nurl = \"ftp://b\"",
            &["servers.s.url", "neither http nor https"],
        ),
        (
            "[servers.s]\nurl = \"https://b\"\nargs = []",
            &["servers.s.args", "remove it"],
        ),
        (
            "[servers.s]\ncommand = \"a\"\nenv = { KEY = { from = \"NOT_SET\" } }",
            &["servers.s.env.KEY", "`NOT_SET` is not set", "set `NOT_SET`"],
        ),
        (
            "[servers.s]\nurl = \"https://b\"\nheaders = { Mcp-Session-Id = \"1\" }",
            &["servers.s.headers.Mcp-Session-Id", "the protocol sets it"],
        ),
        (
            "[servers.s]\ncommand = \"a\"\nlimits = { call = \"soon\" }",
            &["line 3: servers.s.limits.call: `soon`", "`30s`"],
        ),
        (
            "[servers.s]\ncommand = \"a\"\nlimits = { quiet = \"5s\", cancel = \"1s\" }",
            &["servers.s.limits.quiet", "raise `limits.cancel`"],
        ),
        (
            "[servers.a__b]\ncommand = \"a\"",
            &["line 1", "a__b", "without `__`"],
        ),
    ] {
        let error = read(text).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[servers.s]").unwrap();
    let error = McpConfig::read(file.path()).unwrap_err().to_string();
    let place = format!("{}: servers.s.command: ", file.path().display());
    assert!(error.starts_with(&place), "{error}");
}

#[test]
fn the_order_of_the_servers_is_that_of_the_file() {
    let config = read(
        "[servers.zoo]\nurl = \"https://zoo/mcp\"\n[servers.ark]\nurl = \"https://ark/mcp\"\n\
         [servers.zoo.login]\nport = 7000\n[servers.bay]\nurl = \"https://bay/mcp\"\n",
    )
    .unwrap();
    let servers = McpServers::new(McpServersConfig::new(config, "."));
    let places = ["zoo__a", "ark__a", "bay__a", "shell"].map(|tool| servers.place_of(tool));
    assert_eq!(places, [Some(0), Some(1), Some(2), None]);
}
