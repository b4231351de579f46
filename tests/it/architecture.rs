//! The layers of the workspace, the size of the core's tree, and the licences of what it builds on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The most crates that an embedder of `routing-core` builds.
const MOST_CRATES_OF_THE_CORE: usize = 45;

/// The most crates of README's first command: a newcomer waits for each.
const MOST_CRATES_OF_A_FIRST_BUILD: usize = 350;

/// The most crates that the server builds, TLS included. It shows and decides runs of any workflow, and executes none.
const MOST_CRATES_OF_THE_SERVER: usize = 230;

/// What every layer above the interrupts may import.
const BELOW: [&str; 2] = ["routing-core", "interrupts"];

/// Our crates, each with those of ours that it may import beside [`BELOW`].
const LAYERS: [(&str, &[&str]); 17] = [
    ("tls", &[]),
    ("routing-derive", &[]),
    ("routing-core", &["routing-derive"]),
    ("interrupts", &["routing-core"]),
    ("store", &["tls"]),
    ("bus", &["tls"]),
    ("journal", &[]),
    ("planning", &["journal"]),
    ("control", &["journal", "planning"]),
    ("client", &["planning", "control", "tls"]),
    ("workers", &["journal"]),
    ("llm", &["tls"]),
    ("tools", &["journal", "tls"]),
    ("engine", &["journal", "llm", "tools"]),
    ("agents", &["journal", "planning", "llm", "tools", "engine"]),
    (
        "server",
        &["journal", "planning", "control", "workers", "tls"],
    ),
    (
        "irq",
        &[
            "store", "bus", "journal", "planning", "control", "client", "workers", "llm", "tools",
            "engine", "agents", "server", "tls",
        ],
    ),
];

/// What the names of all our packages begin with.
const PREFIX: &str = "interrupt-router";

/// Licences that ask for nothing but their notice.
const PERMISSIVE: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// The name of a crate's package: all have one prefix, and the heart has nothing else.
fn package(name: &str) -> String {
    match name {
        "routing-core" => PREFIX.to_owned(),
        "irq" => format!("{PREFIX}-cli"),
        _ => format!("{PREFIX}-{}", name.trim_start_matches("routing-")),
    }
}

/// The name of a package, of ours that of its crate.
fn crate_of(package: &str) -> String {
    let mut ours = LAYERS.iter().map(|(name, _below)| *name);
    let of_package = ours.find(|name| self::package(name) == package);
    of_package.unwrap_or(package).to_owned()
}

/// The names and licences of a crate and of all that is built into it on this machine.
fn tree(name: &str, depth: Option<u32>) -> BTreeSet<(String, String)> {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    command.args(["--format", "{p}|{l}", "--package", &package(name)]);
    if let Some(depth) = depth {
        command.args(["--depth", &depth.to_string()]);
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .filter_map(|line| {
            let (package, licence) = line.split_once('|')?;
            let name = package.split(' ').next()?;
            Some((crate_of(name), licence.trim_end_matches(" (*)").to_owned()))
        })
        .collect()
}

fn names(tree: &BTreeSet<(String, String)>) -> BTreeSet<&str> {
    tree.iter().map(|(name, _licence)| name.as_str()).collect()
}

#[test]
fn each_crate_imports_the_layers_below_it_alone() {
    for (name, below) in LAYERS {
        let direct = tree(name, Some(1));
        let direct = names(&direct);
        assert!(
            direct.contains(name),
            "there is no crate {name}: {direct:?}"
        );
        for (other, _below) in LAYERS {
            let is_below = BELOW.contains(&other) && !BELOW.contains(&name);
            let allowed = other == name || is_below || below.contains(&other);
            assert!(
                allowed || !direct.contains(other),
                "{name} imports {other}, which is not below it"
            );
        }
    }
}

/// The Rust files of a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let files = entries.flat_map(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path)
        } else {
            vec![path]
        }
    });
    let is_rust = |file: &PathBuf| file.extension().is_some_and(|it| it == "rs");
    files.filter(is_rust).collect()
}

