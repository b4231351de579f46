//! One program under a keeper: how it ended, what it wrote, what it saw of us.

use std::path::Path;
use std::time::Duration;

use interrupt_router::{Outcome, StopScope};
use tools::{
    ContainedCommand, ContainedEnd, Containment, ContainmentConfig, ContainmentError, Mechanism,
    NoProgress, ProcessExit, ToolEnvironment, WantedMechanism,
};

use crate::scene::{Heard, by_user, containment, mechanisms};

fn shell(line: &str) -> ContainedCommand {
    ContainedCommand {
        program: "sh".into(),
        arguments: vec!["-c".into(), line.into()],
        environment: ToolEnvironment::allowed(),
        directory: "/".into(),
    }
}

async fn run(command: ContainedCommand) -> ContainedEnd {
    let outcome = containment(WantedMechanism::Best)
        .run(command, &StopScope::new(), &NoProgress)
        .await;
    outcome.unwrap().completed().unwrap()
}

#[tokio::test]
async fn how_a_program_ended_is_told() {
    let end = run(shell("echo out; echo err >&2; exit 7")).await;
    assert_eq!(end.exit, Some(ProcessExit::Code(7)));
    assert_eq!(
        (end.stdout.text().as_str(), end.stderr.text().as_str()),
        ("out\n", "err\n")
    );
    assert!(end.report.verified && !end.report.forced);
    assert_eq!((end.report.leftovers, end.report.took), (0, None));
    assert_eq!(
        run(shell("kill -9 $$")).await.exit,
        Some(ProcessExit::Signal(9))
    );
}

#[tokio::test]
async fn what_is_said_of_control_groups_is_what_a_program_gets() {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let end = run(shell("cat /proc/self/cgroup")).await;
    let are_said_to_be_had = tools::probe_control_groups().is_ok();
    assert_eq!(end.stdout.text() != own, are_said_to_be_had, "{own}");
    assert_eq!(
        end.report.mechanism == Mechanism::Cgroup,
        are_said_to_be_had
    );
}

