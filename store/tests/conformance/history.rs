//! Random histories of journals, checkpoints and forks, against what a list of facts says they must leave.

use std::collections::{BTreeMap, BTreeSet};

use interrupt_router::RunId;
use interrupts::EffectId;
use interrupts::store::{CheckpointId, Intent, NewRun, Run, Store};
use proptest::prelude::*;

use crate::running::{draft, intent};
use crate::scene::{ALL, Scene, delivery};

/// One thing that happens to one of the runs, which are chosen by number.
#[derive(Debug, Clone)]
enum Fact {
    Begin { run: usize, place: u8 },
    Finish { run: usize, place: u8 },
    Save { run: usize },
    Fork { checkpoint: usize },
}

/// What is known of a run: which places were begun, and which are done.
#[derive(Debug, Clone, Default)]
struct Known {
    begun: BTreeSet<u8>,
    done: BTreeSet<u8>,
}

fn fact() -> impl Strategy<Value = Fact> {
    let (run, place) = (0..8_usize, 0..6_u8);
    prop_oneof![
        4 => (run.clone(), place.clone()).prop_map(|(run, place)| Fact::Begin { run, place }),
        4 => (run.clone(), place).prop_map(|(run, place)| Fact::Finish { run, place }),
        2 => run.prop_map(|run| Fact::Save { run }),
        2 => (0..8_usize).prop_map(|checkpoint| Fact::Fork { checkpoint }),
    ]
}

fn placed(run: &Run, place: u8) -> Intent {
    let place = format!("root#{place}");
    Intent {
        effect: EffectId::in_run(run.id, &place),
        place: Some(place.clone()),
        ..intent(run, &place)
    }
}

/// The runs and checkpoints of a history, and what each must have.
#[derive(Default)]
struct History {
    runs: Vec<(Run, Known)>,
    checkpoints: Vec<(CheckpointId, BTreeSet<u8>)>,
}

impl History {
    async fn add<S: Store>(&mut self, scene: &Scene<S>, fact: &Fact) {
        let store = &scene.store;
        match *fact {
            Fact::Begin { run, place } => {
                let (run, known) = self.nth(run);
                store.begin(1, placed(run, place)).await.unwrap();
                known.begun.insert(place);
            }
            Fact::Finish { run, place } => {
                let (run, known) = self.nth(run);
                let effect = placed(run, place).effect;
                let result = format!("\"of {place}\"");
                let finished = store.finish(1, effect, result).await;
                assert_eq!(finished.is_ok(), known.begun.contains(&place));
                if finished.is_ok() {
                    known.done.insert(place);
                }
            }
            Fact::Save { run } => {
                let (run, known) = self.nth(run);
                let saved = store.save(draft(run, None)).await.unwrap();
                let done = known.done.clone();
                self.checkpoints.push((saved.id, done));
            }
            Fact::Fork { checkpoint } => self.fork(scene, checkpoint).await,
        }
    }

    async fn fork<S: Store>(&mut self, scene: &Scene<S>, checkpoint: usize) {
        let Some((from, done)) = self.checkpoints.get(checkpoint).cloned() else {
            return;
        };
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        let fork = scene.store.fork_run(from, new).await.unwrap();
        let owned = scene.store.own_run(fork.id, delivery("owner", 1_000)).await;
        let known = Known {
            begun: done.clone(),
            done,
        };
        self.runs.push((owned.unwrap(), known));
    }

    fn nth(&mut self, number: usize) -> &mut (Run, Known) {
        let runs = self.runs.len();
        &mut self.runs[number % runs]
    }

    async fn check<S: Store>(&self, scene: &Scene<S>) {
        for (run, known) in &self.runs {
            let journal = scene.store.journal(run.id, ALL).await.unwrap();
            let found: BTreeMap<_, _> = journal
                .into_iter()
                .map(|entry| {
                    let result = entry.result.map(|result| result.content);
                    (entry.intent.effect, result)
                })
                .collect();
            let expected: BTreeMap<_, _> = known
                .begun
                .iter()
                .map(|place| {
                    let done = known.done.contains(place);
                    let result = done.then(|| format!("\"of {place}\""));
                    (placed(run, *place).effect, result)
                })
                .collect();
            assert_eq!(found, expected, "the journal of {}", run.id);
        }
        scene.store.verify_audit().await.unwrap();
    }
}

async fn goes_as_the_facts_say<S: Store>(scene: Scene<S>, facts: Vec<Fact>) {
    let mut history = History::default();
    history.runs.push((scene.run().await, Known::default()));
    for fact in &facts {
        history.add(&scene, fact).await;
    }
    history.check(&scene).await;
}

fn facts() -> impl Strategy<Value = Vec<Fact>> {
    prop::collection::vec(fact(), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn in_memory_a_fork_has_what_its_checkpoint_had(facts in facts()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async { goes_as_the_facts_say(Scene::in_memory(), facts).await });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn in_sqlite_a_fork_has_what_its_checkpoint_had(facts in facts()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async { goes_as_the_facts_say(Scene::in_sqlite().await, facts).await });
    }
}

#[cfg(feature = "postgres")]
proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn in_postgres_a_fork_has_what_its_checkpoint_had(facts in facts()) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            if let Some(scene) = Scene::in_postgres().await {
                goes_as_the_facts_say(scene, facts).await;
            }
        });
    }
}
