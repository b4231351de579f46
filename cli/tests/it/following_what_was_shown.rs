//! An answer that is given in `irq run --server` is about what was shown, and about nothing else.

use rexpect::session::PtySession;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::changing_proxy::ChangingProxy;
use crate::program::{interrupt, script};
use crate::screen::on_a_terminal;
use crate::served::Served;

/// What the agent asks, and what is shown in its place.
const ASKED: &str = "which way?";
const SHOWN: &str = "which one?";

/// A run on a server, followed through a proxy by somebody at a terminal.
struct Scene {
    served: Served,
    proxy: ChangingProxy,
    screen: PtySession,
    _folder: TempDir,
}

impl Scene {
    /// Where the question is shown as it does not stand.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let served = Served::over(&folder.path().join("irq.db"));
        let proxy = ChangingProxy::before(&served.url, ASKED, SHOWN);
        let asking = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
        let mut run = served.irq_through(&proxy.url, &["run", "Describe the bakery", "--script"]);
        run.arg(asking);
        let mut screen = on_a_terminal(run);
        screen.exp_string(SHOWN).unwrap();
        screen.exp_string("? help").unwrap();
        Self {
            served,
            proxy,
            screen,
            _folder: folder,
        }
    }

    /// The question, as it stands.
    fn question(&self) -> Value {
        let listed = self.served.end(&["review", "--json"]).exits_with(0);
        let id: Value = serde_json::from_str(&listed.output).unwrap();
        self.served
            .json(&["review", id["id"].as_str().unwrap(), "--json"])
    }

    /// It is asked as it stands, answered, and the run goes on to its end.
    fn asks_as_it_stands(mut self) {
        self.screen.exp_string(ASKED).unwrap();
        self.screen.exp_string("? help").unwrap();
        assert_eq!(
            self.question()["decision"],
            Value::Null,
            "nothing was decided"
        );
        self.screen.send_line("1").unwrap();
        self.screen.exp_string("completed").unwrap();
        self.screen.exp_eof().unwrap();
    }
}

#[test]
fn a_question_that_has_changed_since_it_was_shown_is_asked_again() {
    let mut scene = Scene::new();
    scene.proxy.is_honest();
    scene.screen.send_line("1").unwrap();
    scene
        .screen
        .exp_string("has changed meanwhile; nothing was decided")
        .unwrap();
    scene.asks_as_it_stands();
}

#[test]
fn an_answer_reaches_the_server_with_what_was_shown_and_is_refused_where_it_asks_something_else() {
    let mut scene = Scene::new();
    // Here it looks unchanged; the server knows better.
    scene.screen.send_line("1").unwrap();
    scene
        .screen
        .exp_string("what was shown is not what the interrupt asks")
        .unwrap();
    scene.proxy.is_honest();
    // What is asked again before that is no better.
    scene.screen.send_line("1").unwrap();
    scene.asks_as_it_stands();
}
