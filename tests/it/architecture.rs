//! The layers of the workspace, the size of the core's tree, and the licences of what it builds on.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// The most crates that an embedder of `routing-core` builds.
const MOST_CRATES_OF_THE_CORE: usize = 60;

/// Which of our crates each of our crates may import.
const LAYERS: [(&str, &[&str]); 5] = [
    ("routing-derive", &[]),
    ("routing-core", &["routing-derive"]),
    ("llm", &["routing-core"]),
    ("agents", &["routing-core", "llm"]),
    ("irq", &["routing-core", "llm", "agents"]),
];

/// Licences that ask for nothing but their notice.
const PERMISSIVE: [&str; 13] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "Unlicense",
    "BSL-1.0",
    "Unicode-3.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

struct Graph {
    names: BTreeMap<String, String>,
    normal: BTreeMap<String, Vec<String>>,
}

impl Graph {
    fn read() -> Self {
        let metadata = metadata();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let names = metadata["packages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|package| (text(&package["id"]), text(&package["name"])))
            .collect();
        let mut normal = BTreeMap::new();
        for node in metadata["resolve"]["nodes"].as_array().unwrap() {
            let is_normal = |dependency: &&Value| {
                dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null())
            };
            let dependencies = node["deps"].as_array().unwrap().iter().filter(is_normal);
            normal.insert(text(&node["id"]), dependencies.map(|dependency| text(&dependency["pkg"])).collect());
        }
        Self { names, normal }
    }

    fn id(&self, name: &str) -> &str {
        self.names.iter().find(|(_id, known)| *known == name).map(|(id, _name)| id.as_str()).unwrap()
    }

    /// The crate and everything that it builds on.
    fn tree(&self, name: &str) -> BTreeSet<String> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![self.id(name).to_owned()]);
        while let Some(id) = open.pop() {
            open.extend(self.normal[&id].iter().filter(|next| !seen.contains(*next)).cloned());
            seen.insert(id);
        }
        seen
    }
}

#[test]
fn each_crate_imports_the_layers_below_it_alone() {
    let graph = Graph::read();
    let ours: BTreeSet<&str> = LAYERS.iter().map(|(name, _below)| *name).collect();
    for (name, below) in LAYERS {
        for dependency in &graph.normal[graph.id(name)] {
            let dependency = graph.names[dependency].as_str();
            if ours.contains(dependency) {
                assert!(below.contains(&dependency), "{name} imports {dependency}, which is not below it");
            }
        }
    }
}

#[test]
fn the_core_builds_few_crates_and_knows_no_network_and_no_store() {
    let graph = Graph::read();
    let tree: BTreeSet<&str> = graph.tree("routing-core").iter().map(|id| graph.names[id].as_str()).collect();
    assert!(
        tree.len() <= MOST_CRATES_OF_THE_CORE,
        "routing-core builds {} crates, more than {MOST_CRATES_OF_THE_CORE}: {tree:?}",
        tree.len()
    );
    assert!(tree.contains("schemars"), "the tree is not that of routing-core: {tree:?}");
    for foreign in ["reqwest", "hyper", "genai", "axum", "sqlx", "async-nats", "jsonschema", "clap"] {
        assert!(!tree.contains(foreign), "routing-core builds {foreign}");
    }
}

#[test]
fn everything_that_is_shipped_is_permissively_licensed() {
    let (metadata, graph) = (metadata(), Graph::read());
    let shipped = graph.tree("irq");
    for package in metadata["packages"].as_array().unwrap() {
        if !shipped.contains(package["id"].as_str().unwrap()) {
            continue;
        }
        let licence = package["license"].as_str().unwrap_or_default();
        let licence = licence.replace('/', " OR ").replace(['(', ')'], "");
        let permissive = licence
            .split(" AND ")
            .all(|part| part.split(" OR ").any(|choice| PERMISSIVE.contains(&choice.trim())));
        assert!(permissive, "{} is licensed as `{licence}`", package["name"]);
    }
}
