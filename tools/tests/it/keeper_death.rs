//! Whoever dies, the tool dies too: the process that runs it, its keeper, the future that waits for it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use interrupt_router::{Outcome, StopScope};
use rustix::process::{Pid, Signal, kill_process};
use tools::{ContainedCommand, ContainmentError, Mechanism, ToolEnvironment, WantedMechanism};

use crate::scene::{Heard, containment, mechanisms};
use crate::{census, nasty_child};

/// Waits until nothing is alive that has this folder on its command line. A chain of forks may slip through one look,
/// so it takes several in a row.
fn wait_for_silence(folder: &Path) {
    let (word, patience) = (
        folder.to_str().unwrap(),
        Instant::now() + Duration::from_secs(20),
    );
    let mut silent = 0;
    while silent < 5 {
        let alive = census::with_word(word);
        silent = if alive.is_empty() { silent + 1 } else { 0 };
        assert!(Instant::now() < patience, "still alive: {alive:?}");
        std::thread::yield_now();
    }
}

/// Waits until a process that is about to die has died.
fn wait_for_death(named: census::Named) {
    let patience = Instant::now() + Duration::from_secs(20);
    while census::is_alive(named) {
        assert!(Instant::now() < patience, "still alive: {named:?}");
        std::thread::yield_now();
    }
}

fn nasty(kind: &str, folder: &Path) -> ContainedCommand {
    ContainedCommand {
        program: nasty_child::program().into(),
        arguments: vec![kind.into(), folder.join(kind).into()],
        environment: ToolEnvironment::empty(),
        directory: folder.to_owned(),
    }
}

