//! Esc in `irq run` meets whatever else ends, decides or kills: the terminal is given back, and what is said is true.

use std::process::Command;
use std::time::Duration;

use rexpect::session::PtySession;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::escaping::{Desk, SLOW, escape, leaves, start};
use crate::program::{end, example_script, interrupt, irq, lines, script, until};
use crate::screen::{press, program_of, read_and_press};
use crate::served::Served;
use crate::slow_proxy::SlowProxy;

/// Waits until the window says that the run is paused; returns the run and its pause.
fn paused(desk: &Desk, screen: &mut PtySession) -> (String, String) {
    escape(screen);
    press(screen, "\x03");
    screen.exp_string("paused").unwrap();
    until("it is let go", || desk.state() == "paused");
    let run = desk.told(&["ps", "--all"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let open = desk.told(&["review"]);
    (run, open[0]["id"].as_str().unwrap().to_owned())
}

/// The program in another terminal, as bob.
fn bob(desk: &Desk, arguments: &[&str]) {
    let mut command = irq();
    command.args(arguments).arg("--store").arg(&desk.store);
    end(command.env("IRQ_USER", "bob")).exits_with(0);
}

#[test]
fn who_decided_first_is_told_in_the_window_and_nothing_that_was_written_is_lost() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    let (_run, pause) = paused(&desk, &mut screen);
    press(&mut screen, "QXZ");
    screen.exp_string("Z").unwrap();
    bob(&desk, &["review", &pause, "--decision", "cancel"]);
    screen.exp_string("bob").unwrap();
    press(&mut screen, "\r");
    screen.exp_string("The pause is over").unwrap();
    screen.exp_string("bob decided").unwrap();
    screen.exp_string("Not sent: QXZ").unwrap();
    leaves(&mut screen, "6");
    assert_eq!(desk.state(), "cancelled");
}

#[test]
fn esc_that_joins_the_pause_of_somebody_else_says_whose_it_is() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run("--pace 20"), "");
    screen.exp_string("the model answers").unwrap();
    let run = desk.told(&["ps", "--all"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    bob(&desk, &["interrupt", &run, "--reason", "river"]);
    press(&mut screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
    screen.exp_string("bob:").unwrap();
    screen.exp_string("river").unwrap();
    press(&mut screen, "\x03\x04");
    leaves(&mut screen, "5");
}

#[test]
fn what_a_script_answers_is_not_recorded_as_a_persons() {
    let desk = Desk::new();
    let tour = example_script("tour-answered.json");
    let arguments = ["run", "Describe the bakery", "--no-input", "--workspace"];
    let mut run = irq();
    run.args(arguments).arg(desk.workspace.path());
    run.arg("--script")
        .arg(tour)
        .arg("--store")
        .arg(&desk.store);
    end(&mut run).exits_with(0);
    let told = serde_json::to_string(&desk.told(&["history"])).unwrap();
    assert!(told.contains("script of the run"), "{told}");
    assert!(!told.contains(r#""name":"reviewer""#), "{told}");
}

#[test]
fn a_run_that_another_process_has_completed_is_told_as_completed() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    let (run, _pause) = paused(&desk, &mut screen);
    bob(&desk, &["resume", &run, "--no-input", "--pace", "0"]);
    assert_eq!(desk.state(), "completed");
    press(&mut screen, "\x1b");
    let shown = leaves(&mut screen, "0");
    assert!(shown.contains("completed"), "{shown}");
}

#[test]
fn what_was_begun_as_an_answer_is_there_when_the_question_is_asked_again() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.asking(), "");
    screen.exp_string("which way?").unwrap();
    screen.exp_string("> ").unwrap();
    press(&mut screen, "by the river\x1b");
    screen.exp_string("Interrupted").unwrap();
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("You had written: by the river").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("").unwrap();
    leaves(&mut screen, "0");
    let told = desk.told(&["history"]);
    let by = |row: &&serde_json::Value| row.to_string().contains("\"ada\"");
    assert!(told.iter().any(|row| by(&row)), "{told:#?}");
    let run = desk.told(&["ps", "--all"])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let steps = serde_json::to_string(&desk.told(&["replay", &run])).unwrap();
    assert!(steps.contains("by the river"), "{steps}");
}

#[test]
fn an_arrow_at_a_question_takes_nothing_of_the_line_before_it_ends() {
    let desk = Desk::new();
    let (mut screen, _shell) = start(&desk.asking(), "");
    screen.exp_string("which way?").unwrap();
    screen.exp_string("> ").unwrap();
    press(&mut screen, "by the \x1b[D");
    // Whoever writes on after it has not begun another line.
    std::thread::sleep(Duration::from_millis(300));
    screen.send_line("river").unwrap();
    screen.exp_string("a key that is no text").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("1").unwrap();
    leaves(&mut screen, "0");
}

#[test]
fn pasted_lines_answer_no_confirmation_that_nobody_has_seen() {
    let desk = Desk::new();
    let question = json!({"agent": "ORCHESTRATOR", "turn": 1, "interrupt": {
        "type": "HUMAN_REVIEW", "reason": "which way?",
        "choices": [{"label": "Left", "value": "left", "description": "the short way"}],
        "confirmationItems": [{"id": "all", "prompt": "delete all?", "defaultValue": false,
            "impactIfNo": "less is deleted"}],
        "contextForDecision": "both lead there"}});
    let asks = script(desk.folder.path(), &json!([question]));
    let arguments = desk.run(&format!("--pace 0 --script {}", asks.display()));
    let (mut screen, _shell) = start(&arguments, "");
    screen.exp_string("which way?").unwrap();
    screen.exp_string("> ").unwrap();
    press(&mut screen, "1\ny\ny\n");
    screen.exp_string("delete all?").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("n").unwrap();
    let shown = leaves(&mut screen, "0");
    assert!(shown.contains("all: no"), "{shown}");
}

#[test]
fn a_hangup_and_a_quit_pause_the_run_and_give_the_terminal_back() {
    for (signal, code) in [(Signal::QUIT, "131"), (Signal::HUP, "129")] {
        for is_asked in [false, true] {
            let desk = Desk::new();
            let arguments = if is_asked {
                desk.asking()
            } else {
                desk.run(&format!("--pace {SLOW}"))
            };
            let (mut screen, shell) = start(&arguments, "");
            let shown = if is_asked { "> " } else { "the model answers" };
            screen.exp_string(shown).unwrap();
            kill_process(program_of(shell), signal).unwrap();
            leaves(&mut screen, code);
            assert_eq!(desk.state(), "paused");
        }
    }
}

#[test]
fn a_hangup_pauses_the_run_also_after_its_window_was_open() {
    let desk = Desk::new();
    let (mut screen, shell) = start(&desk.run("--pace 60"), "");
    escape(&mut screen);
    press(&mut screen, "\x03");
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("it goes on").unwrap();
    screen.exp_string("the model answers").unwrap();
    kill_process(program_of(shell), Signal::HUP).unwrap();
    leaves(&mut screen, "129");
}

#[test]
fn a_run_that_was_started_to_outlive_its_terminal_does() {
    let desk = Desk::new();
    let (mut screen, shell) = start(&desk.run("--pace 400"), "trap '' HUP;");
    screen.exp_string("the model answers").unwrap();
    kill_process(program_of(shell), Signal::HUP).unwrap();
    leaves(&mut screen, "0");
    assert_eq!(desk.state(), "completed");
}

#[test]
fn a_run_that_is_put_aside_with_ctrl_z_leaves_the_terminal_as_it_was() {
    let desk = Desk::new();
    let (mut screen, shell) = start(&desk.run("--pace 60"), "tty;");
    screen.exp_string("the model answers").unwrap();
    let program = program_of(shell);
    let terminal = std::fs::read_link(format!("/proc/{shell}/fd/0")).unwrap();
    let modes = || {
        let told = Command::new("stty")
            .arg("-a")
            .arg("-F")
            .arg(&terminal)
            .output();
        String::from_utf8(told.unwrap().stdout).unwrap()
    };
    until("keys are listened to", || modes().contains("-icanon"));
    kill_process(program, Signal::TSTP).unwrap();
    until("the terminal is given back", || {
        !modes().contains("-icanon")
    });
    kill_process(program, Signal::CONT).unwrap();
    until("keys are listened to again", || modes().contains("-icanon"));
    press(&mut screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
    press(&mut screen, "\x04");
    leaves(&mut screen, "5");
}

#[test]
fn a_window_that_is_put_aside_is_drawn_anew_when_it_comes_back() {
    let desk = Desk::new();
    let (mut screen, shell) = start(&desk.run(&format!("--pace {SLOW}")), "");
    let (_run, _pause) = paused(&desk, &mut screen);
    let program = program_of(shell);
    kill_process(program, Signal::TSTP).unwrap();
    screen.exp_string("?1049l").unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", program.as_raw_pid())).unwrap();
    until("it stands aside", || state().contains(") T "));
    kill_process(program, Signal::CONT).unwrap();
    screen.exp_string("?1049h").unwrap();
    screen.exp_string("modify the plan").unwrap();
    press(&mut screen, "\x04");
    leaves(&mut screen, "5");
}

#[test]
fn esc_after_ctrl_c_opens_no_window_on_a_run_that_is_being_stopped() {
    let desk = Desk::new();
    // The shell has the same signal.
    let (mut screen, _shell) = start(&desk.run(&format!("--pace {SLOW}")), "trap : INT;");
    screen.exp_string("the model answers").unwrap();
    screen.send_control('c').unwrap();
    screen.exp_string("Received interrupt.").unwrap();
    press(&mut screen, "\x1b");
    let shown = leaves(&mut screen, "130");
    assert!(!shown.contains("Interrupted"), "{shown}");
}

/// A run on a server that is behind this address, on a terminal.
fn there(served: &Served, url: &str, more: &str, before: &str) -> (PtySession, u32) {
    let token = served.token("eve", "admin");
    let arguments = format!(
        "run 'Describe the bakery' --no-color --server {url} --token-file {} {more}",
        token.display()
    );
    start(&arguments, before)
}

#[test]
fn esc_shortly_before_a_question_of_a_server_has_its_window_and_then_the_question() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::over(&folder.path().join("irq.db"));
    let late = Duration::from_millis(500);
    let proxy = SlowProxy::before(&served.url, "/v1/records/", late);
    let asks = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let more = format!("--script {}", asks.display());
    let (mut screen, _shell) = there(&served, &proxy.url, &more, "");
    screen.exp_string(" on http").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("Interrupted").unwrap();
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("which way?").unwrap();
    screen.exp_string("? help").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("1").unwrap();
    leaves(&mut screen, "0");
}

#[test]
fn esc_at_a_question_of_a_server_opens_the_window_and_what_was_begun_is_there_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::over(&folder.path().join("irq.db"));
    let asks = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let more = format!("--script {}", asks.display());
    let (mut screen, _shell) = there(&served, &served.url, &more, "");
    screen.exp_string("which way?").unwrap();
    screen.exp_string("? help").unwrap();
    screen.exp_string("> ").unwrap();
    press(&mut screen, "by the river\x1b");
    screen.exp_string("\nEsc: asking the server").unwrap();
    screen.exp_string("Interrupted").unwrap();
    screen.exp_string("paused").unwrap();
    read_and_press(&mut screen, "\x1b");
    screen.exp_string("You had written: by the river").unwrap();
    screen.exp_string("> ").unwrap();
    screen.send_line("").unwrap();
    leaves(&mut screen, "0");
    let told = end(&mut served.irq(&["ps", "--all", "--json"])).exits_with(0);
    let run = lines(&told.output)[0]["id"].as_str().unwrap().to_owned();
    let replayed = end(&mut served.irq(&["replay", &run, "--json"])).exits_with(0);
    assert!(replayed.output.contains("by the river"), "{replayed:#?}");
}

