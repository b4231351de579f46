//! A client of an Interrupt Router server in Rust, for reviewers and supervisors on other machines.
//!
//! ```no_run
//! use client::{Address, ClientSettings, Feed, FeedItem, Token};
//! use control::AskInterrupts;
//! use interrupts::life::State;
//! use interrupts::store::{Filter, Pages};
//!
//! # async fn look() -> Result<(), Box<dyn std::error::Error>> {
//! let address = Address::parse("http://127.0.0.1:7070")?;
//! let token = Token::read("ada.token".as_ref())?;
//! let client = ClientSettings::new(address).token(token).build()?;
//!
//! // What waits for a person.
//! let waiting = Filter {
//!     states: vec![State::AwaitingReview],
//!     ..Filter::default()
//! };
//! let read = |page| {
//!     let filter = waiting.clone();
//!     client.ask(AskInterrupts { filter, page })
//! };
//! for interrupt in Pages::of(100).values(read).await? {
//!     println!("{}: {}", interrupt.id, interrupt.first_reason());
//! }
//!
//! // And what happens from now on, across restarts of the server.
//! let now = client.whoami().await?.seq;
//! let mut feed = Feed::of(client, None, now);
//! while let FeedItem::Event(event) = feed.next().await? {
//!     println!("{}", event.json);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Rows have the types of the crates [`interrupts`], [`control`] and [`planning`]. A list is read in pages; with
//! [`interrupts::store::Pages`] to its end. A request that was refused is a [`ClientError::Refused`], whose [`ProblemDocument`] has
//! the code for programs and what to do next.

mod acting;
mod address;
mod client;
mod decision;
mod error;
mod feed;
mod problem;
mod records;
mod request;
mod runs;
mod token;

pub use address::Address;
pub use client::{Client, ClientSettings, WhoAmI};
pub use error::ClientError;
pub use feed::{Feed, FeedEvent, FeedItem};
pub use problem::ProblemDocument;
pub use runs::NewRun;
pub use token::Token;
