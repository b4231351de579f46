//! Plans whose process died at work, and that go on with something else.

use interrupts::store::JournalEntry;

use crate::durable::{ALL, assert_completed, plan};
use crate::kept::{Act, Kept};
use engine::testing::{Death, Mortal};

fn begun() -> Kept {
    Kept::new().acts(1, plan(&["one", "two"]))
}

/// Runs that died after each of their operations, and had not ended then.
async fn cut_off(input: Option<&str>) -> Vec<(usize, Kept)> {
    cut_off_of(begun, input).await
}

async fn cut_off_of(begin: fn() -> Kept, input: Option<&str>) -> Vec<(usize, Kept)> {
    let undisturbed = begin();
    let sound = Mortal::new(undisturbed.store.clone(), Death::Never);
    undisturbed.execute_over(sound.clone(), input).await;
    let mut cut_off = Vec::new();
    for at in 0..sound.operations() {
        let kept = begin();
        let mortal = Mortal::new(kept.store.clone(), Death::After(at));
        tokio::select! {
            biased;
            report = kept.execute_over(mortal.clone(), input) => panic!("it lived: {report:?}"),
            () = mortal.died() => {}
        }
        let run = kept.store.run(kept.run).await.unwrap();
        if run.is_none_or(|run| !run.state.is_final()) {
            cut_off.push((at, kept));
        }
    }
    cut_off
}

#[tokio::test]
async fn no_answer_that_its_plan_has_not_taken_in_is_read_as_one_to_what_is_wanted_then() {
    for (at, kept) in cut_off(Some("something")).await {
        kept.player.calls.lock().unwrap().clear();
        assert_completed(&kept.execute(Some("something else")).await);
        let asked = kept.player.told("REPLANNER");
        let is_told = asked.iter().any(|text| text.contains("something else"));
        assert!(is_told, "after {at}: {asked:#?}");
    }
}

#[tokio::test]
async fn a_plan_that_has_ended_leaves_nothing_that_would_be_done_again() {
    let mut left = 0;
    for (at, kept) in cut_off(None).await {
        let open = kept.store.unknown_effects(kept.run, ALL).await.unwrap();
        left += open.len();
        assert_completed(&kept.execute(Some("something else")).await);
        let open = kept.store.unknown_effects(kept.run, ALL).await.unwrap();
        assert!(open.is_empty(), "after {at}: {open:#?}");
    }
    assert!(left > 0, "no death fell into a call");
}

/// How often the executor was asked to carry out a step.
fn carried_out(kept: &Kept, step: &str) -> usize {
    let asked = format!("Carry out this step: \"{step}\"");
    let told = kept.player.told("EXECUTOR");
    told.iter().filter(|text| text.contains(&asked)).count()
}

/// The steps that were answered before their process died.
async fn answered(kept: &Kept) -> Vec<&'static str> {
    let open = kept.store.unknown_effects(kept.run, ALL).await.unwrap();
    let is_open = open.iter().any(|entry| {
        let (kind, node) = (entry.intent.kind.as_str(), entry.intent.node.as_str());
        kind == "model_call" && node.ends_with("/executor")
    });
    let mut answered = vec!["one", "two"];
    answered.retain(|step| carried_out(kept, step) > 0);
    if is_open {
        answered.pop();
    }
    answered
}

#[tokio::test]
async fn whoever_goes_on_with_words_takes_in_first_what_was_answered_by_then() {
    let mut answered_deaths = 0;
    for (at, kept) in cut_off(None).await {
        let answered = answered(&kept).await;
        answered_deaths += usize::from(!answered.is_empty());
        assert_completed(&kept.execute(Some("something else")).await);
        for step in &answered {
            assert_eq!(carried_out(&kept, step), 1, "after {at}: {step}");
        }
        let snapshot = kept.snapshot().await;
        let done = snapshot.state.plan().finished().iter();
        let done: Vec<&str> = done.map(|done| done.step.task.as_str()).collect();
        assert!(done.starts_with(&answered), "after {at}: {done:?}");
        let asked = kept.player.told("REPLANNER");
        let is_told = asked.iter().any(|text| text.contains("something else"));
        assert!(is_told, "after {at}: {asked:#?}");
    }
    assert!(answered_deaths > 0, "no step was answered");
}

#[tokio::test(start_paused = true)]
async fn a_step_that_was_answered_in_a_later_try_is_not_carried_out_again() {
    let begin = || begun().acts(2, Act::FailForNow);
    for input in [None, Some("something else")] {
        let mut deaths = 0;
        for (at, kept) in cut_off_of(begin, None).await {
            let journal = kept.store.journal(kept.run, ALL).await.unwrap();
            let is_answered = |turn: u32| {
                let place = format!("root/executor#{turn}/step/0");
                let is_it = |entry: &&JournalEntry| entry.intent.place.as_ref() == Some(&place);
                journal
                    .iter()
                    .find(is_it)
                    .is_some_and(|it| it.result.is_some())
            };
            if !is_answered(3) {
                continue;
            }
            deaths += 1;
            kept.player.is_mended();
            let before = carried_out(&kept, "one");
            assert_completed(&kept.execute(input).await);
            assert_eq!(carried_out(&kept, "one"), before, "after {at}: {input:?}");
            let snapshot = kept.snapshot().await;
            let first = &snapshot.state.plan().finished()[0];
            assert_eq!(first.step.task, "one", "after {at}: {input:?}");
        }
        assert!(deaths > 0);
    }
}
