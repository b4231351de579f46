//! `irq review` and `irq reroute`: deciding what other processes' agents ask.

use std::fs;

use expect_test::expect_file;
use interrupts::life::{Actor, Decider, ReviewChange, Role, State, Verdict};
use interrupts::store::Interrupts;
use serde_json::{Value, json};

use crate::program::{end, end_with_input, lines, spawn, without_ids};
use crate::seed::{Seed, actor};

#[test]
fn what_waits_for_a_person_is_listed() {
    let seed = Seed::new();
    let nothing = seed.end(&["review"]).exits_with(0).output;
    assert_eq!(nothing, "Nothing waits for a person.\n");
    let run = seed.run();
    let question = seed.question(&run);
    let decided = seed.question(&run);
    seed.decide(&decided, "bob");
    let shown = seed.end(&["review"]).exits_with(0).output;
    assert!(shown.contains(&question.id.to_string()), "{shown}");
    assert!(!shown.contains(&decided.id.to_string()), "{shown}");
    assert!(shown.contains("which way \\u{1b}[2Jshall"), "{shown}");
}

#[test]
fn programs_get_the_whole_interrupt() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let listed = seed.end(&["review", "--json"]).exits_with(0);
    let one = seed.json(&["review", &question.id.to_string(), "--json"]);
    assert_eq!(lines(&listed.output), std::slice::from_ref(&one));
    let shape = serde_json::to_string_pretty(&without_ids(&one)).unwrap();
    expect_file!["shapes/interrupt.json"].assert_eq(&shape);
}

#[test]
fn a_question_is_shown_as_its_agent_asks_it() {
    let seed = Seed::new();
    let run = seed.run();
    let id = seed.question(&run).id.to_string();
    let shown = seed.end(&["review", &id]).exits_with(0).output;
    for part in [
        "DISCOVERY_ORCHESTRATOR asks",
        "which way \\u{1b}[2Jshall it go?",
        "1  Left   the short way",
        "both lead there",
        "waiting for a person, version 4",
        "The answer goes back to DISCOVERY_ORCHESTRATOR.",
    ] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn an_answer_is_recorded_with_who_gave_it() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    let payload = r#"{"selectedChoices":["left"],"text":"the short one"}"#;
    let arguments = ["review", &id, "--decision", "respond", "--payload", payload];
    let told = seed.end(&arguments).exits_with(0).output;
    assert!(
        told.contains("respond, to DISCOVERY_ORCHESTRATOR"),
        "{told}"
    );
    let decision = seed.interrupt(question.id).decision.unwrap();
    assert!(matches!(&decision.by, Decider::Person { name } if name.as_str() == "ada"));
    let answer: Value = serde_json::from_str(&decision.content.unwrap()).unwrap();
    assert_eq!(answer["selectedChoices"], json!(["left"]));
    assert_eq!(answer["text"], "the short one");
}

#[test]
fn each_verdict_that_a_question_takes_can_be_given() {
    let seed = Seed::new();
    let run = seed.run();
    for (arguments, verdict, state) in [
        (
            &["approve", "--message", "yes"][..],
            Verdict::Approve,
            State::Resolved,
        ),
        (
            &["reject", "--message", "no"],
            Verdict::Reject,
            State::Resolved,
        ),
        (&["ignore"], Verdict::Ignore, State::Resolved),
        (&["cancel"], Verdict::Cancel, State::Resolved),
        (
            &["respond", "--message", "left"],
            Verdict::Respond,
            State::Resolved,
        ),
        (
            &["modify-plan", "--message", "bake first"],
            Verdict::ModifyPlan,
            State::Resolved,
        ),
        (
            &["reroute", "--to", "ticket-orchestrator"],
            Verdict::Reroute,
            State::Rerouted,
        ),
    ] {
        let question = seed.question(&run);
        let id = question.id.to_string();
        let all = [&["review", &id, "--decision"], arguments].concat();
        seed.end(&all).exits_with(0);
        let decided = seed.interrupt(question.id);
        assert_eq!(decided.state, state, "{arguments:?}");
        assert_eq!(decided.decision.unwrap().verdict, verdict);
    }
}

