//! What only falls: lines, long files, names of the built-in agents below them, and words that are gone.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Crates that know no workflow.
const BELOW_AGENTS: [&str; 15] = [
    "bus",
    "client",
    "control",
    "engine",
    "interrupts",
    "journal",
    "llm",
    "planning",
    "routing-core",
    "routing-derive",
    "server",
    "store",
    "tls",
    "tools",
    "workers",
];

/// Words that meant something in this project alone, and are gone.
const GONE: [&str; 4] = ["errand", "facings", "handed_on", "kept_run"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The numbers after each name of a table.
fn table(text: &str) -> BTreeMap<&str, Vec<usize>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        Some((name, words.map(|number| number.parse().unwrap()).collect()))
    });
    rows.collect()
}

/// The code of a crate without its comments and tests, file by file.
fn code_of(folder: &str) -> Vec<(String, String)> {
    let listed = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
            &format!("{folder}/src/*.rs"),
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let files = listed
        .lines()
        .filter(|file| !file.contains("/tests") && root().join(file).is_file());
    files
        .map(|file| {
            let text = fs::read_to_string(root().join(file)).unwrap();
            let (code, _tests) = text
                .split_once("\n#[cfg(test)]\nmod tests {")
                .unwrap_or((&text, ""));
            let code = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            (file.to_owned(), code.collect::<Vec<_>>().join("\n"))
        })
        .collect()
}

#[test]
fn no_crate_and_no_file_is_longer_than_the_budget_says() {
    let counted = Command::new(root().join("tests/count-code"))
        .output()
        .unwrap();
    assert!(
        counted.status.success(),
        "{}",
        String::from_utf8_lossy(&counted.stderr)
    );
    let counted = String::from_utf8(counted.stdout).unwrap();
    let budget = fs::read_to_string(root().join("tests/budget")).unwrap();
    let budget = table(&budget);
    let now = table(&counted);
    assert!(now["total"].iter().sum::<usize>() > 100_000, "{counted}");
    for (name, numbers) in &now {
        let allowed = budget.get(name);
        let fits = allowed
            .is_some_and(|allowed| numbers.iter().zip(allowed).all(|(now, most)| now <= most));
        assert!(
            fits,
            "{name} has {numbers:?} lines, and may have {allowed:?}: make it smaller, or lower another line of \
             tests/budget and say why this one rises"
        );
    }
}

/// What agents, their kinds and their routes are called on the wire.
fn wire_names() -> Vec<String> {
    let kinds = fs::read_to_string(root().join("agents/src/agent_kind.rs")).unwrap();
    let variants = kinds
        .lines()
        .filter_map(|line| line.strip_prefix("    ")?.strip_suffix(','));
    let variants = variants.filter(|name| {
        name.chars().all(char::is_alphanumeric) && name.starts_with(char::is_uppercase)
    });
    let mut names = Vec::new();
    for variant in variants {
        let mut shouted = String::new();
        for (position, letter) in variant.char_indices() {
            if letter.is_uppercase() && position > 0 {
                shouted.push('_');
            }
            shouted.push(letter.to_ascii_uppercase());
        }
        let (first, rest) = variant.split_at(1);
        let field = format!("{}{rest}", first.to_lowercase());
        names.extend([shouted, format!("{field}Request"), format!("{field}Result")]);
    }
    assert!(
        names
            .iter()
            .any(|name| name == "discoveryOrchestratorRequest"),
        "{names:?}"
    );
    names
}

#[test]
fn no_crate_below_the_agents_names_them() {
    let names = wire_names();
    for (file, code) in BELOW_AGENTS.into_iter().flat_map(code_of) {
        let named = names
            .iter()
            .find(|name| code.contains(&format!("\"{name}\"")));
        assert_eq!(named, None, "{file}: read the catalogue instead");
    }
}

#[test]
fn words_that_are_gone_stay_gone() {
    let folders = BELOW_AGENTS.into_iter().chain(["agents", "cli"]);
    for (file, code) in folders.flat_map(code_of) {
        for word in GONE {
            let is_there = code
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
                .any(|found| found == word);
            assert!(
                !is_there,
                "{file} has the word `{word}`, which says nothing to a reader"
            );
        }
    }
}
