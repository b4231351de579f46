//! Agents with tools: what they may do, whom they ask, what a stop leaves.

mod asked_by_servers;
mod logging_in;
mod served;
mod standing_rules;
mod stopping;
mod waiting;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Ended, end, end_with_input, irq, lines, workspace};
use crate::running::Running;

/// A folder to work in, and a store for the runs.
struct Place {
    folder: TempDir,
    keeping: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: workspace(),
            keeping: tempfile::tempdir().unwrap(),
        }
    }

    fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = irq();
        let store = self.keeping.path().join("irq.db");
        command.args(arguments).env("IRQ_STORE", store);
        command.env("IRQ_USER", "tester");
        command
    }

    /// A run with tools in the folder.
    fn run(&self, goal: &str, arguments: &[&str]) -> Command {
        let mut command = self.irq(&["run", goal, "--workspace"]);
        command.arg(self.folder.path()).arg("--tools");
        command.arg(self.folder.path()).args(arguments);
        command
    }

    fn end(&self, arguments: &[&str]) -> Ended {
        end(&mut self.irq(arguments))
    }

    /// A file of permissions that allow everything.
    fn all_allowed(&self) -> String {
        self.all_allowed_but("")
    }

    /// A file of permissions that allow everything but what these rules say otherwise.
    fn all_allowed_but(&self, rules: &str) -> String {
        let path = self.keeping.path().join("permissions.toml");
        std::fs::write(&path, format!("otherwise = \"allow\"\n{rules}")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn text(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(file)).ok()
    }

    fn only_run(&self) -> String {
        let runs = lines(&self.end(&["ps", "--all", "--json"]).exits_with(0).output);
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0]["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a question is open.
    fn open_question(&self) -> Value {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let listed = self.end(&["review", "--json"]);
            if let Some(question) = lines(&listed.output).into_iter().next() {
                return question;
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        panic!("no question was asked");
    }
}

/// The data of the events of a type.
fn data<'events>(events: &'events [Value], name: &str) -> Vec<&'events Value> {
    let name = format!("dev.irq.{name}.v1");
    let found = events.iter().filter(|event| event["type"] == name);
    found.map(|event| &event["data"]).collect()
}

#[test]
fn agents_look_at_the_folder_and_need_no_permission_for_that() {
    let place = Place::new();
    let ended = end(&mut place.run("Describe the bakery", &["--no-input", "--json"]));
    let events = ended.exits_with(0).events();
    let started = data(&events, "tool.started");
    let used: Vec<&str> = started
        .iter()
        .map(|it| it["tool"].as_str().unwrap())
        .collect();
    for tool in ["list_files", "search_files", "read_file"] {
        assert!(used.contains(&tool), "{tool} in {used:?}");
    }
    let finished = data(&events, "tool.finished");
    assert_eq!(started.len(), finished.len());
    assert!(
        finished.iter().all(|it| it["outcome"] == "finished"),
        "{finished:?}"
    );
    let results = data(&events, "tool.result");
    let read = results
        .iter()
        .any(|it| it["message"].as_str().unwrap().contains("# Bakery"));
    assert!(read, "{finished:?}");
}

#[test]
fn a_command_is_asked_about_and_the_answer_counts_that_was_given_while_nothing_ran() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    let ended = end(&mut place.run(goal, &["--no-input"])).exits_with(5);
    let id = ended.output.trim().to_owned();
    assert!(id.starts_with("int_"), "{ended:#?}");
    assert!(place.text("made.txt").is_none());
    let shown = place.end(&["review", &id]).exits_with(0).output;
    for text in [
        "shell",
        "echo hello >> made.txt",
        "digest",
        "approve|edit|reject",
    ] {
        assert!(shown.contains(text), "{text} in {shown}");
    }
    let question = place.open_question();
    assert_eq!(
        question["allowed_decisions"],
        json!(["approve", "edit", "reject"])
    );
    assert_eq!(
        question["content"]["toolCall"]["arguments"]["command"],
        "echo hello >> made.txt"
    );
    place
        .end(&["review", &id, "--decision", "approve"])
        .exits_with(0);
    let run = place.only_run();
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert_eq!(place.text("made.txt").unwrap(), "hello\n", "it ran once");
    let replayed = place.end(&["replay", &run]).exits_with(0).output;
    assert!(replayed.contains("calls a tool: shell"), "{replayed}");
}

