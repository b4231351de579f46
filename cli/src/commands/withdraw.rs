//! `irq withdraw` and `irq redrive`: cancels an interrupt, or tries one again.

use control::Redrive;
use interrupts::life::Interrupt;

use super::print;
use crate::address::{find_asking, find_interrupt};
use crate::arguments::{RedriveArguments, StoreArguments, WithdrawArguments};
use crate::asking;
use crate::backend;
use crate::exit::{self, Exit};
use crate::state_words::state_words;
use crate::storage::complete;
use crate::view::{self, json_line};
use crate::withdrawal;

/// Withdraws an interrupt, or one request of a stop.
///
/// # Errors
///
/// If there is no such interrupt, or it has ended.
pub(crate) fn withdraw(
    arguments: &WithdrawArguments,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let (interrupt, asking) = find_asking(&*backend, &arguments.interrupt).await?;
        let after = backend.withdraw(interrupt.id, asking).await?;
        let told = tell(&interrupt, &after, arguments.json)?;
        if let Some(why) = withdrawal::after(&*backend, &after).await? {
            exit::tell(format_args!("note: {why}"));
        }
        Ok(told)
    })
}

/// Lets an interrupt that could not be delivered be tried again.
///
/// # Errors
///
/// If there is no such interrupt, or it is not dead-lettered.
pub(crate) fn redrive(
    arguments: &RedriveArguments,
    store: &StoreArguments,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let interrupt = find_interrupt(&*backend, &arguments.interrupt).await?;
        let after = backend
            .carry_out(Redrive {
                interrupt: interrupt.id,
            })
            .await?;
        tell(&interrupt, &after, arguments.json)
    })
}

fn tell(before: &Interrupt, after: &Interrupt, json: bool) -> anyhow::Result<Exit> {
    if json {
        print(&json_line(&view::interrupt(after)))?;
    } else if before.state == after.state {
        print(&format!("{}\n", taken_back(before, after)))?;
    } else {
        print(&format!(
            "{} was {} and is {}.\n",
            after.id,
            state_words(before.state),
            state_words(after.state)
        ))?;
    }
    Ok(Exit::Success)
}

/// Which requests of a live stop were withdrawn, and who still requests it.
fn taken_back(before: &Interrupt, after: &Interrupt) -> String {
    let stood = before.askings();
    let gone = after.askings();
    let gone = gone.iter().filter(|it| !it.is_in_force());
    let gone = gone.filter(|it| {
        stood
            .iter()
            .any(|was| was.number == it.number && was.is_in_force())
    });
    let ids: Vec<String> = gone
        .map(|asking| after.asking_id(asking.number).to_string())
        .collect();
    let rest = match asking::still(after) {
        Some(names) => format!("still requested by {names}"),
        None => "with no request left; its run stops first, and then goes on".to_owned(),
    };
    format!(
        "Withdrawn: {}. {} is {}, {rest}.",
        ids.join(", "),
        after.id,
        after.state
    )
}
