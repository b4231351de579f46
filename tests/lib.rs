//! What the integration tests share.
