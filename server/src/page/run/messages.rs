//! The messages that no agent has read yet, and taking them back.

use axum::extract::State;
use axum::response::Response;
use control::{Caller, TakeBack};
use interrupt_router::RunId;
use interrupts::store::{Pages, Run, StoredMessage};
use maud::{Markup, html};

use super::controls::{RunForm, back, to_run};
use crate::app::App;
use crate::body::FormFields;
use crate::page::layout::time;
use crate::page::visitor::Visitor;
use crate::parameters::{Segments, wrong};
use crate::problem::Problem;
use crate::visible::visible;

/// How many messages are read at a time.
const PAGE: u32 = 500;

/// The messages of a run that no agent has read, with buttons to take them back for callers who may.
pub(super) async fn waiting(app: &App, run: &Run, may: bool) -> Result<Markup, Problem> {
    let waiting = unread_messages(app, run).await?;
    let now = app.now();
    Ok(html! {
        @if !waiting.is_empty() {
            section aria-labelledby="unread" { h2 id="unread" { "Messages not read yet" }
                ul.checkpoints { @for message in &waiting {
                    li data-testid="message" {
                        span { q { (visible(&message.message.text)) } " to " (visible(message.message.node.as_str())) ", from " (visible(message.message.from.name.as_str())) ", " (time(message.at, now)) }
                        @if may {
                            form method="post" action=(format!("/runs/{}/messages/{}/withdraw", run.id, message.position)) {
                                button.quiet type="submit" aria-label=(format!("Take it back: message {}", message.position)) { "Take it back" }
                            }
                        }
                    }
                } }
            }
        }
    })
}

async fn unread_messages(app: &App, run: &Run) -> Result<Vec<StoredMessage>, Problem> {
    let all = Pages::of(PAGE).rest(|page| app.store().messages(run.id, page));
    let mut all = all.await?;
    all.retain(|it| it.state.is_waiting());
    Ok(all)
}

/// Takes a message back by its button.
pub(in crate::page) async fn withdraw(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segments(run, message): Segments,
) -> Response {
    let outcome = withdrawn(&app, &caller, &run, &message).await;
    let nothing = FormFields(Vec::new());
    back(&app, &caller, &run, (RunForm::Button, &nothing), outcome).await
}

/// Back to the run, from the address of the button.
pub(in crate::page) async fn look(
    State(app): State<App>,
    Visitor(caller): Visitor,
    Segments(run, _message): Segments,
) -> Response {
    to_run(&app, &caller, &run).await
}

async fn withdrawn(app: &App, caller: &Caller, run: &str, message: &str) -> Result<RunId, Problem> {
    let run = caller.reach.run(app.store(), run).await?;
    let message = message
        .parse()
        .map_err(|_error| wrong("message", "a message is named by its number"))?;
    let take_back = TakeBack {
        run: run.id,
        node: None,
        message,
    };
    app.carry_out(caller, take_back).await?;
    Ok(run.id)
}
