//! What a policy's text may say.

use expect_test::{Expect, expect};
use interrupts::policy::{Policy, Vocabulary};

use crate::scene::vocabulary;

fn refused(text: &str, expected: &Expect) {
    let error = Policy::from_toml(text, &vocabulary()).unwrap_err();
    expected.assert_eq(&error.to_string());
}

#[test]
fn nothing_is_approved_because_nobody_answered() {
    refused(
        r#"
[[rule]]
review_limit = "1h"
on_expiry = "approve"
"#,
        &expect![[
            r#"line 4, column 13: a question that expires is never taken for `approve`; write reject, cancel or reroute:TARGET"#
        ]],
    );
}

#[test]
fn every_mistake_is_told_at_once_with_its_line_and_its_remedy() {
    refused(
        r#"
[[rule]]
name = "first"
typ = "PAUSE"
type = "HUMAN_REVEIW"
agent = ["TICKET_ORCHESTRATR", 7]
source = "person"
priority = 0
batch = "togethr"
review_limit = "soon"
on_expiry = "reroute:ORCHESTRATER"
handler_limit = "-1s"

[[rule]]
name = "first"
answer = "aprove"
resume = "later"
answer_confirm = "yes"

[defaults]
grace = "5s"
"#,
        &expect![[r#"
            line 4, column 1: unknown key `typ`; did you mean `type`?
            line 5, column 8: `HUMAN_REVEIW` is no type of interrupt; did you mean `HUMAN_REVIEW`?
            line 6, column 9: `agent` is a text in quotes, or a list of such texts
            line 7, column 10: `person` is no source; known are: user, programmatic, system
            line 8, column 12: `priority` is a whole number from 1 to 99, not 0
            line 9, column 9: `togethr` is no way to show interrupts; did you mean `together`?
            line 10, column 16: `review_limit` is a time such as "90s", "15m" or "2h 30m", not `soon`
            line 11, column 13: `ORCHESTRATER` is no route; did you mean `ORCHESTRATOR`?
            line 12, column 17: `handler_limit` is a time such as "90s", "15m" or "2h 30m", not `-1s`
            line 14, column 1: the rule in line 2 is called `first` too
            line 16, column 10: `aprove` is no automatic answer; did you mean `approve`?
            line 17, column 10: `resume` is "never", "at once", or a time such as "30s", not `later`
            line 18, column 18: `answer_confirm` is true or false, not a value of type string
            line 20, column 2: unknown key `defaults`; did you mean `default`?"#]],
    );
}

#[test]
fn what_can_never_apply_is_refused() {
    refused(
        r#"
[[rule]]
name = "stops answer nothing"
type = ["STOP", "PAUSE"]
answer = "reject"

[[rule]]
name = "only pauses resume"
type = "HUMAN_REVIEW"
resume = "at once"

[[rule]]
name = "people resume what people paused"
source = "user"
resume = "10s"

[[rule]]
name = "an answer says something"
answer = "respond"

[[rule]]
name = "an approval adds nothing"
answer = "approve"
answer_text = "but only this once"

[[rule]]
name = "a text is no answer"
answer_text = "yes"
resume_input = "go on"
"#,
        &expect![[r#"
            line 2, column 1: `answer` is for questions; add HUMAN_REVIEW or AGENT_REVIEW to `type`
            line 7, column 1: `resume` is for pauses; add PAUSE to `type`
            line 12, column 1: a pause that a person asked for never ends by itself; leave `resume` to other sources
            line 19, column 10: `respond` needs answer_text, answer_choices or answer_confirm
            line 23, column 10: to approve is to add nothing; write `respond`
            line 26, column 1: what the answer says needs an `answer`
            line 26, column 1: `resume_input` needs a `resume`
            line 26, column 1: this rule says nothing; a rule sets one of priority, answer, resume, batch, review_limit, on_expiry, grace, handler_limit"#]],
    );
}

#[test]
fn an_empty_text_is_the_built_in_policy() {
    let policy = Policy::from_toml("# nothing yet\n", &vocabulary());
    assert_eq!(policy, Ok(Policy::default()));
}

#[test]
fn without_a_vocabulary_every_name_is_taken() {
    let text = "[[rule]]\nagent = \"MINE\"\non_expiry = \"reroute:YOURS\"\n";
    assert!(Policy::from_toml(text, &Vocabulary::default()).is_ok());
    assert!(Policy::from_toml(text, &vocabulary()).is_err());
}

#[test]
fn prices_may_stand_in_the_same_text() {
    let text =
        "currency = \"EUR\"\n[prices.small]\ninput = 1\noutput = 2\n[default]\npriority = 7\n";
    assert!(Policy::from_toml(text, &vocabulary()).is_ok());
    assert!(interrupts::money::PriceTable::from_toml(text).is_ok());
}

#[test]
fn what_the_guide_shows_is_taken() {
    let guide = include_str!("../../../docs/policies.md");
    let shown: Vec<_> = guide
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(shown.len(), 3);
    for text in shown {
        Policy::from_toml(text, &Vocabulary::default()).unwrap();
        interrupts::money::PriceTable::from_toml(text).unwrap();
    }
}