#[test]
fn an_answer_that_does_not_belong_to_its_question_is_refused() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    for (arguments, problem) in [
        (
            &["respond", "--payload", r#"{"selectedChoices":["up"]}"#][..],
            "`up` was not offered",
        ),
        (&["respond", "--payload", r#"{"answer":1}"#], "no answer"),
        (&["respond", "--payload", "left"], "no JSON"),
        (&["respond"], "--message"),
        (&["edit"], "the target's request"),
        (
            &["edit", "--payload", r#"{"editedRequest":{"goal":7}}"#],
            "goal",
        ),
        (&["reroute"], "--to"),
        (&["approve", "--to", "ORCHESTRATOR"], "only a reroute"),
        (&["reroute", "--to", "PLANNING_ORCHESTRATOR"], "is no route"),
        (&["resume"], "does not take `resume`"),
        (&["aprove"], "did you mean approve?"),
    ] {
        let all = [&["review", &id, "--decision"], arguments].concat();
        let ended = seed.end(&all).exits_with(2);
        assert!(
            ended.error_output.contains(problem),
            "{problem}: {ended:#?}"
        );
    }
    assert_eq!(seed.interrupt(question.id), question);
}

#[test]
fn a_payload_comes_from_a_file_or_from_standard_input() {
    let seed = Seed::new();
    let run = seed.run();
    let file = seed.folder.path().join("answer.json");
    fs::write(&file, r#"{"selectedChoices":["right"]}"#).unwrap();
    let named = format!("@{}", file.display());
    let first = seed.question(&run).id.to_string();
    seed.end(&[
        "review",
        &first,
        "--decision",
        "respond",
        "--payload",
        &named,
    ])
    .exits_with(0);
    let second = seed.question(&run).id.to_string();
    let arguments = ["review", &second, "--decision", "respond", "--payload", "-"];
    end_with_input(&mut seed.irq(&arguments), br#"{"text":"from a pipe"}"#).exits_with(0);
    let third = seed.question(&run).id.to_string();
    seed.end(&[
        "review",
        &third,
        "--decision",
        "respond",
        "--payload",
        "@/none",
    ])
    .exits_with(3)
    .says("cannot read /none");
}

#[test]
fn what_is_decided_stays_decided_and_says_by_whom() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    seed.decide(&question, "bob");
    let id = question.id.to_string();
    for arguments in [
        &["review", &id, "--decision", "approve", "--message", "yes"][..],
        &["reroute", &id, "--to", "ORCHESTRATOR"],
        &["review", &id, "--edit"],
    ] {
        let ended = seed
            .end(arguments)
            .exits_with(4)
            .says("bob decided `respond`");
        assert!(
            ended.error_output.contains("nothing was changed"),
            "{ended:#?}"
        );
    }
    let shown = seed.end(&["review", &id]).exits_with(0).output;
    assert!(shown.contains("bob decided `respond`"), "{shown}");
    assert!(shown.contains("the left one"), "{shown}");
}

#[test]
fn of_reviewers_who_race_one_wins_and_the_others_are_told_who() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    let racing: Vec<_> = ["ada", "bob", "eve", "kim"]
        .into_iter()
        .map(|name| {
            let arguments = ["review", &id, "--decision", "respond", "--message", name];
            (name, spawn(seed.irq(&arguments).env("IRQ_USER", name)))
        })
        .collect();
    let mut winners = Vec::new();
    let mut told = Vec::new();
    for (name, child) in racing {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => winners.push(name),
            Some(4) => told.push(text),
            other => panic!("{name} ended with {other:?}: {text}"),
        }
    }
    let [winner] = winners[..] else {
        panic!("not one winner but {winners:?}");
    };
    let decision = seed.interrupt(question.id).decision.unwrap();
    assert!(matches!(&decision.by, Decider::Person { name } if name.as_str() == winner));
    assert!(decision.content.unwrap().contains(winner));
    let sentence = format!("{winner} decided `respond`");
    assert!(told.iter().all(|text| text.contains(&sentence)), "{told:?}");
}

#[test]
fn what_is_not_open_cannot_be_decided() {
    let seed = Seed::new();
    let id = seed.run().id.to_string();
    let stop = seed.json(&["interrupt", &id, "--json"]);
    let stop = stop["id"].as_str().unwrap();
    seed.end(&["review", stop, "--decision", "resume"])
        .exits_with(4)
        .says("its agent has not taken it up yet");
    seed.end(&["review", "--decision", "approve", "--message", "yes"])
        .exits_with(2)
        .says("no interrupt is named");
}

#[test]
fn the_next_one_is_the_oldest_of_the_lane_that_goes_first() {
    let seed = Seed::new();
    seed.end(&["review", "--next"])
        .exits_with(3)
        .says("nothing waits");
    let run = seed.run();
    let first = seed.question(&run);
    seed.question(&run);
    let next = seed.json(&["review", "--next", "--json"]);
    assert_eq!(next["id"], first.id.to_string());
    seed.end(&[
        "review",
        "--next",
        "--decision",
        "approve",
        "--message",
        "yes",
    ])
    .exits_with(0);
    assert_eq!(seed.interrupt(first.id).state, State::Resolved);
}

#[test]
fn a_decision_is_remembered_listed_and_revoked() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    let decide = |more: &[&str]| {
        let mut arguments = vec![
            "review",
            &id,
            "--decision",
            "approve",
            "--message",
            "yes",
            "--remember",
            "run",
        ];
        arguments.extend(more);
        seed.end(&arguments)
    };
    decide(&["--remember-uses", "0"])
        .exits_with(2)
        .says("used 1 to 1000 times");
    assert_eq!(seed.interrupt(question.id), question, "nor is it decided");
    decide(&["--remember-for", "2h", "--remember-uses", "3"]).exits_with(0);
    let rule = seed.json(&["rules", "list", "--json"]);
    assert_eq!(
        (&rule["max_uses"], &rule["created_by"]),
        (&json!(3), &json!("ada"))
    );
    assert_eq!(rule["made_of"]["interrupt"], json!(question.id));
    let rule = rule["id"].as_str().unwrap().to_owned();
    let revoked = seed.json(&["rules", "revoke", &rule, "--json"]);
    assert_eq!(revoked["end"]["why"], "revoked");
    let none = seed.end(&["rules", "list"]).exits_with(0);
    assert!(none.output.contains("no standing rules"), "{none:#?}");
    seed.end(&["rules", "revoke", "rul_1"])
        .exits_with(3)
        .says("there is no rule");
    let told = seed.end(&["history"]).exits_with(0).output;
    assert!(
        told.contains("rule created") && told.contains("rule expired"),
        "{told}"
    );
}

#[test]
fn a_running_agent_is_sent_elsewhere_by_an_event() {
    let seed = Seed::new();
    let run = seed.run();
    let agent = format!("{}/orchestrator", run.id);
    let arguments = [
        "reroute",
        &agent,
        "--to",
        "TICKET_ORCHESTRATOR",
        "--event-id",
        "e1",
        "--json",
    ];
    let first = seed.json(&arguments);
    assert_eq!(
        first["content"]["rerouteToAgentType"],
        "TICKET_ORCHESTRATOR"
    );
    let again = seed.json(&arguments);
    assert_eq!(
        (&again["id"], &again["already"]),
        (&first["id"], &json!(true))
    );
    let stored = seed.wait(interrupts::store::Reroutes::reroute(
        &seed.store,
        &"e1".to_owned().try_into().unwrap(),
    ));
    assert_eq!(
        stored.unwrap().unwrap().target.as_str(),
        "TICKET_ORCHESTRATOR"
    );
    seed.end(&[
        "reroute",
        &agent,
        "--to",
        "ORCHESTRATOR",
        "--event-id",
        "e1",
    ])
    .exits_with(4)
    .says("asks something else");
}

#[test]
fn a_request_is_written_in_the_persons_editor() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    let with_editor = |script: &str| {
        let editor = seed.folder.path().join("editor");
        fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mut command = seed.irq(&["review", &id, "--edit"]);
        command.env("VISUAL", format!("sh {}", editor.display()));
        command
    };
    let untouched = end(&mut with_editor("true")).exits_with(0);
    assert!(
        untouched.output.contains("Nothing was edited"),
        "{untouched:#?}"
    );
    end(&mut with_editor("echo '{' > \"$1\""))
        .exits_with(2)
        .says("no JSON");
    end(&mut with_editor("echo '{\"goal\": 7}' > \"$1\""))
        .exits_with(2)
        .says("goal");
    let edit = "sed -i 's/\"goal\": \"\"/\"goal\": \"by hand\"/' \"$1\"";
    end(&mut with_editor(edit)).exits_with(0);
    let decided = seed
        .wait(seed.store.interrupt(question.id))
        .unwrap()
        .unwrap();
    let decision = decided.decision.unwrap();
    assert_eq!(decision.verdict, Verdict::Edit);
    assert!(decision.content.unwrap().contains("by hand"));
}

