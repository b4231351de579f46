//! `irq review`: lists and decides what waits for a person.

mod batch;
mod chosen;
mod deciding;
mod list;
mod of_plan;
mod rendering;

use std::io::{self, IsTerminal};

use control::{DecisionParts, RememberOrder};
use interrupt_router::InterruptType;
use interrupts::life::{Interrupt, State};
use interrupts::store::Filter;
use journal::Suggestion;
use serde_json::Value;

use super::print;
use crate::address::{find_interrupt, find_run};
use crate::arguments::{Global, ReviewArguments, StoreArguments};
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure};
use crate::listing::{self, Damaged};
use crate::palette::Palette;
use crate::plan::{checked, preview_text};
use crate::policy;
use crate::reviewer::{Alone, StandardInput};
use crate::storage::complete;
use crate::view::{self, json_line};

pub(super) use chosen::of_person;
pub(super) use deciding::{Aftermath, decide, decided_text};

/// Lists, shows or decides.
///
/// # Errors
///
/// If there is no such interrupt, it is decided already, or the answer does not belong to it.
pub(crate) fn review(
    arguments: &ReviewArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let backend = &*backend;
        backend.sweep().await?;
        if let Some(batch) = &arguments.batch {
            let together = if arguments.all_or_nothing {
                batch::Together::AllOrNothing
            } else {
                batch::Together::EachAlone
            };
            return batch::decide_all(backend, batch, together, arguments.json).await;
        }
        let chosen = chosen_interrupts(backend, arguments).await?;
        let Some(interrupt) = chosen.first().cloned() else {
            return list_all(backend, arguments, global).await;
        };
        if let Some(verdict) = arguments.decision {
            let chosen = chosen::of_arguments(&interrupt, verdict, arguments)?;
            show_change(backend, &interrupt, &chosen, arguments, global).await?;
            let decided = decide(
                backend,
                &interrupt,
                chosen,
                arguments.if_version,
                remembered(arguments),
            )
            .await?;
            return told_decided(backend, &decided, arguments).await;
        }
        let alone = Alone::new(Palette::for_stream(&io::stderr(), global.no_color));
        if arguments.edit {
            let Some(chosen) = chosen::of_editor(&interrupt, alone)? else {
                print("Nothing was edited, nothing decided.\n")?;
                return Ok(Exit::Success);
            };
            let decided = decide(backend, &interrupt, chosen, arguments.if_version, None).await?;
            return told_decided(backend, &decided, arguments).await;
        }
        if may_ask(&interrupt, arguments) {
            let palette = Palette::for_stream(&io::stderr(), global.no_color);
            return converse(backend, &chosen, alone, palette, arguments).await;
        }
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        let mut pages = Vec::new();
        for interrupt in &chosen {
            let suggestion = suggestion_for(backend, interrupt).await?;
            pages.push(if arguments.json {
                json_line(&with_suggestion(interrupt, suggestion.as_ref()))
            } else {
                rendering::page(interrupt, suggestion.as_ref(), palette)
            });
        }
        let between = if arguments.json { "" } else { "\n" };
        print(&pages.join(between))?;
        Ok(Exit::Success)
    })
}

/// What a reviewing model would have decided, if it was not sure enough.
async fn suggestion_for(
    backend: &dyn Backend,
    interrupt: &Interrupt,
) -> Result<Option<Suggestion>, Failure> {
    if interrupt.interrupt_type != InterruptType::AgentReview {
        return Ok(None);
    }
    let journal = listing::journal(backend, interrupt.run).await?;
    Ok(Suggestion::among(&journal, interrupt))
}

/// That the decision also applies when the same question is asked again, if the command line says so.
fn remembered(arguments: &ReviewArguments) -> Option<RememberOrder> {
    arguments.remember.map(|reach| RememberOrder {
        reach: reach.reach(),
        seconds: u32::try_from(arguments.remember_for.as_secs()).unwrap_or(u32::MAX),
        most_uses: arguments.remember_uses,
    })
}

/// The interrupts that the command line names: with `--next` the first one that waits, and those that are shown together
/// with it. Empty if all are to be listed.
async fn chosen_interrupts(
    backend: &dyn Backend,
    arguments: &ReviewArguments,
) -> anyhow::Result<Vec<Interrupt>> {
    if let Some(id) = &arguments.interrupt {
        let found = find_interrupt(backend, id).await?;
        refuse_of_another_run(backend, &found, arguments).await?;
        return Ok(vec![found]);
    }
    if !arguments.next {
        if arguments.decision.is_some() || arguments.edit {
            return Err(Failure::new(Exit::Usage, "no interrupt is named")
                .hint("name one, or say --next; `irq review` lists them")
                .into());
        }
        return Ok(Vec::new());
    }
    let mut damaged = Damaged::default();
    let open = open(backend, arguments, &mut damaged).await?;
    // If one cannot be read, it is not known which is the next.
    damaged.end()?;
    // A held interrupt waits for another one, and comes after all others.
    let next = open
        .into_iter()
        .next()
        .filter(|batch| batch.iter().all(|interrupt| interrupt.held_by.is_none()));
    match next {
        Some(batch) => Ok(batch),
        None => Err(Failure::new(Exit::NotFound, "nothing waits for a person").into()),
    }
}

