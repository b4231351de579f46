//! `irq review`: what waits for a person, and deciding it.

mod batch;
mod chosen;
mod deciding;
mod list;
mod of_plan;
mod shown;

use std::io::{self, IsTerminal};

use interrupts::life::{Interrupt, Lane, State};
use interrupts::policy::Subject;
use interrupts::rules::Remember;
use interrupts::store::Filter;
use routing_core::RuleId;

use super::print;
use crate::address::{find_interrupt, find_run};
use crate::arguments::{Global, ReviewArguments, StoreArguments};
use crate::exit::{Exit, Failure};
use crate::installation::{self, Installation};
use crate::listing;
use crate::palette::Palette;
use crate::plan::{checked, preview_text};
use crate::policy;
use crate::reviewer::Alone;
use crate::storage::complete;
use crate::view::{self, json_line};

pub(super) use chosen::{Chosen, of_person};
pub(super) use deciding::{decide, told};

/// Lists, shows or decides.
///
/// # Errors
///
/// Where there is no such interrupt, it is decided already, or the answer does not belong to it.
pub(crate) fn review(
    arguments: &ReviewArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let installation = installation::open(store).await?;
        let installation = &*installation;
        installation.sweep().await?;
        if let Some(batch) = &arguments.batch {
            let together = if arguments.all_or_nothing {
                batch::Together::AllOrNothing
            } else {
                batch::Together::EachAlone
            };
            return batch::decide_all(installation, batch, together, arguments.json).await;
        }
        let Some(interrupt) = chosen_interrupt(installation, arguments).await? else {
            return list_all(installation, arguments, global).await;
        };
        if let Some(verdict) = arguments.decision {
            let chosen = chosen::of_arguments(&interrupt, verdict, arguments)?;
            show_change(installation, &interrupt, &chosen, arguments, global).await?;
            let decided = decide(
                installation,
                &interrupt,
                chosen,
                arguments.if_version,
                remembered(arguments),
            )
            .await?;
            return told_decided(installation, &decided, arguments).await;
        }
        let alone = Alone::new(Palette::for_stream(&io::stderr(), global.no_color));
        if arguments.edit {
            let Some(chosen) = chosen::of_editor(&interrupt, alone)? else {
                print("Nothing was edited, nothing decided.\n")?;
                return Ok(Exit::Success);
            };
            let decided =
                decide(installation, &interrupt, chosen, arguments.if_version, None).await?;
            return told_decided(installation, &decided, arguments).await;
        }
        if may_ask(&interrupt, arguments) {
            let palette = Palette::for_stream(&io::stderr(), global.no_color);
            return converse(installation, &interrupt, alone, palette, arguments).await;
        }
        let text = if arguments.json {
            json_line(&view::interrupt(&interrupt))
        } else {
            let palette = Palette::for_stream(&io::stdout(), global.no_color);
            shown::page(&interrupt, palette)
        };
        print(&text)?;
        Ok(Exit::Success)
    })
}

/// That the decision holds for the same question when it is asked again, where the command line says so.
fn remembered(arguments: &ReviewArguments) -> Option<Remember> {
    arguments.remember.map(|reach| Remember {
        id: RuleId::generate(),
        reach: reach.reach(),
        lifetime: arguments.remember_for,
        most_uses: arguments.remember_uses,
    })
}

/// The interrupt that the command line names.
async fn chosen_interrupt(
    installation: &dyn Installation,
    arguments: &ReviewArguments,
) -> anyhow::Result<Option<Interrupt>> {
    if let Some(id) = &arguments.interrupt {
        return Ok(Some(find_interrupt(installation, id).await?));
    }
    if !arguments.next {
        if arguments.decision.is_some() || arguments.edit {
            return Err(Failure::new(Exit::Usage, "no interrupt is named")
                .hint("name one, or say --next; `irq review` lists them")
                .into());
        }
        return Ok(None);
    }
    let open = open(installation, arguments).await?;
    // What is held waits for another one.
    let next = open
        .into_iter()
        .find(|interrupt| interrupt.held_by.is_none());
    match next {
        Some(interrupt) => Ok(Some(interrupt)),
        None => Err(Failure::new(Exit::NotFound, "nothing waits for a person").into()),
    }
}

