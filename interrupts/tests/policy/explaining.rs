//! Why an interrupt is treated as it is.

use expect_test::expect;
use interrupt_router::{InterruptType, StopSource};
use interrupts::policy::{Property, PropertySource};

use crate::scene::{interrupt, policy};

const TEXT: &str = r#"
[[rule]]
name = "the system's pauses end"
type = "PAUSE"
source = "system"
resume = "1m"

[[rule]]
name = "tickets"
agent = "TICKET_ORCHESTRATOR"
priority = 5
answer = "reroute:ELSEWHERE"
review_limit = "2h"

[[rule]]
name = "all questions"
type = ["HUMAN_REVIEW", "AGENT_REVIEW"]
review_limit = "30m"
on_expiry = "cancel"

[default]
grace = "10s"
"#;

#[test]
fn each_property_names_its_rule_and_each_rule_why_it_did_not_decide() {
    let question = interrupt(InterruptType::HumanReview, StopSource::Programmatic);
    let explanation = policy(TEXT).explain(&question).to_string();
    expect![[r#"
        INTERRUPT: HUMAN_REVIEW of TICKET_ORCHESTRATOR, from programmatic
          priority       5 (tickets, line 8)
          answer         reroute:ELSEWHERE (tickets, line 8); somebody is asked: ELSEWHERE is none of the interrupt's routes
          resume         never (built in); only a pause is resumed
          batch          separately (built in)
          review_limit   2h (tickets, line 8)
          on_expiry      cancel (all questions, line 15)
          grace          10s (default, line 21); a question stops nothing
          handler_limit  5s (built in)
        line 2, the system's pauses end: does not match, type is HUMAN_REVIEW, not PAUSE and source is programmatic, not system
        line 8, tickets: decides priority, answer, review_limit
        line 15, all questions: decides on_expiry, and a rule above it review_limit
        line 21, default: decides grace
    "#]]
    .assert_eq(&explanation.replace(&question.id.to_string(), "INTERRUPT"));
}

#[test]
fn a_program_reads_the_same() {
    let pause = interrupt(InterruptType::Pause, StopSource::System);
    let explanation = policy(TEXT).explain(&pause);
    let resume = &explanation.properties[2];
    assert_eq!(
        (resume.property, resume.value.as_str()),
        (Property::Resume, "after 1m")
    );
    assert_eq!(
        resume.by,
        PropertySource::Rule {
            name: "the system's pauses end".to_owned(),
            line: 2
        }
    );
    let json = serde_json::to_value(&explanation).unwrap();
    assert_eq!(json["properties"][2]["name"], "the system's pauses end");
    assert_eq!(
        json["rules"][2]["mismatches"][0],
        "type is PAUSE, not HUMAN_REVIEW or AGENT_REVIEW"
    );
}
