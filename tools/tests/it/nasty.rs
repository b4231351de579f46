//! Children that do not want to die: of each kind many, under both mechanisms, and none of them survives.
//!
//! `NASTY_CHILDREN=1000` runs as many of each instead of a hundred.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use interrupt_router::{Outcome, StopScope};
use tokio::task::JoinSet;
use tools::{ContainedCommand, ContainedEnd, ContainmentReport, ToolEnvironment, WantedMechanism};

use crate::scene::{Heard, by_user, containment, mechanisms};
use crate::{census, nasty_child};

/// How many run at once.
const AT_ONCE: usize = 4;

fn how_many() -> usize {
    let given = std::env::var("NASTY_CHILDREN").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// When a kind is told to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndsBy {
    /// An interrupt, once it is ready.
    Interrupt,
    /// The end of its first process, which leaves others behind.
    Itself,
}

struct Case {
    kind: &'static str,
    ends_by: EndsBy,
    wanted: WantedMechanism,
    folder: PathBuf,
}

/// How one of them ended, and how long after it was told to.
struct Death {
    report: ContainmentReport,
    took: Duration,
}

async fn one(case: Arc<Case>, number: usize) -> Death {
    let call_log = case.folder.join(format!("{}-{number}", case.kind));
    let command = ContainedCommand {
        program: nasty_child::program().into(),
        arguments: vec![case.kind.into(), call_log.clone().into()],
        environment: ToolEnvironment::empty(),
        directory: case.folder.clone(),
    };
    let (scope, heard) = (StopScope::new(), Heard::new());
    let containment = containment(case.wanted);
    let running = containment.run(command, &scope, &*heard);
    let told = async {
        heard.wait_for("ready", 1).await;
        match case.ends_by {
            EndsBy::Interrupt => scope.stop(by_user("enough")),
            EndsBy::Itself => {
                let first = census::named(&call_log)[0];
                while census::is_alive(first) {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        }
        Instant::now()
    };
    let running = async { (running.await, Instant::now()) };
    let ((outcome, ended), told) = tokio::join!(running, told);
    let end = match (outcome.unwrap(), case.ends_by) {
        (Outcome::Interrupted { partial, .. }, EndsBy::Interrupt) => partial,
        (Outcome::Completed(end), EndsBy::Itself) => end,
        (other, _) => panic!("{} {number}: {other:?}", case.kind),
    };
    let ContainedEnd { report, stdout, .. } = end;
    assert!(report.verified, "{} {number}: {report:?}", case.kind);
    assert!(stdout.text().starts_with("ready"), "{}", stdout.text());
    let named = census::named(&call_log);
    assert!(!named.is_empty(), "{} {number} named nobody", case.kind);
    assert_eq!(census::alive_of(&call_log), [], "{} {number}", case.kind);
    Death {
        report,
        took: ended.saturating_duration_since(told),
    }
}

async fn all(kind: &'static str, ends_by: EndsBy) {
    for wanted in mechanisms() {
        let folder = tempfile::tempdir().unwrap();
        let case = Arc::new(Case {
            kind,
            ends_by,
            wanted,
            folder: folder.path().to_owned(),
        });
        let (mut running, mut deaths) = (JoinSet::new(), Vec::new());
        for number in 0..how_many() {
            if running.len() == AT_ONCE {
                deaths.push(running.join_next().await.unwrap().unwrap());
            }
            running.spawn(one(Arc::clone(&case), number));
        }
        while let Some(death) = running.join_next().await {
            deaths.push(death.unwrap());
        }
        assert_eq!(deaths.len(), how_many());
        // Whoever was born and killed before it could name itself has the folder on its command line.
        let word = folder.path().to_str().unwrap();
        assert_eq!(census::with_word(word), Vec::<u32>::new(), "{kind}");
        print(kind, &deaths);
    }
}

fn print(kind: &str, deaths: &[Death]) {
    let mut took: Vec<Duration> = deaths.iter().map(|death| death.took).collect();
    took.sort_unstable();
    let at = |share: usize| took[(took.len() - 1) * share / 100];
    println!(
        "{kind:18} {:7} {:4} dead of {:4}; to verified death, grace included: p50 {:?}, p99 {:?}, max {:?}; {} had to be killed",
        deaths[0].report.mechanism.word(),
        deaths.iter().filter(|death| death.report.verified).count(),
        deaths.len(),
        at(50),
        at(99),
        at(100),
        deaths.iter().filter(|death| death.report.forced).count(),
    );
}

#[tokio::test]
async fn one_that_ignores_the_request_to_end() {
    all("term_ignored", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn one_in_a_session_of_its_own() {
    all("setsid", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn one_that_forked_twice() {
    all("double_fork", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn a_chain_of_forks_of_which_only_the_last_lives() {
    all("fork_chain", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_when_its_parent_has_ended() {
    all("pipe_held", EndsBy::Itself).await;
}

#[tokio::test]
async fn a_stopped_one() {
    all("stopped", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn one_whose_first_thread_has_ended() {
    all("first_thread_ended", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn one_with_thousands_of_open_files() {
    all("many_files", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn one_that_floods_its_output() {
    all("flood", EndsBy::Interrupt).await;
}

#[tokio::test]
async fn one_that_forks_while_it_is_killed() {
    all("forks_while_killed", EndsBy::Interrupt).await;
}

/// The proof needs a census that sees who is alive.
#[tokio::test]
async fn the_census_sees_a_living_child() {
    let folder = tempfile::tempdir().unwrap();
    let call_log = folder.path().join("ledger");
    let command = ContainedCommand {
        program: nasty_child::program().into(),
        arguments: vec!["double_fork".into(), call_log.clone().into()],
        environment: ToolEnvironment::empty(),
        directory: folder.path().to_owned(),
    };
    let (scope, heard) = (StopScope::new(), Heard::new());
    let containment = containment(WantedMechanism::Best);
    let looking = async {
        heard.wait_for("ready", 1).await;
        // The middle one of the three has ended.
        assert_eq!(census::named(&call_log).len(), 3);
        assert_eq!(census::with_word(call_log.to_str().unwrap()).len(), 2);
        assert!(census::alive_of(&call_log).len() >= 2);
        scope.stop(by_user("enough"));
    };
    let (outcome, ()) = tokio::join!(containment.run(command, &scope, &*heard), looking);
    assert!(matches!(outcome.unwrap(), Outcome::Interrupted { .. }));
}
