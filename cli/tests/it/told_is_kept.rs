//! What a run tells with `--json` is in its store: whoever is told may act on it, whatever becomes of the process.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{interrupt, lines, script, spawn};

/// How often a run is killed, each time after another event.
fn deaths() -> usize {
    std::env::var("TOLD_DEATHS").map_or(10, |times| times.parse().unwrap())
}

/// What a store has of a run: its audit and its journal.
struct Kept {
    audit: Vec<Value>,
    journal: Vec<Value>,
}

impl Kept {
    fn of(place: &Place, run: &str) -> Self {
        let audit = place.end(&["history", "--json", "--run", run]);
        Self {
            audit: lines(&audit.exits_with(0).output),
            journal: place.journal(run),
        }
    }

    fn has_row(&self, fields: &[(&str, &Value)]) -> bool {
        let fits = |row: &Value| fields.iter().all(|(name, value)| row[*name] == **value);
        self.audit.iter().any(fits)
    }

    fn has_effect(&self, what: &str, of: &Value) -> bool {
        self.journal.iter().any(|moment| {
            moment["what"] == what
                && moment["kind"] == "model_call"
                && moment["agent_id"] == of["agent_id"]
        })
    }

    /// Whether the record is there of which an event speaks.
    fn bears_out(&self, event: &Value) -> bool {
        let data = &event["data"];
        let interrupt = &data["interrupt_id"];
        let (begun, finished) = ("effect_begun", "effect_finished");
        let run_is = |state: &str| self.has_row(&[("state", &json!(state))]);
        match name(event) {
            "run.started" => run_is("running"),
            "run.completed" => run_is("completed"),
            "run.step_started" => true,
            "llm.call_started" => self.has_effect(begun, data),
            "llm.call_finished" | "run.step_finished" => self.has_effect(finished, data),
            "interrupt.requested" | "interrupt.acknowledged" => {
                self.has_row(&[("interrupt", interrupt)])
            }
            "interrupt.opened" => {
                let opened = json!("require_review");
                self.has_row(&[("interrupt", interrupt), ("event", &opened)])
            }
            "decision.recorded" | "interrupt.resolved" | "run.rerouted" => {
                let decided = json!("decide");
                self.has_row(&[("interrupt", interrupt), ("event", &decided)])
            }
            "checkpoint.saved" => {
                let checkpoint = json!("checkpoint");
                self.has_row(&[("about", &checkpoint), ("number", &data["number"])])
            }
            "agent.message_added" => true,
            other => panic!("of what does {other} speak? {event:#}"),
        }
    }
}

fn name(event: &Value) -> &str {
    let name = event["type"].as_str().unwrap();
    let name = name.strip_prefix("dev.irq.").unwrap();
    name.strip_suffix(".v1").unwrap()
}

/// The events of a run of its own, which is killed right after so many that do not pass; all of them, where it ends first.
fn killed_after(count: usize) -> (Place, Vec<Value>) {
    let place = Place::new();
    let steps = json!([
        interrupt("HUMAN_REVIEW"),
        {"person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1}, "answer": {"selectedChoices": ["left"]}}},
    ]);
    let script = script(place.folder.path(), &steps);
    let mut child = spawn(place.run(&["--json", "--script"]).arg(script));
    let mut told = Vec::new();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    while told.len() < count
        && let Some(line) = output.next()
    {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if event["transient"] != true {
            told.push(event);
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (place, told)
}

#[test]
fn whenever_a_run_is_killed_its_store_has_all_that_was_told() {
    let (_place, all) = killed_after(usize::MAX);
    let names: Vec<&str> = all.iter().map(name).collect();
    for kind in ["llm.call_finished", "decision.recorded", "checkpoint.saved"] {
        assert!(names.contains(&kind), "{kind} is never told: {names:?}");
    }
    // Right after an answer and a decision, and at other moments.
    let of_interest = ["llm.call_finished", "decision.recorded"];
    let of_interest = (0..all.len()).filter(|index| of_interest.contains(&names[*index]));
    let others = (0..all.len()).step_by(7);
    let moments: Vec<usize> = of_interest.zip(others).flat_map(|(a, b)| [a, b]).collect();
    for moment in moments.into_iter().cycle().take(deaths()) {
        let (place, told) = killed_after(moment + 1);
        let run = place.only_run();
        let kept = Kept::of(&place, &run);
        for event in &told {
            assert!(kept.bears_out(event), "not in the store: {event:#}");
        }
    }
}

#[test]
fn what_passes_has_no_place_among_what_is_kept() {
    let place = Place::new();
    let events = place.end_of_run(&["--json"]).exits_with(0).events();
    let (passing, kept): (Vec<&Value>, Vec<&Value>) =
        events.iter().partition(|event| event["transient"] == true);
    assert!(
        passing
            .iter()
            .any(|event| name(event) == "agent.status_changed")
    );
    assert!(passing.iter().all(|event| event.get("sequence").is_none()));
    let sequences: Vec<&Value> = kept.iter().map(|event| &event["sequence"]).collect();
    let counted: Vec<Value> = (1..=kept.len())
        .map(|at| json!(format!("{at:016}")))
        .collect();
    assert_eq!(sequences, counted.iter().collect::<Vec<_>>());
}
