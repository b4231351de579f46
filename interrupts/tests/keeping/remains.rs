//! What runs had begun that end while nobody works on them.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use interrupt_router::{RunId, StopMode};
use interrupts::life::RunState;
use interrupts::manager::{
    AbandonedEffects, InterruptManager, ManagerSettings, StopKind, StopRequest, Target,
};
use interrupts::store::{JournalError, Store};
use interrupts::{EffectId, OwnerName};
use tokio::runtime::Handle;

use crate::scene::{Scene, node, pause, taken, work_until_stopped};

/// Notes in which state each run was when it was to be said what becomes of what it had begun.
#[derive(Default)]
struct Noted(Mutex<Vec<(RunId, RunState)>>);

#[async_trait]
impl AbandonedEffects for Noted {
    async fn leave_out(
        &self,
        store: &Arc<dyn Store>,
        run: RunId,
        (owner, epoch): (&OwnerName, u64),
        _but: Option<EffectId>,
    ) -> Result<(), JournalError> {
        let row = store.run(run).await.unwrap().unwrap();
        assert_eq!(row.epoch, epoch);
        assert_eq!(row.lease.unwrap().owner, *owner);
        self.0.lock().unwrap().push((run, row.state));
        Ok(())
    }
}

fn process(scene: &Scene, owner: &str, noted: &Arc<Noted>) -> InterruptManager {
    let settings = ManagerSettings {
        remains: Arc::clone(noted) as Arc<_>,
        ..scene.settings(owner)
    };
    InterruptManager::new(settings, Handle::current())
}

#[tokio::test]
async fn it_is_left_out_before_a_run_ends_on_which_this_process_has_not_worked() {
    let (scene, noted) = (Scene::new(), Arc::<Noted>::default());
    let (one, two) = (
        process(&scene, "one", &noted),
        process(&scene, "two", &noted),
    );
    let run = scene.run().await;
    let target = Target::Run(run);
    let stop = StopRequest {
        kind: StopKind::Stop,
        ..pause(target.clone(), StopMode::Graceful)
    };
    let kept = taken(&one, run).await;
    one.request(pause(target, StopMode::Graceful));
    work_until_stopped(kept).await.unwrap();
    let carry_out = || two.carry_out(run, node("root"), None, true);
    carry_out().await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Paused);
    assert!(noted.0.lock().unwrap().is_empty(), "it can go on");
    two.request(stop.clone()).recorded().await.unwrap();
    carry_out().await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Cancelled);
    assert_eq!(*noted.0.lock().unwrap(), [(run, RunState::Paused)]);

    // The workflow of a run at work says it by itself.
    let run = scene.run().await;
    let kept = taken(&one, run).await;
    let target = Target::Run(run);
    one.request(StopRequest { target, ..stop });
    work_until_stopped(kept).await.unwrap();
    assert_eq!(scene.state(run).await, RunState::Cancelled);
    assert_eq!(noted.0.lock().unwrap().len(), 1);
}
