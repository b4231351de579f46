//! What a server's store has, in the form in which it is kept.

use control::Ask;
use interrupts::store::Verification;

use crate::{Client, ClientError};

impl Client {
    /// Asks a question about what is stored, as [`control::AskRuns`] or [`control::AskInterrupt`]. What there is not, and
    /// what lies beyond the reach of the caller's token, is answered by nothing.
    ///
    /// # Errors
    ///
    /// [`ClientError`] if the server is away, does not know its caller, or refuses him.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn ask<A: Ask>(&self, ask: A) -> Result<A::Answer, ClientError> {
        let of = serde_json::to_string(&ask).map_err(|error| ClientError::Unsendable {
            problem: error.to_string(),
        })?;
        let question = A::QUESTION.name;
        self.read(&["v1", "records", question], &[("of", of)]).await
    }

    /// Makes the server read its whole audit, and compare every digest and all that it vouches for.
    ///
    /// # Errors
    ///
    /// [`ClientError::Refused`] with status 409 if the audit is not what was written.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only reads.
    pub async fn verify_audit(&self) -> Result<Verification, ClientError> {
        self.read(&["v1", "history", "verify"], &[]).await
    }
}
