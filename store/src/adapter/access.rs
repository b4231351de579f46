//! The port of tokens.

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::store::{NewToken, StoreError, TokenRow, Tokens};

use super::Adapter;
use crate::operation::{PutToken, RevokeToken, UseToken};
use crate::query::Backend;

#[async_trait]
impl<B: Backend> Tokens for Adapter<B> {
    async fn put_token(&self, token: NewToken) -> Result<TokenRow, StoreError> {
        self.backend.execute(PutToken { token }).await
    }

    async fn use_token(&self, digest: Digest) -> Result<Option<TokenRow>, StoreError> {
        match self.backend.token(digest).await? {
            Some(token) if token.once => self.backend.execute(UseToken { digest }).await,
            // Nothing is written for one that can be used again, so it need not queue behind what is.
            token => Ok(token.filter(|token| token.holds_at(self.backend.now()))),
        }
    }

    async fn revoke_token(&self, digest: Digest) -> Result<Option<TokenRow>, StoreError> {
        self.backend.execute(RevokeToken { digest }).await
    }

    async fn tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        self.backend.tokens().await
    }
}
