//! The commands through a server: the same as beside its store, and what is said where that cannot be.

use std::path::Path;

use interrupts::life::{Interrupt, RunState, State};
use serde_json::{Value, json};

use crate::program::{end, irq, lines, until, without_ids, without_place};
use crate::screen::{press, read_and_press, resize};
use crate::seed::Seed;
use crate::served::Served;
use crate::server::{answering, nobody};
use crate::watching::start_known;

/// A store in which something has happened, with a question that waits.
fn busy(seed: &Seed) -> (String, String) {
    let run = seed.run();
    let question = seed.question(&run);
    seed.model_call(&run, "orchestrator#1/step/0");
    seed.checkpoint(&run);
    let old = seed.run();
    seed.change(&old, RunState::Completed);
    (run.id.to_string(), question.id.to_string())
}

#[test]
fn what_is_read_through_a_server_is_what_is_read_beside_its_store() {
    let seed = Seed::new();
    let (run, question) = busy(&seed);
    let served = Served::over(&seed.path());
    let beginning = &run[..run.len() - 1];
    let agent = format!("{run}/orchestrator/discovery");
    let reads: &[&[&str]] = &[
        &["ps", "--json"],
        &["ps", "--all", "--json", "-v"],
        &["ps", beginning, "--json"],
        &["review", "--json"],
        &["review", "--json", "--run", &run],
        &["review", &question, "--json"],
        &["review", &question],
        &["review", "--next", "--json"],
        &["history"],
        &["history", "--format", "json"],
        &["history", "--format", "csv"],
        &["history", "--json", "--run", &run],
        &["history", "--interrupt", &question, "--json"],
        &["history", "--verify", "--json"],
        &["checkpoints", &run],
        &["checkpoints", &run, "--json"],
        &["replay", &run],
        &[
            "replay",
            &run,
            "--json",
            "--agent",
            "orchestrator/discovery",
        ],
        &["stats", "--json", "--run", &run],
        &["policy", "explain", &question, "--json"],
        &["interrupt", &run, "--dry-run", "--json"],
        &["interrupt", &agent, "--dry-run"],
        &["interrupt", "--all", "--dry-run", "--json"],
    ];
    for arguments in reads {
        let beside = seed.end(arguments).exits_with(0);
        let through = served.end(arguments).exits_with(0);
        assert!(!beside.output.is_empty(), "{arguments:?}");
        assert_eq!(
            without_place(&through.output),
            without_place(&beside.output),
            "{arguments:?}"
        );
    }
}

/// The same scenario in two stores: what commands print beside one, and through a server over the other.
fn both_ways(arguments: impl Fn(&str, &str) -> Vec<String>) -> (Vec<Value>, Vec<Value>) {
    let printed = |through_a_server: bool| {
        let seed = Seed::new();
        let (run, question) = busy(&seed);
        let arguments = arguments(&run, &question);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ended = if through_a_server {
            Served::over(&seed.path()).end(&arguments)
        } else {
            seed.end(&arguments)
        };
        lines(&ended.exits_with(0).output)
            .iter()
            .map(without_ids)
            .collect()
    };
    (printed(false), printed(true))
}

/// What is done to a run and its question, one command each.
fn commands(run: &str, question: &str) -> Vec<Vec<String>> {
    let payload = r#"{"selectedChoices":["left"],"text":"the short one"}"#;
    let orchestrator = format!("{run}/orchestrator");
    let discovery = format!("{run}/orchestrator/discovery");
    let lines: [&[&str]; 8] = [
        &[
            "review",
            question,
            "--decision",
            "respond",
            "--payload",
            payload,
        ],
        &[
            "review",
            question,
            "--decision",
            "approve",
            "--message",
            "yes",
        ],
        &[
            "review",
            question,
            "--decision",
            "reject",
            "--message",
            "not now",
        ],
        &["reroute", question, "--to", "ticket-orchestrator"],
        &[
            "reroute",
            &discovery,
            "--to",
            "TICKET_ORCHESTRATOR",
            "--event-id",
            "evt-1",
            "--reason",
            "look there",
        ],
        &["interrupt", run, "--mode", "immediate"],
        &["interrupt", &discovery, "--type", "HUMAN_REVIEW"],
        &["send", &orchestrator, "look at the oven", "--key", "key-1"],
    ];
    let with_json = lines.iter().map(|line| {
        let words = line.iter().chain(&["--json"]);
        words.map(|word| (*word).to_owned()).collect()
    });
    with_json.collect()
}

#[test]
fn what_is_done_through_a_server_is_what_is_done_beside_its_store() {
    for index in 0..commands("", "").len() {
        let (beside, through) =
            both_ways(|run: &str, question: &str| commands(run, question)[index].clone());
        assert!(!beside.is_empty(), "command {index}");
        assert_eq!(through, beside, "command {index}");
    }
}

#[test]
fn waiting_through_a_server_gives_up_in_time() {
    let seed = Seed::new();
    let run = seed.run().id.to_string();
    let served = Served::over(&seed.path());
    let waited = served.end(&["interrupt", &run, "--wait", "--timeout", "1s"]);
    waited.exits_with(7).says("was not acknowledged");
}