#[test]
fn a_second_terminal_says_no_while_the_run_waits() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    // Standard input stays open: somebody could answer there too.
    let mut run = Running::start(place.run(goal, &[]).stdin(Stdio::piped()));
    let question = place.open_question();
    let id = question["id"].as_str().unwrap();
    place
        .end(&[
            "review",
            id,
            "--decision",
            "reject",
            "--message",
            "not on a Sunday",
        ])
        .exits_with(0);
    run.wait_for("not on a Sunday");
    let (code, seen) = run.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("was not allowed"), "{seen}");
    assert!(place.text("made.txt").is_none());
    let replayed = place
        .end(&["replay", &place.only_run()])
        .exits_with(0)
        .output;
    assert!(
        replayed.contains("asks for a call that never starts: shell"),
        "{replayed}"
    );
    assert!(!replayed.contains("calls a tool: shell"), "{replayed}");
}

#[test]
fn what_a_person_edits_runs_instead_and_what_does_not_fit_is_refused() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    let ended = end(&mut place.run(goal, &["--no-input"])).exits_with(5);
    let id = ended.output.trim().to_owned();
    let edit = |payload: Value| {
        let payload = payload.to_string();
        place.end(&["review", &id, "--decision", "edit", "--payload", &payload])
    };
    edit(json!({"editedRequest": {"comand": "echo x"}}))
        .exits_with(2)
        .says("the edited request");
    edit(json!({"editedRequest": {"command": "echo edited >> made.txt"}})).exits_with(0);
    place
        .end(&["resume", &place.only_run(), "--no-input"])
        .exits_with(0);
    assert_eq!(place.text("made.txt").unwrap(), "edited\n");
}

#[test]
fn a_choice_that_says_another_thing_than_the_decision_is_refused() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    let ended = end(&mut place.run(goal, &["--no-input"])).exits_with(5);
    let id = ended.output.trim().to_owned();
    let approve = |choice: &str| {
        let payload = json!({"selectedChoices": [choice]}).to_string();
        place.end(&[
            "review",
            &id,
            "--decision",
            "approve",
            "--payload",
            &payload,
        ])
    };
    approve("reject")
        .exits_with(2)
        .says("`reject` was not offered; offered are: approve");
    approve("approve").exits_with(0);
}

#[test]
fn a_person_at_the_terminal_decides_and_enter_allows_nothing() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    let ended = end_with_input(&mut place.run(goal, &[]), b"\n1\n").exits_with(0);
    let screen = &ended.error_output;
    for text in [
        "Nothing was typed.",
        "Allow",
        "Deny",
        "echo hello >> made.txt",
    ] {
        assert!(screen.contains(text), "{text} in {screen}");
    }
    assert_eq!(place.text("made.txt").unwrap(), "hello\n");
}

#[test]
fn a_typed_yes_allows_a_no_says_why_and_other_words_are_no_answer() {
    let place = Place::new();
    let goal = "Note it with `echo hello >> made.txt`";
    let typed = b"yes, please\ny\n";
    let ended = end_with_input(&mut place.run(goal, &[]), typed).exits_with(0);
    let screen = &ended.error_output;
    assert!(
        screen.contains("Type y to allow it or n to deny it"),
        "{screen}"
    );
    assert_eq!(place.text("made.txt").unwrap(), "hello\n");
    let other = Place::new();
    let typed = b"no not on a Sunday\n";
    let ended = end_with_input(&mut other.run(goal, &[]), typed).exits_with(0);
    let screen = &ended.error_output;
    assert!(screen.contains("not on a Sunday"), "{screen}");
    assert!(other.text("made.txt").is_none());
}

#[test]
fn what_a_rule_about_paths_denies_is_not_printed_and_programs_are_said_to_be_beyond_it() {
    let place = Place::new();
    std::fs::write(place.folder.path().join("prod.env"), "KEY=flour\n").unwrap();
    let rule = "[[paths]]\ndeny = '(.*/)?[^/]*\\.env'\nreason = \"keys\"\n";
    let permissions = place.all_allowed_but(rule);
    let goal = r#"Use `search_files {"pattern":"KEY","files":"*.env"}` and `read_file {"path":"prod.env"}`"#;
    let arguments = ["--no-input", "--json", "--permissions", &permissions];
    let ended = end(&mut place.run(goal, &arguments)).exits_with(0);
    assert!(
        ended
            .error_output
            .contains("[[paths]] rules do not hold for python, shell"),
        "{}",
        ended.error_output
    );
    assert!(!ended.output.contains("KEY=flour"), "{}", ended.output);
    assert!(
        ended.output.contains("leaves 1 file or folder out"),
        "{}",
        ended.output
    );
    assert!(
        ended
            .output
            .contains("a rule about paths denies `prod.env`: keys"),
        "{}",
        ended.output
    );
}

