//! Help, versions and the way wrong arguments are answered.

use crate::program::{end, irq};

#[test]
fn help_lists_the_commands_and_every_exit_code() {
    let ended = end(irq().arg("--help")).exits_with(0);
    for text in [
        "run",
        "schema",
        "routes",
        "Exit codes:",
        "--no-color",
        "--quiet",
    ] {
        assert!(ended.output.contains(text), "{text} in {}", ended.output);
    }
    for code in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 69, 77, 130, 143] {
        let line = format!("\n  {code:>3}  ");
        assert!(ended.output.contains(&line), "{code} in {}", ended.output);
    }
}

#[test]
fn the_help_of_a_run_names_each_of_its_flags() {
    let ended = end(irq().args(["run", "-h"])).exits_with(0);
    for flag in [
        "--workspace",
        "--model",
        "--base-url",
        "--script",
        "--seed",
        "--pace",
        "--no-input",
        "--json",
        "--max-steps",
        "--corrections",
    ] {
        assert!(ended.output.contains(flag), "{flag} in {}", ended.output);
    }
}

#[test]
fn the_version_is_on_one_line() {
    let ended = end(irq().arg("--version")).exits_with(0);
    assert_eq!(ended.output, format!("irq {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_wrong_flag_is_wrong_use() {
    let ended = end(irq().args(["run", "x", "--workspaces", "."])).exits_with(2);
    assert!(ended.error_output.contains("--workspace"), "{ended:#?}");
    assert_eq!(ended.output, "");
}

#[test]
fn no_command_is_wrong_use_and_shows_the_help() {
    let ended = end(&mut irq()).exits_with(2);
    assert!(ended.error_output.contains("Usage: irq"), "{ended:#?}");
}

#[test]
fn contradicting_flags_are_wrong_use() {
    end(irq().args(["run", "x", "-q", "-v"])).exits_with(2);
    end(irq().args(["routes", "--json", "--mermaid"])).exits_with(2);
    end(irq().args(["run", "x", "--max-steps", "0"])).exits_with(2);
    end(irq().args(["run", "x", "--seed", "-1"])).exits_with(2);
}
