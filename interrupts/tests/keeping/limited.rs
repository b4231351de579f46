//! A person's pause and that of a limit in one turn: both are recorded, the person's first, the run pauses once, and one
//! resume goes on.

use interrupt_router::{RunId, StopMode, StopSource};
use interrupts::life::{Evidence, RunState, State, Verdict};
use interrupts::limits::{LimitKind, LimitReached, StopSink as _};
use interrupts::manager::{InterruptManager, LimitStops, RunEnd, StopCause, StopNote, Target};
use interrupts::store::{Audit as _, AuditSubject};
use jiff::Timestamp;

use crate::scene::{ALL, Scene, pause, person, taken};

/// From where a person pauses a run.
#[derive(Debug, Clone, Copy)]
enum From {
    /// Ctrl+C at the terminal of the process that executes it.
    Terminal,
    /// Esc, or a command, for this run alone.
    Here,
    /// A command in another process, of which the run's own has not heard when its limit is reached.
    Elsewhere,
}

/// A limit is reached, as its guard says it.
fn reach(limit: LimitKind, mode: StopMode, process: &InterruptManager, run: RunId) {
    let stops = LimitStops {
        requests: process.requests(),
        target: Target::Run(run),
        by: process.settings().actor(),
        grace: None,
    };
    stops.stop(LimitReached {
        limit,
        mode,
        message: format!("the limit of {limit} is reached"),
        metadata: serde_json::json!({}),
        at: Timestamp::UNIX_EPOCH,
    });
}

/// Who asked for stops of a run, and how often it was paused, as the audit says.
async fn audited(scene: &Scene) -> (Vec<(String, String)>, usize) {
    let (mut asked, mut pauses) = (Vec::new(), 0);
    for row in scene.store.audit(ALL).await.unwrap() {
        let subject = row.read().unwrap().subject;
        if let AuditSubject::Interrupt { audited, .. } = subject {
            let actor = audited.actor.map(|actor| actor.name.to_string());
            if ["admit", "ask"].contains(&audited.event.as_str()) {
                asked.push((audited.event, actor.unwrap()));
            }
        } else if let AuditSubject::Run { event, state, .. } = subject {
            pauses += usize::from(event == "change" && state == RunState::Paused);
        }
    }
    (asked, pauses)
}

async fn meet(from: From, limit: LimitKind, mode: StopMode) {
    let scene = Scene::new();
    let (one, two) = (scene.process("one"), scene.process("two"));
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    kept.begin().await.unwrap();
    // The turn is under way: nothing of the run comes to a boundary before both have come.
    let (asking, target) = match from {
        From::Terminal => (&one, Target::Everything),
        From::Here => (&one, Target::Run(run)),
        From::Elsewhere => (&two, Target::Run(run)),
    };
    let handle = asking.request(pause(target, StopMode::Graceful));
    if let From::Elsewhere = from {
        handle.recorded().await.unwrap();
    }
    reach(limit, mode, &one, run);
    let stopped = kept
        .acknowledge_stops(Evidence::Boundary, None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stopped.state, RunState::Paused);
    kept.settle(RunEnd::Stopped).await.unwrap();

    let (asked, pauses) = audited(&scene).await;
    let named = |event: &str, name: &str| (event.to_owned(), name.to_owned());
    assert_eq!(
        asked,
        [named("admit", "ada"), named("ask", "one")],
        "{from:?}"
    );
    assert_eq!(pauses, 1, "{from:?}");
    let interrupts = scene.interrupts(run).await;
    assert_eq!(interrupts.len(), 1);
    assert_eq!(interrupts[0].state, State::AwaitingReview);
    assert_eq!(interrupts[0].source, StopSource::User);
    assert_eq!(interrupts[0].reason, "enough for today");
    assert_eq!(interrupts[0].mode, mode);
    let notes = StopNote::in_force(&interrupts[0]);
    let causes: Vec<_> = notes.iter().map(|note| note.cause).collect();
    let limited = match limit {
        LimitKind::Time => StopCause::Timeout,
        LimitKind::Steps | LimitKind::Cost => StopCause::Budget,
        LimitKind::Memory | LimitKind::Cpu => StopCause::Resource,
    };
    assert_eq!(causes, [StopCause::UserEscape, limited], "{from:?}");

    let kept = taken(&scene.process("three"), run).await;
    let lifted = kept.resume(&person(), None).await.unwrap();
    assert_eq!(lifted.len(), 1, "{from:?}");
    let decision = lifted[0].decision.as_ref().unwrap();
    assert_eq!(decision.verdict, Verdict::Resume);
    kept.begin().await.unwrap();
    assert!(!kept.scope().is_stopping(), "{from:?}");
    kept.settle(RunEnd::Completed).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_person_and_a_limit_pause_a_run_once_and_one_resume_goes_on() {
    for from in [From::Terminal, From::Here, From::Elsewhere] {
        for limit in LimitKind::ALL {
            for mode in [StopMode::Graceful, StopMode::Immediate] {
                meet(from, limit, mode).await;
            }
        }
    }
}