#[test]
fn a_batch_says_of_each_line_what_became_of_it() {
    let seed = Seed::new();
    let run = seed.run();
    let questions = [seed.question(&run), seed.question(&run)];
    let served = Served::over(&seed.path());
    seed.decide(&questions[0], "grace");
    let batch = seed.folder.path().join("batch.ndjson");
    let line = |id: &dyn std::fmt::Display| {
        format!("{{\"interrupt\": \"{id}\", \"decision\": \"approve\", \"message\": \"yes\"}}\n")
    };
    let text = line(&questions[0].id) + &line(&questions[1].id);
    std::fs::write(&batch, text).unwrap();
    let ended = served
        .end(&["review", "--json", "--batch", batch.to_str().unwrap()])
        .exits_with(9);
    let results = lines(&ended.output);
    assert_eq!(results[0]["ok"], false);
    assert_eq!(results[0]["code"], 4);
    assert_eq!(results[1]["ok"], true);
    assert_eq!(seed.interrupt(questions[1].id).state, State::Resolved);
}

#[test]
fn who_may_not_do_it_is_told_so() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run).id.to_string();
    let served = Served::over(&seed.path());
    let viewer = served.token("victor", "viewer");
    let decide = [
        "review",
        &question,
        "--decision",
        "approve",
        "--message",
        "yes",
    ];
    end(&mut served.irq_as(&viewer, &["ps", "--json"])).exits_with(0);
    end(&mut served.irq_as(&viewer, &decide))
        .exits_with(77)
        .says("the right to decide");
    let secret = seed.folder.path().join("token");
    std::fs::write(&secret, "irq_0000000000000000000000000000000000000000\n").unwrap();
    let unknown = end(&mut served.irq_as(&secret, &["ps"])).exits_with(77);
    unknown.says("does not know this token");
    let nobody = end(irq()
        .args(["ps", "--server", &served.url])
        .env_remove("IRQ_STORE"));
    let nobody = nobody.exits_with(77).says("no token is named");
    assert!(nobody.error_output.contains("--token-file"), "{nobody:#?}");
    std::fs::write(&secret, "\n").unwrap();
    end(&mut served.irq_as(&secret, &["ps"]))
        .exits_with(77)
        .says("it is empty");
    end(&mut served.irq_as(Path::new("/none"), &["ps"])).exits_with(77);
}

#[test]
fn what_is_not_there_is_not_found() {
    let seed = Seed::new();
    let run = seed.run().id.to_string();
    let served = Served::over(&seed.path());
    let agent = format!("{run}/orchestrator/disvovery");
    for arguments in [
        &["review", "int_00000000000000000000000000000000"][..],
        &["ps", "run_00000000000000000000000000000000"],
        &["replay", "no-such-run"],
        &["withdraw", "int_0"],
    ] {
        let ended = served.end(arguments);
        assert_eq!(ended.code, Some(3), "{arguments:?}: {ended:#?}");
        let beside = seed.end(arguments);
        assert_eq!(
            without_place(&ended.error_output),
            without_place(&beside.error_output),
            "{arguments:?}"
        );
    }
    let near = served.end(&["send", &agent, "hello"]).exits_with(3);
    near.says("did you mean");
}

#[test]
fn a_server_that_is_not_there_is_unreachable_and_the_way_out_is_told() {
    let address = format!("http://{}", nobody());
    let ended = end(irq()
        .args(["ps", "--server", &address])
        .env_remove("IRQ_STORE"));
    let ended = ended.exits_with(69).says("cannot reach the server");
    assert!(
        ended.error_output.contains("irq doctor --server"),
        "{ended:#?}"
    );
    let other = format!("http://{}", answering("200 OK", "<html>hello</html>"));
    let ended = end(irq()
        .args(["ps", "--server", &other])
        .env_remove("IRQ_STORE"));
    ended.exits_with(1).says("cannot be read");
    let other = format!("http://{}", answering("404 Not Found", "<html>none</html>"));
    let ended = end(irq()
        .args(["ps", "--server", &other])
        .env_remove("IRQ_STORE"));
    ended.exits_with(69).says("is no irq server");
    let moved = format!("http://{}", answering("301 Moved Permanently", ""));
    let ended = end(irq()
        .args(["ps", "--server", &moved])
        .env_remove("IRQ_STORE"));
    ended.exits_with(69).says("answers 301");
}

#[test]
fn a_flag_goes_before_the_environment_and_two_installations_are_refused() {
    let seed = Seed::new();
    seed.run();
    let served = Served::over(&seed.path());
    let token = served.token("ada", "admin");
    let from_environment = end(irq()
        .args(["ps", "--json"])
        .env("IRQ_SERVER", &served.url)
        .env("IRQ_TOKEN_FILE", &token))
    .exits_with(0);
    assert_eq!(lines(&from_environment.output).len(), 1);
    let gone = format!("http://{}", nobody());
    end(seed.irq(&["ps", "--json"]).env("IRQ_SERVER", &gone)).exits_with(0);
    end(&mut seed.irq(&["ps", "--server", &gone]))
        .exits_with(2)
        .says("two installations");
    end(irq().args(["ps", "--server", "127.0.0.1:7070"]))
        .exits_with(2)
        .says("no address");
}

