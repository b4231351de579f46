//! Each test types lines and reads the answer that comes of them.

use interrupt_router::review::{Answer, Question, QuestionKind};
use interrupt_router::{
    AnswerForm, Choice, ConfirmationItem, InterruptDetails, InterruptId, InterruptType, NodeId,
    RunId, Verdict,
};
use serde_json::json;

use super::{Dialogue, DialogueStep};
use crate::palette::Palette;

fn choice(label: &str, value: &str) -> Choice {
    Choice {
        label: label.to_owned(),
        value: value.to_owned(),
        description: format!("what {label} means"),
    }
}

fn question() -> Question {
    Question {
        interrupt: InterruptId::generate(),
        run: RunId::generate(),
        node: NodeId::new("root/discovery").unwrap(),
        agent_type: "DISCOVERY_ORCHESTRATOR",
        kind: QuestionKind::HumanReview,
        details: InterruptDetails {
            r#type: InterruptType::HumanReview,
            reason: "two ways to split the work".to_owned(),
            choices: vec![
                choice("By folder", "by-folder"),
                choice("By layer", "by-layer"),
            ],
            confirmation_items: Vec::new(),
            context_for_decision: "there are 7 folders".to_owned(),
            answer_form: None,
        },
        payload: json!({"reason": "two ways"}),
        target: "DISCOVERY_ORCHESTRATOR",
        target_field: "discoveryOrchestratorRequest",
        routes: vec![
            "ORCHESTRATOR",
            "DISCOVERY_ORCHESTRATOR",
            "TICKET_ORCHESTRATOR",
        ],
        request_schema: json!({"type": "object"}),
        problem: None,
    }
}

fn confirmation(id: &str, default_value: Option<bool>) -> ConfirmationItem {
    ConfirmationItem {
        id: id.to_owned(),
        prompt: format!("really {id}?"),
        default_value,
        impact_if_no: Some("it takes longer".to_owned()),
    }
}

/// Types the lines; the answer, or the last thing that was asked.
fn type_lines(question: &Question, lines: &[&str]) -> Result<Answer, String> {
    let mut dialogue = Dialogue::new(question, 80, Palette::PLAIN);
    let mut shown = dialogue.opening();
    for (index, line) in lines.iter().enumerate() {
        match dialogue.line(line) {
            DialogueStep::Ask(text) => shown = text,
            DialogueStep::Done(answer) => {
                assert_eq!(index + 1, lines.len(), "answered before the last line");
                return Ok(answer);
            }
            DialogueStep::Edit => return Err("edit".to_owned()),
        }
    }
    Err(shown)
}

#[test]
fn a_choice_is_taken_by_number_by_value_and_with_words() {
    let question = question();
    for (typed, values, text) in [
        ("1", vec!["by-folder"], None),
        ("by-layer", vec!["by-layer"], None),
        ("1,2", vec!["by-folder", "by-layer"], None),
        (" 2: only src ", vec!["by-layer"], Some("only src")),
    ] {
        let answer = type_lines(&question, &[typed]).unwrap();
        assert_eq!(answer.selected_choices, values, "{typed}");
        assert_eq!(answer.text.as_deref(), text, "{typed}");
        assert!(answer.check(&question).is_ok());
    }
}

#[test]
fn words_are_an_answer_and_may_look_like_a_number() {
    let answer = type_lines(&question(), &["2 workers are enough"]).unwrap();
    assert_eq!(answer.text.as_deref(), Some("2 workers are enough"));
    let answer = type_lines(&question(), &["= 2"]).unwrap();
    assert_eq!(answer.text.as_deref(), Some("2"));
    assert!(answer.selected_choices.is_empty());
}

#[test]
fn a_question_of_an_agent_is_rejected_with_or_without_words() {
    for (typed, why) in [
        ("x", None),
        ("Reject", None),
        ("x: it costs too much", Some("it costs too much")),
        ("reject: not now", Some("not now")),
    ] {
        let answer = type_lines(&question(), &[typed]).unwrap();
        assert_eq!(answer.verdict(), Verdict::Reject, "{typed}");
        assert_eq!(answer.text.as_deref(), why, "{typed}");
        assert!(answer.check(&question()).is_ok(), "{typed}");
    }
    let shown = Dialogue::new(&question(), 80, Palette::PLAIN).opening();
    assert!(shown.contains("x reject"), "{shown}");
    // Words that only begin so, and a choice of that name, are what they are.
    let answer = type_lines(&question(), &["reject the second one"]).unwrap();
    assert_eq!(answer.text.as_deref(), Some("reject the second one"));
    let mut with_choice = question();
    with_choice.details.choices.push(choice("No", "reject"));
    let answer = type_lines(&with_choice, &["reject"]).unwrap();
    assert_eq!(answer.selected_choices, ["reject"]);
    assert_ne!(answer.verdict(), Verdict::Reject);
}