#[test]
fn what_a_users_interrupt_goes_before_waits_for_it() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let id = question.id.to_string();
    let stop = seed.json(&["interrupt", &run.id.to_string(), "--json"]);
    let stop = stop["id"].as_str().unwrap();
    let change = ReviewChange::Hold {
        by: stop.parse().unwrap(),
    };
    let system = Actor {
        role: Role::System,
        ..actor("the machinery")
    };
    seed.wait(
        seed.store
            .review(question.id, system, question.version, change),
    )
    .unwrap();
    let ended = seed
        .end(&["review", &id, "--decision", "approve", "--message", "yes"])
        .exits_with(4)
        .says("is held");
    assert!(ended.error_output.contains(stop), "{ended:#?}");
    seed.end(&["review", "--next"])
        .exits_with(3)
        .says("nothing waits");
    let listed = seed.end(&["review"]).exits_with(0).output;
    assert!(listed.contains(&format!("held by {stop}")), "{listed}");
}

#[test]
fn what_somebody_has_claimed_is_left_to_him() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let change = ReviewChange::Claim {
        until: jiff::Timestamp::now() + jiff::SignedDuration::from_mins(5),
    };
    seed.wait(
        seed.store
            .review(question.id, actor("bob"), question.version, change),
    )
    .unwrap();
    let id = question.id.to_string();
    seed.end(&["review", &id, "--decision", "approve", "--message", "yes"])
        .exits_with(4)
        .says("bob has claimed");
    let mut bob = seed.irq(&["review", &id, "--decision", "approve", "--message", "yes"]);
    end(bob.env("IRQ_USER", "bob")).exits_with(0);
}

#[test]
fn a_request_that_no_model_could_fill_in_is_written_and_nothing_else() {
    let seed = Seed::new();
    let run = seed.run();
    let asked = seed.question(&run);
    let content = json!({
        "fills": asked.id,
        "kind": {"kind": "unfilled_request", "problem": "goal: missing"},
        "request": serde_json::from_str::<Value>(&asked.content).unwrap(),
    });
    let unfilled = seed.asked(&run, content.to_string(), vec![Verdict::Edit]);
    let id = unfilled.id.to_string();
    let shown = seed.end(&["review", &id]).exits_with(0).output;
    let words: Vec<&str> = shown.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("No model could write the request of DISCOVERY_ORCHESTRATOR: goal: missing"),
        "{shown}"
    );
    let way_on = format!("{id} --decision edit --payload '{{\"editedRequest\": ...}}'");
    assert!(words.contains(&way_on), "{shown}");
    seed.end(&["review", &id, "--decision", "respond", "--message", "left"])
        .exits_with(2)
        .says("does not take `respond`");
}
