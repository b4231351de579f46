//! Limits: what is counted, when a stop is asked for, and that nothing is left behind.

mod budget;
mod model;
mod prices;
mod resources;
mod scene;
mod steps;
mod time;
