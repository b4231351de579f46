//! Authorities that are trusted beside the system's: for servers and gateways of one's own.

use std::path::Path;

use crate::exit::{Exit, Failure};

/// Reads the file that `--ca-certificate` names.
///
/// # Errors
///
/// [`Exit::NotFound`] if it cannot be read.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let text = format!("--ca-certificate: cannot read {}: {error}", file.display());
        Failure::new(Exit::NotFound, text)
    })
}

/// The failure for a file without an authority.
pub(crate) fn none_in(file: &Path, problem: &str) -> Failure {
    let text = format!("--ca-certificate: {}: {problem}", file.display());
    Failure::new(Exit::Usage, text).hint("give a file that begins with -----BEGIN CERTIFICATE-----")
}