#[test]
fn ctrl_c_leaves_a_server_that_does_not_answer_also_after_esc() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::paced(&folder.path().join("irq.db"), "60");
    // The shell has the same signals.
    let (mut screen, _shell) = there(&served, &served.url, "", "trap : INT;");
    screen.exp_string("step 1, ").unwrap();
    served.signal(Signal::STOP);
    press(&mut screen, "\x1b");
    screen.exp_string("Esc").unwrap();
    for words in ["Received interrupt.", "Stopping now.", "Left at once."] {
        screen.send_control('c').unwrap();
        screen.exp_string(words).unwrap();
    }
    leaves(&mut screen, "130");
    served.signal(Signal::CONT);
}

#[test]
fn readings_that_do_not_arrive_hold_up_neither_what_is_told_nor_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::paced(&folder.path().join("irq.db"), "60");
    let never = Duration::from_secs(600);
    let proxy = SlowProxy::before(&served.url, "/v1/records/", never);
    // The shell has the same signals.
    let (mut screen, _shell) = there(&served, &proxy.url, "", "trap : INT;");
    screen.exp_string("step 1, ").unwrap();
    for words in ["Received interrupt.", "Stopping now.", "Left at once."] {
        screen.send_control('c').unwrap();
        screen.exp_string(words).unwrap();
    }
    leaves(&mut screen, "130");
}
