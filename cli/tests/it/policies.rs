//! Policies of runs: answers that nobody needs to give, and questions that no answer came in time.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::program::{Ended, end, interrupt, irq, lines, run_in, script, workspace};

/// A run whose orchestrator asks a person, under a policy.
struct Scene {
    folder: tempfile::TempDir,
    policy: PathBuf,
}

impl Scene {
    fn under(policy: &str) -> Self {
        let folder = workspace();
        let path = folder.path().join("policy.toml");
        std::fs::write(&path, policy).unwrap();
        Self {
            folder,
            policy: path,
        }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("irq.db")
    }

    fn run(&self) -> Ended {
        let script = script(self.folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
        end(run_in(self.folder.path())
            .env("IRQ_STORE", self.store())
            .args(["--no-input", "--script"])
            .arg(script)
            .arg("--policy")
            .arg(&self.policy))
    }

    fn command(&self, arguments: &[&str]) -> Ended {
        end(irq()
            .env("IRQ_STORE", self.store())
            .env("IRQ_POLICY", &self.policy)
            .args(arguments))
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        lines(&self.command(arguments).exits_with(0).output)
    }

    /// The only question of the store.
    fn question(&self) -> Value {
        let id = self
            .json(&["history", "--json"])
            .iter()
            .find_map(|row| row["interrupt"].as_str().map(str::to_owned))
            .unwrap();
        self.json(&["review", &id, "--json"]).remove(0)
    }
}

#[test]
fn a_question_that_the_policy_answers_is_put_to_nobody() {
    let scene = Scene::under(
        "[[rule]]\nname = \"left is always right\"\ntype = \"HUMAN_REVIEW\"\nagent = \"ORCHESTRATOR\"\n\
         answer = \"respond\"\nanswer_choices = [\"left\"]\n",
    );
    scene.run().exits_with(0);
    let question = scene.question();
    assert_eq!(question["decision"]["by"], "policy", "{question:#}");
    assert_eq!(question["decision"]["decision"], "respond", "{question:#}");
    let id = question["id"].as_str().unwrap();
    let explained = scene.command(&["policy", "explain", id]).exits_with(0);
    assert!(
        explained.output.contains("left is always right"),
        "{explained:#?}"
    );
}

/// A rule that answers what the orchestrator asks.
const LEFT: &str = "[[rule]]\nname = \"left is right\"\ntype = \"HUMAN_REVIEW\"\nanswer = \"respond\"\n\
                    answer_choices = [\"left\"]\n";

#[test]
fn a_question_that_was_open_before_is_answered_when_the_run_goes_on() {
    let scene = Scene::under("[default]\nanswer = \"ask\"\n");
    scene.run().exits_with(5);
    std::fs::write(&scene.policy, LEFT).unwrap();
    let asked = scene.question();
    let run = asked["run_id"].as_str().unwrap();
    scene.command(&["resume", run, "--no-input"]).exits_with(0);
    let question = scene.question();
    assert_eq!(question["decision"]["by"], "policy", "{question:#}");
    let id = question["id"].as_str().unwrap();
    let audit = scene.json(&["history", "--interrupt", id, "--json"]);
    let of_policy = audit
        .iter()
        .find(|row| row.to_string().contains("\"policy\""));
    let of_policy = of_policy.expect("the audit names the policy").to_string();
    assert!(!of_policy.contains("operator"), "{of_policy}");
    assert_eq!(question["decision"]["decision"], "respond", "{question:#}");
    scene.command(&["history", "--verify"]).exits_with(0);
}

#[test]
fn a_question_that_a_pause_held_is_answered_once_the_pause_is_lifted() {
    let scene = Scene::under("[default]\nanswer = \"ask\"\n");
    scene.run().exits_with(5);
    let asked = scene.question();
    let run = asked["run_id"].as_str().unwrap();
    scene.command(&["interrupt", run, "--wait"]).exits_with(0);
    std::fs::write(&scene.policy, LEFT).unwrap();
    scene.command(&["resume", run, "--no-input"]).exits_with(0);
}

#[test]
fn an_answer_that_the_question_does_not_offer_leaves_it_to_a_person() {
    let scene = Scene::under("[default]\nanswer = \"respond\"\nanswer_choices = [\"up\"]\n");
    scene.run().exits_with(5);
    assert_eq!(scene.question()["state"], "awaiting_review");
}

#[test]
fn a_question_that_nobody_answers_in_time_is_rejected_and_the_agent_is_told_so() {
    let scene = Scene::under("[default]\nreview_limit = \"1s\"\non_expiry = \"reject\"\n");
    scene.run().exits_with(5);
    let asked = scene.question();
    assert_eq!(asked["on_expiry"]["outcome"], "reject", "{asked:#}");
    let run = asked["run_id"].as_str().unwrap();
    // Whoever lists what is open ends what has waited too long.
    while !scene.json(&["review", "--json"]).is_empty() {}
    assert_eq!(scene.question()["state"], "expired");
    scene.command(&["resume", run, "--no-input"]).exits_with(0);
    let told = scene.command(&["replay", run, "--json"]).exits_with(0);
    assert!(told.output.contains("no answer came in time"), "{told:#?}");
}

#[test]
fn it_is_shown_where_the_answer_of_an_expired_question_goes() {
    let target = "TICKET_ORCHESTRATOR";
    let scene = Scene::under(&format!(
        "[default]\nreview_limit = \"1s\"\non_expiry = \"reroute:{target}\"\n"
    ));
    scene.run().exits_with(5);
    while !scene.json(&["review", "--json"]).is_empty() {}
    let asked = scene.question();
    assert_eq!(asked["decision"]["target"], target, "{asked:#}");
    let shown = scene.command(&["review", asked["id"].as_str().unwrap()]);
    let shown = shown.exits_with(0).output;
    assert!(
        shown.contains(&format!(
            "The answer goes to {target}, where its deadline sent it."
        )),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("then: reroute to {target}")),
        "{shown}"
    );
}

#[test]
fn a_policy_that_cannot_be_used_is_refused_before_the_run_begins() {
    let scene = Scene::under("[default]\non_expiry = \"approve\"\n");
    scene.run().exits_with(2).says("never taken for `approve`");
    assert!(!Path::exists(&scene.store()), "nothing was kept");
}