#[test]
fn an_agent_launches_another_one_and_gets_its_answer() {
    let place = Place::new();
    let goal = r#"Use `launch_agent {"agent":"DISCOVERY_AGENT","task":"look at the oven"}`"#;
    let ended = end(&mut place.run(goal, &["--no-input", "--json"])).exits_with(0);
    let events = ended.events();
    let spawned = data(&events, "agent.status_changed");
    let child = spawned
        .iter()
        .find(|it| it["agent_id"].as_str().unwrap().contains("/launched-"))
        .unwrap();
    assert_eq!(child["agent_type"], "DISCOVERY_AGENT");
    let finished = data(&events, "tool.finished");
    let launched = finished
        .iter()
        .find(|it| it["tool"] == "launch_agent")
        .unwrap();
    assert_eq!(launched["outcome"], "finished", "{launched}");
}

#[test]
fn a_plan_is_carried_out_with_tools_and_goes_on_after_a_question() {
    let place = Place::new();
    let goal = "Note it with `echo planned >> made.txt`";
    let arguments = ["--no-input", "--workflow", "plan-execute"];
    let ended = end(&mut place.run(goal, &arguments)).exits_with(5);
    let id = ended.output.trim().to_owned();
    place
        .end(&["review", &id, "--decision", "approve"])
        .exits_with(0);
    place
        .end(&["resume", &place.only_run(), "--no-input"])
        .exits_with(0);
    assert_eq!(place.text("made.txt").unwrap(), "planned\n");
}

#[test]
fn mistakes_in_what_is_allowed_are_named_before_anything_starts() {
    let place = Place::new();
    let file = place.keeping.path().join("wrong.toml");
    std::fs::write(&file, "[agents]\nTICKET = [\"*\"]\n").unwrap();
    let wrong = ["--permissions", file.to_str().unwrap()];
    end(&mut place.run("Describe the bakery", &wrong))
        .exits_with(2)
        .says("`TICKET`");
    std::fs::write(&file, "[agents]\nEXECUTOR = [\"launch_agent\"]\n").unwrap();
    end(&mut place.run("Describe the bakery", &wrong))
        .exits_with(2)
        .says("agents of a plan launch none");
    let mut without = place.irq(&["run", "x", "--permissions", "a.toml"]);
    end(&mut without).exits_with(2).says("--tools");
    let mut nowhere = place.irq(&["run", "x", "--tools", "/nowhere/at/all"]);
    end(&mut nowhere).exits_with(3).says("/nowhere/at/all");
}

#[test]
fn what_a_tool_has_changed_is_taken_back_by_a_later_process() {
    let place = Place::new();
    let asked = "[[rules]]\ntool = \"undo_edit\"\nthen = \"ask\"\n";
    let permissions = place.all_allowed_but(asked);
    let goal = r#"Use `write_file {"path":"made.txt","content":"new\n"}` and `undo_edit {}`"#;
    end(&mut place.run(goal, &["--no-input", "--permissions", &permissions])).exits_with(5);
    assert_eq!(place.text("made.txt").as_deref(), Some("new\n"));
    let run = place.only_run();
    let kept = place.keeping.path().join("irq.db.edits").join(&run);
    assert!(kept.is_dir());
    let question = place.open_question();
    let question = question["id"].as_str().unwrap();
    place
        .end(&["review", question, "--decision", "approve"])
        .exits_with(0);
    // The file was made after that question: what is taken back was not shown yet.
    place.end(&["resume", &run, "--no-input"]).exits_with(5);
    let question = place.open_question();
    let shown = question["content"].to_string();
    assert!(shown.contains("-new"), "{question:#}");
    let question = question["id"].as_str().unwrap();
    place
        .end(&["review", question, "--decision", "approve"])
        .exits_with(0);
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert_eq!(place.text("made.txt"), None);
    std::thread::sleep(Duration::from_millis(20));
    place
        .end(&["purge", "--older-than", "1ms", "--yes"])
        .exits_with(0);
    assert!(!kept.exists());
}

#[test]
fn a_denied_call_pauses_its_run_once_where_its_rule_says_so() {
    let place = Place::new();
    let rule = "[[rules]]\ntool = \"shell\"\nthen = \"pause\"\nreason = \"nothing is run here\"\n";
    let permissions = ["--permissions", &place.all_allowed_but(rule), "--no-input"];
    let goal = "Note it with `echo hello >> made.txt`";
    end(&mut place.run(goal, &permissions)).exits_with(5);
    let run = place.only_run();
    let open = lines(&place.end(&["review", "--json"]).exits_with(0).output);
    assert_eq!(open[0]["reason"], "nothing is run here", "{open:#?}");
    assert_eq!(open[0]["content"]["cause"], "permission");
    // The denial is recorded, so it asks for no other pause when the run goes on.
    place.end(&["resume", &run, "--no-input"]).exits_with(0);
    assert!(place.text("made.txt").is_none());
}
