//! What is said at the terminal means to the code that asked what it means over every other way in: the same table.

use interrupts::life::Interrupt;
use interrupts::store::Run;
use serde_json::json;
use tests::saying::{FORMS, Said, in_form};

use crate::program::end_with_input;
use crate::seed::Seed;

/// A question of this form that waits.
fn asked(seed: &Seed, run: &Run, form: Option<&str>) -> Interrupt {
    let content = json!({"type": "HUMAN_REVIEW", "reason": "shall it be done?", "choices": [],
        "confirmationItems": [], "contextForDecision": ""});
    seed.asked(run, in_form(content, form).to_string(), Vec::new())
}

/// Says it by the options of `irq review`; whether it was taken.
fn by_options(seed: &Seed, (id, form): (&str, Option<&str>), said: Said) -> bool {
    let mut arguments = vec!["review", id, "--decision", said.verdict()];
    for choice in said.choices(form) {
        arguments.extend(["--choose", choice]);
    }
    arguments.extend(said.words().iter().flat_map(|words| ["--message", words]));
    if said == Said::Elsewhere {
        arguments.extend(["--to", "TICKET_ORCHESTRATOR"]);
    }
    seed.end(&arguments).code == Some(0)
}

/// Says it as a line of `irq review --batch`; whether it was taken.
fn by_a_line(seed: &Seed, (id, form): (&str, Option<&str>), said: Said) -> bool {
    let mut line = json!({"interrupt": id, "decision": said.verdict()});
    if !said.choices(form).is_empty() {
        line["payload"] = json!({"selectedChoices": said.choices(form)});
    }
    if let Some(words) = said.words() {
        line["message"] = words.into();
    }
    if said == Said::Elsewhere {
        line["reroute_to"] = "TICKET_ORCHESTRATOR".into();
    }
    let batch = format!("{line}\n");
    let mut command = seed.irq(&["review", "--batch", "-"]);
    end_with_input(&mut command, batch.as_bytes()).code == Some(0)
}

fn means_the_same(say: fn(&Seed, (&str, Option<&str>), Said) -> bool) {
    let seed = Seed::new();
    let run = seed.run();
    for form in FORMS {
        for said in Said::ALL {
            let of = format!("{form:?}, {said:?}");
            let asked = asked(&seed, &run, form);
            let is_taken = say(&seed, (&asked.id.to_string(), form), said);
            let now = seed.interrupt(asked.id);
            let told = now.decided_as();
            assert_eq!(told, said.meaning(form), "{of}");
            assert_eq!(is_taken, told.is_some(), "{of}: what the person is told");
            if said.words() == Some("too dear") {
                let kept = now.decision.unwrap().content.unwrap();
                assert!(kept.contains("too dear"), "{of}: {kept}");
                assert!(!kept.contains("narrow"), "{of}: {kept}");
            }
        }
    }
}

#[test]
fn what_is_said_by_options_means_what_it_says() {
    means_the_same(by_options);
}

#[test]
fn what_is_said_by_a_line_of_a_batch_means_what_it_says() {
    means_the_same(by_a_line);
}
