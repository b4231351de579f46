//! The server from outside: over a listening socket, with the clients that people and programs use.

mod attacks;
mod decisions;
mod feed;
mod house;
mod page;
mod requests;
mod rights;
mod runs;
mod scene;
mod socket;
