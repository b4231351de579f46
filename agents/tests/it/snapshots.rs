//! The schemas are checked in: a change of one is seen in review, and bytes that providers cache do
//! not change unseen.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use interrupt_router::schema::Dialect;
use similar::TextDiff;

use crate::rows::rows;

const UPDATE: &str = "UPDATE_SCHEMAS";
const COMMAND: &str = "UPDATE_SCHEMAS=1 cargo test -p interrupt-router-agents --test it snapshots";

#[test]
fn the_checked_in_schemas_are_those_that_models_get() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let generated = generated();
    if std::env::var_os(UPDATE).is_some() {
        rewrite(&folder, &generated);
    }
    let mut drift = Vec::new();
    let checked_in = checked_in(&folder);
    for (path, text) in &generated {
        match checked_in.get(path) {
            Some(old) if old == text => {}
            Some(old) => {
                let diff = TextDiff::from_lines(old, text);
                let header = path.display().to_string();
                let diff = diff.unified_diff().header(&header, "generated").to_string();
                drift.push(diff);
            }
            None => drift.push(format!("{} is missing", path.display())),
        }
    }
    let stale = checked_in
        .keys()
        .filter(|path| !generated.contains_key(*path));
    drift.extend(stale.map(|path| format!("{} has no schema any more", path.display())));
    assert!(
        drift.is_empty(),
        "{}\n\nIf this is meant, rewrite the files with: {COMMAND}",
        drift.join("\n")
    );
}

/// Every file's text, by its path in the folder.
fn generated() -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for dialect in Dialect::ALL {
        for row in rows(dialect) {
            let path = Path::new(dialect.name())
                .join(row.record.name)
                .join(format!("{}.json", row.name));
            let text = serde_json::to_string_pretty(row.schema().value()).unwrap();
            files.insert(path, text + "\n");
        }
    }
    files
}

fn checked_in(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.exists() {
            let text = fs::read_to_string(&path).unwrap();
            files.insert(path.strip_prefix(folder).unwrap().to_owned(), text);
        }
    }
    files
}

fn rewrite(folder: &Path, generated: &BTreeMap<PathBuf, String>) {
    for stale in checked_in(folder).keys() {
        if !generated.contains_key(stale) {
            fs::remove_file(folder.join(stale)).unwrap();
        }
    }
    for (path, text) in generated {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}
