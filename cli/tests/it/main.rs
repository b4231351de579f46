//! The real binary, from its command line to its exit code.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where what it stands on fails"
)]

mod advised;
mod at_its_last_step;
mod bad_input;
mod changing_proxy;
mod colours;
mod damage;
mod damaged;
mod doctoring;
mod elsewhere;
mod elsewhere_plans;
mod escaping;
mod escaping_meets;
mod events;
mod following;
mod following_what_was_shown;
mod given_input;
mod giving_up;
mod help;
mod hooking;
mod interrupting;
mod left_to_a_server;
mod left_whole;
mod listing;
mod looking_back;
mod manual;
mod meeting;
mod models;
mod nothing_passed_over;
mod other_forms;
mod place;
mod planning;
mod policies;
mod policies_beside;
mod policies_of_stops;
mod program;
mod putting_aside;
mod questions;
mod queued;
mod read_only;
mod resuming;
mod reviewing;
mod reviewing_at_a_terminal;
mod reviewing_batches;
mod rolling;
mod said_to_the_ended;
mod said_truly;
mod schema;
mod screen;
mod secured;
mod seed;
mod served;
mod server;
mod serving;
mod serving_branches;
mod serving_by_itself;
mod serving_once;
mod serving_terms;
mod several_askers;
mod signals;
mod slow_proxy;
mod store_gone;
mod suggesting;
mod telemetry;
mod terminal;
mod told_is_kept;
mod tools;
mod tour;
mod troubled;
mod unfilled;
mod watching;
mod watching_marks;
mod watching_queue;
mod watching_slow;
mod watching_taken_back;
mod watching_windows;
mod watching_words;
mod whole_run;
mod windows_closed;
#[path = "../crash/wire_brain.rs"]
mod wire_brain;
