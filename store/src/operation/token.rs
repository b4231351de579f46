//! Tokens.

use interrupts::Digest;
use interrupts::store::{NewToken, StoreError, TokenRow};

use super::{Halt, Operation};
use crate::tables::{PlacedToken, Tables};

/// Keeps a token.
pub(crate) struct PutToken {
    pub(crate) token: NewToken,
}

impl Operation for PutToken {
    type Output = TokenRow;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.tokens.want(&self.token.digest);
    }

    fn run(&self, tables: &mut Tables) -> Result<TokenRow, Halt<StoreError>> {
        let new = &self.token;
        if let Some(known) = tables.tokens.get(&new.digest)? {
            return Ok(known.token.clone());
        }
        let mut heads = tables.heads()?;
        heads.tokens += 1;
        let position = heads.tokens;
        tables.heads.put((), heads);
        let token = TokenRow {
            digest: new.digest,
            name: new.name.clone(),
            role: new.role,
            created_at: tables.now,
            expires_at: new.lifetime.map(|lifetime| tables.after(lifetime)),
            once: new.once,
            used_at: None,
            revoked_at: None,
        };
        let placed = PlacedToken {
            position,
            token: token.clone(),
        };
        tables.tokens.put(new.digest, placed);
        Ok(token)
    }
}

/// Uses up a token that can be used once; another one only has to hold.
pub(crate) struct UseToken {
    pub(crate) digest: Digest,
}

impl Operation for UseToken {
    type Output = Option<TokenRow>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.tokens.want(&self.digest);
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<TokenRow>, Halt<StoreError>> {
        let Some(mut placed) = tables.tokens.get(&self.digest)?.cloned() else {
            return Ok(None);
        };
        if !placed.token.holds_at(tables.now) {
            return Ok(None);
        }
        if placed.token.once {
            placed.token.used_at = Some(tables.now);
            tables.tokens.put(self.digest, placed.clone());
        }
        Ok(Some(placed.token))
    }
}

/// Makes a token void.
pub(crate) struct RevokeToken {
    pub(crate) digest: Digest,
}

impl Operation for RevokeToken {
    type Output = Option<TokenRow>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.tokens.want(&self.digest);
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<TokenRow>, Halt<StoreError>> {
        let Some(mut placed) = tables.tokens.get(&self.digest)?.cloned() else {
            return Ok(None);
        };
        if placed.token.revoked_at.is_none() {
            placed.token.revoked_at = Some(tables.now);
            tables.tokens.put(self.digest, placed.clone());
        }
        Ok(Some(placed.token))
    }
}
