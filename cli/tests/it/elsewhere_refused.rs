//! What is refused is refused alike beside a store and through its server: the exit code, the words and the way out.

use crate::place::Place;
use crate::program::without_place;
use crate::seed::Seed;
use crate::served::Served;

#[test]
fn what_is_refused_through_a_server_is_refused_as_beside_its_store() {
    let place = Place::new();
    place.end_of_run(&[]).exits_with(0);
    let run = place.only_run();
    let agent = format!("{run}/orchestrator");
    let served = Served::over(&place.store());
    let refused: &[(&[&str], i32)] = &[
        (&["fork", &run, "--at", "999", "--no-input"], 3),
        (&["resume", &run, "--no-input"], 4),
        (&["send", &agent, "hello"], 4),
        (&["send", &agent, "--take-back", "7"], 3),
        (&["interrupt", &run], 4),
    ];
    for (arguments, code) in refused {
        let beside = place.end(arguments).exits_with(*code);
        let through = served.end(arguments).exits_with(*code);
        assert_eq!(
            without_place(&through.error_output),
            without_place(&beside.error_output),
            "{arguments:?}"
        );
    }
}

#[test]
fn what_an_interrupt_refuses_is_told_alike_beside_its_store_and_through_a_server() {
    let seed = Seed::new();
    let run = seed.run();
    let asked = seed.question(&run).id.to_string();
    let late = seed.question(&run);
    seed.decide(&late, "grace");
    let late = late.id.to_string();
    let rule = "rule_00000000000000000000000000000000";
    let agent = format!("{}/orchestrator", run.id);
    let served = Served::over(&seed.path());
    let approve = ["--decision", "approve", "--message", "yes"];
    let refused: &[(&[&str], &[&str], i32, &str)] = &[
        (&["redrive", &asked], &[], 4, "takes no redrive"),
        (
            &["review", &asked, "--if-version", "99"],
            &approve,
            4,
            "has changed since",
        ),
        (
            &["review", &asked, "--decision", "resume"],
            &[],
            2,
            "does not take `resume`",
        ),
        (
            &["review", &asked, "--remember", "run"],
            &["--decision", "ignore"],
            2,
            "cannot be remembered",
        ),
        (&["review", &late], &approve, 4, "grace decided `respond`"),
        (&["rules", "revoke", rule], &[], 3, "there is no rule"),
        (&["send", &agent, " "], &[], 2, "empty"),
    ];
    // Ages and versions of a store that goes on are no part of what is compared.
    let words = |text: &str| without_place(text).replace(char::is_numeric, "");
    for (command, rest, code, says) in refused {
        let arguments = [*command, *rest].concat();
        let beside = seed.end(&arguments).exits_with(*code).says(says);
        let through = served.end(&arguments).exits_with(*code);
        assert!(beside.error_output.contains("hint:"), "{beside:#?}");
        assert_eq!(
            words(&through.error_output),
            words(&beside.error_output),
            "{arguments:?}"
        );
    }
}
