//! Running `irq` and looking at what it leaves.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long what is waited for may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary under test, away from everything in the environment that could change what it does.
pub(crate) fn irq() -> Command {
    let mut command = Command::new(
        std::env::var("IRQ_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_irq").to_owned()),
    );
    for variable in [
        "NO_COLOR",
        "VISUAL",
        "EDITOR",
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        "IRQ_LOG",
        "RUST_LOG",
    ] {
        command.env_remove(variable);
    }
    // A run is kept in memory unless a test says otherwise: no test writes into its user's folders.
    command.env("IRQ_STORE", "memory:");
    // Nor does one read the profiles of models that its user has.
    command.env("IRQ_CONFIG", "/dev/null");
    command.stdin(Stdio::null());
    command
}

/// What a finished program has left.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) error_output: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            output: String::from_utf8(output.stdout).unwrap(),
            error_output: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ended {
    /// Asserts the exit code, and shows everything where it is another.
    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that the error is one clear message, without a trace of the program's inside.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let errors = self
            .error_output
            .lines()
            .filter(|line| line.starts_with("error:"))
            .count();
        assert_eq!(errors, 1, "{self:#?}");
        assert!(self.error_output.contains(text), "no `{text}` in {self:#?}");
        for inside in ["panicked", "backtrace", ".rs:"] {
            assert!(!self.error_output.contains(inside), "{self:#?}");
        }
        self
    }

    /// The CloudEvents of `--json`.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Runs a command to its end.
/// The last event that is about the run itself: what its process has still to record comes after it.
pub(crate) fn last_of_run(events: &[Value]) -> &Value {
    let is_of_run = |event: &&Value| event["type"].as_str().unwrap().starts_with("dev.irq.run.");
    events.iter().rfind(is_of_run).unwrap()
}

pub(crate) fn end(command: &mut Command) -> Ended {
    command.output().unwrap().into()
}

/// Runs a command to its end, with this on its standard input.
pub(crate) fn end_with_input(command: &mut Command, input: &[u8]) -> Ended {
    let mut child = spawn(command.stdin(Stdio::piped()));
    let mut pipe = child.stdin.take().unwrap();
    // A program that has read enough closes the pipe; its exit code tells whether that was right.
    let _ = pipe.write_all(input);
    drop(pipe);
    child.wait_with_output().unwrap().into()
}

/// Starts a command whose outputs are pipes.
pub(crate) fn spawn(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How many askers die at random moments.
pub(crate) fn askers_gone() -> usize {
    std::env::var("ASKERS_GONE").map_or(6, |count| count.parse().unwrap())
}

/// A folder with two small files.
pub(crate) fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("README.md"),
        "# Bakery\n\nBread and cakes.\n",
    )
    .unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/oven.rs"), "pub fn bake() {}\n").unwrap();
    folder
}

/// A run on a small folder.
pub(crate) fn run_in(folder: &Path) -> Command {
    let mut command = irq();
    command
        .args(["run", "Describe the bakery", "--workspace"])
        .arg(folder);
    command
}

/// One of the scripts that come with the project.
pub(crate) fn example_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples/scripts")
        .join(name)
}

/// Writes a script of these steps into a folder.
pub(crate) fn script(folder: &Path, steps: &Value) -> PathBuf {
    let path = folder.join("script.json");
    let script = serde_json::json!({"version": 1, "steps": steps});
    std::fs::write(&path, script.to_string()).unwrap();
    path
}

/// A step in which the orchestrator raises an interrupt of this type.
pub(crate) fn interrupt(interrupt_type: &str) -> Value {
    serde_json::json!({
        "agent": "ORCHESTRATOR", "turn": 1,
        "interrupt": {
            "type": interrupt_type, "reason": "which way?",
            "choices": [{"label": "Left", "value": "left", "description": "the short way"}],
            "confirmationItems": [], "contextForDecision": "both lead there",
        },
    })
}

/// JSON in which whatever differs from run to run is a dot: ids, times, digests, and keys made of ids.
pub(crate) fn without_ids(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(dotted(text)),
        Value::Array(values) => values.iter().map(without_ids).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), without_ids(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn dotted(text: &str) -> String {
    if text.parse::<jiff::Timestamp>().is_ok() {
        return "…".to_owned();
    }
    text.split('/')
        .map(dotted_part)
        .collect::<Vec<_>>()
        .join("/")
}

fn dotted_part(part: &str) -> String {
    // One of the requests for a stop has a number behind the stop's id.
    if let Some((id, number)) = part.split_once('.')
        && id.starts_with("int_")
    {
        return format!("{}.{number}", dotted_part(id));
    }
    let prefix = ["run_", "int_", "dec_", ""]
        .into_iter()
        .find(|prefix| part.starts_with(prefix))
        .unwrap_or_default();
    let rest = &part[prefix.len()..];
    let is_hex = !rest.is_empty()
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if is_hex && rest.len() >= 32 {
        format!("{prefix}…")
    } else {
        part.to_owned()
    }
}

/// The JSON objects of a list, one a line.
pub(crate) fn lines(output: &str) -> Vec<Value> {
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A text without the options that say where commands are to be typed for: each that is advised names its store or
/// its server.
pub(crate) fn without_place(text: &str) -> String {
    let mut words = text.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if matches!(word, "--store" | "--server" | "--token-file") {
            // What follows the place in the same word, a line's end for one, stays.
            let place = words.next().unwrap_or_default();
            let rest = place.find(['`', '\n']).map_or("", |end| &place[end..]);
            if let Some(last) = kept.last_mut() {
                *last = format!("{last}{rest}");
            }
        } else {
            kept.push(word.to_owned());
        }
    }
    kept.join(" ")
}
