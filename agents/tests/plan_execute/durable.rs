//! Plans that outlive their process.

use engine::run::{RunReport, RunStatus};
use interrupt_router::RunId;
use interrupts::life::{RunState, State};
use interrupts::store::{Checkpoint, CheckpointDraft, Filter, NewRun, NodeActivity, Page};
use planning::{FactKind, Phase, PlanExecute, PlanSnapshot};
use serde_json::json;

use crate::kept::{Act, Kept};
use engine::testing::{Death, Mortal};

pub(crate) const ALL: Page = Page {
    after: 0,
    limit: 1_000,
};

#[track_caller]
pub(crate) fn assert_completed(report: &RunReport) {
    assert!(
        matches!(report.status, RunStatus::Completed { .. }),
        "{:#?}",
        report.status
    );
}

pub(crate) fn question(reason: &str) -> Act {
    Act::Say(
        json!({ "interruptRequest": {
            "type": "HUMAN_REVIEW", "reason": reason,
            "choices": [], "confirmationItems": [], "contextForDecision": "",
        } })
        .to_string(),
    )
}

pub(crate) fn plan(steps: &[&str]) -> Act {
    Act::Say(json!({ "plan": { "steps": steps } }).to_string())
}

pub(crate) async fn interrupts(kept: &Kept) -> Vec<interrupts::life::Interrupt> {
    let filter = Filter {
        run: Some(kept.run),
        ..Filter::default()
    };
    let found = kept.store.interrupts(&filter, ALL).await.unwrap();
    found.into_iter().map(|(_, interrupt)| interrupt).collect()
}

#[tokio::test]
async fn a_plan_runs_to_its_end_and_its_checkpoints_tell_how() {
    let kept = Kept::new().acts(1, plan(&["one", "two"]));
    let report = kept.execute(None).await;
    assert_completed(&report);
    let run = kept.store.run(kept.run).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Completed);
    let facts = kept.facts().await;
    let progress: Vec<_> = facts
        .iter()
        .map(|fact| (fact.kind, fact.completed_steps, fact.total_steps))
        .collect();
    assert_eq!(
        progress,
        [
            (FactKind::PlanChanged, 0, 2),
            (FactKind::StepDone, 1, 2),
            (FactKind::StepDone, 2, 2),
            (FactKind::Completed, 2, 2),
        ]
    );
    assert_eq!(facts[1].current_plan, ["two"]);
    let nodes = kept.store.nodes(Some(kept.run), ALL).await.unwrap();
    let nodes: Vec<_> = nodes
        .iter()
        .map(|(_, row)| (row.node.as_str(), row.kind.as_str(), row.activity))
        .collect();
    let done = NodeActivity::Completed;
    assert_eq!(
        nodes,
        [
            ("root", "PLAN_EXECUTE", done),
            ("root/planner", "PLANNER", done),
            ("root/executor", "EXECUTOR", done),
            ("root/replanner", "REPLANNER", done),
        ]
    );
}

#[tokio::test]
async fn the_agents_of_a_plan_that_has_paused_end_with_it() {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("let me look"));
    kept.execute(None).await;
    assert_completed(&kept.execute(None).await);
    let nodes = kept.store.nodes(Some(kept.run), ALL).await.unwrap();
    assert_eq!(nodes.len(), 4);
    for (_, row) in nodes {
        assert_eq!(row.activity, NodeActivity::Completed, "{row:?}");
        assert!(!row.takes_messages, "{row:?}");
    }
}

#[tokio::test]
async fn each_agent_of_a_plan_that_has_ended_keeps_the_number_of_its_own_last_step() {
    let kept = Kept::new().acts(1, plan(&["one", "two"]));
    assert_completed(&kept.execute(None).await);
    let rows = kept.store.nodes(Some(kept.run), ALL).await.unwrap();
    let steps = rows
        .into_iter()
        .map(|(_, row)| (row.node.to_string(), row.step, row.turn));
    let of_agents: Vec<_> = steps.filter(|(node, ..)| node.contains('/')).collect();
    let expected = [("executor", 3), ("planner", 1), ("replanner", 4)];
    for (agent, step) in expected {
        let is_it = |row: &&(String, u32, u32)| row.0.ends_with(&format!("/{agent}"));
        let row = of_agents.iter().find(is_it).unwrap();
        assert_eq!((row.1, row.2), (step, step), "{of_agents:?}");
    }
}

/// A run with an interrupt of the person, a change of the plan, an agent's question, and its end.
fn eventful() -> Kept {
    Kept::new()
        .acts(1, plan(&["three", "four"]))
        .acts(2, question("which three?"))
        .says("the second")
}

