//! Plans whose limit or model fails them: what is recorded of it, and what `irq plan` says of a plan that stands.

use super::desk::Desk;
use crate::program::end;

/// What `irq plan` prints for people.
fn page(desk: &Desk, run: &str) -> String {
    end(&mut desk.irq(&["plan", run])).exits_with(0).output
}

#[test]
fn a_plan_that_hit_its_step_limit_stands_on_a_pause_of_the_system_and_goes_on_with_a_higher_one() {
    let desk = Desk::new();
    end(desk.run().args(["--no-input", "--max-steps", "2"])).exits_with(8);
    let run = desk.only_run();
    assert_eq!(run["state"], "paused", "{run:#}");
    let run = run["id"].as_str().unwrap();
    let stops = desk.open();
    assert_eq!(stops.len(), 1, "{stops:#?}");
    let stop = &stops[0];
    assert_eq!(stop["type"], "PAUSE", "{stop:#}");
    assert_eq!(stop["source"], "system", "{stop:#}");
    assert_eq!(stop["content"]["cause"], "budget", "{stop:#}");
    assert!(
        stop["reason"].as_str().unwrap().contains("2 steps"),
        "{stop:#}"
    );

    let shown = page(&desk, run);
    assert!(shown.contains("next when it goes on"), "{shown}");
    assert!(shown.contains(&format!("irq resume {run}")), "{shown}");
    assert!(!shown.contains("(now)"), "{shown}");
    assert!(!shown.contains("irq interrupt"), "{shown}");
    // It stands still, so it can be changed before it goes on.
    let one = r#"["the one step that is left"]"#;
    let preview = desk.json(&["plan", run, "--preview", one]);
    let digest = preview["proposal"]["digest"].as_str().unwrap();
    end(&mut desk.irq(&["plan", run, "--apply", digest])).exits_with(0);

    end(&mut desk.irq(&["resume", run, "--no-input", "--max-steps", "50"])).exits_with(0);
    let plan = desk.plan(run);
    assert_eq!(plan["state"], "completed", "{plan:#}");
    assert!(desk.open().is_empty());
    let told = page(&desk, run);
    assert!(told.contains("the one step that is left"), "{told}");
}

#[test]
fn a_plan_that_hits_its_limit_again_is_paused_again() {
    let desk = Desk::new();
    end(desk.run().args(["--no-input", "--max-steps", "2"])).exits_with(8);
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let before = desk.calls(&run);
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(8);
    assert_eq!(desk.calls(&run), before, "no call was made");
    assert_eq!(desk.open().len(), 1);
    end(&mut desk.irq(&["resume", &run, "--no-input", "--max-steps", "50"])).exits_with(0);
}

#[test]
fn a_plan_whose_process_died_says_how_to_go_on() {
    let desk = Desk::new();
    let mut running = desk.at_its_first_step();
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let works = page(&desk, &run);
    assert!(works.contains("(now)"), "{works}");
    assert!(works.contains(&format!("irq interrupt {run}")), "{works}");
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    // `irq ps` takes note of it.
    let dead = desk.only_run();
    let stands = page(&desk, &run);
    assert!(
        stands.contains(&format!("irq resume {run}")),
        "{dead:#} {stands}"
    );
    assert!(!stands.contains("(now)"), "{stands}");
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
}

#[test]
fn a_plan_that_waits_for_an_answer_names_its_question() {
    let desk = Desk::new();
    let steps = serde_json::json!([{
        "agent": "EXECUTOR", "turn": 2,
        "interrupt": {
            "type": "HUMAN_REVIEW", "reason": "which oven?", "choices": [],
            "confirmationItems": [], "contextForDecision": "there are two",
        },
    }]);
    let script = crate::program::script(desk.store.path(), &steps);
    end(desk.run().arg("--no-input").arg("--script").arg(script)).exits_with(5);
    let asked = desk.open().remove(0);
    let run = asked["run_id"].as_str().unwrap();
    let shown = page(&desk, run);
    let id = asked["id"].as_str().unwrap();
    assert!(shown.contains(&format!("irq review {id}")), "{shown}");
    assert!(shown.contains(&format!("irq resume {run}")), "{shown}");
    assert!(!shown.contains("irq interrupt"), "{shown}");
}

/// How long processes have worked on a run, in milliseconds.
fn worked(desk: &Desk, run: &str) -> u64 {
    desk.json(&["replay", run, "--summary"])["worked_ms"]
        .as_u64()
        .unwrap()
}

#[test]
fn what_is_done_to_a_plan_after_its_process_died_is_no_work_of_it() {
    let desk = Desk::new();
    let mut running = desk.at_its_first_step();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let run = desk.only_run()["id"].as_str().unwrap().to_owned();
    let before = worked(&desk, &run);
    end(&mut desk.irq(&["interrupt", &run, "--wait"])).exits_with(0);
    assert_eq!(worked(&desk, &run), before, "it was paused");
    end(&mut desk.irq(&["plan", &run, "--suggest", "a shorter one"])).exits_with(0);
    assert_eq!(worked(&desk, &run), before, "a change was thought of");
    let pause = desk.open()[0]["id"].as_str().unwrap().to_owned();
    let decide = ["review", &pause, "--decision", "respond", "--message", "go"];
    end(&mut desk.irq(&decide)).exits_with(0);
    assert_eq!(worked(&desk, &run), before, "the pause was decided");
    end(&mut desk.irq(&["resume", &run, "--no-input"])).exits_with(0);
}
