//! Tokens.

use interrupts::Digest;
use interrupts::life::Actor;
use interrupts::store::{AuditSubject, NewToken, StoreError, TokenRow, TokenScope};

use super::{Halt, Operation};
use crate::tables::{Failed, PlacedToken, Tables};

/// How many tokens may have been bought with each other: a ticket with a session, that with a token.
pub(crate) const LONGEST_CHAIN: u32 = 4;

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
            of: new.of,
            scope: new.scope.clone(),
        };
        if let Some(by) = &new.by {
            audit(&token, "created", Some(by.clone()), tables)?;
        }
        let placed = PlacedToken {
            position,
            token: token.clone(),
        };
        tables.tokens.put(new.digest, placed);
        Ok(token)
    }
}

/// Uses up a token that can be used once; another one only has to be valid.
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
        let mut above = placed.token.of;
        for depth in 0..=LONGEST_CHAIN {
            let Some(digest) = above else { break };
            match tables.tokens.get(&digest)? {
                Some(row) if depth < LONGEST_CHAIN && row.token.vouches_at(tables.now) => {
                    above = row.token.of;
                }
                Some(_) | None => return Ok(None),
            }
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
    pub(crate) by: Option<Actor>,
}

impl Operation for RevokeToken {
    type Output = Option<TokenRow>;
    type Error = StoreError;

    fn want(&self, tables: &mut Tables) {
        tables.heads.want(&());
        tables.tokens.want(&self.digest);
    }

    fn run(&self, tables: &mut Tables) -> Result<Option<TokenRow>, Halt<StoreError>> {
        let Some(mut placed) = tables.tokens.get(&self.digest)?.cloned() else {
            return Ok(None);
        };
        if placed.token.revoked_at.is_none() {
            placed.token.revoked_at = Some(tables.now);
            audit(&placed.token, "revoked", self.by.clone(), tables)?;
            tables.tokens.put(self.digest, placed.clone());
        }
        Ok(Some(placed.token))
    }
}

fn audit(
    token: &TokenRow,
    event: &str,
    by: Option<Actor>,
    tables: &mut Tables,
) -> Result<(), Failed> {
    let kind = match (token.of, token.once) {
        (Some(_), false) => "a session",
        (_, true) => "good for one use",
        (None, false) => "a token",
    };
    let bound = match &token.scope {
        Some(TokenScope::Run { run, node: None }) => format!(", bound to {run}"),
        Some(TokenScope::Run {
            run,
            node: Some(node),
        }) => format!(", bound to {run}/{node}"),
        Some(TokenScope::Workflow { workflow }) => format!(", bound to the workflow {workflow}"),
        None => String::new(),
    };
    let until = match token.expires_at {
        Some(end) => format!("until {end}"),
        None => "without end".to_owned(),
    };
    tables.audit(AuditSubject::Token {
        token: token.short_name(),
        event: event.to_owned(),
        holder: Actor {
            name: token.name.clone(),
            role: token.role,
        },
        actor: by,
        detail: Some(format!("{kind}{bound}, {until}")),
    })
}
