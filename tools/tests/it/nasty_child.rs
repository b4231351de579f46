//! The program that does not want to die, built once.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Its path.
pub(crate) fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build)
}

fn build() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nasty/nasty.c");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Tests run in processes of their own: each builds its own, and the last one stays.
    let (mine, shared) = (
        folder.join(format!("nasty-{}", std::process::id())),
        folder.join("nasty"),
    );
    let newer = |path: &Path| {
        let changed = |path: &Path| {
            path.metadata()
                .and_then(|metadata| metadata.modified())
                .ok()
        };
        changed(path) > changed(&source)
    };
    if !newer(&shared) {
        let built = Command::new("cc")
            .args(["-O1", "-Wall", "-pthread", "-o"])
            .arg(&mine)
            .arg(&source)
            .status();
        assert!(
            built.unwrap().success(),
            "{} does not compile",
            source.display()
        );
        std::fs::rename(&mine, &shared).unwrap();
    }
    shared
}
