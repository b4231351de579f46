//! What is told to be typed works as it is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::place::Place;
use crate::program::{Ended, end, interrupt, irq, script, workspace};
use crate::served::Served;

/// A store that only the command line names, with a name that a shell would take apart.
struct Named {
    folder: TempDir,
    keeping: TempDir,
}

impl Named {
    fn new() -> Self {
        Self {
            folder: workspace(),
            keeping: tempfile::tempdir().unwrap(),
        }
    }

    fn store(&self) -> PathBuf {
        self.keeping.path().join("the store.db")
    }

    fn end(&self, arguments: &[&str]) -> Ended {
        let mut command = irq();
        command.env_remove("IRQ_STORE").arg("--store");
        end(command.arg(self.store()).args(arguments))
    }

    /// A run whose orchestrator asks.
    fn asks(&self) -> Ended {
        let script = script(
            self.folder.path(),
            &serde_json::json!([interrupt("HUMAN_REVIEW")]),
        );
        let folder = self.folder.path().to_str().unwrap();
        let script = script.to_str().unwrap();
        let run = [
            "run",
            "x",
            "--no-input",
            "--workspace",
            folder,
            "--script",
            script,
        ];
        self.end(&run).exits_with(5)
    }

    /// What is told, typed into a shell without any option more.
    fn typed(&self, told: &str) -> Ended {
        typed(self.keeping.path(), told)
    }
}

fn typed(state: &Path, told: &str) -> Ended {
    let program = Path::new(env!("CARGO_BIN_EXE_irq")).parent().unwrap();
    let mut path = program.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", told]).stdin(Stdio::null());
    command.env("PATH", path).env("XDG_STATE_HOME", state);
    for named in ["IRQ_STORE", "IRQ_SERVER", "IRQ_TOKEN_FILE"] {
        command.env_remove(named);
    }
    end(&mut command)
}

/// The command that stands behind these words, to the end of its line or to what stands behind it.
fn behind<'t>(text: &'t str, words: &str, end: &str) -> &'t str {
    let begin = text
        .find(words)
        .unwrap_or_else(|| panic!("no `{words}` in {text}"));
    let told = &text[begin + words.len()..];
    let ends = [end, "\n"];
    let ends = ends.iter().filter_map(|end| told.find(end));
    &told[..ends.min().unwrap_or(told.len())]
}

#[test]
fn a_store_of_the_command_line_is_named_by_what_a_run_tells_to_type() {
    let named = Named::new();
    let asking = named.asks().error_output;
    let review = behind(&asking, "Resume with: ", ", then");
    let answer = format!("{review} --decision respond --message left");
    let answered = named.typed(&answer).exits_with(0);
    let go_on = behind(&answered.output, "Go on with: ", "\n");
    // That answer did not name the store by itself: what it was told with did.
    let told = behind(&asking, ", then ", "\n");
    assert_eq!(go_on, told);
    assert!(go_on.contains("--store '"), "{go_on}");
    named.typed(&format!("{go_on} --no-input")).exits_with(0);
}

#[test]
fn so_do_a_hint_a_list_a_pause_and_a_branch() {
    let named = Named::new();
    let asking = named.asks();
    let hint = behind(&asking.error_output, "answer with `", "`");
    assert!(
        named
            .typed(hint)
            .exits_with(0)
            .output
            .contains("which way?")
    );
    let id = asking.output.trim();
    let run = named.end(&["ps", "--json"]).exits_with(0).events()[0]["id"].clone();
    let run = run.as_str().unwrap();
    let listed = named.end(&["review"]).exits_with(0).output;
    let one = behind(&listed, "Decide with: ", "\n").replace("INTERRUPT", id);
    named.typed(&one).exits_with(0);
    let made = named
        .end(&["interrupt", run, "--type", "BRANCH", "--wait"])
        .exits_with(0);
    for words in ["Go on with: ", "The branch with: "] {
        let go_on = behind(&made.output, words, "\n");
        named.typed(&format!("{go_on} --no-input")).exits_with(5);
    }
    let unknown = named.end(&["resume", "run_ffff"]).exits_with(3);
    let hint = behind(&unknown.error_output, "hint: `", "`");
    assert!(named.typed(hint).exits_with(0).output.contains(run));
}

