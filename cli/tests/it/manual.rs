//! `irq completions`, `irq man`, `irq config`, `irq policy`: the program about itself.

use std::fs;

use crate::program::{end, irq, lines};
use crate::seed::Seed;

#[test]
fn every_shell_gets_completions_of_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = end(irq().args(["completions", shell])).exits_with(0).output;
        for command in ["review", "interrupt", "reroute", "checkpoints"] {
            assert!(script.contains(command), "{command} for {shell}");
        }
    }
    end(irq().args(["completions", "tcsh"])).exits_with(2);
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let page = end(irq().arg("man")).exits_with(0).output;
    assert!(page.contains(".TH irq 1"), "{page}");
    assert!(page.contains("Exit codes"), "{page}");
    let page = end(irq().args(["man", "interrupt"])).exits_with(0).output;
    assert!(page.contains("irq\\-interrupt"), "{page}");
    let ended = end(irq().args(["man", "interupt"])).exits_with(2);
    ended.says("did you mean interrupt?");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    end(irq().args(["man", "--dir"]).arg(&pages)).exits_with(0);
    for name in ["irq.1", "irq-ps.1", "irq-review.1", "irq-policy-explain.1"] {
        assert!(pages.join(name).exists(), "no {name}");
    }
}

/// The commands that the help lists, those below a command with its name before them.
fn commands() -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut unread: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = unread.pop() {
        let help = end(irq().args(&command).arg("--help")).exits_with(0).output;
        let listed = help.split("\nCommands:\n").nth(1).unwrap_or_default();
        let names = listed
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help");
        for name in names {
            let mut below = command.clone();
            below.push(name.to_owned());
            unread.push(below.clone());
            all.push(below);
        }
    }
    all
}

/// The flags that the help of a command lists.
fn flags(command: &[String]) -> Vec<String> {
    let help = end(irq().args(command).arg("--help")).exits_with(0).output;
    let words = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line
            .strip_prefix("-")
            .filter(|_flag| line.starts_with('-'))?;
        line.split_whitespace().find_map(|word| {
            let word = word.trim_end_matches(',').trim_start_matches("...");
            word.strip_prefix('-')
                .map(|name| name.trim_start_matches('-').to_owned())
        })
    });
    words
        .map(|name| {
            name.split(['=', '[', '.'])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .filter(|name| name.len() > 1)
        .collect()
}

#[test]
fn completions_and_manual_pages_cover_every_command_and_every_flag() {
    let folder = tempfile::tempdir().unwrap();
    end(irq().args(["man", "--dir"]).arg(folder.path())).exits_with(0);
    let scripts: Vec<String> = ["bash", "zsh", "fish"]
        .iter()
        .map(|shell| end(irq().args(["completions", shell])).exits_with(0).output)
        .collect();
    let commands = commands();
    assert!(commands.len() > 30, "{commands:?}");
    let mut seen = 0;
    for command in &commands {
        let name = command.join("-");
        let page = fs::read_to_string(folder.path().join(format!("irq-{name}.1")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let page = page.replace('\\', "");
        let last = command.last().unwrap();
        for script in &scripts {
            assert!(script.contains(last.as_str()), "{name}");
        }
        for flag in flags(command) {
            seen += 1;
            assert!(
                page.contains(&format!("--{flag}")),
                "--{flag} of {name}: {page}"
            );
            for script in &scripts {
                assert!(script.contains(&flag), "--{flag} of {name}");
            }
        }
    }
    // A reading of the help that finds nothing proves nothing.
    assert!(seen > 200, "{seen}");
    let of_run = flags(&["run".to_owned()]);
    for flag in ["server", "token-file", "detach", "budget-usd"] {
        assert!(of_run.iter().any(|of| of == flag), "{flag} in {of_run:?}");
    }
}

#[test]
fn settings_say_where_they_come_from() {
    let seed = Seed::new();
    let shown = seed.end(&["config", "show", "--json"]).exits_with(0);
    let settings = lines(&shown.output);
    let origin = |name: &str| {
        let setting = settings.iter().find(|setting| setting["name"] == name);
        setting.unwrap()["origin"].clone()
    };
    assert_eq!(origin("store"), "--store");
    assert_eq!(origin("user"), "IRQ_USER");
    let shown = end(irq()
        .args(["config", "show", "--origin", "--no-color"])
        .env("IRQ_STORE", seed.path()))
    .exits_with(0)
    .output;
    assert!(shown.contains("IRQ_STORE"), "{shown}");
    assert!(shown.contains("--no-color"), "{shown}");
}

#[test]
fn a_policy_is_checked_and_explained() {
    let seed = Seed::new();
    let run = seed.run();
    let question = seed.question(&run).id.to_string();
    let file = seed.folder.path().join("policy.toml");
    fs::write(
        &file,
        "[[rule]]\nname = \"leave it\"\ntype = \"HUMAN_REVIEW\"\nreview_limit = \"1h\"\non_expiry = \"reject\"\n",
    )
    .unwrap();
    let path = file.to_str().unwrap();
    end(irq().args(["policy", "check", path])).exits_with(0);
    let explained = seed.json(&["policy", "explain", &question, "--policy", path, "--json"]);
    let limit = explained["properties"]
        .as_array()
        .unwrap()
        .iter()
        .find(|property| property["property"] == "review_limit")
        .unwrap();
    assert_eq!(limit["name"], "leave it");
    assert_eq!(limit["line"], 1);
    let shown = seed
        .end(&["policy", "explain", &question])
        .exits_with(0)
        .output;
    assert!(shown.contains("built in"), "{shown}");

    fs::write(&file, "[[rule]]\non_expiry = \"approve\"\n").unwrap();
    let refused = end(irq().args(["policy", "check", path])).exits_with(2);
    refused.says("line 2");
    end(irq().args(["policy", "check", "/none.toml"]))
        .exits_with(3)
        .says("cannot read");
}
