//! Reading a script from a file.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use journal::Workflow;

use crate::exit::{Exit, Failure};
use crate::workflows;

/// The longest script, in bytes.
const LONGEST: u64 = 4_000_000;

/// Reads a script and checks it for a workflow. Returns its text, which the run stores.
///
/// # Errors
///
/// If the file does not exist or cannot be read, or is no valid script.
pub(super) fn read(path: &Path, workflow: &Workflow) -> Result<String, Failure> {
    let text = read_text(path)?;
    workflows::script(workflow, &text).map_err(|error| {
        let message = format!("the script {} cannot be used: {error}", path.display());
        Failure::new(Exit::Usage, message)
    })?;
    Ok(text)
}

/// Reads a script for a server, which checks it for the workflow that it has.
///
/// # Errors
///
/// If the file does not exist or cannot be read.
pub(super) fn read_text(path: &Path) -> Result<String, Failure> {
    let unreadable = |error: &std::io::Error| {
        let message = if error.kind() == ErrorKind::NotFound {
            format!("there is no script {}", path.display())
        } else {
            format!("the script {} cannot be read: {error}", path.display())
        };
        Failure::new(Exit::NotFound, message)
    };
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut bytes = Vec::new();
    file.take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > LONGEST {
        let message = format!(
            "the script {} has more than {LONGEST} bytes",
            path.display()
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    String::from_utf8(bytes).map_err(|_invalid| {
        let message = format!("the script {} is no UTF-8 text", path.display());
        Failure::new(Exit::Usage, message)
    })
}
