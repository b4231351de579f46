//! Each bad input gets one clear message and the right exit code, and nothing is begun.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{end, end_with_input, irq, run_in, script, workspace};
use crate::server;

#[test]
fn a_goal_that_is_none_is_refused() {
    for goal in ["", "  \n"] {
        let ended = end(irq().args(["run", goal]))
            .exits_with(2)
            .says("the goal is empty");
        assert_eq!(ended.output, "");
    }
    end(irq().arg("run"))
        .exits_with(2)
        .says("the goal is empty");
    let ended = end(irq().args(["run", "a\u{1b}[2Jb"])).exits_with(2);
    ended.says("control character");
}

#[test]
fn a_goal_is_taken_up_to_a_megabyte_and_not_beyond() {
    let folder = workspace();
    let mut command = irq();
    command
        .args(["run", "-", "-q", "--workspace"])
        .arg(folder.path());
    end_with_input(&mut command, &vec![b'x'; 1_000_001])
        .exits_with(2)
        .says("more than 1000000 bytes");
    end_with_input(&mut command, &vec![b'x'; 1_000_000]).exits_with(0);
    end_with_input(&mut command, b"a\xffb")
        .exits_with(2)
        .says("no UTF-8");
}

#[test]
fn a_workspace_that_is_none_is_not_found() {
    let folder = workspace();
    let missing = folder.path().join("missing");
    end(&mut run_in(&missing))
        .exits_with(3)
        .says("does not exist");
    let file = folder.path().join("README.md");
    end(&mut run_in(&file))
        .exits_with(3)
        .says("is not a folder");
}

#[test]
fn a_workspace_that_cannot_be_read_is_said_to_be_so() {
    let folder = workspace();
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&locked).is_ok() {
        // Whoever may read everything cannot be shown this.
        end(&mut run_in(&locked)).exits_with(0);
        return;
    }
    end(&mut run_in(&locked))
        .exits_with(3)
        .says("cannot be read");
}

#[test]
fn links_in_circles_and_binary_and_huge_files_do_not_hurt() {
    let folder = workspace();
    symlink(folder.path(), folder.path().join("self")).unwrap();
    symlink(folder.path().join("b"), folder.path().join("a")).unwrap();
    symlink(folder.path().join("a"), folder.path().join("b")).unwrap();
    fs::write(folder.path().join("picture"), [0_u8, 159, 146, 150]).unwrap();
    let huge = fs::File::create(folder.path().join("huge")).unwrap();
    huge.set_len(3_000_000_000).unwrap();
    end(run_in(folder.path()).args(["-q", "--no-input"])).exits_with(0);
}

#[test]
fn an_unknown_model_is_explained_before_anything_starts() {
    let folder = workspace();
    for (model, text, hint) in [
        (
            "opnai:x",
            "unknown provider `opnai`",
            "did you mean openai:NAME?",
        ),
        (
            "rehersal",
            "unknown model `rehersal`",
            "did you mean rehearsal?",
        ),
        (
            "openai:",
            "unknown model `openai:`",
            "did you mean openai:NAME?",
        ),
    ] {
        let ended = end(run_in(folder.path()).args(["--model", model]));
        let ended = ended.exits_with(2).says(text);
        assert!(ended.error_output.contains(hint), "{ended:#?}");
        assert!(!ended.error_output.contains('▶'), "{ended:#?}");
    }
    let ended = end(run_in(folder.path()).args(["--base-url", "http://127.0.0.1:1"]));
    ended
        .exits_with(2)
        .says("the rehearsal model has no server");
}

#[test]
fn a_key_that_is_missing_or_refused_has_its_own_code() {
    let folder = workspace();
    let ended = end(run_in(folder.path()).args(["--model", "openai:gpt-4o-mini"]));
    ended.exits_with(77).says("OPENAI_API_KEY");
    let server = server::answering(
        "401 Unauthorized",
        r#"{"error":{"message":"wrong key","type":"invalid_request_error"}}"#,
    );
    let ended = end(run_in(folder.path())
        .args(["--model", "openai:m", "--no-input", "--base-url"])
        .arg(format!("http://{server}/v1")));
    ended.exits_with(77).says("refused the credentials");
}

