//! The page for people.

use crate::app::App;

/// The addresses of the page. They are for people, and stand in no description.
pub(crate) fn router() -> axum::Router<App> {
    axum::Router::new()
}
