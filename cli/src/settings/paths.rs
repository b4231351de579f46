//! Where the files are.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};

/// Names the one file that is used, in place of the usual two.
pub(crate) const CONFIG_VARIABLE: &str = "IRQ_CONFIG";

/// The file of a folder that `irq` works in.
const FOLDER_FILE: &str = "irq.toml";

fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// The file that the environment names, whether it exists or not.
pub(super) fn named_file() -> Option<PathBuf> {
    variable(CONFIG_VARIABLE)
}

/// The user's file: as the environment says, else in the user's folder of settings.
pub(crate) fn user_file() -> Option<PathBuf> {
    if let Some(named) = named_file() {
        return Some(named);
    }
    let folder = variable("XDG_CONFIG_HOME");
    let folder = folder.or_else(|| Some(variable("HOME")?.join(".config")))?;
    Some(folder.join("irq").join("config.toml"))
}

/// The file of this folder, whether it exists or not; `None` if the environment names the one that is used.
pub(super) fn folder_file() -> Option<PathBuf> {
    match named_file() {
        Some(_named) => None,
        None => Some(std::env::current_dir().ok()?.join(FOLDER_FILE)),
    }
}

/// The text of a file; `None` if it does not exist.
///
/// # Errors
///
/// [`Exit::NotFound`] if it cannot be read.
pub(super) fn read(file: &Path) -> Result<Option<String>, Failure> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let text = format!("cannot read {}: {error}", file.display());
            Err(Failure::new(Exit::NotFound, text))
        }
    }
}

/// Writes a file: beside it first, so that a full disk leaves what was there.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)?;
    }
    let mut beside = file.as_os_str().to_owned();
    beside.push(".new");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, file)
}
