//! The plugin of opencode, loaded as opencode loads it, with the real program behind it.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{Bench, ended};
use crate::program::{end, spawn};

/// Loads a plugin and calls one of its hooks, with a client that writes down what it is asked to do.
const DRIVER: &str = r#"
const [file, hook, given, declared] = process.argv.slice(2);
const said = [];
const client = {
  postSessionIdPermissionsPermissionId: async ({ path, body }) => said.push({ path, body }),
};
if (!declared) {
  client._client = {
    post: async ({ url, body }) => {
      said.push({ url, body });
      return { response: { ok: true } };
    },
  };
}
for (const plugin of Object.values(await import(file))) {
  const hooks = await plugin({ client, directory: process.cwd() });
  try {
    await hooks[hook](...JSON.parse(given));
  } catch (error) {
    said.push({ refused: error.message });
  }
}
console.log(JSON.stringify(said));
"#;

/// Where the plugin of a project is.
const PLUGIN: &str = ".opencode/plugin/irq.js";

impl Bench {
    /// A project of opencode with the plugin.
    fn with_plugin(options: &[&str]) -> Self {
        let bench = Self::new();
        std::fs::write(bench.path("package.json"), r#"{"type": "module"}"#).unwrap();
        std::fs::write(bench.path("driver.js"), DRIVER).unwrap();
        bench.does(&[&["hook", "install", "opencode", "--yes"], options].concat());
        bench
    }

    fn plugin(&self) -> String {
        std::fs::read_to_string(self.path(PLUGIN)).unwrap()
    }

    /// opencode calls a hook of the plugin.
    fn calls(&self, hook: &str, given: &Value, more: &[&str]) -> Child {
        let mut node = Command::new("node");
        node.arg("driver.js").arg(self.path(PLUGIN)).arg(hook);
        node.arg(given.to_string()).args(more);
        node.env("IRQ_STORE", &self.store)
            .env("IRQ_CONFIG", "/dev/null");
        spawn(node.current_dir(self.folder.path()).stdin(Stdio::null()))
    }

    fn uses(&self, tool: &str, call: &str) -> Child {
        let which = json!({"tool": tool, "sessionID": "ses_1", "callID": call});
        let given = json!([which, {"args": {"command": "git push"}}]);
        self.calls("tool.execute.before", &given, &[])
    }

    fn is_asked(&self, request: &str, more: &[&str]) -> Child {
        let asked = json!({
            "id": request, "sessionID": "ses_1", "permission": "bash", "patterns": ["git push"],
            "metadata": {"command": "git push"}, "always": ["git *"],
            "tool": {"messageID": "msg_1", "callID": format!("call_{request}")},
        });
        let event = json!([{"event": {"type": "permission.asked", "properties": asked}}]);
        self.calls("event", &event, more)
    }

    fn decides(&self, words: &[&str]) {
        let question = self.questions(1).remove(0);
        let decision = ["review", &question, "--decision"];
        self.does(&[&decision[..], words].concat());
    }

    /// Has the plugin start another command, and wait so long for it.
    fn with_command(&self, command: &[&str], seconds: u32) {
        let text = self.plugin();
        let (before, rest) = text.split_once("const settings = ").unwrap();
        let (settings, after) = rest.split_once(";\n").unwrap();
        let mut settings: Value = serde_json::from_str(settings).unwrap();
        settings["command"] = json!(command);
        settings["seconds"] = json!(seconds);
        let text = format!("{before}const settings = {settings};\n{after}");
        std::fs::write(self.path(PLUGIN), text).unwrap();
    }
}

/// What opencode has heard.
#[track_caller]
fn heard(node: Child) -> Value {
    serde_json::from_str(&ended(node).exits_with(0).output).unwrap()
}

/// That it was refused, in these words.
#[track_caller]
fn is_refused(node: Child, words: &str) {
    let heard = heard(node);
    let refused = heard[0]["refused"].as_str();
    assert!(refused.is_some_and(|it| it.contains(words)), "{heard}");
}

#[test]
fn before_a_tool_only_an_approval_lets_it_through() {
    let bench = Bench::with_plugin(&["--event", "pre-tool-use", "--matcher", "Bash|edit|mcp_*"]);
    let node = bench.uses("bash", "call_1");
    let question = bench.questions(1).remove(0);
    let shown: Value = serde_json::from_str(&bench.does(&["review", &question, "--json"])).unwrap();
    let reason = shown["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("opencode wants to use bash in /"),
        "{reason}"
    );
    assert_eq!(shown["context_for_decision"], "command: git push");
    bench.decides(&["approve"]);
    assert_eq!(heard(node), json!([]));
    let node = bench.uses("mcp_send", "call_2");
    bench.decides(&["reject", "--message", "not on Friday"]);
    is_refused(node, "ann refused it: not on Friday");
    let node = bench.uses("edit", "call_3");
    bench.decides(&["ignore"]);
    is_refused(node, "opencode cannot ask you here");
    for other in ["read", "bashful", "xbash", "mcp.send"] {
        assert_eq!(heard(bench.uses(other, other)), json!([]));
    }
    assert_eq!(bench.run_states(), ["completed"; 3]);
}

#[test]
fn a_question_of_opencode_is_answered_as_a_person_decides() {
    let bench = Bench::with_plugin(&[]);
    let node = bench.is_asked("per_1", &[]);
    bench.decides(&["approve"]);
    let once = json!([{"url": "/permission/per_1/reply", "body": {"reply": "once"}}]);
    assert_eq!(heard(node), once);
    let node = bench.is_asked("per_2", &[]);
    bench.decides(&["reject", "--message", "not on Friday"]);
    let words = "ann refused it: not on Friday";
    let body = json!({"reply": "reject", "message": words});
    let rejected = json!([{"url": "/permission/per_2/reply", "body": body}]);
    assert_eq!(heard(node), rejected);
    let node = bench.is_asked("per_3", &[]);
    bench.decides(&["ignore"]);
    assert_eq!(heard(node), json!([]), "its own user decides");
    let node = bench.is_asked("per_4", &["declared"]);
    bench.decides(&["reject", "--message", "why?"]);
    let path = json!({"id": "ses_1", "permissionID": "per_4"});
    let declared = json!([{"path": path, "body": {"response": "reject"}}]);
    assert_eq!(heard(node), declared);
    let other =
        json!([{"event": {"type": "permission.replied", "properties": {"permission": "bash"}}}]);
    assert_eq!(heard(bench.calls("event", &other, &[])), json!([]));
    assert_eq!(bench.run_states(), ["completed"; 4]);
}

#[test]
fn a_plugin_whose_program_fails_or_is_late_refuses() {
    let bench = Bench::with_plugin(&["--event", "pre-tool-use", "--timeout", "1s"]);
    is_refused(bench.uses("bash", "call_1"), "No person answered within 1s");
    for (command, words) in [
        (&["/nowhere/irq"][..], "ENOENT"),
        (&["sh", "-c", "echo gone >&2; exit 1"], "gone"),
        (
            &["sh", "-c", r#"echo '{"status": "allow"}'; exit 1"#],
            "ended with 1",
        ),
        (&["sh", "-c", "echo allow"], "ended with 0"),
        (&["sh", "-c", r#"echo '{"status": "yes"}'"#], "ended with 0"),
        (&["sh", "-c", "kill -9 $$"], "ended with null"),
        (&["sleep", "600"], "it took too long"),
    ] {
        bench.with_command(command, 1);
        is_refused(bench.uses("bash", "call_2"), words);
    }
    bench.with_command(&["sh", "-c", r#"echo '{"status": "allow"}'"#], 60);
    assert_eq!(heard(bench.uses("bash", "call_3")), json!([]));
}

#[test]
fn the_plugin_is_shown_written_and_taken_away() {
    let bench = Bench::new();
    let install = ["hook", "install", "opencode"];
    let shown = end(&mut bench.irq(&install)).exits_with(2);
    assert!(shown.error_output.contains("--yes"), "{shown:#?}");
    assert!(!bench.path(PLUGIN).exists(), "the change was not agreed to");
    let made = bench.does(&[&install[..], &["--yes"]].concat());
    assert_eq!(made, shown.output, "what was shown is what is made");
    assert!(made.contains("+export const InterruptRouter"), "{made}");
    let again = end(&mut bench.irq(&install)).exits_with(0);
    assert!(again.error_output.contains("nothing changes"), "{again:#?}");
    bench.does(&[&install[..], &["--yes", "--timeout", "2m"]].concat());
    assert!(bench.plugin().contains("\"seconds\": 150"));
    bench.does(&["hook", "remove", "opencode", "--yes"]);
    assert!(!bench.path(PLUGIN).exists());
    let gone = end(&mut bench.irq(&["hook", "remove", "opencode"])).exits_with(0);
    assert!(gone.error_output.contains("nothing changes"), "{gone:#?}");
    for command in ["install", "remove"] {
        std::fs::write(bench.path(PLUGIN), "// mine\n").unwrap();
        let kept = end(&mut bench.irq(&["hook", command, "opencode", "--yes"]));
        kept.exits_with(4).says("irq.js is not from irq");
        assert_eq!(bench.plugin(), "// mine\n");
    }
    let mut of_user = bench.irq(&[&install[..], &["--user", "--yes"]].concat());
    of_user.env("XDG_CONFIG_HOME", bench.path("settings"));
    end(&mut of_user).exits_with(0);
    assert!(bench.path("settings/opencode/plugin/irq.js").exists());
}
