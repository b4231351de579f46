//! Questions: answered through a pipe, by a script, or by nobody.

use serde_json::json;

use crate::program::{
    end, end_with_input, example_script, interrupt, irq, run_in, script, workspace,
};

#[test]
fn without_input_the_open_interrupts_id_stands_alone_on_standard_output() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let ended = end(run_in(folder.path())
        .args(["--no-input", "--script"])
        .arg(script))
    .exits_with(5);
    let told = "
waiting: 1 interrupt waits for an answer
";
    assert!(ended.error_output.contains(told), "{ended:#?}");
    assert!(!ended.error_output.contains("error:"), "{ended:#?}");
    let lines: Vec<&str> = ended.output.lines().collect();
    assert_eq!(lines.len(), 1, "{ended:#?}");
    let id: interrupt_router::InterruptId = lines[0].parse().unwrap();
    assert!(ended.error_output.contains(&id.to_string()));
    assert!(ended.error_output.contains("which way?"));
}

#[test]
fn an_answer_through_a_pipe_goes_where_it_says() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let ended = end_with_input(
        run_in(folder.path()).arg("--script").arg(script),
        b"9\nr\nticket-orchestrator\n",
    )
    .exits_with(0);
    let screen = &ended.error_output;
    for text in [
        "ORCHESTRATOR asks",
        "which way?",
        "both lead there",
        "Left",
        "the short way",
        "There is no choice 9",
        "goes to TICKET_ORCHESTRATOR",
    ] {
        assert!(screen.contains(text), "{text} in {screen}");
    }
    assert!(
        ended.output.contains("sent to TICKET_ORCHESTRATOR"),
        "{ended:#?}"
    );
}

#[test]
fn a_pipe_that_ends_leaves_the_question_open() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let ended = end_with_input(run_in(folder.path()).arg("--script").arg(script), b"?\n");
    let ended = ended.exits_with(5);
    assert!(ended.output.starts_with("int_"), "{ended:#?}");
}

#[test]
fn an_edited_request_is_taken_and_a_wrong_one_asked_for_again() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let ended = end_with_input(
        run_in(folder.path()).arg("--script").arg(script),
        b"e {\"nonsense\": 1}\n1\n",
    )
    .exits_with(0);
    assert!(
        ended.error_output.contains("That answer does not fit."),
        "{ended:#?}"
    );
    assert!(ended.error_output.contains("nonsense"), "{ended:#?}");
}

#[test]
fn a_paused_run_is_resumed_by_enter_and_by_words() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("PAUSE")]));
    for (typed, told) in [
        ("\n", "goes on unchanged"),
        ("bake more\n", "goes on with: bake more"),
    ] {
        let ended = end_with_input(
            run_in(folder.path()).arg("--script").arg(&script),
            typed.as_bytes(),
        )
        .exits_with(0);
        assert!(
            ended
                .error_output
                .contains("ORCHESTRATOR has paused the run"),
            "{ended:#?}"
        );
        assert!(ended.error_output.contains(told), "{ended:#?}");
    }
}

#[test]
fn a_pause_without_anybody_waits() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("PAUSE")]));
    let ended = end(run_in(folder.path())
        .args(["--no-input", "--script"])
        .arg(script));
    let ended = ended.exits_with(5);
    assert!(ended.output.starts_with("int_"), "{ended:#?}");
}

#[test]
fn a_stop_ends_the_run_with_a_code_of_its_own() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("STOP")]));
    let ended = end(run_in(folder.path())
        .args(["--no-input", "--script"])
        .arg(script));
    let ended = ended.exits_with(6);
    assert!(ended.error_output.contains("cancelled"), "{ended:#?}");
    assert_eq!(ended.output, "");
}

#[test]
fn a_script_answers_what_it_names_and_a_person_the_rest() {
    let folder = workspace();
    let ended = end_with_input(
        run_in(folder.path())
            .arg("--script")
            .arg(example_script("tour.json")),
        b"1: the code first\ny\ngo-on\nwait\n",
    )
    .exits_with(0);
    assert!(
        !ended.error_output.contains("the script answers"),
        "{ended:#?}"
    );
    let ended = end(run_in(folder.path())
        .args(["--no-input", "--script"])
        .arg(example_script("tour-answered.json")))
    .exits_with(0);
    assert!(
        ended
            .error_output
            .contains("the script answers DISCOVERY_ORCHESTRATOR: by-folder"),
        "{ended:#?}"
    );
}

