//! `irq watch` on a real terminal, over runs of another process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use interrupts::life::{State, Verdict};
use rexpect::session::PtySession;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::program::until;
use crate::screen::{on_a_terminal, press, program_of, read_and_press, resize, shell};
use crate::seed::Seed;
use crate::served::Served;

/// The screens, and the shell around them, which shows what they leave of the terminal.
pub(crate) fn start(seed: &Seed) -> PtySession {
    start_with(&format!("--silent --store {}", seed.path().display()))
}

/// The screens with these arguments.
pub(crate) fn start_with(arguments: &str) -> PtySession {
    start_known(arguments).0
}

/// The screens of a person whose policy lets a graceful stop take as long as it takes.
pub(crate) fn start_without_grace(folder: &Path, arguments: &str) -> (PtySession, String) {
    let policy = folder.join("policy.toml");
    std::fs::write(&policy, "[default]\ngrace = \"none\"\n").unwrap();
    let variables = format!("IRQ_POLICY={}", policy.display());
    let (screen, terminal, _shell) = start_in(&variables, arguments);
    (screen, terminal)
}

/// The screens, the path of their terminal, and the shell around them.
pub(crate) fn start_known(arguments: &str) -> (PtySession, String, u32) {
    start_in("", arguments)
}

fn start_in(variables: &str, arguments: &str) -> (PtySession, String, u32) {
    let program = env!("CARGO_BIN_EXE_irq");
    // The program's own id and its terminal are told first, for tests that act on them from outside.
    let script = format!(
        "echo at $(tty) in $$ now; {variables} {program} watch --no-color {arguments}; code=$?; stty -a; echo LEFT $code"
    );
    let mut command = shell(&script);
    command.env("IRQ_USER", "ada");
    let mut screen = on_a_terminal(command);
    screen.exp_string("at ").unwrap();
    let terminal = screen.exp_string(" in ").unwrap();
    let shell = screen.exp_string(" now").unwrap();
    screen.exp_string("Agents").unwrap();
    screen.exp_string("orchestrator").unwrap();
    (screen, terminal, shell.parse().unwrap())
}

/// Leaves, and looks whether the terminal is as it was.
pub(crate) fn leave(screen: &mut PtySession) {
    press(screen, "\x04");
    let modes = screen.exp_string("LEFT").unwrap();
    assert!(modes.contains("?1049l"), "the screen was not given back");
    let words: Vec<&str> = modes.split_whitespace().collect();
    // The test's own terminal does not echo.
    for mode in ["icanon", "isig"] {
        assert!(words.contains(&mode), "{mode} in {modes}");
    }
}

#[test]
fn esc_opens_the_window_at_once_and_asks_the_agent_to_pause() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj");
    press(&mut screen, "\x1b");
    // Where nothing was before, a text is drawn whole.
    screen.exp_string("modify the plan").unwrap();
    until("a pause of the discovery agent", || {
        seed.interrupts(&run)
            .iter()
            .any(|interrupt| interrupt.node.as_str() == "orchestrator/discovery")
    });
    // Resumed unchanged before it has taken hold: it is taken back, and nothing else happened.
    press(&mut screen, "\t\t\r");
    until("the pause is taken back", || {
        seed.interrupts(&run)
            .iter()
            .all(|interrupt| interrupt.state == State::Cancelled)
    });
    leave(&mut screen);
}

#[test]
fn esc_in_a_review_goes_back_to_the_list_and_stops_nothing_unasked() {
    let seed = Seed::new();
    let run = seed.run();
    seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("expires").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("shall it go").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("expires").unwrap();
    // A second Esc asks first.
    press(&mut screen, "\x1b");
    screen.exp_string("orchestrator/discovery?").unwrap();
    press(&mut screen, "n");
    screen.exp_string("Nothing").unwrap();
    let interrupts = seed.interrupts(&run);
    assert_eq!(interrupts.len(), 1, "{interrupts:#?}");
    press(&mut screen, "\x1b");
    screen.exp_string("orchestrator/discovery?").unwrap();
    read_and_press(&mut screen, "y");
    screen.exp_string("modify the plan").unwrap();
    until("a pause is asked for", || seed.interrupts(&run).len() == 2);
    leave(&mut screen);
}

