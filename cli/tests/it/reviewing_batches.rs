//! `irq review --batch`: several interrupts that are decided by one command.

use std::fs;

use interrupt_router::InterruptId;
use interrupts::life::State;
use serde_json::json;

use crate::program::{end_with_input, lines};
use crate::seed::Seed;

#[test]
fn a_batch_decides_each_line_and_says_what_became_of_it() {
    let seed = Seed::new();
    let run = seed.run();
    let (first, second, third) = (
        seed.question(&run),
        seed.question(&run),
        seed.question(&run),
    );
    seed.decide(&second, "bob");
    let batch = [
        json!({"interrupt": first.id, "decision": "respond", "message": "left", "version": 4}),
        json!({"interrupt": second.id, "decision": "approve", "message": "yes"}),
        json!({"interrupt": third.id, "decision": "reroute", "reroute_to": "TICKET_ORCHESTRATOR"}),
    ];
    let batch: String = batch.iter().map(|line| format!("{line}\n")).collect();
    let file = seed.folder.path().join("batch.ndjson");
    fs::write(&file, &batch).unwrap();
    let file = file.to_str().unwrap();
    let ended = seed
        .end(&["review", "--batch", file, "--json"])
        .exits_with(9)
        .says("1 of 3 were not decided");
    let told = lines(&ended.output);
    let codes: Vec<_> = told.iter().map(|line| line["code"].as_u64()).collect();
    assert_eq!(codes, [None, Some(4), None]);
    assert_eq!(seed.interrupt(third.id).state, State::Rerouted);
    // Again, all of them are decided already.
    seed.end(&["review", "--batch", file]).exits_with(4);
}

#[test]
fn a_batch_that_is_one_transaction_decides_all_lines_or_none() {
    let seed = Seed::new();
    let run = seed.run();
    let (first, second) = (seed.question(&run), seed.question(&run));
    let file = seed.folder.path().join("batch.ndjson");
    let write = |version: u64| {
        let batch = [
            json!({"interrupt": first.id, "decision": "approve", "message": "yes"}),
            json!({"interrupt": second.id, "decision": "approve", "message": "yes", "version": version}),
        ];
        let batch: String = batch.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, batch).unwrap();
    };
    let batch = [
        "review",
        "--batch",
        file.to_str().unwrap(),
        "--all-or-nothing",
        "--json",
    ];
    write(1);
    let ended = seed.end(&batch).exits_with(4).says("nothing was decided");
    assert_eq!(lines(&ended.output)[0]["interrupt"], json!(second.id));
    assert_eq!(seed.interrupt(first.id), first);
    write(second.version);
    seed.end(&batch).exits_with(0);
    for question in [first, second] {
        assert_eq!(seed.interrupt(question.id).state, State::Resolved);
    }
    seed.end(&["review", "--all-or-nothing"]).exits_with(2);
}

#[test]
fn a_batch_of_which_nothing_is_decided_has_one_exit_code() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    seed.decide(&question, "bob");
    let decided = json!({"interrupt": question.id, "decision": "approve", "message": "yes"});
    let unknown =
        json!({"interrupt": InterruptId::generate(), "decision": "approve", "message": "yes"});
    let file = seed.folder.path().join("batch.ndjson");
    for (batch, code) in [([&decided, &unknown], 4), ([&unknown, &decided], 3)] {
        let batch: String = batch.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, batch).unwrap();
        let alone = ["review", "--batch", file.to_str().unwrap()];
        let together = [&alone[..], &["--all-or-nothing"]].concat();
        for arguments in [&alone[..], &together] {
            seed.end(arguments)
                .exits_with(code)
                .says("nothing was decided: 2 of 2 are refused");
        }
    }
}

#[test]
fn a_batch_with_a_line_that_cannot_be_read_decides_nothing() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run);
    let batch = format!(
        "{}\n{{\"interrupt\":1}}\n",
        json!({"interrupt": question.id, "decision": "approve", "message": "yes"})
    );
    let ended = end_with_input(&mut seed.irq(&["review", "--batch", "-"]), batch.as_bytes());
    ended.exits_with(2).says("line 2");
    assert_eq!(seed.interrupt(question.id), question);
}
