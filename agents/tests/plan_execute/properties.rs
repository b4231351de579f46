//! What holds for every sequence of events.

use std::collections::BTreeSet;

use planning::{FactKind, Failure, Phase, PlanEffect, PlanEvent, PlanExecute, StepOutcome};
use proptest::prelude::*;

use crate::scene::{Scene, interrupt, modify, question, tasks};

/// An event that fits one state or another; steps are named when it happens.
#[derive(Debug, Clone)]
enum Happening {
    Event(PlanEvent),
    StepDone(StepOutcome),
}

fn happening() -> impl Strategy<Value = Happening> {
    let plans = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), 0..4);
    let planned = |make: fn(Vec<String>) -> PlanEvent| {
        plans
            .clone()
            .prop_map(move |plan| Happening::Event(make(tasks(&plan))))
    };
    let fixed = prop::sample::select(vec![
        PlanEvent::Answered {
            answer: "yes".to_owned(),
        },
        PlanEvent::Asked {
            question: question("which?"),
        },
        PlanEvent::Responded {
            response: "the answer".to_owned(),
        },
        PlanEvent::CallStopped,
        PlanEvent::Failed(Failure {
            error: "broken".to_owned(),
            is_recoverable: true,
        }),
        PlanEvent::Failed(Failure {
            error: "broken".to_owned(),
            is_recoverable: false,
        }),
        PlanEvent::RetryDue,
        interrupt("wait"),
        modify("otherwise"),
        PlanEvent::Suggest {
            request: "better".to_owned(),
        },
        PlanEvent::ApplySuggestion,
        PlanEvent::Undo,
        PlanEvent::Redo,
        PlanEvent::Resume,
    ]);
    prop_oneof![
        4 => Just(Happening::StepDone(StepOutcome::Proceed)),
        1 => Just(Happening::StepDone(StepOutcome::Replan)),
        8 => fixed.prop_map(Happening::Event),
        4 => planned(|tasks| PlanEvent::Planned { tasks }),
        1 => planned(|tasks| PlanEvent::Suggested { tasks }),
        1 => planned(|tasks| PlanEvent::Edit { tasks }),
    ]
}

fn event_of(happening: &Happening, state: &PlanExecute) -> Option<PlanEvent> {
    match happening {
        Happening::Event(event) => Some(event.clone()),
        Happening::StepDone(outcome) => {
            let step = state.plan().next()?.id;
            let (result, outcome) = ("done".to_owned(), *outcome);
            Some(PlanEvent::StepDone {
                step,
                result,
                outcome,
            })
        }
    }
}