#[test]
fn in_a_review_digits_choose_and_are_not_offered_as_tabs() {
    let seed = Seed::new();
    let run = seed.run();
    seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("expires").unwrap();
    press(&mut screen, "\r");
    let head = screen.exp_string("shall it go").unwrap();
    assert!(!head.contains("2 Inbox"), "{head}");
    read_and_press(&mut screen, "9");
    screen.exp_string("ce 9.").unwrap();
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
    read_and_press(&mut screen, "2");
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
fn an_answer_that_says_nothing_is_refused_as_a_server_refuses_it() {
    let seed = Seed::new();
    let run = seed.run();
    let content = json!({"type": "HUMAN_REVIEW", "reason": "JWK"});
    let question = seed.asked(&run, content.to_string(), Vec::new());
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("JWK").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("JWK").unwrap();
    read_and_press(&mut screen, "r");
    press(&mut screen, "  \r");
    screen.exp_string("nothing is chosen").unwrap();
    assert_eq!(seed.interrupt(question.id), question);
    leave(&mut screen);
}

#[test]
fn what_was_typed_before_a_question_could_be_read_does_not_answer_it() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2");
    screen.exp_string("HUMAN_REVIEW").unwrap();
    // Opens the question, and approves it in the same breath.
    press(&mut screen, "\ra");
    screen.exp_string("shall it go").unwrap();
    // Keys are read in their order: by now the approval would be recorded.
    press(&mut screen, "?");
    screen.exp_string("undo").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("shall it go").unwrap();
    assert_eq!(seed.interrupt(question.id).state, State::AwaitingReview);
    read_and_press(&mut screen, "1a");
    until("it is decided", || {
        seed.interrupt(question.id).state == State::Resolved
    });
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
    // Pasted into the review, it would reject and confirm if it were keys; pasted into a line, it is words.
    read_and_press(&mut screen, "\x1b[200~xy\ra\x1b[201~r");
    press(&mut screen, "\x1b[200~xy\ra\x1b[201~");
    // The screen is drawn in pieces: only what changed.
    screen.exp_string("xy").unwrap();
    assert_eq!(seed.interrupt(question.id), question);
    // The first Ctrl+C closes the line, and its words are kept.
    press(&mut screen, "\x03");
    screen.exp_string("Kept").unwrap();
    press(&mut screen, "\x03\x03");
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
    let script = format!("{program} watch --silent --no-color; stty -a; echo LEFT");
    let mut command = shell(&script);
    command
        .env("XDG_STATE_HOME", home.path())
        .env_remove("IRQ_STORE");
    let mut screen = on_a_terminal(command);
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

#[test]
fn esc_does_its_one_thing_on_every_screen() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed);
    // On the help it goes back.
    press(&mut screen, "?");
    screen.exp_string("undo").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("orchestrator").unwrap();
    assert!(seed.interrupts(&run).iter().all(|it| it.id == question.id));
    // Where an agent is marked, it is interrupted (among the questions it asks first), and *Resume unchanged* takes that
    // back.
    for (keys, screens) in [("1jj", "agents"), ("1\r", "run"), ("2", "inbox")] {
        let before = seed.interrupts(&run).len();
        press(&mut screen, keys);
        std::thread::sleep(Duration::from_millis(300));
        press(&mut screen, "\x1b");
        if screens == "inbox" {
            screen.exp_string("discovery?").unwrap();
            read_and_press(&mut screen, "y");
        }
        screen.exp_string("modify the plan").unwrap();
        until(screens, || seed.interrupts(&run).len() == before + 1);
        press(&mut screen, "\t\t\r");
        until(screens, || {
            let last = seed.interrupts(&run).pop().unwrap();
            last.state == State::Cancelled
        });
    }
    assert_eq!(seed.interrupt(question.id).state, State::AwaitingReview);
    leave(&mut screen);
}

