//! Logging in to an MCP server on the network: by command, once, for all runs after it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use super::Place;
use crate::program::{Ended, end, lines, spawn};

/// A server that wants a login, a file that names it, and where logins are kept.
struct Guarded {
    place: Place,
    server: Child,
    servers: String,
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _gone = self.server.kill();
        let _gone = self.server.wait();
    }
}

impl Guarded {
    fn new() -> Self {
        let place = Place::new();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/tests/mcp/guarded.py");
        let mut server = Command::new("python3")
            .arg(source)
            .env("LOG", place.keeping.path().join("guarded.log"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut port).unwrap();
        let servers = place.keeping.path().join("servers.toml");
        let table = format!(
            "[servers.vault]\nurl = \"http://127.0.0.1:{}/mcp\"\n",
            port.trim()
        );
        std::fs::write(&servers, table).unwrap();
        Self {
            place,
            server,
            servers: servers.to_str().unwrap().to_owned(),
        }
    }

    fn with_data<'command>(&self, command: &'command mut Command) -> &'command mut Command {
        command.env("XDG_DATA_HOME", self.place.keeping.path().join("data"))
    }

    fn login(&self, more: &[&str]) -> Command {
        let mut command = self
            .place
            .irq(&["mcp-login", "vault", "--mcp", &self.servers]);
        self.with_data(command.args(more));
        command
    }

    /// What the doctor finds of the server.
    fn examined(&self) -> serde_json::Value {
        let arguments = ["doctor", "--mcp", &self.servers, "--json"];
        let told = end(self.with_data(&mut self.place.irq(&arguments))).output;
        let mut findings = lines(&told).into_iter();
        findings.find(|finding| finding["check"] == "mcp").unwrap()
    }

    /// Logs in as a person does: with the page that the command shows.
    fn visited(&self, more: &[&str]) -> Ended {
        let mut child = spawn(&mut self.login(more));
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("/authorize?") {
            line.clear();
            assert!(
                errors.read_line(&mut line).unwrap() > 0,
                "no page was shown"
            );
        }
        let visit = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1])";
        let visited = Command::new("python3")
            .args(["-c", visit, line.trim()])
            .status();
        assert!(visited.unwrap().success());
        let mut rest = String::new();
        errors.read_to_string(&mut rest).unwrap();
        let mut ended: Ended = child.wait_with_output().unwrap().into();
        ended.error_output = rest;
        ended
    }
}

#[test]
fn a_login_by_command_serves_all_that_comes_after_it_until_it_is_forgotten() {
    let guarded = Guarded::new();
    let command = format!("irq mcp-login vault --mcp {}", guarded.servers);
    let before = guarded.examined();
    assert_eq!(before["status"], "problem", "{before}");
    assert!(
        before["found"].as_str().unwrap().contains(&command),
        "{before}"
    );
    let logged_in = guarded.visited(&[]).exits_with(0);
    assert!(
        logged_in.output.contains("You are logged in to vault.")
            && logged_in.output.contains("2 tools"),
        "{logged_in:#?}"
    );
    assert_eq!(guarded.examined()["status"], "ok");
    let again = end(&mut guarded.login(&[])).exits_with(0);
    assert!(again.output.contains("wants no new login"), "{again:#?}");
    let anew = guarded.visited(&["--again"]).exits_with(0);
    assert!(
        anew.output.contains("You are logged in to vault."),
        "{anew:#?}"
    );
    end(&mut guarded.login(&["--forget"])).exits_with(0);
    assert_eq!(guarded.examined()["status"], "problem");
}

#[test]
fn a_run_without_a_login_goes_on_without_the_tools_and_names_the_command() {
    let guarded = Guarded::new();
    let arguments = ["--no-input", "--mcp", &guarded.servers];
    let mut run = guarded.place.run("Read the README", &arguments);
    let ended = end(guarded.with_data(&mut run)).exits_with(0);
    let command = format!("irq mcp-login vault --mcp {}", guarded.servers);
    assert!(
        ended
            .error_output
            .contains("the tools of vault are not there"),
        "{ended:#?}"
    );
    assert!(ended.error_output.contains(&command), "{ended:#?}");
}

#[test]
fn a_server_that_the_file_does_not_name_is_not_found() {
    let guarded = Guarded::new();
    let mut command = guarded
        .place
        .irq(&["mcp-login", "attic", "--mcp", &guarded.servers]);
    let ended = end(guarded.with_data(&mut command)).exits_with(3);
    let ended = ended.says("names no server attic");
    assert!(ended.error_output.contains("it names vault"), "{ended:#?}");
}
