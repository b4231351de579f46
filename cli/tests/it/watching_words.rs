//! What somebody has written in `irq watch` is not lost: neither over a slow network, nor where it is refused, nor
//! in a window that is closed.

use std::time::Duration;

use interrupts::life::{Scope, State, Verdict};
use interrupts::store::Run;
use rexpect::session::PtySession;

use crate::program::until;
use crate::screen::{press, resize};
use crate::seed::Seed;
use crate::served::Served;
use crate::slow_proxy::SlowProxy;
use crate::watching::{leave, start, start_known, start_with};
use crate::watching_windows::{pause, takes_hold};

/// How late a list is.
const LATE: Duration = Duration::from_millis(1_200);

fn is_taken_back(seed: &Seed, run: &Run) {
    until("the pause is taken back", || {
        let asked = seed.interrupts(run);
        asked.len() == 1 && asked[0].state == State::Cancelled
    });
}

/// The window of the next pause has what was written, and sends it.
fn again(screen: &mut PtySession, words: &str) {
    press(screen, "\x1b");
    std::thread::sleep(Duration::from_millis(300));
    screen.exp_string(words).unwrap();
    press(screen, "\r");
}

/// The agent stops, and goes on with what was written.
fn goes_on_with(seed: &Seed, run: &Run, words: &str) {
    let live = || {
        seed.interrupts(run)
            .into_iter()
            .find(|it| it.state.is_live())
    };
    until("a pause", || live().is_some());
    let pause = live().unwrap();
    takes_hold(seed, &pause);
    until("it goes on", || {
        seed.interrupt(pause.id).state == State::Resolved
    });
    let decision = seed.interrupt(pause.id).decision.unwrap();
    assert_eq!(decision.verdict, Verdict::Respond);
    assert!(decision.content.unwrap().contains(words));
}

/// The screens of a supervisor of a server whose lists of interrupts are late.
fn late(served: &Served) -> (PtySession, SlowProxy) {
    let token = served.token("eve", "supervisor");
    let proxy = SlowProxy::before(&served.url, "/v1/records/interrupts?", LATE);
    let screen = start_with(&format!(
        "--silent --server {} --token-file {}",
        proxy.url,
        token.display()
    ));
    (screen, proxy)
}

#[test]
fn what_is_submitted_is_not_lost_to_a_list_that_is_older_than_its_pause() {
    let seed = Seed::new();
    let run = seed.run();
    let served = Served::over(&seed.path());
    let (mut screen, proxy) = late(&served);
    press(&mut screen, "jj");
    proxy.until_something_is_on_its_way();
    press(&mut screen, "\x1b");
    screen.exp_string("modify the plan").unwrap();
    press(&mut screen, "QXZ\r");
    goes_on_with(&seed, &run, "QXZ");
    leave(&mut screen);
}

#[test]
fn a_pause_that_somebody_else_ends_before_any_list_names_it_closes_its_window_and_keeps_the_words()
{
    let seed = Seed::new();
    let run = seed.run();
    let served = Served::over(&seed.path());
    let (mut screen, proxy) = late(&served);
    press(&mut screen, "jj");
    proxy.until_something_is_on_its_way();
    press(&mut screen, "\x1b");
    screen.exp_string("modify the plan").unwrap();
    press(&mut screen, "QXZ\r");
    let pause = pause(&seed, &run, Scope::Agent);
    seed.end(&["withdraw", &pause.id.to_string()]).exits_with(0);
    screen.exp_string("is over").unwrap();
    again(&mut screen, "QXZ");
    goes_on_with(&seed, &run, "QXZ");
    press(&mut screen, "\x04");
}

#[test]
fn what_is_written_stays_where_an_interrupt_is_refused() {
    let seed = Seed::new();
    let run = seed.run();
    let served = Served::over(&seed.path());
    // A reviewer may interrupt nothing, and learns that late.
    let token = served.token("rita", "reviewer");
    let proxy = SlowProxy::before(&served.url, "/v1/commands/request_stop", LATE);
    let mut screen = start_with(&format!(
        "--silent --server {} --token-file {}",
        proxy.url,
        token.display()
    ));
    press(&mut screen, "jj\x1b");
    screen.exp_string("modify the plan").unwrap();
    press(&mut screen, "QXZ");
    screen.exp_string("needs the right").unwrap();
    press(&mut screen, "\x1b");
    screen.exp_string("QXZ").unwrap();
    assert!(seed.interrupts(&run).is_empty());
    press(&mut screen, "\x03\x04");
}

#[test]
fn what_is_written_in_a_window_that_is_closed_is_there_in_the_next() {
    let seed = Seed::new();
    let run = seed.run();
    let mut screen = start(&seed);
    press(&mut screen, "jj\x1b");
    screen.exp_string("modify the plan").unwrap();
    pause(&seed, &run, Scope::Agent);
    press(&mut screen, "JWK");
    std::thread::sleep(Duration::from_millis(200));
    press(&mut screen, "\t\t\r");
    is_taken_back(&seed, &run);
    again(&mut screen, "JWK");
    goes_on_with(&seed, &run, "JWK");
    leave(&mut screen);
}

#[test]
fn whoever_does_not_end_the_run_after_all_is_in_the_window_again_with_what_he_wrote() {
    let seed = Seed::new();
    let run = seed.run();
    let (mut screen, terminal, _shell) =
        start_known(&format!("--silent --store {}", seed.path().display()));
    press(&mut screen, "jj\x1b");
    screen.exp_string("modify the plan").unwrap();
    pause(&seed, &run, Scope::Agent);
    press(&mut screen, "QXZ\t\t\t\t\t\r");
    std::thread::sleep(Duration::from_millis(300));
    resize(&terminal, "31", "101");
    // The question takes two lines, and the keys that answer it stand below them; the last line names them too.
    screen.exp_string("\x1b[2J").unwrap();
    screen.exp_string("Sure?").unwrap();
    let question = screen.exp_string("yes").unwrap();
    assert!(question.contains("resumed."), "{question}");
    screen.exp_string("yes").unwrap();
    press(&mut screen, "n");
    screen.exp_string("modify the plan").unwrap();
    // From the button that ends the run to the one that resumes it.
    press(&mut screen, "\t\t\t\r");
    is_taken_back(&seed, &run);
    again(&mut screen, "QXZ");
    goes_on_with(&seed, &run, "QXZ");
    leave(&mut screen);
}
