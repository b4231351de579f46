//! Scripts: what they steer, and how their mistakes are told.

use std::collections::BTreeMap;

use interrupt_router::{InterruptType, Verdict};
use llm::{Script, ScriptVocabulary};

fn vocabulary() -> ScriptVocabulary {
    let own = vec!["phase".to_owned(), "goal".to_owned()];
    ScriptVocabulary {
        has_code: false,
        agent_types: vec!["ORCHESTRATOR".to_owned(), "TICKET_AGENT".to_owned()],
        routes: vec!["ORCHESTRATOR".to_owned()],
        interrupt_fields: BTreeMap::from([("ORCHESTRATOR".to_owned(), own)]),
    }
}

fn steps(steps: &str) -> String {
    format!(r#"{{"version": 1, "steps": [{steps}]}}"#)
}

#[test]
fn every_kind_of_step_is_read() {
    let script = steps(
        r#"{"agent": "ORCHESTRATOR", "turn": 1,
            "interrupt": {"type": "HUMAN_REVIEW", "reason": "why", "phase": "first"}},
           {"agent": "TICKET_AGENT", "turn": 2, "node": "worker-1", "correction": 1,
            "purpose": "resolution", "answer": null},
           {"supervisor": {"when": {"agent": "TICKET_AGENT", "turn": 1},
            "event": {"interruptType": "PAUSE", "reason": "cost", "rerouteToAgentType": "ORCHESTRATOR"}}},
           {"person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1},
            "answer": {"selectedChoices": ["a"], "confirmations": {"c": true}, "rerouteTo": "ORCHESTRATOR",
                       "verdict": "approve"}}}"#,
    );
    let script = Script::parse(&script, &vocabulary()).unwrap();
    assert!(script.steers_the_model());
    let supervisor = &script.supervisor_steps()[0];
    assert_eq!(supervisor.when.turn.get(), 1);
    assert_eq!(supervisor.event.interrupt_type, InterruptType::Pause);
    let person = &script.person_answers()[0];
    assert_eq!(
        (&*person.interrupt.agent, person.interrupt.nth.get()),
        ("ORCHESTRATOR", 1)
    );
    assert_eq!(person.answer.reroute_to.as_deref(), Some("ORCHESTRATOR"));
    assert_eq!(person.answer.confirmations.get("c"), Some(&true));
    assert_eq!(person.answer.verdict, Some(Verdict::Approve));
}

fn refused(script: &str, path: &str, said: &str) {
    let error = Script::parse(script, &vocabulary()).unwrap_err();
    assert_eq!(error.path(), path, "{script}: {error}");
    assert!(error.reason().contains(said), "{script}: {error}");
}

