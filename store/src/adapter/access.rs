//! The port of tokens.

use async_trait::async_trait;
use interrupts::Digest;
use interrupts::life::Actor;
use interrupts::store::{NewToken, StoreError, TokenRow, Tokens};

use super::Adapter;
use crate::operation::{LONGEST_CHAIN, PutToken, RevokeToken, UseToken};
use crate::relational::{Relational, Rows as _, body, columns, sealed};
use crate::tables::PlacedToken;

#[async_trait]
impl<B: Relational> Tokens for Adapter<B> {
    async fn put_token(&self, token: NewToken) -> Result<TokenRow, StoreError> {
        self.backend.submit(PutToken { token }).await
    }

    async fn use_token(&self, digest: Digest) -> Result<Option<TokenRow>, StoreError> {
        match self.backend.record::<PlacedToken>(&digest).await? {
            Some(token) if token.once => self.backend.submit(UseToken { digest }).await,
            // Nothing is written for one that can be used again, so it need not queue behind what is.
            token => {
                let now = self.backend.time();
                let Some(token) = token.filter(|token| token.holds_at(now)) else {
                    return Ok(None);
                };
                let mut above = token.of;
                for _ in 0..LONGEST_CHAIN {
                    let Some(digest) = above else {
                        return Ok(Some(token));
                    };
                    match self.backend.record::<PlacedToken>(&digest).await? {
                        Some(row) if row.vouches_at(now) => above = row.of,
                        Some(_) | None => return Ok(None),
                    }
                }
                Ok(None)
            }
        }
    }

    async fn revoke_token(
        &self,
        digest: Digest,
        by: Option<Actor>,
    ) -> Result<Option<TokenRow>, StoreError> {
        self.backend.submit(RevokeToken { digest, by }).await
    }

    async fn tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(tokens),
            " FROM tokens ORDER BY position"
        );
        self.backend
            .rows(sql, [], |row| body(row, &sealed::TOKENS))
            .await
    }
}
