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