#[test]
fn what_is_no_script_is_refused() {
    refused("{", "script", "EOF");
    refused(r#"{"version": 2, "steps": []}"#, "version", "known is: 1");
    refused(
        r#"{"version": 1, "steps": [], "x": 1}"#,
        "x",
        "unknown field `x`",
    );
    refused(r#"{"version": 1, "steps": []} {}"#, "script", "trailing");
}

/// A step of the orchestrator's first turn, with further fields.
fn step(fields: &str) -> String {
    steps(&format!(
        r#"{{"agent": "ORCHESTRATOR", "turn": 1{fields}}}"#
    ))
}

#[test]
fn a_step_does_one_thing_at_one_time() {
    refused(&step(""), "steps[0]", "exactly one of");
    refused(
        &step(r#", "answer": 1, "interrupt": {}"#),
        "steps[0]",
        "exactly one of",
    );
    let untimed = steps(r#"{"agent": "ORCHESTRATOR", "answer": 1}"#);
    refused(&untimed, "steps[0]", "missing field `turn`");
    let zeroth = steps(r#"{"agent": "ORCHESTRATOR", "turn": 0, "answer": 1}"#);
    refused(&zeroth, "steps[0].turn", "nonzero");
    let person = r#"{"turn": 1, "person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1},
        "answer": {}}}"#;
    refused(&steps(person), "steps[0].turn", "no `turn` of its own");
    let review = r#", "purpose": "review", "interrupt": {"type": "STOP", "reason": "r"}"#;
    refused(&step(review), "steps[0].purpose", "in a `step` only");
}

#[test]
fn the_known_fields_of_an_interrupt_are_told_once() {
    let mut vocabulary = vocabulary();
    let shared = ["type", "reason"].map(str::to_owned).to_vec();
    vocabulary
        .interrupt_fields
        .insert("TICKET_AGENT".to_owned(), shared);
    let script = steps(
        r#"{"agent": "TICKET_AGENT", "turn": 1,
            "interrupt": {"type": "STOP", "reason": "why", "reson": "why"}}"#,
    );
    let error = Script::parse(&script, &vocabulary).unwrap_err();
    assert_eq!(
        error.reason(),
        "unknown field; known are: type, reason, choices, confirmationItems, contextForDecision, answerForm"
    );
}

#[test]
fn an_unknown_name_is_told_with_those_that_are_known() {
    let misspelt = steps(r#"{"agent": "ORCHESTRATR", "turn": 1, "answer": 1}"#);
    refused(
        &misspelt,
        "steps[0].agent",
        "known are: ORCHESTRATOR, TICKET_AGENT",
    );
    let halt = step(r#", "interrupt": {"type": "HALT", "reason": "r"}"#);
    refused(&halt, "steps[0].interrupt.type", "HUMAN_REVIEW");
    let phase = step(r#", "interrupt": {"type": "STOP", "reason": "r", "fase": 1}"#);
    refused(&phase, "steps[0].interrupt.fase", "known are: type, reason");
    let answer = r#"{"person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1},
        "answer": {"selected": []}}}"#;
    refused(
        &steps(answer),
        "steps[0].person.answer.selected",
        "selectedChoices",
    );
}

#[test]
fn a_supervisor_sends_to_routes_only_and_names_no_node() {
    let event = |field: &str| {
        steps(&format!(
            r#"{{"supervisor": {{"when": {{"agent": "ORCHESTRATOR", "turn": 1}},
                "event": {{"interruptType": "STOP", "reason": "r", {field}}}}}}}"#
        ))
    };
    let worker = event(r#""rerouteToAgentType": "TICKET_AGENT""#);
    let path = "steps[0].supervisor.event.rerouteToAgentType";
    refused(&worker, path, "known are: ORCHESTRATOR");
    let node = event(r#""nodeId": "x""#);
    refused(&node, "steps[0].supervisor.event.nodeId", "unknown field");
}

#[test]
fn a_script_for_code_names_its_kinds_and_has_answers_and_people_alone() {
    let vocabulary = ScriptVocabulary {
        has_code: true,
        ..vocabulary()
    };
    let refused = |step: &str| {
        let text = format!(r#"{{"version": 1, "steps": [{step}]}}"#);
        Script::parse(&text, &vocabulary).unwrap_err().to_string()
    };
    let unknown = refused(r#"{"agent": "TICKETS_AGENT", "turn": 1, "answer": {}}"#);
    assert_eq!(
        unknown,
        "steps[0].agent: unknown agent type `TICKETS_AGENT`; did you mean `TICKET_AGENT`? \
         known are: ORCHESTRATOR, TICKET_AGENT"
    );
    let raised = refused(
        r#"{"agent": "TICKET_AGENT", "turn": 1, "interrupt": {"type": "HUMAN_REVIEW", "reason": "?"}}"#,
    );
    assert!(raised.starts_with("steps[0].interrupt: "), "{raised}");
    let supervised = refused(
        r#"{"supervisor": {"when": {"agent": "TICKET_AGENT", "turn": 1},
            "event": {"interruptType": "HUMAN_REVIEW", "reason": "?"}}}"#,
    );
    assert!(
        supervised.starts_with("steps[0].supervisor: "),
        "{supervised}"
    );
}
