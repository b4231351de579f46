//! The core takes the time as a value: only what keeps reroutes in memory reads a clock, unless it is given one.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn only_the_in_memory_router_reads_a_clock() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../routing-core/src");
    let mut found = Vec::new();
    sources(&core, &mut found);
    let readers: Vec<_> = found
        .iter()
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            ["Timestamp::now", "SystemTime::now", "Instant::now"]
                .iter()
                .any(|clock| text.contains(clock))
        })
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(readers, ["memory.rs"]);
}