/// What waits for a person, in the order in which it should be looked at.
async fn open(
    from: &dyn Installation,
    arguments: &ReviewArguments,
) -> Result<Vec<Interrupt>, Failure> {
    let mut filter = Filter {
        states: vec![State::AwaitingReview],
        ..Filter::default()
    };
    if let Some(run) = &arguments.run {
        filter.run = Some(find_run(from, run).await?.id);
    }
    let mut open = listing::interrupts(from, &filter).await?;
    let policy = policy::of_environment()?;
    open.sort_by_key(|interrupt| {
        let priority = policy.terms(&Subject::of(interrupt)).priority;
        // Whatever a policy says, people's own interrupts go first.
        let is_of_others = interrupt.lane() != Lane::User;
        (is_of_others, priority, interrupt.requested_at)
    });
    Ok(open)
}

async fn list_all(
    installation: &dyn Installation,
    arguments: &ReviewArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let open = open(installation, arguments).await?;
    let text = if arguments.json {
        open.iter()
            .map(|interrupt| json_line(&view::interrupt(interrupt)))
            .collect()
    } else {
        list::text(&open, Palette::for_stream(&io::stdout(), global.no_color))
    };
    print(&text)?;
    Ok(Exit::Success)
}

/// Whether there is somebody to ask, and something.
fn may_ask(interrupt: &Interrupt, arguments: &ReviewArguments) -> bool {
    let is_open = interrupt.state == State::AwaitingReview;
    let is_talked = io::stdin().is_terminal() && io::stderr().is_terminal();
    is_open && is_talked && !arguments.no_input && !arguments.json
}

async fn converse(
    installation: &dyn Installation,
    interrupt: &Interrupt,
    alone: Alone,
    palette: Palette,
    arguments: &ReviewArguments,
) -> anyhow::Result<Exit> {
    let planned = match installation.beside() {
        Some(storage) => of_plan::paused_run(storage, interrupt)
            .await?
            .map(|run| (storage, run)),
        None => None,
    };
    let chosen = match planned {
        Some((storage, run)) => of_plan::converse(storage, &run, interrupt, alone, palette).await?,
        None => chosen::of_person(interrupt, alone)?.map(|chosen| (interrupt.clone(), chosen)),
    };
    let Some((interrupt, chosen)) = chosen else {
        print(&format!("{} stays open.\n", interrupt.id))?;
        return Ok(Exit::Success);
    };
    let decided = decide(installation, &interrupt, chosen, arguments.if_version, None).await?;
    told_decided(installation, &decided, arguments).await
}

/// What a decision will do to the steps of a plan, before it is decided.
async fn show_change(
    installation: &dyn Installation,
    interrupt: &Interrupt,
    chosen: &Chosen,
    arguments: &ReviewArguments,
    global: Global,
) -> anyhow::Result<()> {
    let Some(storage) = installation.beside() else {
        return Ok(());
    };
    let content = chosen.content.as_deref();
    let checked = checked(storage, interrupt, chosen.verdict, content).await?;
    if let Some((preview, _bound)) = checked
        && !arguments.json
    {
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        print(&preview_text(&preview, palette))?;
    }
    Ok(())
}

/// Says what was decided, and who goes on.
async fn told_decided(
    installation: &dyn Installation,
    decided: &Interrupt,
    arguments: &ReviewArguments,
) -> anyhow::Result<Exit> {
    let text = if arguments.json {
        json_line(&view::interrupt(decided))
    } else {
        let run = installation.run(decided.run).await?;
        deciding::told(decided, run.as_ref())
    };
    print(&text)?;
    Ok(Exit::Success)
}
