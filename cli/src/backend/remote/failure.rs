//! What goes wrong with a server, as a failure with an exit code and a way out.

use std::path::Path;

use client::{Address, ClientError, ProblemDocument};

use crate::authority;
use crate::exit::{Exit, Failure};
use crate::refused::exit_of;
use crate::visible::visible_line;

/// What makes a token.
const MAKES_A_TOKEN: &str =
    "`irq token create --name NAME --role ROLE > FILE` makes one, beside the server's store";

/// That `--server` is no address.
pub(super) fn of_address(error: &ClientError) -> Failure {
    Failure::new(Exit::Usage, format!("--server: {error}"))
        .hint("write it as http://127.0.0.1:7070, and its token with --token-file; `irq serve` prints its own")
}

/// That a file contains no token.
pub(super) fn of_token(file: &Path, error: &ClientError) -> Failure {
    let text = format!("--token-file {}: {error}", file.display());
    Failure::new(Exit::NotAuthorised, text).hint(MAKES_A_TOKEN)
}

/// That a file has no authority, or another error.
pub(super) fn of_authorities(file: Option<&Path>, error: ClientError) -> Failure {
    match (&error, file) {
        (ClientError::NoAuthority, Some(file)) => authority::none_in(file, &error.to_string()),
        _ => error.into(),
    }
}

/// What a server refused.
pub(super) fn of_problem(problem: &ProblemDocument) -> Failure {
    let exit = exit_of(&problem.code, problem.status);
    let failure = Failure::new(exit, visible_line(&problem.to_string()));
    match problem.advice() {
        Some(advice) => failure.hint(advice),
        None => failure,
    }
}

impl From<ClientError> for Failure {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the rest of these errors, which may become more, is told in the same way"
    )]
    fn from(error: ClientError) -> Self {
        let text = error.to_string();
        match &error {
            ClientError::Refused(problem) => of_problem(problem),
            ClientError::Uncertain(_) => {
                let ClientError::Uncertain(because) = error else {
                    return Self::new(Exit::Failure, text);
                };
                Self::from(*because)
                    .hint("whether it was done is not known: look before you do it again")
            }
            ClientError::Unknown { has_token, .. } => {
                let failure = Self::new(Exit::NotAuthorised, text);
                match has_token {
                    true => failure.hint(MAKES_A_TOKEN),
                    false => failure.hint(format!(
                        "name its file: --token-file FILE, or IRQ_TOKEN_FILE; {MAKES_A_TOKEN}"
                    )),
                }
            }
            ClientError::NotOurs { .. } => Self::new(Exit::Unreachable, text)
                .hint("look at the address: `irq serve` prints its own"),
            ClientError::Unreadable { address, .. } => Self::new(Exit::Failure, text).hint(format!(
                "`irq doctor --server {address}` compares the versions of the server and this program"
            )),
            ClientError::Unreachable { problem, .. } if problem.contains("CaUsedAsEndEntity") => {
                Self::new(Exit::Unreachable, text).hint(
                    "its certificate is that of an authority: make one with basicConstraints=CA:FALSE",
                )
            }
            ClientError::Unreachable { problem, .. } if problem.contains("certificate") => {
                Self::new(Exit::Unreachable, text).hint(
                    "--ca-certificate FILE names the authority that has signed it, where that is one of your own",
                )
            }
            ClientError::Unreachable { address, .. }
            | ClientError::CutOff { address, .. }
            | ClientError::Silent { address, .. } => away(address, text),
            ClientError::Unsendable { .. } => Self::new(Exit::Usage, text),
            _ => Self::new(Exit::Failure, text),
        }
    }
}

fn away(address: &Address, text: String) -> Failure {
    Failure::new(Exit::Unreachable, text).hint(format!(
        "`irq doctor --server {address}` says what is wrong; `irq serve` starts one here"
    ))
}