#[test]
fn what_works_beside_a_store_alone_says_so() {
    for arguments in [&["purge", "--older-than", "1d"][..], &["serve"]] {
        let mut command = irq();
        command
            .args(arguments)
            .args(["--server", "http://127.0.0.1:1"]);
        let ended = end(command.env_remove("IRQ_STORE")).exits_with(2);
        assert!(ended.error_output.contains("hint:"), "{ended:#?}");
        ended.says("beside the store");
    }
    end(irq().args(["run", "x", "--detach"]))
        .exits_with(2)
        .says("--detach leaves a run to a server");
}

#[test]
fn tokens_are_made_listed_and_revoked_through_a_server_by_those_who_run_it() {
    let seed = Seed::new();
    let served = Served::over(&seed.path());
    let create = ["token", "create", "--name", "rita", "--role", "reviewer"];
    let made = served.json(&[&create[..], &["--lifetime", "2h", "--json"]].concat());
    assert_eq!(
        (&made["name"], &made["role"]),
        (&"rita".into(), &"reviewer".into())
    );
    assert!(made["expires_at"].is_string(), "{made}");
    let secret = seed.folder.path().join("rita");
    std::fs::write(&secret, made["secret"].as_str().unwrap()).unwrap();
    end(&mut served.irq_as(&secret, &["ps", "--json"])).exits_with(0);
    for list in [
        &["token", "list", "--json"][..],
        &["token", "list", "--all"],
    ] {
        let beside = seed.end(list).exits_with(0).output;
        assert_eq!(served.end(list).exits_with(0).output, beside);
        assert!(beside.contains("rita") && !beside.contains(made["secret"].as_str().unwrap()));
    }
    // A reviewer makes nobody a reviewer.
    for refused in [&create[..], &["token", "list"], &["token", "revoke", "0"]] {
        let refused = end(&mut served.irq_as(&secret, refused)).exits_with(77);
        refused.says("the right to operate");
    }
    let id = made["id"].as_str().unwrap();
    let revoked = served.json(&["token", "revoke", &id[..8], "--json"]);
    assert_eq!(
        (&revoked["id"], &revoked["holds"]),
        (&made["id"], &false.into())
    );
    assert!(revoked["revoked_at"].is_string(), "{revoked}");
    end(&mut served.irq_as(&secret, &["ps"])).exits_with(77);
    let none = served.end(&["token", "revoke", "nothing"]).exits_with(3);
    let beside = seed.end(&["token", "revoke", "nothing"]).exits_with(3);
    assert_eq!(
        without_place(&none.error_output),
        without_place(&beside.error_output)
    );
}

/// A run that a server launched and has put aside, and its question. Nobody can execute it, so it stays as it is.
fn put_aside(seed: &Seed) -> Interrupt {
    let run = seed.run_of(&json!({"launched_by": "ada"}));
    let question = seed.question(&run);
    seed.change(&run, RunState::Waiting);
    seed.abandon(&run);
    question
}

#[test]
fn whoever_decides_through_the_server_is_told_that_the_server_goes_on() {
    let seed = Seed::new();
    let (left, other) = (put_aside(&seed), put_aside(&seed));
    let served = Served::over(&seed.path());
    let token = served.token("rita", "reviewer");
    let decide = [
        "review",
        &left.id.to_string(),
        "--decision",
        "approve",
        "--message",
        "yes",
    ];
    let decided = end(&mut served.irq_as(&token, &decide)).exits_with(0);
    assert!(
        decided.output.contains("The server goes on with it."),
        "{decided:#?}"
    );
    assert!(!decided.output.contains("irq resume"), "{decided:#?}");
    // Beside the store, nobody knows whether a server is there.
    let decide = [
        "review",
        &other.id.to_string(),
        "--decision",
        "approve",
        "--message",
        "yes",
    ];
    let decided = seed.end(&decide).exits_with(0);
    assert!(decided.output.contains("irq resume"), "{decided:#?}");
}

#[test]
fn the_screens_say_too_that_the_server_goes_on() {
    let seed = Seed::new();
    let question = put_aside(&seed);
    let served = Served::over(&seed.path());
    let token = served.token("rita", "reviewer");
    let (mut screen, terminal, _shell) = start_known(&format!(
        "--silent --server {} --token-file {}",
        served.url,
        token.display()
    ));
    press(&mut screen, "2\r");
    screen.exp_string("shall it go").unwrap();
    read_and_press(&mut screen, "1a");
    until("it is decided", || {
        seed.interrupt(question.id).state == State::Resolved
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    // Drawn anew, every word is whole.
    resize(&terminal, "31", "101");
    for word in ["Decided.", "server", "goes"] {
        screen.exp_string(word).unwrap();
    }
    press(&mut screen, "\x04");
}
