//! Leaving out of a schema what it does not reach.