#[test]
fn what_does_not_fit_is_asked_again() {
    let shown = type_lines(&question(), &["7"]).unwrap_err();
    assert!(
        shown.contains("There is no choice 7; there are 1 to 2."),
        "{shown}"
    );
    let shown = type_lines(&question(), &[""]).unwrap_err();
    assert!(shown.contains("Nothing was typed."), "{shown}");
    assert!(type_lines(&question(), &["7", "", "1"]).is_ok());
}

#[test]
fn a_mistyped_route_is_never_sent_as_an_answer() {
    for typed in ["r 99", "r 0", "r REVIEW_AGENT", "r ticket-orchestratr"] {
        let shown = type_lines(&question(), &[typed]).unwrap_err();
        assert!(
            shown.contains("The answer cannot go to"),
            "{typed}: {shown}"
        );
        // The choices are still what is asked for.
        assert!(type_lines(&question(), &[typed, "1"]).is_ok(), "{typed}");
    }
    let answer = type_lines(&question(), &["r is the wrong language for this"]).unwrap();
    assert_eq!(
        answer.text.as_deref(),
        Some("r is the wrong language for this")
    );
}

#[test]
fn a_reroute_goes_only_to_an_allowed_route() {
    let question = question();
    for typed in [
        &["r", "3"][..],
        &["r", "ticket-orchestrator"],
        &["r TICKET_ORCHESTRATOR"],
    ] {
        let answer = type_lines(&question, typed).unwrap();
        assert_eq!(answer.reroute_to.as_deref(), Some("TICKET_ORCHESTRATOR"));
        assert!(answer.check(&question).is_ok());
    }
    let shown = type_lines(&question, &["r", "TICKET_ORCHESTRATORS"]).unwrap_err();
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("Did you mean TICKET_ORCHESTRATOR?"),
        "{shown}"
    );
    let shown = type_lines(&question, &["r", "REVIEW_AGENT"]).unwrap_err();
    assert!(
        shown.contains("The answer cannot go to `REVIEW_AGENT`."),
        "{shown}"
    );
}

#[test]
fn confirmations_follow_and_what_the_agent_suggests_is_said_by_no_one() {
    let mut question = question();
    question.details.confirmation_items =
        vec![confirmation("deep", Some(true)), confirmation("slow", None)];
    let shown = type_lines(&question, &["1"]).unwrap_err();
    assert!(
        shown.contains("really deep?") && shown.contains("the agent suggests yes"),
        "{shown}"
    );
    assert!(shown.contains("if not: it takes longer"), "{shown}");
    for typed in ["", " ", "maybe"] {
        let shown = type_lines(&question, &["1", typed]).unwrap_err();
        assert!(shown.contains("Type y for yes or n for no."), "{shown}");
    }
    let answer = type_lines(&question, &["1", "", "n", "", "Y"]).unwrap();
    assert_eq!(answer.confirmations.get("deep"), Some(&false));
    assert_eq!(answer.confirmations.get("slow"), Some(&true));
}

