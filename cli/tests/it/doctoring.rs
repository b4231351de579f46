//! What `irq doctor` finds: beside a store, through a server, and of whoever asks.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use interrupts::life::RunState;
use serde_json::Value;

use crate::program::{end, irq, lines};
use crate::seed::Seed;
use crate::served::Served;
use crate::server::nobody;

/// What was found where this was looked at.
fn found(output: &str, check: &str) -> Value {
    let findings = lines(output);
    let finding = findings.iter().find(|finding| finding["check"] == check);
    finding
        .unwrap_or_else(|| panic!("no {check} in {output}"))
        .clone()
}

#[test]
fn the_doctor_names_what_is_wrong_and_how_to_mend_it() {
    let folder = tempfile::tempdir().unwrap();
    let doctor = |store: &Path| {
        end(irq()
            .args(["doctor", "--json"])
            .env("IRQ_STORE", store)
            .env("OPENAI_API_KEY", "a-secret-key"))
    };
    let well = doctor(&folder.path().join("irq.db")).exits_with(0);
    assert!(!well.output.contains("a-secret-key"), "{well:#?}");
    let keys = lines(&well.output)
        .into_iter()
        .find(|it| it["check"] == "keys");
    assert!(keys.unwrap()["found"].as_str().unwrap().contains("openai"));
    // As tools find it when they are started: `-p interrupt-router-tools contained` proves that.
    let tools = found(&well.output, "tools");
    let has_groups = tools["found"] == "contained by control groups";
    assert_eq!(has_groups, tools::probe_control_groups().is_ok(), "{tools}");
    assert_eq!(has_groups, tools["status"] == "ok", "{tools}");
    let broken = folder.path().join("broken.db");
    std::fs::write(&broken, "this is no database, whatever its name says").unwrap();
    let ill = doctor(&broken).exits_with(1);
    let store = found(&ill.output, "store");
    assert_eq!(store["status"], "problem");
    assert!(store["remedy"].is_string(), "{store}");
}

#[test]
fn the_doctor_says_what_is_wrong_with_a_server_and_how_to_mend_it() {
    let seed = Seed::new();
    let served = Served::over(&seed.path());
    let token = served.token("ada", "reviewer");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let well = end(&mut served.irq_as(&token, &["doctor", "--json"])).exits_with(0);
    assert_eq!(
        found(&well.output, "token")["found"],
        "ada may come in as reviewer"
    );
    assert_eq!(
        found(&well.output, "user")["found"],
        "decisions here are ada's; runs are others' to start and stop"
    );
    assert_eq!(found(&well.output, "server")["status"], "ok");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    let shared = end(&mut served.irq_as(&token, &["doctor", "--json"])).exits_with(0);
    assert_eq!(found(&shared.output, "token file")["status"], "note");
    std::fs::write(&token, "irq_gone").unwrap();
    let unknown = end(&mut served.irq_as(&token, &["doctor", "--json"])).exits_with(1);
    assert_eq!(found(&unknown.output, "token")["status"], "problem");
    let address = format!("http://{}", nobody());
    let gone = end(irq()
        .args(["doctor", "--json", "--server", &address])
        .env_remove("IRQ_STORE"))
    .exits_with(1);
    assert_eq!(found(&gone.output, "server")["status"], "problem");
    let remedy = found(&gone.output, "server")["remedy"].clone();
    assert!(!remedy.as_str().unwrap().contains("irq doctor"), "{remedy}");
}

#[test]
fn the_doctor_says_what_each_token_may_do() {
    let seed = Seed::new();
    let served = Served::over(&seed.path());
    for (name, role, may) in [
        (
            "victor",
            "viewer",
            "victor may look at everything, and decides nothing",
        ),
        (
            "sue",
            "supervisor",
            "decisions here are sue's, who may start and stop runs too",
        ),
    ] {
        let token = served.token(name, role);
        let told = end(&mut served.irq_as(&token, &["doctor", "--json"])).exits_with(0);
        assert_eq!(found(&told.output, "user")["found"], may);
    }
}

