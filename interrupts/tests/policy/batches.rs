//! The order in which open interrupts are shown, and what is shown together.

use interrupt_router::{InterruptId, InterruptType, RunId, StopSource};
use interrupts::life::Interrupt;
use interrupts::policy::Policy;

use crate::scene::{interrupt, policy};

fn question(run: RunId, source: StopSource, reason: &str) -> Interrupt {
    let mut question = interrupt(InterruptType::HumanReview, source);
    question.run = run;
    question.reason = reason.to_owned();
    question
}

fn arranged(policy: &Policy, interrupts: &[Interrupt]) -> Vec<Vec<String>> {
    let batches = policy.arrange(interrupts);
    let reasons = batches.iter().map(|batch| {
        let reasons = batch.interrupts.iter().map(|one| one.reason.clone());
        reasons.collect()
    });
    reasons.collect()
}

#[test]
fn people_go_first_then_priority_then_age_and_what_is_held_last() {
    let run = RunId::generate();
    let mut held = question(run, StopSource::User, "held");
    held.held_by = Some(InterruptId::generate());
    let interrupts = [
        held,
        question(run, StopSource::System, "urgent"),
        question(run, StopSource::Programmatic, "agent, older"),
        question(run, StopSource::Programmatic, "agent, younger"),
        question(run, StopSource::User, "person"),
    ];
    let urgent = policy(
        "[[rule]]\nsource = \"system\"\npriority = 1\n[[rule]]\nsource = \"user\"\npriority = 99\n",
    );
    assert_eq!(
        arranged(&urgent, &interrupts).concat(),
        ["person", "urgent", "agent, older", "agent, younger", "held"]
    );
}

#[test]
fn questions_of_one_run_share_a_batch_where_the_policy_says_so() {
    let (run, other) = (RunId::generate(), RunId::generate());
    let mut stop = interrupt(InterruptType::Pause, StopSource::Programmatic);
    stop.run = run;
    stop.reason = "stop".to_owned();
    let interrupts = [
        question(run, StopSource::Programmatic, "one"),
        question(other, StopSource::Programmatic, "elsewhere"),
        stop,
        question(run, StopSource::System, "two"),
    ];
    let together = policy("[default]\nbatch = \"together\"\n");
    assert_eq!(
        arranged(&together, &interrupts),
        [vec!["one", "two"], vec!["elsewhere"], vec!["stop"]]
    );
    assert_eq!(arranged(&Policy::default(), &interrupts).len(), 4);
}
