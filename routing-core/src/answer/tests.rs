//! Reading answers: what is taken, what is refused, and what is said of it.

mod arriving;
mod fault;
mod form;
mod mutation;