/// How many of the effects begin work that must not run beside other work.
fn begun(effects: &[PlanEffect]) -> usize {
    let is_work = |effect: &&PlanEffect| {
        matches!(
            effect,
            PlanEffect::AskModel(_)
                | PlanEffect::RunStep(_)
                | PlanEffect::Wait(_)
                | PlanEffect::AskPerson(_)
        )
    };
    effects.iter().filter(is_work).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_step_begins_while_an_interrupt_waits_and_nothing_done_is_lost(
        history in prop::collection::vec(happening(), 1..60),
    ) {
        let mut scene = Scene::new();
        scene.then(PlanEvent::Start);
        scene.effects.clear();
        for happening in &history {
            let Some(event) = event_of(happening, &scene.state) else { continue };
            let before = scene.state.clone();
            if scene.try_then(&event).is_err() {
                prop_assert_eq!(&scene.state, &before, "what is refused changes nothing");
                continue;
            }
            let effects = std::mem::take(&mut scene.effects);
            // A step never begins over a person's interrupt, and never over a replan that he wants.
            let runs_step = effects.iter().any(|effect| matches!(effect, PlanEffect::RunStep(_)));
            if runs_step {
                prop_assert!(!scene.state.flags().user_interrupted);
                prop_assert!(!scene.state.flags().should_force_replan);
            }
            // One thing at a time, and each is announced where it begins.
            prop_assert!(begun(&effects) <= 1, "{effects:?}");
            // What is done stays done, and is never to be done again.
            let done = scene.state.plan().finished();
            prop_assert!(done.starts_with(before.plan().finished()));
            let mut names: Vec<_> = done.iter().map(|done| done.step.id).collect();
            names.extend(scene.state.plan().left().iter().map(|step| step.id));
            let unique: BTreeSet<_> = names.iter().collect();
            prop_assert_eq!(unique.len(), names.len(), "a step stands once");
            // An interrupt is not forgotten before it was shown.
            let was_waiting = before.flags().user_interrupted && !matches!(before.phase(), Phase::Held(_));
            prop_assert!(!was_waiting || scene.state.flags().user_interrupted);
            // A question is answered, held, shown again or withdrawn: never dropped.
            if let Phase::Asking { question, .. } = before.phase() {
                let kept = match scene.state.phase() {
                    Phase::Held(held) => held.question.as_ref() == Some(question),
                    Phase::Asking { .. } => true,
                    _ => matches!(event, PlanEvent::Answered { .. }),
                };
                prop_assert!(kept, "{event:?}");
            }
            // It can be written down and read again, and picked up where it stood.
            let json = serde_json::to_string(&scene.state).unwrap();
            let read: PlanExecute = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&read, &scene.state);
            let picked_up = read.pick_up(jiff::Timestamp::UNIX_EPOCH);
            let is_over = matches!(read.phase(), Phase::Created | Phase::Ended(_));
            prop_assert_eq!(begun(&picked_up), usize::from(!is_over));
        }
    }

    #[test]
    fn an_interrupt_that_is_resumed_unchanged_leaves_no_trace_but_in_the_history(
        history in prop::collection::vec(happening(), 0..30),
        at in any::<prop::sample::Index>(),
    ) {
        // Only what moves the workflow itself; a person acts once, at one place.
        let works = |happening: &&Happening| match happening {
            Happening::StepDone(_) => true,
            // A plan without steps is a failure, and a person need not wait for another try.
            Happening::Event(PlanEvent::Planned { tasks }) => !tasks.is_empty(),
            Happening::Event(event) => matches!(
                event,
                PlanEvent::Answered { .. } | PlanEvent::Asked { .. } | PlanEvent::Responded { .. }
            ),
        };
        let history: Vec<_> = history.iter().filter(works).cloned().collect();
        let at = at.index(history.len() + 1);
        let (mut plain, mut interrupted) = (Scene::new(), Scene::new());
        plain.then(PlanEvent::Start);
        interrupted.then(PlanEvent::Start);
        for index in 0..=history.len() {
            if index == at {
                // After the end it comes too late, and is refused.
                let _late = interrupted.try_then(&interrupt("look"));
            }
            // He looks, and lets it go on.
            if interrupted.is_held() && !plain.is_held() {
                interrupted.then(PlanEvent::Resume);
            }
            let Some(happening) = history.get(index) else { break };
            if let Some(event) = event_of(happening, &plain.state) {
                let went = plain.try_then(&event);
                let went_too = interrupted.try_then(&event);
                prop_assert_eq!(went.is_ok(), went_too.is_ok(), "{:?}", event);
            }
        }
        if interrupted.is_held() && !plain.is_held() {
            interrupted.then(PlanEvent::Resume);
        }
        if interrupted.state.flags().user_interrupted {
            // Its boundary was not reached.
            prop_assert!(!interrupted.kinds().contains(&FactKind::UserEscape));
        } else {
            prop_assert_eq!(interrupted.state, plain.state);
        }
    }

    #[test]
    fn undo_then_redo_is_nothing(
        edits in prop::collection::vec(prop::collection::vec("[a-f]", 0..5), 1..8),
        back in 1..8_usize,
    ) {
        let mut scene = Scene::executing(&["one", "two"]);
        scene.then(interrupt("look")).then(PlanEvent::CallStopped);
        for tasks in edits {
            scene.then(PlanEvent::Edit { tasks });
        }
        let plan = scene.state.plan().clone();
        let undone = (0..back).take_while(|_| scene.try_then(&PlanEvent::Undo).is_ok()).count();
        for _ in 0..undone {
            scene.then(PlanEvent::Redo);
        }
        prop_assert_eq!(scene.state.plan().left(), plan.left());
    }
}
