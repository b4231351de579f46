//! The machine of an interrupt's life, from outside.

mod guards;

mod pairs;
mod properties;
mod scene;
