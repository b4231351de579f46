//! Which rule has the word.

use interrupt_router::{InterruptType, StopSource};
use interrupts::life::{Admission, ExpiryOutcome};
use interrupts::policy::{Answering, Batching, Resuming, Subject, Terms};
use jiff::SignedDuration;

use crate::scene::{admission, policy, route};

fn terms(text: &str, interrupt_type: InterruptType, source: StopSource) -> Terms {
    let admission = admission(interrupt_type, source);
    policy(text).terms(&Subject::of_admission(&admission))
}

const QUESTION: InterruptType = InterruptType::HumanReview;

#[test]
fn without_rules_people_are_asked_and_waited_for() {
    for (source, priority) in [
        (StopSource::User, 0),
        (StopSource::Programmatic, 10),
        (StopSource::System, 20),
    ] {
        let terms = terms("", QUESTION, source);
        assert_eq!(terms.priority, priority);
        assert_eq!(terms.answer, Answering::Ask);
        assert_eq!(terms.resume, Resuming::Never);
        assert_eq!(terms.batch, Batching::Separately);
        assert_eq!((terms.review_limit, terms.grace), (None, None));
    }
}

#[test]
fn each_property_is_decided_by_the_first_rule_that_matches_and_says_something_of_it() {
    let text = r#"
        [[rule]]
        name = "of the system"
        source = "system"
        priority = 50
        [[rule]]
        name = "of tickets"
        agent = "TICKET_ORCHESTRATOR"
        priority = 30
        review_limit = "24h"
        [[rule]]
        name = "of all"
        review_limit = "1h"
        grace = "10s"
        [default]
        grace = "1m"
        handler_limit = "2s"
    "#;
    let of_system = terms(text, QUESTION, StopSource::System);
    assert_eq!(of_system.priority, 50);
    assert_eq!(of_system.review_limit, Some(SignedDuration::from_hours(24)));
    assert_eq!(of_system.grace, Some(SignedDuration::from_secs(10)));
    assert_eq!(of_system.handler_limit, SignedDuration::from_secs(2));
    assert_eq!(terms(text, QUESTION, StopSource::User).priority, 30);
}

#[test]
fn a_rule_above_takes_back_what_one_below_says() {
    let text = r#"
        [[rule]]
        type = "HUMAN_REVIEW"
        answer = "ask"
        review_limit = "none"
        [[rule]]
        answer = "reject"
        review_limit = "1h"
    "#;
    let of_people = terms(text, QUESTION, StopSource::Programmatic);
    assert_eq!(
        (of_people.answer, of_people.review_limit),
        (Answering::Ask, None)
    );
    let of_models = terms(text, InterruptType::AgentReview, StopSource::Programmatic);
    assert_ne!(of_models.answer, Answering::Ask);
}

/// What a policy makes of an admission that says nothing of time.
fn applied(text: &str, admission: &Admission) -> Admission {
    let mut admission = admission.clone();
    policy(text).apply(&mut admission);
    admission
}

#[test]
fn a_question_gets_its_time_limit_and_a_stop_never_does() {
    let text = "[default]\nreview_limit = \"1h\"\non_expiry = \"reroute:ORCHESTRATOR\"\n";
    let question = applied(text, &admission(QUESTION, StopSource::Programmatic));
    assert_eq!(question.patience, Some(SignedDuration::from_hours(1)));
    let target = route("ORCHESTRATOR");
    assert_eq!(question.on_expiry, ExpiryOutcome::Reroute { target });
    for stop in [
        InterruptType::Pause,
        InterruptType::Stop,
        InterruptType::Prune,
        InterruptType::Branch,
    ] {
        let stop = admission(stop, StopSource::User);
        assert_eq!(applied(text, &stop), stop);
    }
}

#[test]
fn what_the_requester_asked_for_stands() {
    let mut question = admission(QUESTION, StopSource::Programmatic);
    question.patience = Some(SignedDuration::from_secs(1));
    let text = "[default]\nreview_limit = \"1h\"\non_expiry = \"reject\"\n";
    assert_eq!(applied(text, &question), question);
}

#[test]
fn an_outcome_that_leads_nowhere_is_a_rejection() {
    let text = "[default]\nreview_limit = \"1h\"\non_expiry = \"reroute:ELSEWHERE\"\n";
    let question = applied(text, &admission(QUESTION, StopSource::Programmatic));
    assert_eq!(question.on_expiry, ExpiryOutcome::Reject);
}
