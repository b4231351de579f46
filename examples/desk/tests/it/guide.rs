//! The guide's code is the desk's, so whoever follows it has the program that these tests run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The code of the guide by the file that it belongs to, as the first line of each block says.
fn blocks(guide: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for block in guide.split("\n```").skip(1).step_by(2) {
        let (_language, code) = block.split_once('\n').unwrap();
        let (first, code) = code.split_once('\n').unwrap_or((code, ""));
        let file = first.trim_start_matches(['/', '#', ' ']);
        if file.starts_with("src/") || file == "Cargo.toml" {
            files.entry(file).or_default().push(code);
        }
    }
    files
}

#[test]
fn the_code_of_the_guide_is_the_desks() {
    let desk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(desk.join("../../docs/embedding.md")).unwrap();
    let mut files = blocks(&guide);

    let manifest = fs::read_to_string(desk.join("Cargo.toml")).unwrap();
    for block in files.remove("Cargo.toml").unwrap() {
        assert!(manifest.contains(block), "not in Cargo.toml:\n{block}");
    }
    for (file, blocks) in &files {
        let code = fs::read_to_string(desk.join(file)).unwrap();
        let (code, _tested) = code
            .split_once("\n/// The guide that")
            .unwrap_or((&code, ""));
        // What it says of itself is for those who find it without the guide.
        let code: Vec<_> = code
            .lines()
            .skip_while(|line| line.starts_with("//!"))
            .collect();
        let shown = blocks.join("\n\n");
        assert_eq!(
            shown.trim(),
            code.join("\n").trim(),
            "{file} is not as the guide shows it"
        );
    }
    let shown: Vec<_> = files.into_keys().collect();
    let all = [
        "src/bin/desk-queue.rs",
        "src/desk.rs",
        "src/lib.rs",
        "src/main.rs",
        "src/shop.rs",
    ];
    assert_eq!(shown, all);
}

#[test]
fn the_manifest_names_public_packages_and_takes_nothing_of_the_workspace() {
    let desk = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(desk.join("Cargo.toml")).unwrap();
    assert!(!manifest.contains("workspace"), "{manifest}");
    let (_package, dependencies) = manifest.split_once("[dependencies]\n").unwrap();
    let (dependencies, _rest) = dependencies.split_once("[dev-dependencies]").unwrap();
    let mut ours = 0;
    for line in dependencies.lines().filter(|line| line.contains("path")) {
        let folder = line.split('"').nth(1).unwrap();
        let theirs = fs::read_to_string(desk.join(folder).join("Cargo.toml")).unwrap();
        // The heart's package is called as its crate.
        let (key, _value) = line.split_once(' ').unwrap();
        let renamed = line.split_once("package = \"");
        let package = renamed.map_or(key, |(_key, name)| name.split('"').next().unwrap());
        assert!(theirs.contains(&format!("name = \"{package}\"")), "{line}");
        assert!(!theirs.contains("publish = false"), "{package}");
        assert!(package.starts_with("interrupt-router"), "{package}");
        ours += 1;
    }
    assert_eq!(ours, 6);
}