#[tokio::test]
async fn what_cannot_be_run_is_refused_with_the_reason() {
    let refused = |command: ContainedCommand| async {
        let outcome = containment(WantedMechanism::Best)
            .run(command, &StopScope::new(), &NoProgress)
            .await;
        match outcome {
            Err(ContainmentError::Refused { reason }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let nothing = ContainedCommand {
        program: "no-such-program".into(),
        ..shell("")
    };
    assert!(
        refused(nothing)
            .await
            .starts_with("`no-such-program` cannot be run: No such file")
    );
    let nowhere = ContainedCommand {
        directory: "/no/such/folder".into(),
        ..shell("")
    };
    assert!(refused(nowhere).await.contains("No such file"));
}

#[tokio::test]
async fn a_keeper_that_is_none_is_an_error_and_nothing_runs() {
    let config = tools::ContainmentConfig {
        keeper: "/bin/true".into(),
        ..containment(WantedMechanism::Best).config().clone()
    };
    let outcome = tools::Containment::new(config)
        .run(shell("true"), &StopScope::new(), &NoProgress)
        .await;
    assert!(
        matches!(outcome, Err(ContainmentError::Keeper(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn what_is_left_running_is_ended_and_counted() {
    let end = run(shell("sleep 1000 & sleep 1000 & echo done")).await;
    assert_eq!(
        (end.exit, end.stdout.text().as_str()),
        (Some(ProcessExit::Code(0)), "done\n")
    );
    assert_eq!((end.report.leftovers, end.report.verified), (2, true));
}

#[tokio::test]
async fn a_program_sees_of_our_environment_what_is_on_the_list_and_what_is_named() {
    // Whatever runs tests sets this one, and it is on no list.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let names = |end: ContainedEnd| {
        let text = end.stdout.text();
        let names = text
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, _value)| name.to_owned()));
        names.collect::<Vec<String>>()
    };
    let seen = names(
        run(ContainedCommand {
            program: "env".into(),
            arguments: vec![],
            ..shell("")
        })
        .await,
    );
    assert!(
        seen.iter()
            .all(|name| tools::ALLOWED_VARIABLES.contains(&name.as_str())),
        "{seen:?}"
    );
    assert!(seen.contains(&"PATH".to_owned()));
    let environment = ToolEnvironment::empty()
        .with_ours(["CARGO_MANIFEST_DIR"])
        .with("TOKEN", "secret");
    assert!(
        !format!("{environment:?}").contains("secret"),
        "a value is not printed"
    );
    let command = ContainedCommand {
        program: "/usr/bin/env".into(),
        arguments: vec![],
        environment,
        ..shell("")
    };
    assert_eq!(names(run(command).await), ["CARGO_MANIFEST_DIR", "TOKEN"]);
}

#[tokio::test]
async fn of_a_long_output_start_and_end_are_kept_and_the_rest_is_counted() {
    let end = run(shell("echo first; yes | head -c 30000000; echo last")).await;
    let kept = containment(WantedMechanism::Best).config().kept_output;
    let text = end.stdout.text();
    assert!(text.starts_with("first\ny\n") && text.ends_with("y\nlast\n"));
    assert_eq!(end.stdout.dropped(), 30_000_000 + 11 - kept as u64);
    assert!(text.len() < kept + 100);
}

#[tokio::test]
async fn what_was_written_before_an_interrupt_is_kept_to_the_end() {
    for wanted in mechanisms() {
        let (scope, heard) = (StopScope::new(), Heard::new());
        // A busy machine may let a program wait for its turn.
        let containment = Containment::new(ContainmentConfig {
            grace: Duration::from_secs(20),
            ..containment(wanted).config().clone()
        });
        let line = "trap 'echo goodbye; exit 3' TERM; echo hello; while :; do sleep 0.01; done";
        let interrupting = async {
            heard.wait_for("hello", 1).await;
            scope.stop(by_user("enough"));
        };
        let (outcome, ()) =
            tokio::join!(containment.run(shell(line), &scope, &*heard), interrupting);
        let Outcome::Interrupted { reason, partial } = outcome.unwrap() else {
            panic!("it completed");
        };
        assert_eq!(reason.message, "enough");
        assert_eq!(
            partial.stdout.text(),
            "hello\ngoodbye\n",
            "its last words count"
        );
        assert_eq!(partial.exit, Some(ProcessExit::Code(3)));
        assert!(partial.report.verified && !partial.report.forced && partial.report.took.is_some());
    }
}

#[tokio::test]
async fn the_sweep_can_be_asked_for_and_a_group_that_cannot_be_had_is_refused_where_it_is_a_must() {
    let end = containment(WantedMechanism::Sweep)
        .run(shell("true"), &StopScope::new(), &NoProgress)
        .await;
    assert_eq!(
        end.unwrap().completed().unwrap().report.mechanism,
        Mechanism::Sweep
    );
    let must = containment(WantedMechanism::Cgroup)
        .run(shell("true"), &StopScope::new(), &NoProgress)
        .await;
    match must {
        Ok(outcome) => assert_eq!(
            outcome.completed().unwrap().report.mechanism,
            Mechanism::Cgroup
        ),
        Err(ContainmentError::Refused { reason }) => {
            assert!(reason.contains("control group"), "{reason}")
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_tool_has_no_terminal_no_input_and_a_session_of_its_own() {
    let end = run(shell(
        "cat; tty; test $(ps -o sid= -p $$ 2>/dev/null || echo $$) -eq $$ && echo leader",
    ))
    .await;
    let text = end.stdout.text();
    assert!(
        text.contains("not a tty") && text.contains("leader"),
        "{text}"
    );
    assert!(Path::new("/dev/null").exists());
}