#[test]
fn a_request_can_be_written_in_one_line_or_in_an_editor() {
    let answer = type_lines(&question(), &[r#"e {"goal":"x"}"#]).unwrap();
    assert_eq!(answer.edited_request, Some(json!({"goal": "x"})));
    let shown = type_lines(&question(), &["e {oops"]).unwrap_err();
    assert!(shown.contains("That is no JSON"), "{shown}");
    assert_eq!(type_lines(&question(), &["e"]).unwrap_err(), "edit");
}

#[test]
fn the_question_shows_all_there_is_and_nothing_that_acts() {
    let mut question = question();
    question.problem = Some("selectedChoices: not offered".to_owned());
    question.details.reason = "clear \u{1b}[2J the screen".to_owned();
    let shown = Dialogue::new(&question, 80, Palette::PLAIN).opening();
    for part in [
        "DISCOVERY_ORCHESTRATOR asks",
        "That answer does not fit. selectedChoices: not offered",
        "clear \\u{1b}[2J the screen",
        "there are 7 folders",
        "1  By folder  what By folder means",
        "The answer goes to DISCOVERY_ORCHESTRATOR.",
    ] {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
    assert!(!shown.contains('\u{1b}'));
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}

#[test]
fn help_explains_the_keys_and_show_shows_what_the_agent_sent() {
    let shown = type_lines(&question(), &["?"]).unwrap_err();
    assert!(
        shown.contains("send the answer to another agent type"),
        "{shown}"
    );
    let shown = type_lines(&question(), &["s"]).unwrap_err();
    assert!(shown.contains("\"reason\": \"two ways\""), "{shown}");
}

/// A question about a tool.
fn about_a_tool(asks: &str, schema: serde_json::Value) -> Question {
    let choices = match asks {
        "input" => vec![choice("Decline", "reject")],
        _ => vec![choice("Allow", "approve"), choice("Deny", "reject")],
    };
    let plain = question();
    Question {
        kind: QuestionKind::Tool {
            tool: "shell".to_owned(),
        },
        details: InterruptDetails {
            choices,
            ..plain.details
        },
        payload: json!({"asks": asks}),
        routes: Vec::new(),
        request_schema: schema,
        ..plain
    }
}

#[test]
fn a_call_is_allowed_by_a_yes_denied_by_a_no_and_words_are_neither() {
    let question = about_a_tool("permission", json!({"type": "object"}));
    for typed in ["y", "yes", "Allow", "approve", "1"] {
        let answer = type_lines(&question, &[typed]).unwrap();
        assert_eq!(answer.selected_choices, ["approve"], "{typed}");
    }
    for (typed, why) in [
        ("n", None),
        ("no", None),
        ("2", None),
        ("n not on a Sunday", Some("not on a Sunday")),
        ("reject: not here", Some("not here")),
    ] {
        let answer = type_lines(&question, &[typed]).unwrap();
        assert_eq!(answer.selected_choices, ["reject"], "{typed}");
        assert_eq!(answer.text.as_deref(), why, "{typed}");
    }
    let shown = type_lines(&question, &["yes, please"]).unwrap_err();
    assert!(
        shown.contains("Type y to allow it or n to deny it"),
        "{shown}"
    );
    assert!(shown.contains("y allow"), "{shown}");
    let shown = type_lines(&question, &["?"]).unwrap_err();
    assert!(shown.contains("n WORDS"), "{shown}");
}

#[test]
fn a_call_whose_outcome_is_not_known_takes_words_as_what_came_of_it() {
    let question = about_a_tool("unknown_outcome", json!({"type": "object"}));
    let answer = type_lines(&question, &["it was sent, I saw it"]).unwrap();
    assert_eq!(answer.text.as_deref(), Some("it was sent, I saw it"));
    assert!(answer.selected_choices.is_empty());
    let answer = type_lines(&question, &["y"]).unwrap();
    assert_eq!(answer.selected_choices, ["approve"]);
}

#[test]
fn what_a_tool_asks_for_is_filled_in_field_by_field_with_its_defaults() {
    let schema = json!({"type": "object", "required": ["name", "loaves"], "properties": {
        "name": {"type": "string", "description": "Who it is for."},
        "loaves": {"type": "integer", "minimum": 1, "default": 2},
        "sliced": {"type": "boolean"},
    }});
    let question = about_a_tool("input", schema);
    let shown = type_lines(&question, &[""]).unwrap_err();
    assert!(
        shown.contains("name") && shown.contains("Who it is for."),
        "{shown}"
    );
    let shown = type_lines(&question, &["", "Ada"]).unwrap_err();
    assert!(shown.contains("by default 2 · Enter takes that"), "{shown}");
    let shown = type_lines(&question, &["", "Ada", "none"]).unwrap_err();
    assert!(
        shown.contains("That does not fit: a whole number of 1 or more"),
        "{shown}"
    );
    let answer = type_lines(&question, &["", "Ada", "", "yes"]).unwrap();
    let filled = json!({"name": "Ada", "loaves": 2, "sliced": true});
    assert_eq!(answer.edited_request, Some(filled));
    let answer = type_lines(&question, &["y", "n", "3", ""]).unwrap();
    assert_eq!(
        answer.edited_request,
        Some(json!({"name": "n", "loaves": 3}))
    );
    let answer = type_lines(&question, &["n"]).unwrap();
    assert_eq!(answer.selected_choices, ["reject"]);
}

#[test]
fn where_a_yes_or_a_no_is_wanted_one_letter_says_it() {
    let question = Question {
        details: InterruptDetails {
            answer_form: Some(AnswerForm::YesOrNo),
            ..InterruptDetails::new(InterruptType::HumanReview, "go on?")
        },
        ..question()
    };
    let shown = Dialogue::new(&question, 80, Palette::PLAIN).opening();
    assert!(shown.contains("y yes · n no · r reroute"), "{shown}");
    for (typed, verdict, text) in [
        ("y", Verdict::Approve, None),
        ("yes: but slowly", Verdict::Approve, Some("but slowly")),
        ("n", Verdict::Reject, None),
        ("no: it is late", Verdict::Reject, Some("it is late")),
    ] {
        let answer = type_lines(&question, &[typed]).unwrap();
        assert_eq!(answer.verdict(), verdict, "{typed}");
        assert_eq!(answer.text.as_deref(), text, "{typed}");
        assert_eq!(answer.check(&question), Ok(()), "{typed}");
    }
    let words = type_lines(&question, &["perhaps"]).unwrap();
    let refused = words.check(&question).unwrap_err().to_string();
    assert!(refused.contains("answer yes or no"), "{refused}");
}

#[test]
fn where_exactly_one_is_wanted_two_are_refused_and_the_prompt_says_so() {
    let mut question = question();
    question.details.answer_form = Some(AnswerForm::OneOf);
    let shown = Dialogue::new(&question, 80, Palette::PLAIN).opening();
    assert!(shown.contains("1-2 choose exactly one"), "{shown}");
    let check = |line| type_lines(&question, &[line]).unwrap().check(&question);
    assert_eq!(check("1"), Ok(()));
    for wrong in ["1,2", "neither"] {
        let refused = check(wrong).unwrap_err().to_string();
        assert!(
            refused.contains("choose exactly one of by-folder, by-layer"),
            "{refused}"
        );
    }
}