#[test]
fn a_terminal_that_gets_small_and_large_again_shows_what_fits() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let arguments = format!("--silent --store {}", seed.path().display());
    let (mut screen, terminal, _shell) = start_known(&arguments);
    for keys in ["1", "2", "2\r", "?", "1\r"] {
        press(&mut screen, keys);
        resize(&terminal, "10", "40");
        screen.exp_string("irq").unwrap();
        resize(&terminal, "1", "1");
        resize(&terminal, "30", "100");
        screen.exp_string("Help").unwrap();
        // So fast that the program may see the old size alone: it draws all the same.
        resize(&terminal, "1", "1");
        resize(&terminal, "30", "100");
        screen.exp_string("Help").unwrap();
    }
    assert_eq!(seed.interrupt(question.id), question);
    leave(&mut screen);
}

#[test]
fn ten_thousand_pasted_bytes_with_lines_and_keys_in_them_are_a_draft() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let mut screen = start(&seed);
    press(&mut screen, "2\r");
    screen.exp_string("shall it go").unwrap();
    let line = "a\r1\rx\ry\rR\x03\x04 and so on ";
    let pasted = line.repeat(10_000 / line.len() + 1) + "ENDOFPASTE";
    read_and_press(&mut screen, "r");
    press(&mut screen, &format!("\x1b[200~{pasted}\x1b[201~"));
    screen.exp_string("ENDOFPASTE").unwrap();
    assert_eq!(seed.interrupt(question.id), question);
    press(&mut screen, "\x03");
    screen.exp_string("Kept").unwrap();
    leave(&mut screen);
    assert_eq!(seed.interrupts(&run).len(), 1);
}

#[test]
fn a_termination_gives_the_terminal_back() {
    let seed = Seed::new();
    seed.run();
    let arguments = format!("--silent --store {}", seed.path().display());
    let (mut screen, _terminal, shell) = start_known(&arguments);
    kill_process(program_of(shell), Signal::TERM).unwrap();
    let modes = screen.exp_string("LEFT 143").unwrap();
    assert!(modes.contains("?1049l"), "the screen was not given back");
    for mode in ["icanon", "isig"] {
        assert!(modes.split_whitespace().any(|word| word == mode), "{modes}");
    }
}

#[test]
fn the_bell_rings_when_a_person_is_needed_and_once_for_each() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start_with(&format!("--store {}", seed.path().display()));
    seed.question(&run);
    let before = screen.exp_string("\x07").unwrap();
    assert!(!before.contains('\x07'));
    seed.question(&run);
    screen.exp_string("\x07").unwrap();
    press(&mut screen, "\x04");
    let rest = screen.exp_string("LEFT 0").unwrap();
    assert!(!rest.contains('\x07'), "{rest}");
}

#[test]
fn the_screens_show_and_decide_what_is_on_a_server() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let served = Served::over(&seed.path());
    let token = served.token("ada", "reviewer");
    let mut screen = start_with(&format!(
        "--silent --server {} --token-file {}",
        served.url,
        token.display()
    ));
    press(&mut screen, "2\r");
    screen.exp_string("shall it go").unwrap();
    read_and_press(&mut screen, "c");
    until("it is claimed", || {
        seed.interrupt(question.id)
            .review
            .is_some_and(|review| review.claim.is_some())
    });
    read_and_press(&mut screen, "2");
    press(&mut screen, "\r");
    until("it is decided", || {
        seed.interrupt(question.id).state == State::Resolved
    });
    let decision = seed.interrupt(question.id).decision.unwrap();
    assert!(decision.content.unwrap().contains("right"));
    leave(&mut screen);
}
