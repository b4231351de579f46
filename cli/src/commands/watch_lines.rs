//! `irq watch` in lines: the events of a server, for people who want no screens, and for programs.

use std::io::{self, Write};

use client::{Feed, FeedItem};

use super::run::there::FeedEntry;
use crate::address::find_run;
use crate::arguments::{Global, StoreArguments, WatchArguments};
use crate::backend::{Remote, ServerLocation, Whereabouts, client_at};
use crate::exit::{Exit, Failure};
use crate::palette::Palette;
use crate::report::Detail;
use crate::storage::complete;
use crate::visible::visible_json;

/// Writes events as they come: of one run until it has ended, of all until the process ends.
///
/// # Errors
///
/// If no server is named, or it stays unreachable.
pub(crate) fn watch_lines(
    arguments: &WatchArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    match Whereabouts::of(store)? {
        Whereabouts::Server(place) => complete(follow(arguments, &place, global)),
        Whereabouts::Store => Err(Failure::new(Exit::Usage, "lines are told by a server")
            .hint("name it with --server, or start one: irq serve; `irq run --json` tells of its own run")
            .into()),
    }
}

async fn follow(
    arguments: &WatchArguments,
    place: &ServerLocation,
    global: Global,
) -> anyhow::Result<Exit> {
    let client = client_at(place)?;
    let now = client.whoami().await?.seq;
    let run = match &arguments.run {
        Some(run) => Some(find_run(&Remote::over(client.clone()), run).await?.id),
        None => None,
    };
    let after = arguments.after.map_or(now, |after| format!("{after:016}"));
    let mut feed = Feed::of(client, run, after);
    let palette = Palette::for_stream(&io::stdout(), global.no_color);
    let detail = match (global.quiet, global.verbose) {
        (true, _) => Detail::Little,
        (false, 0) => Detail::Usual,
        (false, _) => Detail::Much,
    };
    let mut output = io::stdout().lock();
    loop {
        let line = match feed.next().await? {
            FeedItem::Event(told) if arguments.json => Some(visible_json(&told.json)),
            FeedItem::Event(told) => {
                FeedEntry::read(&told.json).and_then(|event| event.line(detail, palette))
            }
            FeedItem::End => return Ok(Exit::Success),
            FeedItem::Away | FeedItem::Back if arguments.json => None,
            FeedItem::Away => Some("The server is away; it is looked for.".to_owned()),
            FeedItem::Back => Some("The server is back.".to_owned()),
        };
        if let Some(line) = line {
            writeln!(output, "{line}")?;
            // Each line is complete when it is read, so that the reader can answer it.
            output.flush()?;
        }
    }
}
