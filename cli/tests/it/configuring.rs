//! What files and variables say of how irq works here.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Ended, end, irq, spawn};

/// A folder to work in, and the home of a user.
struct Desk {
    folder: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn irq(&self, arguments: &[&str]) -> Command {
        let mut command = irq();
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.home.path());
        for variable in [
            "IRQ_CONFIG",
            "IRQ_STORE",
            "XDG_CONFIG_HOME",
            "XDG_STATE_HOME",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn folder_says(&self, text: &str) {
        std::fs::write(self.folder.path().join("irq.toml"), text).unwrap();
    }

    fn trusts(&self) {
        end(&mut self.irq(&["config", "trust"])).exits_with(0);
    }

    fn user_says(&self, text: &str) -> PathBuf {
        let file = self.home.path().join(".config/irq/config.toml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    fn refused(&self, text: &str) -> Ended {
        self.user_says(text);
        end(&mut self.irq(&["ps"])).exits_with(2)
    }
}

/// The value of a setting, and who says it.
fn shown(command: &mut Command, name: &str) -> (String, String) {
    let ended = end(command.args(["config", "show", "--json"])).exits_with(0);
    let mut lines = ended
        .output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found = lines.find(|line| line["name"] == name).unwrap();
    let text = |member: &str| found[member].as_str().unwrap().to_owned();
    (text("value"), text("origin"))
}

#[test]
fn the_file_of_a_folder_counts_once_it_is_trusted_and_until_it_changes() {
    let desk = Desk::new();
    desk.folder_says("store = \"here.db\"\n");
    let refused = end(&mut desk.irq(&["ps"])).exits_with(2).says("irq.toml");
    assert!(
        refused.error_output.contains("irq config trust"),
        "{refused:#?}"
    );
    // What only tells is told.
    end(&mut desk.irq(&["completions", "bash"])).exits_with(0);
    end(&mut desk.irq(&["run", "--help"])).exits_with(0);
    desk.trusts();
    let run = ["run", "Describe this", "--no-input", "--workspace", "."];
    end(&mut desk.irq(&run)).exits_with(0);
    assert!(desk.folder.path().join("here.db").exists());
    desk.folder_says("store = \"there.db\"\n");
    end(&mut desk.irq(&["ps"])).exits_with(2).says("irq.toml");
    // One that is named for it counts instead, and the folder's says nothing.
    end(desk.irq(&["ps"]).env("IRQ_CONFIG", "/dev/null")).exits_with(0);
    assert!(!desk.folder.path().join("there.db").exists());
}

#[test]
fn a_file_that_is_named_and_not_there_is_not_passed_over() {
    let desk = Desk::new();
    let named = desk.folder.path().join("mounted.toml");
    let irq = |arguments: &[&str]| end(desk.irq(arguments).env("IRQ_CONFIG", &named));
    let run = ["run", "Describe this", "--no-input", "--workspace", "."];
    for command in [&run[..], &["ps"], &["config", "show"]] {
        irq(command)
            .exits_with(3)
            .says("mounted.toml, which is not there");
    }
    let usual = desk.home.path().join(".local");
    assert!(!usual.exists(), "no other store took its place");
    std::fs::write(&named, "store = \"named.db\"\n").unwrap();
    irq(&run).exits_with(0);
    assert!(desk.folder.path().join("named.db").exists());
}

#[test]
fn a_flag_wins_over_a_variable_that_over_the_folders_file_and_that_over_the_users() {
    let desk = Desk::new();
    let user = desk.user_says("store = \"/of/the/user.db\"\nslots = 3\n");
    let (value, origin) = shown(&mut desk.irq(&[]), "store");
    assert_eq!(value, "sqlite:/of/the/user.db");
    assert_eq!(origin, user.to_str().unwrap());
    desk.folder_says("store = \"of/the/folder.db\"\n[worker]\nslots = 5\n");
    desk.trusts();
    let (value, origin) = shown(&mut desk.irq(&[]), "store");
    let folder = desk.folder.path().canonicalize().unwrap();
    assert_eq!(
        value,
        format!("sqlite:{}", folder.join("of/the/folder.db").display())
    );
    assert_eq!(origin, folder.join("irq.toml").to_str().unwrap());
    let variable = shown(desk.irq(&[]).env("IRQ_STORE", "/by/variable.db"), "store");
    assert_eq!(
        variable,
        ("sqlite:/by/variable.db".into(), "IRQ_STORE".into())
    );
    let mut typed = desk.irq(&["--store", "/typed.db"]);
    let typed = shown(typed.env("IRQ_STORE", "/by/variable.db"), "store");
    assert_eq!(typed, ("sqlite:/typed.db".into(), "--store".into()));
    // Of options of commands, all that is said is shown.
    assert_eq!(shown(&mut desk.irq(&[]), "worker.slots").0, "5");
    assert_eq!(shown(&mut desk.irq(&[]), "slots").0, "3");
    let variable = shown(desk.irq(&[]).env("IRQ_SLOTS", "7"), "slots");
    assert_eq!(variable, ("7".into(), "IRQ_SLOTS".into()));
}

#[test]
fn what_cannot_be_said_is_refused_with_its_line() {
    let desk = Desk::new();
    let slip = desk
        .refused("\n[serve]\nlisten_ = \"127.0.0.1:0\"\n")
        .says("config.toml:3: ");
    assert!(
        slip.error_output.contains("did you mean listen?"),
        "{slip:#?}"
    );
    desk.refused("listen = \"nowhere\"\n")
        .says("config.toml:1: listen: `nowhere`");
    desk.refused("slots = 0\n").says("config.toml:1: slots: ");
    desk.refused("listen = [\"127.0.0.1:0\"]\n")
        .says("one value is meant");
    desk.refused("[serve]\nstore = \"a.db\"\n")
        .says("holds for all commands");
    desk.refused("serve = true\n").says("write [serve]");
    desk.refused("[worker]\nlisten = \"127.0.0.1:0\"\n")
        .says("no setting `listen` here");
    desk.refused("on_hangup = \"pause\"\n")
        .says("config.toml:1: there is no setting `on_hangup`");
    desk.refused("timeout = 2026-11-26\n")
        .says("config.toml:1: timeout: ");
    // What is shown tells the same.
    end(&mut desk.irq(&["config", "show"]))
        .exits_with(2)
        .says("config.toml:1: timeout: ");
    // Only the user's own file says where keys are sent.
    desk.user_says("");
    desk.folder_says("[models.mine]\nmodel = \"openai:x\"\n");
    let trusting = end(&mut desk.irq(&["config", "trust"])).exits_with(2);
    trusting.says("irq.toml:1: there is no setting `models` here");
}

#[test]
fn a_server_needs_nothing_but_its_file() {
    let desk = Desk::new();
    desk.folder_says("store = \"served.db\"\nrequests_per_second = 7\n[serve]\nlisten = \"127.0.0.1:0\"\nhost = [\"irq.example\", \"irq.test\"]\n");
    desk.trusts();
    let mut server = spawn(&mut desk.irq(&["serve"]));
    let mut first = String::new();
    let output = server.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut first).unwrap();
    let served = first.starts_with("http://irq.example:");
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    let ended = server.wait().unwrap();
    assert!(served && ended.success(), "{first} {ended}");
    assert!(desk.folder.path().join("served.db").exists());
    // One of two options that belong together is refused, wherever it is said.
    desk.folder_says("[serve]\nlisten = \"127.0.0.1:0\"\ntls_cert = \"a.pem\"\n");
    desk.trusts();
    let alone = end(desk.irq(&["serve"]).stdin(Stdio::null())).exits_with(2);
    alone.says("tls_cert and tls_key");
}

#[test]
fn a_server_in_a_file_gives_way_to_a_store_that_is_typed() {
    let desk = Desk::new();
    desk.user_says("server = \"http://127.0.0.1:1\"\n");
    let there = end(&mut desk.irq(&["ps"])).exits_with(69);
    assert!(there.error_output.contains("127.0.0.1:1"), "{there:#?}");
    let store = desk.folder.path().join("mine.db");
    let store = store.to_str().unwrap();
    let run = ["run", "Describe this", "--no-input", "--store", store];
    end(&mut desk.irq(&run)).exits_with(0);
    end(desk.irq(&["ps"]).env("IRQ_STORE", store)).exits_with(0);
    end(&mut desk.irq(&["worker"]))
        .exits_with(2)
        .says("config.toml");
}

#[test]
fn the_guide_names_every_setting() {
    let desk = Desk::new();
    let ended = desk.refused("[serve]\nnothing = 1\n");
    let ended = [ended, desk.refused("nothing = 1\n")];
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
    let guide = std::fs::read_to_string(file).unwrap();
    for ended in ended {
        let (_before, known) = ended.error_output.split_once("known are: ").unwrap();
        let known: Vec<&str> = known
            .split_whitespace()
            .map(|name| name.trim_end_matches(','))
            .collect();
        assert!(known.contains(&"listen"), "{known:?}");
        for name in known {
            let named = [
                format!("`{name}`"),
                format!("`[{name}]`"),
                format!("`[{name}.NAME]`"),
            ];
            assert!(named.iter().any(|named| guide.contains(named)), "{name}");
        }
    }
}
