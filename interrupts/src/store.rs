//! The store ports.
