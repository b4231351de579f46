//! `irq watch` over a run that carries out a plan: its steps are shown, and a change before it is applied.

use std::time::{Duration, Instant};

use super::desk::{Desk, is_done_as_shown};
use crate::program::end;
use crate::running::Running;
use crate::screen::{on_a_terminal, shell};

#[test]
fn esc_shows_the_plan_and_words_show_a_change_that_the_next_enter_applies() {
    let desk = Desk::new();
    // Slow enough that it still works at its first step when the screen is there.
    let mut running = Running::start(desk.run().args(["--pace", "8"]));
    running.wait_for("root/executor");
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let program = env!("CARGO_BIN_EXE_irq");
    let watch = shell(&format!("{program} watch --silent --no-color"));
    let mut screen = on_a_terminal(desk.kept(watch));
    // The screen writes only what has changed, so a word is looked for and not a line.
    screen.exp_string("executor").unwrap();
    screen.send("\x1b").unwrap();
    screen.flush().unwrap();
    screen
        .exp_string("How would you like to modify the plan?")
        .unwrap();
    screen.send("add a validation step\r").unwrap();
    screen.flush().unwrap();
    screen.exp_string("Apply").unwrap();
    running.end();
    let shown = desk.plan(&run);
    assert_eq!(shown["version"], 1, "it is only shown");
    assert_eq!(shown["decided"], serde_json::Value::Null);
    screen.send("\r").unwrap();
    screen.flush().unwrap();
    let begun = Instant::now();
    while desk.plan(&run)["decided"].is_null() {
        assert!(begun.elapsed() < Duration::from_secs(30), "never decided");
        std::thread::sleep(Duration::from_millis(50));
    }
    screen.send("\x04").unwrap();
    screen.flush().unwrap();
    screen.exp_eof().unwrap();
    assert_eq!(desk.plan(&run)["decided"]["decision"], "modify_plan");
    end(&mut desk.irq(&["resume", &run])).exits_with(0);
    let done = desk.plan(&run);
    is_done_as_shown(&shown, &done);
}
