//! What can go wrong with a request.

use crate::{Address, ProblemDocument};

/// Why a request was not answered as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The text is no address of a server.
    #[error("{problem}")]
    Address {
        /// What is wrong with it.
        problem: String,
    },
    /// A token was to be read, but there is none.
    #[error("{problem}")]
    Token {
        /// What is wrong.
        problem: String,
    },
    /// The authorities to be trusted have no certificate.
    #[error("it holds no certificate")]
    NoAuthority,
    /// The client could not be made.
    #[error("{problem}")]
    Setup {
        /// Why.
        problem: String,
    },
    /// There was no connection, or it was not to be trusted.
    #[error("cannot reach the server {address}: {problem}")]
    Unreachable {
        /// The server.
        address: Address,
        /// What is wrong.
        problem: String,
    },
    /// The answer ended too early, or did not end.
    #[error("the answer of {address} was cut off: {problem}")]
    CutOff {
        /// The server.
        address: Address,
        /// What is wrong.
        problem: String,
    },
    /// There was no answer in time.
    #[error("{address} has not answered within {seconds} s")]
    Silent {
        /// The server.
        address: Address,
        /// How long the client waited.
        seconds: u64,
    },
    /// Something else answers there.
    #[error("{address} answers {status}, and is no irq server")]
    NotOurs {
        /// The address.
        address: Address,
        /// Its answer.
        status: u16,
    },
    /// The answer is in no form that this client knows: the server is of another version.
    #[error("the answer of {address} cannot be read: {problem}")]
    Unreadable {
        /// The server.
        address: Address,
        /// What is wrong.
        problem: String,
    },
    /// The request cannot be written in the form that it needs.
    #[error("{problem}")]
    Unsendable {
        /// What is wrong with it.
        problem: String,
    },
    /// The server does not know its caller.
    #[error("{}", unknown(address, *has_token))]
    Unknown {
        /// The server.
        address: Address,
        /// Whether a token was shown, which then was revoked, has expired, or is of another server.
        has_token: bool,
    },
    /// The server refused it. Nothing was changed.
    #[error("{0}")]
    Refused(Box<ProblemDocument>),
    /// The answer is lost: the request may have been carried out, and sent again it may be carried out twice. Read the
    /// current state first.
    #[error("{0}")]
    Uncertain(Box<ClientError>),
}

fn unknown(address: &Address, has_token: bool) -> String {
    match has_token {
        true => format!(
            "{address} does not know this token: it was revoked, has expired, or is of another server"
        ),
        false => format!("{address} asks who you are, and no token is named"),
    }
}

impl ClientError {
    /// The refusal, if it is one.
    pub fn problem(&self) -> Option<&ProblemDocument> {
        match self {
            Self::Refused(problem) => Some(problem),
            Self::Uncertain(error) => error.problem(),
            Self::Address { .. }
            | Self::Token { .. }
            | Self::NoAuthority
            | Self::Setup { .. }
            | Self::Unreachable { .. }
            | Self::CutOff { .. }
            | Self::Silent { .. }
            | Self::NotOurs { .. }
            | Self::Unreadable { .. }
            | Self::Unsendable { .. }
            | Self::Unknown { .. } => None,
        }
    }

    /// Whether the server is away, and may be back later.
    pub fn is_away(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::CutOff { .. }
            | Self::Silent { .. }
            | Self::NotOurs { .. } => true,
            Self::Refused(problem) => (502..=504).contains(&problem.status),
            Self::Uncertain(error) => error.is_away(),
            Self::Address { .. }
            | Self::Token { .. }
            | Self::NoAuthority
            | Self::Setup { .. }
            | Self::Unreadable { .. }
            | Self::Unsendable { .. }
            | Self::Unknown { .. } => false,
        }
    }
}
