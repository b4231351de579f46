//! The router as its embedders use it: events, reroutes, the bus, decorators, the planner and the handler.

mod bus;
mod context;
mod domain;
mod handler;
mod planner;
mod reroute;
