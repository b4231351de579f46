//! Hooks that die at random moments.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Bench, ended, event, is_about_nothing};
use crate::damage::Numbers;
use crate::program::askers_gone;

const SIGNALS: [Signal; 4] = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP];

#[test]
fn a_hook_that_dies_at_any_moment_leaves_no_question_and_no_run_at_work() {
    let bench = Bench::new();
    let begun = Instant::now();
    let mut hook = bench.begins("claude-code", &event("PreToolUse", "toolu_first"), "60s");
    let asked = bench.questions(1);
    let to_ask = begun.elapsed();
    hook.kill().unwrap();
    hook.wait().unwrap();
    is_about_nothing(&bench, &asked[0]);
    let mut numbers = Numbers::of_environment("ASKERS_GONE_SEED");
    let moments = usize::try_from(2 * to_ask.as_millis()).unwrap();
    for death in 0..askers_gone() {
        let tool_use = format!("toolu_{death}");
        let hook = bench.begins("claude-code", &event("PreToolUse", &tool_use), "60s");
        let after = numbers.below(moments);
        std::thread::sleep(Duration::from_millis(after as u64));
        let signal = SIGNALS[numbers.below(SIGNALS.len())];
        let process = Pid::from_raw(i32::try_from(hook.id()).unwrap()).unwrap();
        kill_process(process, signal).unwrap();
        ended(hook);
        println!("{death}: {signal:?} after {after} ms");
        bench.questions(0);
        for state in bench.run_states() {
            assert!(["completed", "cancelled"].contains(&&*state), "{state}");
        }
    }
    println!("{} hooks had begun to ask", bench.run_states().len());
}
