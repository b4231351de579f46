//! `irq reroute`: sends an agent's answer elsewhere, or decides an open interrupt so.

use interrupts::IdempotencyKey;
use interrupts::RouteName;
use interrupts::life::{Interrupt, Verdict};
use interrupts::store::{Admitted, NodeRow, Run, Store};
use jiff::Timestamp;
use routing_core::AgentType;
use routing_core::review::Answer;
use serde_json::{Value, json};

use super::interrupt::refuse_ended_agent;
use super::print;
use super::review::{Chosen, decide};
use crate::actor::actor;
use crate::address::{Address, find, full};
use crate::arguments::{RerouteArguments, StoreArguments};
use crate::exit::{Exit, Failure};
use crate::policy;
use crate::refused::{by_admission, by_store};
use crate::request::{self, Addressee, Wish};
use crate::storage::{Storage, complete, is_owned};
use crate::view::{self, json_line, kept_json};

/// Reroutes.
///
/// # Errors
///
/// Where there is nothing of that name, it has ended, or the target is not allowed.
pub(crate) fn reroute(
    arguments: &RerouteArguments,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    complete(async {
        let storage = Storage::open(store).await?;
        match find(&*storage.store, &arguments.address).await? {
            Address::Agent(run, row) => publish(&storage, arguments, run, &row).await?,
            Address::Interrupt(interrupt) => send(&storage, arguments, &interrupt).await?,
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
    storage: &Storage,
    arguments: &RerouteArguments,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let target = arguments.to.name();
    let answer = Answer {
        reroute_to: Some(target.to_owned()),
        ..Answer::default()
    };
    let chosen = Chosen {
        verdict: Verdict::Reroute,
        target: Some(
            RouteName::new(target).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?,
        ),
        content: Some(serde_json::to_string(&answer)?),
    };
    let decided = decide(storage, interrupt, chosen, arguments.if_version, None).await?;
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
    storage: &Storage,
    arguments: &RerouteArguments,
    run: Run,
    row: &NodeRow,
) -> anyhow::Result<()> {
    let known = known(&*storage.store, arguments).await?;
    if known.is_none() {
        refuse_ended_agent(row)?;
        if !row.takes_messages {
            let text = format!(
                "{} takes no messages: it will have no turn of its own",
                full(run.id, &row.node)
            );
            return Err(Failure::new(Exit::Conflict, text)
                .hint("`irq ps --json` says of each agent whether it takes_messages")
                .into());
        }
    }
    let wish = Wish {
        event: arguments.event_id.clone(),
        // The same event again is the same with its time too.
        at: known
            .as_ref()
            .and_then(published_at)
            .unwrap_or_else(Timestamp::now),
        interrupt_type: arguments.interrupt_type,
        to: Some(arguments.to),
        reason: arguments.reason.clone(),
    };
    let to = Addressee::agent(run, row);
    let mut admission = request::event(&to, wish, actor()?)?;
    match &known {
        Some(first) => first.keep_terms(&mut admission),
        None => policy::of_environment()?.apply(&mut admission),
    }
    let admitted = storage.store.admit(admission).await;
    let admitted = admitted.map_err(|error| by_admission(&error))?;
    storage.ring(&to.run).await;
    let already = matches!(admitted, Admitted::Known(_));
    let interrupt = admitted.into_interrupt();
    let text = if arguments.json {
        let mut view = view::interrupt(&interrupt);
        if let Value::Object(view) = &mut view {
            view.insert("event_id".to_owned(), json!(interrupt.key));
            view.insert("already".to_owned(), json!(already));
            view.insert("is_owned".to_owned(), json!(is_owned(&to.run)));
        }
        json_line(&view)
    } else {
        let known = if already { " (published before)" } else { "" };
        format!(
            "{} {} asks {} to interrupt itself{known}; its answer goes to {}.\n",
            interrupt.id,
            interrupt.state,
            full(to.run.id, &to.node),
            arguments.to.name()
        )
    };
    print(&text)?;
    Ok(())
}

/// The interrupt of an event that was published before.
async fn known(
    store: &dyn Store,
    arguments: &RerouteArguments,
) -> Result<Option<Interrupt>, Failure> {
    let Some(event) = &arguments.event_id else {
        return Ok(None);
    };
    let key = IdempotencyKey::new(event.clone())
        .map_err(|error| Failure::new(Exit::Usage, format!("--event-id: {error}")))?;
    store
        .interrupt_of(&key)
        .await
        .map_err(|error| by_store(&error))
}

fn published_at(interrupt: &Interrupt) -> Option<Timestamp> {
    let content = kept_json(&interrupt.content);
    content.get("timestamp")?.as_str()?.parse().ok()
}
