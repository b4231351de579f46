//! Signals: of a scripted source, and of the operating system.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::{StopMode, StopSource};
use interrupts::life::{RunState, State};
use interrupts::manager::StopHandle;
use interrupts::signals::{Leaving, Signal, SignalListener, SignalSettings, SignalSource, listen};
use interrupts::store::Runs as _;
use tokio::sync::mpsc;

use crate::scene::{Scene, person, taken, work_until_stopped};

/// Signals that a test sends.
struct Scripted {
    signals: mpsc::UnboundedReceiver<Signal>,
}

#[async_trait]
impl SignalSource for Scripted {
    async fn next(&mut self) -> Option<Signal> {
        self.signals.recv().await
    }
}

/// Tells the test what it is told.
struct Telling {
    told: mpsc::UnboundedSender<Told>,
}

enum Told {
    Asked(StopMode, Box<StopHandle>),
    Leave(Leaving),
}

impl SignalListener for Telling {
    fn asked(&mut self, _signal: Signal, mode: StopMode, handle: StopHandle) {
        let told = Told::Asked(mode, Box::new(handle));
        let _test_listens = self.told.send(told);
    }

    fn leave(&mut self, leaving: Leaving) {
        let _test_listens = self.told.send(Told::Leave(leaving));
    }
}

fn settings() -> SignalSettings {
    SignalSettings {
        by: person(),
        patience: None,
        drain: Some(std::time::Duration::from_secs(10)),
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_signal_asks_the_second_insists_the_third_leaves() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let (signals, source) = mpsc::unbounded_channel();
    let (told, mut tells) = mpsc::unbounded_channel();
    let source = Scripted { signals: source };
    let _listening = listen(source, &one, settings(), Telling { told });

    signals.send(Signal::Interrupt).unwrap();
    let Some(Told::Asked(mode, handle)) = tells.recv().await else {
        panic!("the first one asks");
    };
    assert_eq!(mode, StopMode::Graceful);
    let reason = kept.scope().reason().unwrap();
    assert_eq!(
        (reason.mode, reason.source),
        (StopMode::Graceful, StopSource::User)
    );
    handle.recorded().await.unwrap();

    signals.send(Signal::Interrupt).unwrap();
    let Some(Told::Asked(mode, second)) = tells.recv().await else {
        panic!("the second one insists");
    };
    assert_eq!(mode, StopMode::Immediate);
    assert!(kept.scope().is_stopped_now());
    assert_eq!(second.recorded().await, handle.recorded().await);

    signals.send(Signal::Interrupt).unwrap();
    let Some(Told::Leave(leaving)) = tells.recv().await else {
        panic!("the third one leaves");
    };
    assert_eq!(leaving.running, [run], "it says what it skips");
    work_until_stopped(kept).await.unwrap();
    assert_eq!(scene.states(run).await, [State::AwaitingReview]);
}

#[tokio::test(start_paused = true)]
async fn a_second_signal_of_another_kind_says_how_and_not_why() {
    for (first, second) in [
        (Signal::Interrupt, Signal::Terminate),
        (Signal::Terminate, Signal::Interrupt),
        (Signal::Hangup, Signal::Quit),
    ] {
        let source = StopSource::User;
        let scene = Scene::new();
        let one = scene.process("one");
        let run = scene.run().await;
        let kept = taken(&one, run).await;
        let (signals, heard) = mpsc::unbounded_channel();
        let (told, mut tells) = mpsc::unbounded_channel();
        let heard = Scripted { signals: heard };
        let _listening = listen(heard, &one, settings(), Telling { told });
        let mut handles = Vec::new();
        for signal in [first, second] {
            signals.send(signal).unwrap();
            let Some(Told::Asked(_mode, handle)) = tells.recv().await else {
                panic!("it asks");
            };
            handles.push(handle);
        }
        let reason = kept.scope().reason().unwrap();
        assert_eq!((reason.mode, reason.source), (StopMode::Immediate, source));
        for handle in handles {
            handle.recorded().await.unwrap();
        }
        work_until_stopped(kept).await.unwrap();
        let stop = scene.interrupts(run).await.remove(0);
        assert_eq!((stop.mode, stop.source), (StopMode::Immediate, source));
        assert_eq!(stop.reason, reason.message);
        let row = scene.store.run(run).await.unwrap().unwrap();
        assert_eq!(row.reason, Some(stop.reason), "everywhere the same");
    }
}

#[tokio::test(start_paused = true)]
async fn a_termination_drains_within_its_limit() {
    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let (signals, source) = mpsc::unbounded_channel();
    let (told, _tells) = mpsc::unbounded_channel();
    let source = Scripted { signals: source };
    let _listening = listen(source, &one, settings(), Telling { told });
    let began = tokio::time::Instant::now();
    signals.send(Signal::Terminate).unwrap();
    kept.scope().stopping().await;
    let reason = kept.scope().stopped_now().await;
    assert_eq!(reason.source, StopSource::User, "a person's word");
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_of_the_operating_system_pauses_the_run() {
    use interrupts::signals::OsSignals;
    use rustix::process::{Signal as OsSignal, getpid, kill_process};

    let scene = Scene::new();
    let one = scene.process("one");
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let (told, mut tells) = mpsc::unbounded_channel();
    let _listening = listen(
        OsSignals::listen().unwrap(),
        &one,
        settings(),
        Telling { told },
    );
    kill_process(getpid(), OsSignal::INT).unwrap();
    work_until_stopped(kept).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
    kill_process(getpid(), OsSignal::TERM).unwrap();
    let mut modes = VecDeque::new();
    for _signal in 0..2 {
        match tells.recv().await {
            Some(Told::Asked(mode, _handle)) => modes.push_back(mode),
            Some(Told::Leave(_)) | None => panic!("two signals do not leave"),
        }
    }
    assert_eq!(modes, [StopMode::Graceful, StopMode::Immediate]);
}

#[tokio::test]
async fn nobody_listens_once_the_listening_is_dropped() {
    let scene = Scene::new();
    let one = scene.process("one");
    let (signals, source) = mpsc::unbounded_channel();
    let (told, mut tells) = mpsc::unbounded_channel();
    let told = Arc::new(Mutex::new(Some(told)));
    let teller = Telling {
        told: told.lock().unwrap().take().unwrap(),
    };
    drop(listen(
        Scripted { signals: source },
        &one,
        settings(),
        teller,
    ));
    assert!(tells.recv().await.is_none());
    assert!(signals.send(Signal::Interrupt).is_err());
}