#[test]
fn a_server_that_is_not_there_or_no_url_is_said_to_be_so() {
    let folder = workspace();
    let ended = end(run_in(folder.path())
        .args(["--model", "openai:m", "--no-input", "--base-url"])
        .arg(format!("http://{}/v1", server::nobody())));
    ended.exits_with(69).says("cannot reach the model");
    let ended = end(run_in(folder.path()).args(["--model", "openai:m", "--base-url", "no url"]));
    ended.exits_with(2).says("is no base URL");
}

#[test]
fn a_provider_that_refuses_the_request_fails_the_run() {
    let folder = workspace();
    let server = server::answering(
        "400 Bad Request",
        r#"{"error":{"message":"no such model","type":"invalid_request_error"}}"#,
    );
    let ended = end(run_in(folder.path())
        .args(["--model", "openai:m", "--no-input", "--base-url"])
        .arg(format!("http://{server}/v1")));
    ended.exits_with(1).says("no such model");
}

#[test]
fn a_base_url_that_leads_elsewhere_is_what_is_to_be_checked() {
    let folder = workspace();
    for status in [
        "302 Found",
        "404 Not Found",
        "405 Method Not Allowed",
        "501 Not Implemented",
    ] {
        let server = server::answering(status, "<html>a page</html>");
        let ended = end(run_in(folder.path())
            .args(["--model", "openai:m", "--no-input", "--base-url"])
            .arg(format!("http://{server}/v1")));
        ended.exits_with(1).says("--base-url");
    }
}

#[test]
fn a_script_that_cannot_be_used_names_the_place() {
    let folder = workspace();
    let missing = folder.path().join("none.json");
    let ended = end(run_in(folder.path()).arg("--script").arg(missing));
    ended.exits_with(3).says("there is no script");
    let cases: [(Value, &str); 4] = [
        (
            json!([{"agent": "BAKER", "turn": 1, "answer": {}}]),
            "unknown agent type `BAKER`",
        ),
        (
            json!([{"agent": "ORCHESTRATOR", "turn": 1, "interrupt": {"type": "WAIT", "reason": "x"}}]),
            "steps[0].interrupt.type",
        ),
        (
            json!([{"person": {"interrupt": {"agent": "ORCHESTRATOR", "nth": 1}, "answer": {"rerouteTo": "TICKET_AGENT"}}}]),
            "steps[0].person.answer.rerouteTo",
        ),
        (json!([{"nothing": 1}]), "steps[0]"),
    ];
    for (steps, text) in cases {
        let path = script(folder.path(), &steps);
        end(run_in(folder.path()).arg("--script").arg(path))
            .exits_with(2)
            .says(text);
    }
    let no_json = folder.path().join("README.md");
    end(run_in(folder.path()).arg("--script").arg(no_json))
        .exits_with(2)
        .says("cannot be used");
}

#[test]
fn too_many_steps_hit_the_limit() {
    let folder = workspace();
    let ended = end(run_in(folder.path()).args(["--no-input", "--max-steps", "3"]));
    let ended = ended.exits_with(8).says("3");
    assert!(ended.error_output.contains("--max-steps"), "{ended:#?}");
}

#[test]
fn of_a_number_that_is_none_it_is_said_what_is_wanted() {
    for (arguments, words) in [
        (&["run", "x", "--max-steps", "0"][..], "from 1 on"),
        (&["run", "x", "--max-steps", "many"], "no whole number"),
        (&["run", "x", "--pace", "fast"], "no whole number"),
        (&["fork", "run_1", "--at", "x"], "no whole number"),
        (&["send", "agent", "--take-back", "x"], "no whole number"),
        (
            &["review", "int_1", "--if-version", "99999999999999999999"],
            "too large",
        ),
    ] {
        end(irq().args(arguments)).exits_with(2).says(words);
    }
}

#[test]
fn a_database_that_is_no_store_is_refused_and_left_as_it_is() {
    let place = Place::new();
    place.end_of_run(&[]).exits_with(0);
    let store = place.store();
    // Where the head of the file keeps the number of the schema, and after it whose file it is.
    for mark in [60..64, 60..72] {
        let mut bytes = fs::read(&store).unwrap();
        bytes[mark].fill(0);
        fs::write(&store, &bytes).unwrap();
        for command in [&["ps"][..], &["run", "Describe the bakery"]] {
            let refused = place
                .end(command)
                .exits_with(1)
                .says("it is a database, and no store of this program");
            let refused = refused.says("name another file: --store PATH");
            assert!(!refused.error_output.contains("damaged"), "{refused:#?}");
        }
        assert_eq!(fs::read(&store).unwrap(), bytes);
    }
}