#[tokio::test]
async fn wherever_its_process_dies_it_comes_to_the_same_end_without_repeating_a_step() {
    let undisturbed = eventful();
    let sound = Mortal::new(undisturbed.store.clone(), Death::Never);
    assert_completed(
        &undisturbed
            .execute_over(sound.clone(), Some("also three"))
            .await,
    );
    let expected = undisturbed.snapshot().await;
    let kinds = undisturbed.kinds().await;
    let calls = undisturbed.player.calls.lock().unwrap().len();
    let operations = sound.operations();
    assert!(operations > 40, "{operations}");
    for at in 0..operations {
        for death in [Death::Before(at), Death::After(at)] {
            let kept = eventful();
            let mortal = Mortal::new(kept.store.clone(), death);
            tokio::select! {
                biased;
                report = kept.execute_over(mortal.clone(), Some("also three")) => {
                    panic!("{death:?}: it lived: {report:?}");
                }
                () = mortal.died() => {}
            }
            let run = kept.store.run(kept.run).await.unwrap();
            if run.is_some_and(|run| run.state.is_final()) {
                continue;
            }
            // What was given along is the next process's to give again, where nothing of it was recorded.
            let again = if kept
                .kinds()
                .await
                .contains(&FactKind::ModificationRequested)
            {
                None
            } else {
                Some("also three")
            };
            let report = kept.execute(again).await;
            assert_completed(&report);
            let snapshot = kept.snapshot().await;
            assert_eq!(snapshot.state, expected.state, "{death:?}");
            assert_eq!(snapshot.asked, expected.asked, "{death:?}");
            assert_eq!(kept.kinds().await, kinds, "{death:?}");
            // At most the one call is made again whose answer was not recorded.
            let made = kept.player.calls.lock().unwrap().len();
            assert!(made <= calls + 1, "{death:?}: {made} calls, not {calls}");
            let open = interrupts(&kept).await;
            assert!(
                open.iter().all(|interrupt| !interrupt.state.is_live()),
                "{death:?}: {open:#?}"
            );
            assert_eq!(open.len(), 1, "{death:?}");
        }
    }
}

#[tokio::test]
async fn a_persons_interrupt_pauses_before_the_next_step_and_an_unchanged_resume_goes_on() {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("let me look"));
    let report = kept.execute(None).await;
    assert_eq!(
        report.status,
        RunStatus::Paused {
            reason: "let me look".to_owned()
        }
    );
    let snapshot = kept.snapshot().await;
    assert!(matches!(snapshot.state.phase(), Phase::Held(_)));
    assert_eq!(snapshot.state.plan().finished().len(), 1);
    let facts = kept.facts().await;
    let escape = facts.last().unwrap();
    assert_eq!(escape.kind, FactKind::UserEscape);
    assert_eq!(escape.reason.as_deref(), Some("let me look"));
    assert_eq!(escape.current_plan, ["two"]);
    let run = kept.store.run(kept.run).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Paused);
    assert_completed(&kept.execute(None).await);
    assert_eq!(kept.player.told("EXECUTOR").len(), 2, "no step is repeated");
    let kinds = kept.kinds().await;
    assert!(kinds.contains(&FactKind::Resumed));
    assert!(!kinds.contains(&FactKind::ModificationRequested));
}

#[tokio::test]
async fn new_input_forces_a_replan_that_sees_the_request_the_plan_and_what_is_done() {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("wait"))
        .acts(3, plan(&["check it", "two"]));
    kept.execute(None).await;
    assert_completed(&kept.execute(Some("add a validation step")).await);
    let asked = &kept.player.told("REPLANNER")[0];
    for part in ["add a validation step", "\"one\"", "\"two\""] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
    let done: Vec<_> = kept.snapshot().await.state.plan().finished().to_vec();
    let done: Vec<_> = done.iter().map(|step| step.step.task.as_str()).collect();
    assert_eq!(done, ["one", "check it", "two"]);
}

#[tokio::test]
async fn what_a_plan_has_taken_in_is_not_taken_in_again_by_a_fork() {
    let mut kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("wait"))
        .acts(3, plan(&["check it", "two"]));
    kept.execute(None).await;
    let before = kept.store.last_checkpoint(kept.run).await.unwrap().unwrap();
    assert_completed(&kept.execute(Some("add a validation step")).await);
    let run = kept.run;
    let checkpoints = kept.store.checkpoints(run, ALL).await.unwrap();
    let after = checkpoints
        .iter()
        .filter(|it| it.id.number > before.id.number);
    let goes_on = |it: &&Checkpoint| {
        let snapshot = PlanSnapshot::of(it).unwrap();
        !matches!(snapshot.state.phase(), Phase::Ended(_))
    };
    let after: Vec<_> = after.filter(goes_on).collect();
    assert!(after.len() > 1, "{checkpoints:#?}");
    for from in after {
        let new = NewRun {
            root: None,
            id: RunId::generate(),
            alias: None,
            content: "{}".to_owned(),
        };
        kept.run = kept.store.fork_run(from.id, new).await.unwrap().id;
        assert_completed(&kept.execute(None).await);
        let kinds = kept.kinds().await;
        assert!(
            !kinds.contains(&FactKind::ModificationRequested),
            "{from:?}: {kinds:?}"
        );
    }
}