/// If the command line also names the run, the interrupt must belong to it.
async fn refuse_of_another_run(
    backend: &dyn Backend,
    interrupt: &Interrupt,
    arguments: &ReviewArguments,
) -> Result<(), Failure> {
    let Some(run) = &arguments.run else {
        return Ok(());
    };
    let run = find_run(backend, run).await?;
    if run.id == interrupt.run {
        return Ok(());
    }
    let text = format!("{} has no {}", run.id, interrupt.id);
    Err(Failure::new(Exit::NotFound, text).hint(format!("it is of {}", interrupt.run)))
}

/// What waits for a person, in the order in which it should be looked at, each with those that are shown together
/// with it.
async fn open(
    from: &dyn Backend,
    arguments: &ReviewArguments,
    damaged: &mut Damaged,
) -> Result<Vec<Vec<Interrupt>>, Failure> {
    let mut filter = Filter {
        states: vec![State::AwaitingReview],
        ..Filter::default()
    };
    if let Some(run) = &arguments.run {
        filter.run = Some(find_run(from, run).await?.id);
    }
    let open = listing::readable_interrupts(from, &filter, damaged).await?;
    let batches = policy::of_environment()?.arrange(&open);
    Ok(batches
        .into_iter()
        .map(|batch| batch.interrupts.into_iter().cloned().collect())
        .collect())
}

async fn list_all(
    backend: &dyn Backend,
    arguments: &ReviewArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    let mut damaged = Damaged::default();
    let open = open(backend, arguments, &mut damaged).await?;
    let text = if arguments.json {
        let numbered = (1_u64..).zip(&open);
        numbered
            .flat_map(|(number, batch)| {
                let shared = (batch.len() > 1).then_some(number);
                batch.iter().map(move |it| json_line(&in_batch(it, shared)))
            })
            .collect()
    } else {
        list::text(&open, Palette::for_stream(&io::stdout(), global.no_color))
    };
    print(&text)?;
    Ok(damaged.end()?)
}

/// An interrupt, and what the reviewing model would have decided, if it was not sure enough.
fn with_suggestion(interrupt: &Interrupt, suggestion: Option<&Suggestion>) -> Value {
    let mut view = view::interrupt(interrupt);
    if let (Some(fields), Some(suggestion)) = (view.as_object_mut(), suggestion) {
        fields.insert("suggestion".to_owned(), serde_json::json!(suggestion));
    }
    view
}

/// An interrupt, and the number of the batch in which it is shown, if that has more than one.
fn in_batch(interrupt: &Interrupt, number: Option<u64>) -> Value {
    let mut view = view::interrupt(interrupt);
    if let (Some(fields), Some(number)) = (view.as_object_mut(), number) {
        fields.insert("batch".to_owned(), number.into());
    }
    view
}

/// Whether there is a question and a person to ask.
fn may_ask(interrupt: &Interrupt, arguments: &ReviewArguments) -> bool {
    let is_open = interrupt.state == State::AwaitingReview;
    let is_talked = io::stdin().is_terminal() && io::stderr().is_terminal();
    is_open && is_talked && !arguments.no_input && !arguments.json
}

/// Asks about each, and decides all of them when the last one is answered. If the person leaves in between, those that were
/// answered are decided.
async fn converse(
    backend: &dyn Backend,
    interrupts: &[Interrupt],
    alone: Alone,
    palette: Palette,
    arguments: &ReviewArguments,
) -> anyhow::Result<Exit> {
    let mut answers = Vec::new();
    for interrupt in interrupts {
        let chosen = match of_plan::paused_run(backend, interrupt).await? {
            Some(run) => of_plan::converse(backend, &run, interrupt, alone, palette).await?,
            None => {
                let reply = chosen::of_person(interrupt, alone, (&StandardInput, None))?;
                reply.given().map(|chosen| (interrupt.clone(), chosen))
            }
        };
        let Some(chosen) = chosen else {
            print(&format!("{} stays open.\n", interrupt.id))?;
            break;
        };
        answers.push(chosen);
    }
    for (interrupt, chosen) in answers {
        let decided = decide(backend, &interrupt, chosen, arguments.if_version, None).await?;
        told_decided(backend, &decided, arguments).await?;
    }
    Ok(Exit::Success)
}

/// Shows what a decision would do to the steps of a plan.
async fn show_change(
    backend: &dyn Backend,
    interrupt: &Interrupt,
    chosen: &DecisionParts,
    arguments: &ReviewArguments,
    global: Global,
) -> anyhow::Result<()> {
    let checked = checked(backend, interrupt, chosen).await?;
    if let Some((preview, _bound)) = checked
        && !arguments.json
    {
        let palette = Palette::for_stream(&io::stdout(), global.no_color);
        print(&preview_text(&preview, palette))?;
    }
    Ok(())
}

/// Says what was decided, and who continues the run.
async fn told_decided(
    backend: &dyn Backend,
    decided: &Interrupt,
    arguments: &ReviewArguments,
) -> anyhow::Result<Exit> {
    let text = if arguments.json {
        json_line(&view::interrupt(decided))
    } else {
        let after = Aftermath::of(backend, decided).await?;
        deciding::decided_text(backend, decided, &after)
    };
    print(&text)?;
    Ok(Exit::Success)
}
