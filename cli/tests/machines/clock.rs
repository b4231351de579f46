//! The time of day of a machine, which can be set.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A clock, and what a process needs to read it.
pub(crate) struct MachineClock {
    ahead: PathBuf,
    library: PathBuf,
}

impl MachineClock {
    /// Compiles what puts itself before the clock of the C library.
    pub(crate) fn library(folder: &Path) -> PathBuf {
        let library = folder.join("clock.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines/clock.c");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O2", source, "-o"]);
        assert!(compile.arg(&library).status().unwrap().success());
        library
    }

    /// A clock that is right.
    pub(crate) fn new(folder: &Path, name: &str, library: &Path) -> Self {
        let clock = Self {
            ahead: folder.join(format!("{name}.clock")),
            library: library.to_owned(),
        };
        clock.is_set_ahead(0);
        clock
    }

    /// Sets it so many seconds before the right time, or behind it.
    pub(crate) fn is_set_ahead(&self, seconds: i64) {
        // In place: its readers have opened this very file.
        let file = std::fs::File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&self.ahead);
        let bytes = seconds.to_ne_bytes();
        std::os::unix::fs::FileExt::write_all_at(&file.unwrap(), &bytes, 0).unwrap();
    }

    /// Lets a process read it.
    pub(crate) fn is_read_by(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("IRQ_TEST_CLOCK", &self.ahead);
    }
}