#[tokio::test]
async fn a_question_waits_in_the_store_and_its_answer_reaches_the_agent_of_another_process() {
    let kept = Kept::new()
        .acts(1, plan(&["one"]))
        .acts(2, question("which one?"));
    let report = kept.execute(None).await;
    let RunStatus::Waiting { interrupts, .. } = &report.status else {
        panic!("{:?}", report.status);
    };
    let row = kept.store.interrupt(interrupts[0]).await.unwrap().unwrap();
    assert_eq!(row.state, State::AwaitingReview);
    assert_eq!(row.node.as_str(), "root/executor");
    let kept = kept.says("the first");
    assert_completed(&kept.execute(None).await);
    let asked = kept.player.told("EXECUTOR");
    assert_eq!(asked.len(), 2);
    assert!(asked[1].contains("the first"), "{}", asked[1]);
    let row = kept.store.interrupt(interrupts[0]).await.unwrap().unwrap();
    assert_eq!(row.state, State::Resolved);
}

#[tokio::test]
async fn a_person_who_wants_another_plan_goes_before_an_open_question() {
    let kept = Kept::new()
        .acts(1, plan(&["one"]))
        .acts(2, question("which one?"));
    let report = kept.execute(None).await;
    let RunStatus::Waiting {
        interrupts: open, ..
    } = report.status
    else {
        panic!("{:?}", report.status);
    };
    // The person goes first: what he wants changes the plan, and the question is not wanted any more.
    assert_completed(&kept.execute(Some("do something else")).await);
    let row = kept.store.interrupt(open[0]).await.unwrap().unwrap();
    assert_eq!(row.state, State::Cancelled);
    let kinds = kept.kinds().await;
    let clash = kinds.iter().position(|kind| *kind == FactKind::Clash);
    let withdrawn = kinds
        .iter()
        .position(|kind| *kind == FactKind::QuestionWithdrawn);
    assert!(clash.unwrap() < withdrawn.unwrap(), "{kinds:?}");
}

#[tokio::test]
async fn a_failure_that_does_not_mend_itself_is_asked_about_and_keeps_its_context() {
    let kept = Kept::new().acts(1, plan(&["one"])).acts(2, Act::Fail);
    let report = kept.execute(None).await;
    assert!(matches!(report.status, RunStatus::Waiting { .. }));
    let asked = kept.person.asked.lock().unwrap()[0].details.reason.clone();
    assert!(asked.contains("401"), "{asked}");
    // An answer without words tries again.
    kept.player.is_mended();
    *kept.person.answer.lock().unwrap() = Some(Default::default());
    assert_completed(&kept.execute(None).await);
    assert!(kept.kinds().await.contains(&FactKind::SystemError));
}

#[tokio::test]
async fn a_checkpoint_of_another_form_is_refused_and_nothing_is_done() {
    let kept = Kept::new()
        .acts(1, plan(&["one", "two"]))
        .acts(2, Act::Interrupted("wait"));
    kept.execute(None).await;
    let calls = kept.player.calls.lock().unwrap().len();
    let last = kept.store.last_checkpoint(kept.run).await.unwrap().unwrap();
    let owner = interrupts::OwnerName::new("newer").unwrap();
    let delivery = interrupts::store::Delivery {
        owner,
        lease: jiff::SignedDuration::from_secs(30),
        lost: None,
    };
    let owned = kept.store.own_run(kept.run, delivery).await.unwrap();
    let draft = CheckpointDraft {
        run: kept.run,
        epoch: owned.epoch,
        parent: Some(last.id),
        form: PlanExecute::FORM + 1,
        content: last.content,
        intents: Vec::new(),
        pending: Vec::new(),
    };
    let saved = kept.store.save(draft).await.unwrap();
    assert!(PlanSnapshot::of(&saved).is_err());
    kept.store.release_run(kept.run, owned.epoch).await.unwrap();
    let report = kept.execute(None).await;
    let RunStatus::Failed { error, .. } = &report.status else {
        panic!("{:?}", report.status);
    };
    assert!(error.contains("form 2"), "{error}");
    assert_eq!(kept.player.calls.lock().unwrap().len(), calls);
    let run = kept.store.run(kept.run).await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Paused, "it can still be resumed");
}