#[test]
fn what_the_environment_names_is_not_told_again() {
    let place = Place::new();
    let steps = serde_json::json!([interrupt("HUMAN_REVIEW")]);
    let script = script(place.folder.path(), &steps);
    let asking = place
        .end_of_run(&["--script", script.to_str().unwrap()])
        .exits_with(5);
    let (run, id) = (place.only_run(), asking.output.trim());
    let way = format!("Resume with: irq review {id}, then irq resume {run}\n");
    assert!(asking.error_output.contains(&way), "{asking:#?}");
}

#[test]
fn of_several_questions_the_first_of_this_run_is_taken() {
    let named = Named::new();
    named.asks();
    let steps = serde_json::json!([{
        "agent": "DISCOVERY_AGENT", "turn": 1,
        "interrupt": {"type": "HUMAN_REVIEW", "reason": "how deep?", "contextForDecision": "files"},
    }]);
    let script = script(named.folder.path(), &steps);
    let (folder, script) = (
        named.folder.path().to_str().unwrap(),
        script.to_str().unwrap(),
    );
    let asking = named.end(&[
        "run",
        "y",
        "--no-input",
        "--workspace",
        folder,
        "--script",
        script,
    ]);
    let asking = asking.exits_with(5);
    assert!(asking.output.lines().count() > 1, "{asking:#?}");
    // The question of the other run is older, and is not this run's.
    let review = behind(&asking.error_output, "Resume with: ", ", then");
    let answer = format!("{review} --decision respond --message deep");
    let answered = named.typed(&answer).exits_with(0);
    let first = answered.output.split(':').next().unwrap();
    assert!(asking.output.contains(first), "{answered:#?}");
}

#[test]
fn a_limit_is_told_with_the_option_that_raises_it_and_what_that_must_be_above() {
    let place = Place::new();
    let prices = place.keeping.path().join("prices.toml");
    let text = "currency = \"USD\"\n\n[prices.rehearsal]\ninput = 1.0\noutput = 2.0\n";
    std::fs::write(&prices, text).unwrap();
    let mut dear = place.run(&["--budget-usd", "0.02", "--prices"]);
    let spent = end(dear.arg(&prices)).exits_with(8).error_output;
    let run = place.only_run();
    let above = behind(&spent, "--budget-usd AMOUNT, above ", "\n");
    // A cent of a cent more than that lets the call go on that was too dear.
    let told = |run: &str| place.told(run, "model_call").len();
    let calls = told(&run);
    let raised = format!("{above}0001");
    place.end(&["resume", &run, "--no-input", "--budget-usd", &raised]);
    assert!(told(&run) > calls, "{spent}");

    let slow = place
        .end_of_run(&["--timeout", "200ms", "--pace", "40"])
        .exits_with(8);
    let above = behind(&slow.error_output, "--timeout TIME, above ", "\n");
    let seconds: f64 = above.strip_suffix('s').unwrap().parse().unwrap();
    assert!(seconds >= 0.2, "{slow:#?}");
    let few = place
        .end_of_run(&["--max-steps", "2"])
        .exits_with(8)
        .error_output;
    assert!(few.contains(" --max-steps NUMBER\n"), "{few}");
    assert!(few.contains("--max-steps above 2"), "{few}");
}

#[test]
fn a_server_of_the_command_line_is_named_with_the_file_of_its_token() {
    let store = tempfile::tempdir().unwrap();
    let served = Served::paced(&store.path().join("irq.db"), "0");
    let token = served.token("bea", "admin");
    let unknown = end(&mut served.irq_as(&token, &["resume", "run_ffff"])).exits_with(3);
    let hint = behind(&unknown.error_output, "hint: `", "`");
    typed(store.path(), hint).exits_with(0);
}