#[test]
fn no_orphan_is_left_when_the_process_that_runs_tools_is_killed() {
    let program = Path::new(env!("CARGO_BIN_EXE_tool-keeper"))
        .parent()
        .unwrap()
        .join("examples/contained");
    for kind in [
        "term_ignored",
        "setsid",
        "double_fork",
        "fork_chain",
        "many_files",
        "flood",
        "forks_while_killed",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let call_log = folder.path().join(kind);
        let mut owner = Command::new(&program)
            .arg(nasty_child::program())
            .args([Path::new(kind), &call_log])
            // The keeper is then found by its folder, and lives for as long as anything of the tool does.
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = Vec::new();
        BufReader::new(owner.stdout.as_mut().unwrap())
            .read_until(b'\n', &mut first)
            .unwrap();
        assert_eq!(first, b"ready\n", "{kind}");
        assert!(!census::with_word(call_log.to_str().unwrap()).is_empty());
        // SIGKILL: it gets no chance to clean up.
        owner.kill().unwrap();
        owner.wait().unwrap();
        wait_for_silence(folder.path());
        assert_eq!(census::alive_of(&call_log), [], "{kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_future_that_is_dropped_ends_its_program() {
    for wanted in mechanisms() {
        let folder = tempfile::tempdir().unwrap();
        let (scope, heard) = (StopScope::new(), Heard::new());
        let containment = containment(wanted);
        let running = containment.run(nasty("double_fork", folder.path()), &scope, &*heard);
        tokio::select! {
            outcome = running => panic!("it ended by itself: {outcome:?}"),
            () = heard.wait_for("ready", 1) => {}
        }
        wait_for_silence(folder.path());
    }
}

/// Whether a process has nothing to do.
fn sleeps(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_name, rest) = stat.rsplit_once(')').unwrap();
    rest.trim_start().starts_with('S')
}

#[tokio::test]
async fn a_keeper_that_is_killed_takes_the_tool_with_it_as_far_as_is_said() {
    for wanted in mechanisms() {
        let folder = tempfile::tempdir().unwrap();
        let call_log = folder.path().join("double_fork");
        let (scope, heard) = (StopScope::new(), Heard::new());
        let containment = containment(wanted);
        let killing = async {
            heard.wait_for("ready", 1).await;
            let keeper = parent_of(census::named(&call_log)[0].pid);
            // The tool may be faster than the keeper, which says that it has begun, and sleeps then.
            while !sleeps(keeper) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            kill_process(Pid::from_raw(keeper).unwrap(), Signal::KILL).unwrap();
        };
        let running = containment.run(nasty("double_fork", folder.path()), &scope, &*heard);
        let (outcome, ()) = tokio::join!(running, killing);
        let Err(ContainmentError::KeeperDied { report }) = outcome else {
            panic!("{outcome:?}");
        };
        match report.mechanism {
            Mechanism::Cgroup => {
                assert!(
                    report.verified,
                    "the group is known, so everything in it was killed"
                );
                wait_for_silence(folder.path());
            }
            Mechanism::Sweep => {
                assert!(
                    !report.verified,
                    "who was adopted by others cannot be found any more, and that is said"
                );
                // The first process dies with its keeper.
                wait_for_death(census::named(&call_log)[0]);
                end_by_hand(&call_log);
            }
        }
    }
}

#[tokio::test]
async fn a_keeper_that_is_asked_to_end_ends_the_tool_first() {
    let folder = tempfile::tempdir().unwrap();
    let call_log = folder.path().join("setsid");
    let (scope, heard) = (StopScope::new(), Heard::new());
    let containment = containment(WantedMechanism::Sweep);
    let asking = async {
        heard.wait_for("ready", 1).await;
        let keeper = parent_of(census::named(&call_log)[0].pid);
        kill_process(Pid::from_raw(keeper).unwrap(), Signal::TERM).unwrap();
    };
    let running = containment.run(nasty("setsid", folder.path()), &scope, &*heard);
    let (outcome, ()) = tokio::join!(running, asking);
    let end = outcome.unwrap().completed().unwrap();
    assert!(end.report.verified && end.report.forced);
    assert_eq!(census::alive_of(&call_log), []);
}

fn parent_of(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// What the test itself left alive.
fn end_by_hand(call_log: &Path) {
    for named in census::alive_of(call_log) {
        kill_process(Pid::from_raw(named.pid).unwrap(), Signal::KILL).unwrap();
    }
}

/// Stops the keeper once, or again and again, and leaves others behind.
const STOPPING_LINES: [&str; 3] = [
    "kill -STOP $PPID; setsid sleep 1000 & echo ready; sleep 1000",
    "(while :; do kill -STOP $PPID; done) & trap '' TERM; setsid sleep 1000 & echo ready; while :; do sleep 1; done",
    // The keeper hears of the first process's end only once it is continued, and by then the other one cannot be asked to end.
    "kill -STOP $PPID; (trap '' TERM; echo ready; while :; do kill -STOP $PPID; done) & setsid sleep 1000 &",
];

fn line(line: &str, folder: &Path) -> ContainedCommand {
    ContainedCommand {
        program: "sh".into(),
        arguments: vec!["-c".into(), line.into()],
        environment: ToolEnvironment::allowed(),
        directory: folder.to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_stops_its_keeper_ends_when_the_grace_is_over() {
    for wanted in mechanisms() {
        for stopping in STOPPING_LINES {
            let folder = tempfile::tempdir().unwrap();
            let (scope, heard) = (StopScope::new(), Heard::new());
            let containment = containment(wanted);
            let interrupting = async {
                heard.wait_for("ready", 1).await;
                scope.stop(crate::scene::by_user("enough"));
                Instant::now()
            };
            let running = containment.run(line(stopping, folder.path()), &scope, &*heard);
            let (outcome, asked) = tokio::join!(running, interrupting);
            let took = asked.elapsed();
            assert!(
                took < Duration::from_secs(4),
                "{stopping}: {took:?} {outcome:?}"
            );
            let Ok(Outcome::Interrupted { partial, .. }) = outcome else {
                panic!("{stopping}: {outcome:?}");
            };
            assert!(partial.report.verified, "{stopping}: {:?}", partial.report);
            assert_eq!(partial.stdout.text(), "ready\n", "{stopping}");
            let alive = census::with_word(folder.path().to_str().unwrap());
            assert_eq!(alive, Vec::<u32>::new(), "{stopping}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_has_stopped_its_keeper_ends_with_the_future_that_waits_for_it() {
    for wanted in mechanisms() {
        let folder = tempfile::tempdir().unwrap();
        let (scope, heard) = (StopScope::new(), Heard::new());
        let containment = containment(wanted);
        let running = containment.run(line(STOPPING_LINES[0], folder.path()), &scope, &*heard);
        tokio::select! {
            outcome = running => panic!("it ended by itself: {outcome:?}"),
            () = heard.wait_for("ready", 1) => {}
        }
        wait_for_silence(folder.path());
    }
}