#[test]
fn a_token_file_that_is_a_folder_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = end(irq()
        .args(["doctor", "--server", "http://127.0.0.1:1", "--json"])
        .arg("--token-file")
        .arg(folder.path())
        .env_remove("IRQ_STORE"))
    .exits_with(1);
    let token = found(&told.output, "token");
    let says = token["found"].as_str().unwrap();
    assert!(says.contains("it is a folder; name the file"), "{says}");
    assert!(!told.output.contains("chmod"), "{told:#?}");
}

#[test]
fn runs_that_wait_for_people_are_not_called_left() {
    let seed = Seed::new();
    for state in [RunState::Waiting, RunState::Paused] {
        let aside = seed.run();
        seed.question(&aside);
        seed.change(&aside, state);
        seed.abandon(&aside);
    }
    let _executed = seed.run();
    let well = seed.end(&["doctor", "--json"]);
    let runs = found(&well.output, "runs");
    assert_eq!(runs["status"], "ok", "{runs}");
    let beside = format!("--store {}", seed.path().display());
    let says = format!("1 are executed, 2 wait for people (irq review {beside})");
    assert_eq!(runs["found"], says);
    // One whose process has gone in the middle of its work is another matter.
    let left = seed.run();
    seed.abandon(&left);
    let note = seed.end(&["doctor", "--json"]);
    let runs = found(&note.output, "runs");
    assert_eq!(runs["status"], "note", "{runs}");
    assert_eq!(runs["found"], format!("{says}, 1 have lost their process"));
    let way = format!("irq resume {beside} {} goes on", left.id);
    assert_eq!(runs["remedy"], way);
}

#[test]
fn a_folder_that_nothing_can_be_written_in_is_a_problem() {
    // Not even root makes a file there.
    let ended = end(irq().args(["doctor", "--json", "--store", "/proc/irq.db"])).exits_with(1);
    let found = lines(&ended.output);
    let stores: Vec<_> = found.iter().filter(|it| it["check"] == "store").collect();
    let [store] = stores.as_slice() else {
        panic!("{stores:#?}");
    };
    assert_eq!(store["status"], "problem", "{store:#}");
    let told = store["found"].as_str().unwrap();
    assert!(told.contains("nothing can be written in /proc"), "{told}");
}

#[test]
fn an_empty_store_is_a_problem_with_the_way_out_that_fits_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("irq.db");
    std::fs::write(&store, b"").unwrap();
    let doctor = ["doctor", "--json", "--store", store.to_str().unwrap()];
    let told = end(irq().args(doctor)).exits_with(1).output;
    let found = found(&told, "store");
    let text = found.to_string();
    assert!(text.contains("an empty file is no store"), "{text}");
    assert!(text.contains("go on with a backup"), "{text}");
    assert_eq!(std::fs::read(&store).unwrap(), b"");
}

#[test]
fn a_store_that_others_may_read_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("irq.db");
    let create = ["token", "create", "--name", "ada"];
    end(irq().args(create).env("IRQ_STORE", &store)).exits_with(0);
    let set = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let told = || {
        let ended = end(irq().args(["doctor", "--json"]).env("IRQ_STORE", &store));
        let found = lines(&ended.exits_with(0).output);
        let told = found
            .into_iter()
            .find(|it| it["found"].to_string().contains("can be read by"));
        told.map(|told| (told["found"].to_string(), told["remedy"].to_string()))
    };
    set(folder.path(), 0o755);
    // As it was made, nobody else reads it.
    assert_eq!(told(), None);
    set(folder.path(), 0o700);
    set(&store, 0o644);
    assert_eq!(told(), None, "others do not come into its folder");
    set(folder.path(), 0o755);
    let (found, remedy) = told().unwrap();
    assert!(
        found.contains("every user of this machine") && found.contains("644"),
        "{found}"
    );
    assert!(remedy.contains("chmod 600"), "{remedy}");
    set(&store, 0o640);
    assert!(told().unwrap().0.contains("the users of its group"));
    set(&store, 0o600);
    assert_eq!(told(), None);
}