#[test]
fn a_scripted_answer_that_does_not_fit_is_not_given_again() {
    let folder = workspace();
    let answer = json!({"person": {
        "interrupt": {"agent": "ORCHESTRATOR", "nth": 1},
        "answer": {"selectedChoices": ["right"]},
    }});
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW"), answer]));
    let ended = end(run_in(folder.path())
        .args(["--no-input", "--script"])
        .arg(script));
    let ended = ended.exits_with(5);
    assert!(
        ended.error_output.contains("`right` was not offered"),
        "{ended:#?}"
    );
}

#[test]
fn a_goal_from_a_pipe_leaves_nobody_to_ask() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut command = irq();
    command.args(["run", "-", "--workspace"]).arg(folder.path());
    let ended = end_with_input(
        command.arg("--script").arg(script),
        b"Describe the bakery\n",
    );
    let ended = ended.exits_with(5);
    assert!(
        ended.error_output.contains("“Describe the bakery”"),
        "{ended:#?}"
    );
}

#[test]
fn escape_codes_of_a_model_never_reach_the_screen() {
    let folder = workspace();
    let mut step = interrupt("HUMAN_REVIEW");
    step["interrupt"]["reason"] = json!("clear \u{1b}[2J it \u{202e}now");
    step["interrupt"]["choices"][0]["label"] = json!("\u{9b}31mLeft");
    let script = script(folder.path(), &json!([step]));
    let ended = end_with_input(run_in(folder.path()).arg("--script").arg(script), b"1\n");
    let ended = ended.exits_with(0);
    for text in [&ended.output, &ended.error_output] {
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{text:?}");
    }
    assert!(
        ended
            .error_output
            .contains("clear \\u{1b}[2J it \\u{202e}now"),
        "{ended:#?}"
    );
    assert!(ended.error_output.contains("\\u{9b}31mLeft"), "{ended:#?}");
}

#[test]
fn a_question_beside_events_is_asked_on_standard_error() {
    let folder = workspace();
    let script = script(folder.path(), &json!([interrupt("HUMAN_REVIEW")]));
    let mut command = run_in(folder.path());
    let ended = end_with_input(command.args(["--json", "--script"]).arg(script), b"1\n");
    let ended = ended.exits_with(0);
    assert!(
        ended.error_output.contains("ORCHESTRATOR asks"),
        "{ended:#?}"
    );
    let events = ended.events();
    let answered = events
        .iter()
        .find(|event| event["type"] == "dev.irq.interrupt.resolved.v1")
        .unwrap();
    assert_eq!(
        answered["data"]["answer"]["selectedChoices"],
        json!(["left"])
    );
}

#[test]
fn a_script_says_yes_or_no_where_that_is_wanted_and_its_words_alone_are_neither() {
    for (answer, code, told) in [
        (
            json!({"verdict": "approve"}),
            0,
            "the script answers ORCHESTRATOR: approve",
        ),
        (
            json!({"verdict": "reject", "text": "not yet"}),
            0,
            "reject, “not yet”",
        ),
        (json!({"text": "perhaps"}), 5, "answer yes or no"),
    ] {
        let folder = workspace();
        let mut asks = interrupt("HUMAN_REVIEW");
        asks["interrupt"]["answerForm"] = json!("yes_or_no");
        asks["interrupt"]["choices"] = json!([]);
        asks["interrupt"]["confirmationItems"] = json!([]);
        let said = json!({"person": {
            "interrupt": {"agent": "ORCHESTRATOR", "nth": 1}, "answer": answer,
        }});
        let script = script(folder.path(), &json!([asks, said]));
        let ended = end(run_in(folder.path())
            .args(["--no-input", "--script"])
            .arg(script));
        let ended = ended.exits_with(code);
        assert!(ended.error_output.contains(told), "{ended:#?}");
    }
}
