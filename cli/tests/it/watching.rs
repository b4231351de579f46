//! `irq watch` on a real terminal, over runs of another process.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use interrupts::life::{State, Verdict};
use rexpect::session::{PtySession, spawn_command};

use crate::seed::Seed;

/// How long the screen may take, in milliseconds.
const PATIENCE: u64 = 30_000;

/// The screens, and the shell around them, which shows what they leave of the terminal.
fn start(seed: &Seed) -> PtySession {
    let program = env!("CARGO_BIN_EXE_irq");
    let script = format!(
        "stty rows 30 cols 100; {program} watch --silent --no-color --store {}; stty -a; echo LEFT",
        seed.path().display()
    );
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(script)
        .env("TERM", "xterm-256color")
        .env("IRQ_USER", "ada")
        .stdin(Stdio::inherit());
    let mut screen = spawn_command(command, Some(PATIENCE)).unwrap();
    screen.exp_string("Agents").unwrap();
    screen.exp_string("orchestrator").unwrap();
    screen
}

fn press(screen: &mut PtySession, keys: &str) {
    screen.send(keys).unwrap();
    screen.flush().unwrap();
}

/// Leaves, and looks whether the terminal is as it was.
fn leave(screen: &mut PtySession) {
    press(screen, "\x04");
    let modes = screen.exp_string("LEFT").unwrap();
    assert!(modes.contains("?1049l"), "the screen was not given back");
    let words: Vec<&str> = modes.split_whitespace().collect();
    // The test's own terminal does not echo.
    for mode in ["icanon", "isig"] {
        assert!(words.contains(&mode), "{mode} in {modes}");
    }
}

/// Waits until something is so in the store.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn esc_opens_the_window_at_once_and_asks_the_agent_to_pause() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj");
    press(&mut screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
    screen.exp_string("modify the plan").unwrap();
    until("a pause of the discovery agent", || {
        seed.interrupts(&run)
            .iter()
            .any(|interrupt| interrupt.node.as_str() == "orchestrator/discovery")
    });
    // Closed again before it has taken hold: it is taken back, and nothing else happened.
    press(&mut screen, "\x1b");
    until("the pause is taken back", || {
        seed.interrupts(&run)
            .iter()
            .all(|interrupt| interrupt.state == State::Cancelled)
    });
    leave(&mut screen);
}

#[test]
fn a_question_is_found_read_and_answered_with_keys_alone() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("HUMAN_REVIEW").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("shall it go").unwrap();
    press(&mut screen, "2");
    press(&mut screen, "\r");
    until("it is decided", || {
        seed.interrupt(question.id).state == State::Resolved
    });
    let decision = seed.interrupt(question.id).decision.unwrap();
    assert_eq!(decision.verdict, Verdict::Respond);
    assert!(decision.content.unwrap().contains("right"));
    leave(&mut screen);
}

#[test]
fn a_paste_is_text_and_never_keys() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("HUMAN_REVIEW").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("shall it go").unwrap();
    // Pasted into the review, it would reject and confirm if it were keys.
    press(&mut screen, "\x1b[200~xy\ra\x1b[201~");
    // The screen is drawn in pieces: only what changed.
    screen.exp_string("xy").unwrap();
    assert_eq!(seed.interrupt(question.id), question);
    // A draft is put aside by the first Ctrl+C and comes back.
    press(&mut screen, "\x03");
    screen.exp_string("Ctrl+Z").unwrap();
    press(&mut screen, "\x1a");
    screen.exp_string("xy").unwrap();
    press(&mut screen, "\x03\x03\x03");
    let modes = screen.exp_string("LEFT").unwrap();
    assert!(modes.contains("?1049l"), "the screen was not given back");
}

#[test]
fn without_a_terminal_it_says_what_prints_instead() {
    let seed = Seed::new();
    seed.end(&["watch"]).exits_with(2).says("needs a terminal");
}

#[test]
fn a_store_that_is_made_while_the_screens_are_open_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_irq");
    let script =
        format!("stty rows 30 cols 100; {program} watch --silent --no-color; stty -a; echo LEFT");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script])
        .env("TERM", "xterm-256color")
        .env("XDG_STATE_HOME", home.path())
        .env_remove("IRQ_STORE")
        .stdin(Stdio::inherit());
    let mut screen = spawn_command(command, Some(PATIENCE)).unwrap();
    screen.exp_string("Agents").unwrap();
    let folder = crate::program::workspace();
    let mut run = Command::new(program)
        .args([
            "run",
            "Mend the oven",
            "--no-input",
            "--pace",
            "20",
            "--workspace",
        ])
        .arg(folder.path())
        .env("XDG_STATE_HOME", home.path())
        .env_remove("IRQ_STORE")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    screen.exp_string("Mend the oven").unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    leave(&mut screen);
}
