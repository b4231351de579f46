//! The token by which a server knows its caller.

use std::fs;
use std::path::Path;

use crate::ClientError;

/// The longest token file that is read.
const LONGEST: u64 = 4096;

/// A token. It is never shown, not even for debugging.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl Token {
    /// A token, with or without space around it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Token`] if the text is none.
    pub fn new(text: &str) -> Result<Self, ClientError> {
        let token = text.trim();
        let problem = if token.is_empty() {
            "it is empty"
        } else if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            "it holds no token: a token is one word"
        } else {
            return Ok(Self(token.to_owned()));
        };
        Err(ClientError::Token {
            problem: problem.to_owned(),
        })
    }

    /// Reads a token from a file with nothing else in it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Token`] if the file cannot be read or has no token.
    pub fn read(path: &Path) -> Result<Self, ClientError> {
        let refused = |problem: String| ClientError::Token { problem };
        let found = fs::metadata(path).map_err(|error| refused(error.to_string()))?;
        if found.is_dir() {
            let folder = "it is a folder; name the file in it that holds the token";
            return Err(refused(folder.to_owned()));
        }
        if found.len() > LONGEST {
            return Err(refused("it is too long for a token".to_owned()));
        }
        let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        Self::new(&text)
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }
}
