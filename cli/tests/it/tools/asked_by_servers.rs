//! What MCP servers ask while they work on calls: by whom it is answered, and what becomes of it where nobody can.

use std::process::Stdio;

use serde_json::json;

use super::{Place, data};
use crate::program::{Ended, end, end_with_input, lines, spawn, until};
use crate::screen::{on_a_terminal, press, read_and_press};
use crate::watching::start_with;

/// A server of one tool, which asks a person before it answers. It speaks the protocol by hand, a message a line.
const ASKING_SERVER: &str = r#"
import json, sys

def log(line):
    with open(sys.argv[1], "a") as file:
        file.write(line + "\n")

def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()

call = None
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        say({"id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}},
            "serverInfo": {"name": "desk", "version": "1"}}})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [{"name": "greet", "description": "greets somebody",
            "annotations": {"idempotentHint": True, "readOnlyHint": False},
            "inputSchema": {"type": "object", "properties": {}}}]}})
    elif method == "tools/call":
        log("call")
        call = id
        say({"id": "ask", "method": "elicitation/create", "params": {"message": "Who is it for?",
            "requestedSchema": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"}, "times": {"type": "integer", "default": 2}}}}})
    elif id == "ask" and "result" in message:
        given = message["result"].get("content", {})
        log(message["result"]["action"] + "".join(" %s=%s" % it for it in sorted(given.items())))
        text = "hello " + given.get("name", "nobody")
        say({"id": call, "result": {"content": [{"type": "text", "text": text}]}})
    elif method == "ping":
        say({"id": id, "result": {}})
"#;

/// A file that names the server of one tool.
fn asking_servers(place: &Place, more: &str) -> String {
    let (server, servers) = (
        place.keeping.path().join("desk.py"),
        place.keeping.path().join("servers.toml"),
    );
    std::fs::write(&server, ASKING_SERVER).unwrap();
    let log = place.keeping.path().join("desk.log");
    let table =
        format!("[servers.desk]\ncommand = \"python3\"\nargs = [{server:?}, {log:?}]\n{more}");
    std::fs::write(&servers, table).unwrap();
    servers.to_str().unwrap().to_owned()
}

/// What the server was told, in order.
fn told_to_the_server(place: &Place) -> Vec<String> {
    let log = std::fs::read_to_string(place.keeping.path().join("desk.log"));
    log.unwrap_or_default().lines().map(str::to_owned).collect()
}

#[test]
fn an_answer_that_comes_later_is_handed_over_when_the_repeated_call_asks_the_same() {
    let place = Place::new();
    let servers = asking_servers(&place, "");
    let allowed = place.all_allowed();
    let arguments = ["--no-input", "--mcp", &servers, "--permissions", &allowed];
    let ended = end(&mut place.run("Use `desk__greet {}`", &arguments)).exits_with(5);
    let question = ended.output.trim().to_owned();
    assert_eq!(told_to_the_server(&place), ["call", "cancel"]);
    let shown = place.end(&["review", &question]).exits_with(0).output;
    assert!(
        shown.contains("Who is it for?") && shown.contains("- name: a text"),
        "{shown}"
    );
    let run = place.only_run();
    // Nothing is asked of the server again before there is an answer.
    let waits = place.end(&["resume", &run, "--no-input"]).exits_with(5);
    assert_eq!(waits.output.trim(), question);
    assert_eq!(told_to_the_server(&place), ["call", "cancel"]);
    let answer = json!({"editedRequest": {"name": "Ada"}}).to_string();
    place
        .end(&[
            "review",
            &question,
            "--decision",
            "edit",
            "--payload",
            &answer,
            "--message",
            "she signs as Countess",
        ])
        .exits_with(0);
    // The call may have had some of its effect: it is not repeated without consent.
    let consent = place.end(&["resume", &run, "--no-input"]).exits_with(5);
    let consent = consent.output.trim();
    assert_ne!(consent, question);
    let shown = place.end(&["review", consent]).exits_with(0).output;
    assert!(
        shown.contains("cut off after it had asked something"),
        "{shown}"
    );
    assert_eq!(told_to_the_server(&place), ["call", "cancel"]);
    place
        .end(&[
            "review",
            consent,
            "--decision",
            "approve",
            "--message",
            "but once",
        ])
        .exits_with(0);
    let ended = place
        .end(&["resume", &run, "--no-input", "--json"])
        .exits_with(0);
    assert_eq!(
        told_to_the_server(&place),
        ["call", "cancel", "call", "accept name=Ada times=2"]
    );
    assert!(ended.output.contains("hello Ada"), "{}", ended.output);
    let said = "asked about it says: she signs as Countess\\nbut once";
    assert!(ended.output.contains(said), "{}", ended.output);
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_call_that_may_be_repeated_needs_no_consent_and_a_no_is_handed_over_too() {
    let place = Place::new();
    let servers = asking_servers(&place, "trust_hints = true\n");
    let allowed = place.all_allowed();
    let arguments = ["--no-input", "--mcp", &servers, "--permissions", &allowed];
    let ended = end(&mut place.run("Use `desk__greet {}`", &arguments)).exits_with(5);
    let question = ended.output.trim().to_owned();
    place
        .end(&["review", &question, "--decision", "reject"])
        .exits_with(0);
    let run = place.only_run();
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert_eq!(
        told_to_the_server(&place),
        ["call", "cancel", "call", "decline"]
    );
}

#[test]
fn what_a_server_asks_for_is_filled_in_at_the_runs_own_terminal() {
    let place = Place::new();
    let servers = asking_servers(&place, "");
    let allowed = place.all_allowed();
    let arguments = ["--mcp", &servers, "--permissions", &allowed];
    let mut command = place.run("Use `desk__greet {}`", &arguments);
    let ended = end_with_input(&mut command, b"\nAda\nmany\n\n").exits_with(0);
    let screen = &ended.error_output;
    assert!(
        screen.contains("That does not fit: a whole number"),
        "{screen}"
    );
    let told = told_to_the_server(&place);
    assert_eq!(told, ["call", "accept name=Ada times=2"]);
}

#[test]
fn a_servers_question_is_a_question_of_the_run_and_its_answer_reaches_the_server() {
    let place = Place::new();
    let servers = asking_servers(&place, "");
    let servers = servers.as_str();
    let told = place.end(&["doctor", "--mcp", servers, "--json"]).output;
    let reached = lines(&told)
        .into_iter()
        .find(|finding| finding["check"] == "mcp")
        .unwrap();
    assert_eq!(reached["status"], "ok", "{reached}");
    let allowed = place.all_allowed();
    let arguments = ["--mcp", servers, "--permissions", &allowed, "--json"];
    let mut command = place.run("Use `desk__greet {}`", &arguments);
    let run = spawn(command.stdin(Stdio::piped()));
    let question = place.open_question();
    assert_eq!(
        question["content"]["toolCall"]["asks"], "input",
        "{question}"
    );
    let context = question["context_for_decision"].as_str().unwrap();
    assert!(context.contains("Who is it for?"), "{context}");
    let answer = json!({"editedRequest": {"name": "Ada"}}).to_string();
    let id = question["id"].as_str().unwrap();
    place
        .end(&["review", id, "--decision", "edit", "--payload", &answer])
        .exits_with(0);
    let ended: Ended = run.wait_with_output().unwrap().into();
    let events = ended.exits_with(0).events();
    let finished = data(&events, "tool.result");
    let greeted = finished.iter().any(|it| it["message"] == "hello Ada");
    assert!(greeted, "{finished:?}");
}

/// A run that waits for an answer which its server's tool wants, and the id of that question.
fn waiting_for_input(place: &Place) -> String {
    let servers = asking_servers(place, "trust_hints = true\n");
    let allowed = place.all_allowed();
    let arguments = ["--no-input", "--mcp", &servers, "--permissions", &allowed];
    let ended = end(&mut place.run("Use `desk__greet {}`", &arguments)).exits_with(5);
    ended.output.trim().to_owned()
}

/// The answer that was decided, once one was.
fn answer_to(place: &Place, question: &str) -> Option<String> {
    let shown = place.end(&["review", question, "--json"]).exits_with(0);
    let row = lines(&shown.output).remove(0);
    let decision = row.get("decision").filter(|it| !it.is_null())?;
    Some(decision.to_string())
}

#[test]
fn what_a_server_asks_for_is_filled_in_field_by_field_in_a_review() {
    let place = Place::new();
    let question = waiting_for_input(&place);
    let mut command = place.irq(&["review", &question, "--no-color"]);
    command.env("COLUMNS", "100");
    let mut screen = on_a_terminal(command);
    screen.exp_string("Enter fill it in").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("").unwrap();
    screen.exp_string("a text").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("Ada").unwrap();
    screen.exp_string("by default 2").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("3").unwrap();
    screen.exp_eof().unwrap();
    let answer = answer_to(&place, &question).unwrap();
    assert!(answer.contains("Ada") && answer.contains('3'), "{answer}");
}

#[test]
fn what_a_server_asks_for_is_filled_in_field_by_field_from_the_screens() {
    let place = Place::new();
    let question = waiting_for_input(&place);
    let store = place.keeping.path().join("irq.db");
    let mut screen = start_with(&format!("--silent --store {}", store.display()));
    press(&mut screen, "2");
    screen.exp_string("HUMAN_REVIEW").unwrap();
    press(&mut screen, "\r");
    // Between its words the cursor is moved.
    screen.exp_string("wants:").unwrap();
    read_and_press(&mut screen, "e");
    for (asked, typed) in [
        ("Enter fill it in", "\r"),
        ("a text", "Ada\r"),
        ("by default 2", "\r"),
    ] {
        screen.exp_string(asked).unwrap();
        screen.exp_string("> ").unwrap();
        read_and_press(&mut screen, typed);
    }
    until("it is answered", || answer_to(&place, &question).is_some());
    let answer = answer_to(&place, &question).unwrap();
    assert!(answer.contains("Ada") && answer.contains('2'), "{answer}");
    press(&mut screen, "\x04");
    screen.exp_string("LEFT").unwrap();
}

#[test]
fn a_typed_yes_allows_a_call_in_a_review_too() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    let ended = end(&mut place.run(goal, &["--no-input"])).exits_with(5);
    let question = ended.output.trim().to_owned();
    let command = place.irq(&["review", &question, "--no-color"]);
    let mut screen = on_a_terminal(command);
    screen.exp_string("y allow").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("y").unwrap();
    screen.exp_eof().unwrap();
    place
        .end(&["resume", &place.only_run(), "--no-input"])
        .exits_with(0);
    assert_eq!(place.text("made.txt").unwrap(), "hello\n");
}
