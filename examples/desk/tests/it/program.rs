//! The desk's own program: a few lines of code, and all commands, with the desk as its workflow.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tests::postgres::{is_asked_for, own_store};

const DESK: &str = env!("CARGO_BIN_EXE_desk");

pub(crate) const TICKET: &str = r#"{"order": 17, "wish": "The cup is broken"}"#;

/// What the shop prints when the bank pays.
pub(crate) const PAID: &str = "the bank pays 1700 cents for order 17";

/// How long is waited for what comes within moments on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder, and a store of its own.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) store: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The same tests prove the same of another store.
        let store = match is_asked_for() {
            true => own_store().unwrap(),
            false => format!("sqlite:{}", folder.path().join("desk.db").display()),
        };
        Self { folder, store }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(DESK);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("IRQ_STORE", &self.store)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// A script with these steps.
    fn script(&self, steps: &str) -> String {
        let file = self.path("script.json");
        fs::write(&file, format!(r#"{{"version": 1, "steps": [{steps}]}}"#)).unwrap();
        file.to_string_lossy().into_owned()
    }

    fn desk(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// A person sends the ticket of a question to the colleague who pays back.
    pub(crate) fn send_to_refunds(&self, question: &str) {
        let decision = ["--decision", "reroute", "--to", "REFUNDS"];
        let decided = self.desk(&[&["review", question], &decision[..]].concat());
        assert!(decided.status.success(), "{}", stderr(&decided));
    }

    /// Its one run, as `ps` shows it.
    fn run(&self) -> Option<Value> {
        let listed = self.desk(&["ps", "--all", "--json"]);
        let text = String::from_utf8(listed.stdout).unwrap();
        let runs: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert!(runs.len() <= 1, "{text}");
        runs.into_iter().next()
    }

    /// Its run, once it is as wanted.
    pub(crate) fn once(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut run = None;
        self.until("the run is as wanted", || {
            run = self.run();
            run.as_ref().is_some_and(&is_wanted)
        });
        run.unwrap()
    }

    /// Waits until something is so.
    pub(crate) fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < PATIENCE, "{what}: {:?}", self.run());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

pub(crate) fn open_question(run: &Value) -> Option<&str> {
    run["open_interrupts"][0].as_str()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_ticket_is_begun_decided_and_done_with_the_commands_of_the_desks_program() {
    let place = Place::new();
    let begun = place.desk(&["run", TICKET]);
    assert_eq!(begun.status.code(), Some(5), "{}", stderr(&begun));
    let told = stderr(&begun);
    assert!(told.contains("desk review"), "its own commands: {told}");
    let run = place.run().unwrap();
    let (id, question) = (run["id"].as_str().unwrap(), open_question(&run).unwrap());

    let nowhere = ["--decision", "reroute", "--to", "MERGER_AGENT"];
    let nowhere = place.desk(&[&["review", question], &nowhere[..]].concat());
    assert_eq!(nowhere.status.code(), Some(2));
    let routes = stderr(&nowhere);
    assert!(
        routes.contains("REFUNDS") && !routes.contains("DISCOVERY"),
        "{routes}"
    );

    place.send_to_refunds(question);
    let done = place.desk(&["resume", id]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(
        stdout(&done).contains("paid back 1700 cents"),
        "{}",
        stdout(&done)
    );
    assert_eq!(stderr(&done).matches(PAID).count(), 1);
}

#[test]
fn it_describes_itself_and_no_other_program() {
    let place = Place::new();
    let told = |arguments: &[&str]| {
        let ended = place.desk(arguments);
        assert!(ended.status.success(), "{}", stderr(&ended));
        stdout(&ended)
    };
    assert_eq!(told(&["--version"]), "desk 0.1.0\n");
    let help = told(&["--help"]);
    assert!(help.contains("Answers customers' tickets"), "{help}");
    assert!(
        help.contains("Usage: desk") && help.contains("desk run"),
        "{help}"
    );
    let of_command = told(&["mcp", "--help"]);
    assert!(of_command.contains("desk mcp"), "{of_command}");
    let page = told(&["man"]);
    assert!(page.contains(".TH desk 1"), "{page}");
    let routes = told(&["routes", "--json"]);
    for text in [help, of_command, page, routes] {
        for other in ["irq run", "irq mcp", "DISCOVERY_AGENT"] {
            assert!(!text.contains(other), "{other} in {text}");
        }
    }
}

#[test]
fn a_script_plays_its_model_and_its_people() {
    let place = Place::new();
    let steps = r#"{"agent": "ORCHESTRATOR", "turn": 1, "answer": {"refund": {"words": "sorry"}}},
        {"person": {"interrupt": {"agent": "REFUNDS", "nth": 1}, "answer": {"verdict": "reject", "text": "no"}}}"#;
    let script = place.script(steps);
    let paid = place.desk(&["run", TICKET, "--script", &script]);
    assert!(paid.status.success(), "{}", stderr(&paid));
    assert_eq!(stderr(&paid).matches(PAID).count(), 1);
    // Above the limit a person is asked, who says no.
    let large = r#"{"order": 170, "wish": "The cup is broken"}"#;
    let refused = place.desk(&["run", large, "--script", &script]);
    assert!(refused.status.success(), "{}", stderr(&refused));
    assert!(
        stdout(&refused).contains("not paid back"),
        "{}",
        stdout(&refused)
    );
    assert!(!stderr(&refused).contains("the bank pays"));
}

#[test]
fn its_routes_and_schemas_are_shown_as_models_get_them() {
    let place = Place::new();
    let routes = stdout(&place.desk(&["routes"]));
    let first = routes.lines().next().unwrap();
    assert!(
        first.contains("NextColleague"),
        "its own come first: {first}"
    );
    assert!(!routes.contains("InterruptRouting"), "{routes}");

    let narrowed = |arguments: &[&str]| {
        let shown = place.desk(&[&["schema", "--json"], arguments].concat());
        assert!(shown.status.success(), "{}", stderr(&shown));
        let schema: Value = serde_json::from_str(&stdout(&shown)).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(narrowed(&["--origin", "REVIEW_AGENT"]), ["check"]);
    let reroute = ["--origin", "REVIEW_AGENT", "--reroute-to", "LEGAL"];
    assert_eq!(narrowed(&reroute), ["object"]);
    let built_in = place.desk(&["schema", "InterruptRouting"]);
    assert_eq!(built_in.status.code(), Some(2), "{}", stderr(&built_in));
    let nowhere = place.desk(&["schema", "--origin", "DISCOVERY_AGENT"]);
    assert_eq!(nowhere.status.code(), Some(2));
}

#[test]
fn what_the_desk_cannot_do_is_refused_before_anything_is_begun() {
    let place = Place::new();
    let wrong = place.desk(&["run", r#"{"order": 17}"#]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("$.wish"), "{}", stderr(&wrong));
    let refusals = [
        (
            r#"{"agent": "REFUND", "turn": 1, "answer": "no"}"#,
            "did you mean `REFUNDS`?",
        ),
        (
            r#"{"agent": "REFUNDS", "turn": 1, "interrupt": {"type": "HUMAN_REVIEW", "reason": "?"}}"#,
            "steer it with an `answer` step",
        ),
        (
            r#"{"supervisor": {"when": {"agent": "REFUNDS", "turn": 1}, "event": {"interruptType": "HUMAN_REVIEW", "reason": "?"}}}"#,
            "leave the step out",
        ),
    ];
    for (step, reason) in refusals {
        let scripted = place.desk(&["run", TICKET, "--script", &place.script(step)]);
        assert_eq!(scripted.status.code(), Some(2), "{}", stderr(&scripted));
        assert!(stderr(&scripted).contains(reason), "{}", stderr(&scripted));
    }
    let other = place.desk(&["run", "--workflow", "counter", TICKET]);
    assert_eq!(other.status.code(), Some(2));
    assert!(
        stderr(&other).contains("there are desk"),
        "{}",
        stderr(&other)
    );
    assert_eq!(place.run(), None);

    assert_eq!(place.desk(&["run", TICKET]).status.code(), Some(5));
    let run = place.run().unwrap();
    let id = run["id"].as_str().unwrap();
    let said = place.desk(&["resume", id, "--message", "hurry"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(stderr(&said).contains("desk send"), "{}", stderr(&said));
    for command in [&["fork", id][..], &["interrupt", id, "--type", "BRANCH"]] {
        let forked = place.desk(command);
        assert_eq!(forked.status.code(), Some(4), "{}", stderr(&forked));
        assert!(stderr(&forked).contains("cannot be forked"));
    }
    assert_eq!(place.run(), Some(run), "nothing has changed");
}

/// A server of the desk's program, which dies with the test.
struct Server {
    process: Child,
    log: PathBuf,
    address: String,
}

impl Server {
    fn start(place: &Place, log: &str) -> Self {
        let log = place.path(log);
        let file = File::create(&log).unwrap();
        let process = place
            .command(&["serve", "--listen", "127.0.0.1:0"])
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        let mut server = Self {
            process,
            log,
            address: String::new(),
        };
        let began = Instant::now();
        while server.address.is_empty() {
            assert!(began.elapsed() < PATIENCE, "{}", server.told());
            std::thread::sleep(Duration::from_millis(20));
            let told = server.told();
            let address = told.split("Serving on ").nth(1);
            let address = address.and_then(|rest| rest.split(". ").next());
            server.address = address.unwrap_or_default().to_owned();
        }
        server
    }

    fn told(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have been killed already.
        let _gone = self.process.kill();
        let _gone = self.process.wait();
    }
}

fn token(place: &Place, file: &Path) {
    let made = place.desk(&["token", "create", "--name", "ann", "--role", "admin"]);
    assert!(made.status.success(), "{}", stderr(&made));
    fs::write(file, stdout(&made).trim()).unwrap();
}

#[test]
fn a_ticket_goes_on_at_the_next_server_when_its_own_is_killed_and_is_paid_back_once() {
    let place = Place::new();
    let secret = place.path("token");
    token(&place, &secret);
    let mut first = Server::start(&place, "first.log");
    let secret = secret.to_str().unwrap();
    let through = ["--server", &first.address, "--token-file", secret];
    let there = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        command.env_remove("IRQ_STORE").args(through);
        command.output().unwrap()
    };
    let started = there(&["run", "--detach", TICKET]);
    assert!(started.status.success(), "{}", stderr(&started));
    // It looks into the shop's books, which takes a second.
    place.once(|run| run["state"] == "running");
    first.process.kill().unwrap();
    first.process.wait().unwrap();

    let second = Server::start(&place, "second.log");
    let run = place.once(|run| open_question(run).is_some());
    let id = run["id"].as_str().unwrap();
    let forked = place
        .command(&[
            "interrupt",
            id,
            "--type",
            "BRANCH",
            "--server",
            &second.address,
        ])
        .args(["--token-file", secret])
        .env_remove("IRQ_STORE")
        .output()
        .unwrap();
    assert_eq!(forked.status.code(), Some(4), "{}", stderr(&forked));
    let question = open_question(&run).unwrap();
    place.send_to_refunds(question);
    place.once(|run| run["state"] == "completed");
    let told = first.told() + &second.told();
    assert_eq!(told.matches(PAID).count(), 1, "{told}");
}

/// What the server answers to a request without a token.
fn read_without_token(address: &str, path: &str) -> String {
    let host = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut told = String::new();
    stream.read_to_string(&mut told).unwrap();
    told
}

#[test]
fn its_server_and_its_page_suggest_its_own_commands() {
    let place = Place::new();
    let server = Server::start(&place, "server.log");
    for (path, suggested) in [
        ("/v1/runs", "`desk token create`"),
        ("/", "<code>desk serve</code>"),
    ] {
        let told = read_without_token(&server.address, path);
        assert!(told.contains(suggested), "{told}");
        assert!(
            !told.contains("irq token") && !told.contains("irq serve"),
            "{told}"
        );
    }
}
