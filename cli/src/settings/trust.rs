//! Which folders' files their user trusts, each with the text that it had then.

use std::path::{Path, PathBuf};

use clap::Command;
use interrupts::Digest;
use store::StoreLocation;

use super::file::SettingsFile;
use super::paths;
use crate::exit::{Exit, Failure};

/// The list, in the user's state folder: in each line the digest of a file's text, and its path.
const LIST: &str = "trusted-settings";

fn list() -> Option<PathBuf> {
    let usual = StoreLocation::usual().ok()?;
    Some(usual.path()?.with_file_name(LIST))
}

fn line_of(file: &Path, text: &str) -> String {
    format!("{} {}", Digest::of(text.as_bytes()), file.display())
}

/// Whether a file with this text is trusted.
pub(super) fn is_trusted(file: &Path, text: &str) -> bool {
    let line = line_of(file, text);
    let trusted = list().and_then(|list| paths::read(&list).ok().flatten());
    trusted.is_some_and(|trusted| trusted.lines().any(|known| known == line))
}

/// Trusts the file of this folder as it is now, if it can be understood. Returns its path.
///
/// # Errors
///
/// [`Exit::NotFound`] if there is none; [`Exit::Usage`] if it has an invalid setting; otherwise if the list cannot be
/// written.
pub(crate) fn trust_folder(program: &Command) -> Result<PathBuf, Failure> {
    let none = |text: String| Failure::new(Exit::NotFound, text);
    let file = paths::folder_file().ok_or_else(|| {
        let text = format!("{} names the file that counts", paths::CONFIG_VARIABLE);
        none(text).hint("leave it out of the environment")
    })?;
    let text = paths::read(&file)?.ok_or_else(|| {
        none(format!("there is no file {}", file.display())).hint("change to its folder first")
    })?;
    SettingsFile::of_folder(file.clone(), &text, program)?;
    let list = list().ok_or_else(|| none("no state folder: HOME is not set".to_owned()))?;
    let of_others = format!(" {}", file.display());
    let known = paths::read(&list)?.unwrap_or_default();
    let mut lines: Vec<&str> = known.lines().collect();
    lines.retain(|line| !line.ends_with(&of_others));
    let line = line_of(&file, &text);
    lines.push(&line);
    paths::write(&list, &format!("{}\n", lines.join("\n"))).map_err(|error| {
        let text = format!("cannot write {}: {error}", list.display());
        Failure::new(Exit::Failure, text)
    })?;
    Ok(file)
}
