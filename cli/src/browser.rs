//! The browser of this machine.

use std::ffi::OsStr;
use std::io;
use std::process::{Command, Stdio};

/// Opens an address or a file in the browser, without waiting for it.
///
/// # Errors
///
/// If there is no program that does it.
pub(crate) fn open_in_browser(target: impl AsRef<OsStr>) -> io::Result<()> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let mut child = Command::new(program)
        .arg(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // It ends by itself; this thread reaps it.
    std::thread::spawn(move || child.wait());
    Ok(())
}
