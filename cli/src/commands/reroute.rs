//! `irq reroute`: sends an agent's answer elsewhere, or decides an open interrupt that way.

use control::DecisionParts;
use interrupts::IdempotencyKey;
use interrupts::life::{Interrupt, Verdict};
use interrupts::store::{Admitted, NodeRow, Run};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::interrupt::refuse_ended_agent;
use super::print;
use super::review::decide;
use crate::address::{Address, find, full};
use crate::arguments::{RerouteArguments, StoreArguments};
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::request::{Addressee, AskRequest};
use crate::run_owner::has_process;
use crate::storage::complete;
use crate::view::{self, json_line, kept_json};
use crate::workflows::check_target;

/// Reroutes.
///
/// # Errors
///
/// If there is nothing of that name, it has ended, or the target is not allowed.
pub(crate) fn reroute(
    arguments: &RerouteArguments,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let backend = &*backend;
        match find(backend, &arguments.address).await? {
            Address::Agent(run, row) => publish(backend, arguments, run, &row).await?,
            Address::Interrupt(interrupt) => send(backend, arguments, &interrupt).await?,
            Address::Run(run) => {
                let text = format!("{} is a run; an agent or an interrupt is rerouted", run.id);
                return Err(Failure::new(Exit::Usage, text)
                    .hint(format!("`irq ps {}` lists its agents", run.id))
                    .into());
            }
        }
        Ok(Exit::Success)
    })
}

/// Decides an interrupt that waits for a person.
async fn send(
    backend: &dyn Backend,
    arguments: &RerouteArguments,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let target = &arguments.to;
    check_target(target, &interrupt.routes)?;
    let chosen = DecisionParts {
        reroute_to: Some(target.to_string()),
        ..DecisionParts::new(Verdict::Reroute)
    };
    let decided = decide(backend, interrupt, chosen, arguments.if_version, None).await?;
    let text = if arguments.json {
        json_line(&view::interrupt(&decided))
    } else {
        format!("{} goes to {target}.\n", decided.id)
    };
    print(&text)?;
    Ok(())
}

/// Publishes an event that asks the agent to interrupt itself.
async fn publish(
    backend: &dyn Backend,
    arguments: &RerouteArguments,
    run: Run,
    row: &NodeRow,
) -> anyhow::Result<()> {
    let known = known(backend, arguments).await?;
    if known.is_none() {
        refuse_ended_agent(row)?;
        if !row.takes_messages {
            let text = format!(
                "{} can't receive messages: it has no further turn",
                full(run.id, &row.node)
            );
            return Err(Failure::new(Exit::Conflict, text)
                .hint("`irq ps --json` says of each agent whether it takes_messages")
                .into());
        }
    }
    let wish = AskRequest {
        event: arguments.event_id.clone(),
        // The same event, published again, also has the same time.
        at: known
            .as_ref()
            .and_then(published_at)
            .unwrap_or_else(Timestamp::now),
        interrupt_type: arguments.interrupt_type,
        to: Some(arguments.to.clone()),
        reason: arguments.reason.clone(),
    };
    let to = Addressee::agent(run, row);
    let published = backend.publish(&to, wish);
    let published = published.await?;
    let already = matches!(published, Admitted::Known(_));
    let interrupt = published.into_interrupt();
    let text = if arguments.json {
        let mut view = view::interrupt(&interrupt);
        if let Value::Object(view) = &mut view {
            view.insert("event_id".to_owned(), json!(interrupt.key));
            view.insert("already".to_owned(), json!(already));
            view.insert("is_owned".to_owned(), json!(has_process(&to.run)));
        }
        json_line(&view)
    } else {
        let known = if already { " (published before)" } else { "" };
        format!(
            "{} {} asks {} to interrupt itself{known}; its answer goes to {}.\n",
            interrupt.id,
            interrupt.state,
            full(to.run.id, &to.node),
            arguments.to
        )
    };
    print(&text)?;
    Ok(())
}

/// The interrupt of an event that was published before.
async fn known(
    from: &dyn Backend,
    arguments: &RerouteArguments,
) -> Result<Option<Interrupt>, Failure> {
    let Some(event) = &arguments.event_id else {
        return Ok(None);
    };
    let key = IdempotencyKey::new(event.clone())
        .map_err(|error| Failure::new(Exit::Usage, format!("--event-id: {error}")))?;
    from.interrupt_of(key).await
}

fn published_at(interrupt: &Interrupt) -> Option<Timestamp> {
    let content = kept_json(&interrupt.content);
    content.get("timestamp")?.as_str()?.parse().ok()
}