#[test]
fn each_crate_can_be_built_from_its_own_folder() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut included = 0;
    for (name, _below) in LAYERS {
        let folder = root.join(if name == "irq" { "cli" } else { name });
        let folder = folder.canonicalize().unwrap();
        for file in sources(&folder.join("src")) {
            let code = fs::read_to_string(&file).unwrap();
            for after in code.split("include_").skip(1) {
                let Some(("str" | "bytes", path)) = after.split_once("!(\"") else {
                    continue;
                };
                let path = path.split('"').next().unwrap();
                let path = file.parent().unwrap().join(path).canonicalize();
                let path = path.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                assert!(
                    path.starts_with(&folder),
                    "{} is not packed with {name}",
                    path.display()
                );
                included += 1;
            }
        }
    }
    assert!(included > 20, "{included}");
}

#[test]
fn each_source_file_that_the_architecture_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = LAYERS.map(|(name, _below)| if name == "irq" { "cli" } else { name });
    let folders = crates.into_iter().chain(["tests", "examples"]);
    let files: Vec<PathBuf> = folders.flat_map(|it| sources(&root.join(it))).collect();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let quoted = text.split('`').skip(1).step_by(2);
    let named: Vec<&str> = quoted.filter(|it| it.ends_with(".rs")).collect();
    assert!(named.len() > 50, "{named:?}");
    for name in named {
        let is_there = files.iter().any(|file| file.ends_with(name));
        assert!(is_there, "there is no {name}");
    }
}

#[test]
fn the_core_builds_few_crates_and_knows_no_network_and_no_store() {
    let tree = tree("routing-core", None);
    let tree = names(&tree);
    assert!(
        tree.len() <= MOST_CRATES_OF_THE_CORE,
        "routing-core builds {} crates, more than {MOST_CRATES_OF_THE_CORE}: {tree:?}",
        tree.len()
    );
    assert!(
        tree.contains("schemars"),
        "this is not the tree of routing-core: {tree:?}"
    );
    for foreign in [
        "reqwest",
        "hyper",
        "genai",
        "axum",
        "sqlx",
        "rusqlite",
        "async-nats",
        "jsonschema",
        "clap",
    ] {
        assert!(!tree.contains(foreign), "routing-core builds {foreign}");
    }
}

#[test]
fn a_first_build_takes_few_crates_and_one_provider_of_tls() {
    let mut command = Command::new(env!("CARGO"));
    command.args(["tree", "--locked", "--package", &package("irq")]);
    command.args(["--prefix", "none", "--edges", "normal,build"]);
    let output = command.args(["--format", "{p}"]).output();
    let lines = String::from_utf8(output.unwrap().stdout).unwrap();
    let crates: BTreeSet<&str> = lines
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    let count = crates.len();
    assert!(
        (300..=MOST_CRATES_OF_A_FIRST_BUILD).contains(&count),
        "{count} crates: {crates:?}"
    );
    let has = |name: &str| crates.iter().any(|it| it.starts_with(name));
    assert!(has("ring v"), "{crates:?}");
    for left_out in [
        "aws-lc",
        "tokio-postgres",
        "async-nats",
        "opentelemetry",
        "rmcp",
        "icu_",
    ] {
        assert!(!has(left_out), "a first build takes {left_out}");
    }
}

#[test]
fn the_server_builds_no_client_of_a_provider_and_no_agent() {
    let tree = tree("server", None);
    let tree = names(&tree);
    assert!(
        tree.len() <= MOST_CRATES_OF_THE_SERVER,
        "the server builds {} crates, more than {MOST_CRATES_OF_THE_SERVER}: {tree:?}",
        tree.len()
    );
    assert!(
        tree.contains("axum"),
        "this is not the tree of the server: {tree:?}"
    );
    for foreign in [
        "genai", "reqwest", "rmcp", "llm", "tools", "engine", "agents",
    ] {
        assert!(!tree.contains(foreign), "the server builds {foreign}");
    }
}

#[test]
fn everything_that_is_shipped_is_permissively_licensed() {
    for (name, licence) in tree("irq", None) {
        let choices = licence.replace('/', " OR ").replace(['(', ')'], "");
        let permissive = choices.split(" AND ").all(|part| {
            part.split(" OR ")
                .any(|choice| PERMISSIVE.contains(&choice.trim()))
        });
        assert!(permissive, "{name} is licensed as `{licence}`");
    }
}
