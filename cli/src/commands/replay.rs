//! `irq replay`: what happened in a run, step by step, from its journal and the audit. Nothing runs.

use std::io;

use agents::run::RunOrder;
use control::AskAudit;
use interrupt_router::NodeId;
use interrupts::store::{JournalEntry, Pages, Repeating, Run};
use jiff::Timestamp;
use journal::Workflow;
use journal::tool::StoredCall;
use planning::{Fact, facts_in};
use serde_json::{Value, json};

use super::print;
use crate::address::{agent_in, find_run};
use crate::arguments::{Global, ReplayArguments, StoreArguments};
use crate::audited::AuditLine;
use crate::backend::{self, Backend};
use crate::exit::{Exit, Failure, causes};
use crate::layout::cut;
use crate::listing;
use crate::palette::{Palette, Tone};
use crate::progress::Progress;
use crate::storage::complete;
use crate::time::instant;
use crate::view::{self, in_words, json_line, kept_json};
use crate::visible::visible_line;

/// How much of a result a line shows.
const WIDEST_RESULT: usize = 100;

/// One thing that happened.
struct ReplayEvent {
    at: Timestamp,
    tone: Tone,
    /// The agent, if it belongs to one.
    node: Option<NodeId>,
    text: String,
    record: Value,
}

/// Prints what happened in a run.
///
/// # Errors
///
/// If there is no such run, or the store cannot be read.
pub(crate) fn replay(
    arguments: &ReplayArguments,
    store: &StoreArguments,
    global: Global,
) -> anyhow::Result<Exit> {
    complete(async {
        let backend = backend::open(store).await?;
        let run = find_run(&*backend, &arguments.run).await?;
        if arguments.summary {
            let progress = Progress::of(&*backend, run).await?;
            let text = progress.map(|progress| {
                if arguments.json {
                    json_line(&progress.as_json())
                } else {
                    progress.text()
                }
            });
            print(&text.unwrap_or_default())?;
            return Ok(Exit::Success);
        }
        let agent = match &arguments.agent {
            Some(agent) => Some(agent_of(&*backend, &run, agent).await?),
            None => None,
        };
        let mut moments = moments(&*backend, &run).await?;
        if let Some(agent) = &agent {
            moments.retain(|moment| {
                let node = moment.node.as_ref();
                node.is_some_and(|node| node.is_within(agent))
            });
        }
        let text = if arguments.json {
            moments
                .iter()
                .map(|moment| json_line(&moment.record))
                .collect()
        } else {
            let palette = Palette::for_stream(&io::stdout(), global.no_color);
            text(&run, &moments, palette)
        };
        print(&text)?;
        Ok(Exit::Success)
    })
}

/// An agent of the run, by its id or its full address.
async fn agent_of(from: &dyn Backend, run: &Run, text: &str) -> Result<NodeId, Failure> {
    let prefix = format!("{}/", run.id);
    let name = text.strip_prefix(&prefix).unwrap_or(text);
    let (_run, row) = agent_in(from, run.clone(), name).await?;
    Ok(row.node)
}

async fn moments(from: &dyn Backend, run: &Run) -> Result<Vec<ReplayEvent>, Failure> {
    let journal = listing::journal(from, run.id).await?;
    let messages = listing::messages(from, run.id).await?;
    let mut moments = of_audit(from, run).await?;
    for entry in &journal {
        moments.push(begun(entry, run.state.is_final()));
        moments.extend(finished(entry));
    }
    for stored in messages {
        moments.push(ReplayEvent {
            at: stored.at,
            tone: Tone::Active,
            node: Some(stored.message.node.clone()),
            text: format!(
                "message from {}: {}",
                visible_line(stored.message.from.name.as_str()),
                visible_line(&stored.message.text)
            ),
            record: json!({
                "at": stored.at,
                "what": "message",
                "agent_id": stored.message.node,
                "from": stored.message.from,
                "text": stored.message.text,
            }),
        });
    }
    moments.extend(of_plan(from, run).await?);
    // Events of the same time keep the order in which they were written.
    moments.sort_by_key(|moment| moment.at);
    Ok(moments)
}

/// What the observer of a plan saw, as its checkpoints record it.
async fn of_plan(from: &dyn Backend, run: &Run) -> Result<Vec<ReplayEvent>, Failure> {
    let is_plan = RunOrder::from_content(&run.content)
        .is_ok_and(|order| order.workflow == Workflow::PlanExecute);
    if !is_plan {
        return Ok(Vec::new());
    }
    let checkpoints = listing::checkpoints(from, run.id).await?;
    let facts =
        facts_in(&checkpoints).map_err(|error| Failure::new(Exit::Failure, causes(&error)))?;
    let moment = |fact: Fact| {
        let mut record = json!({"at": fact.time, "what": "plan"});
        if let (Value::Object(record), Ok(Value::Object(told))) =
            (&mut record, serde_json::to_value(&fact))
        {
            record.extend(told.into_iter().filter(|(name, _)| name != "time"));
        }
        ReplayEvent {
            at: fact.time,
            tone: Tone::Route,
            node: None,
            text: crate::report::plan_words(&fact),
            record,
        }
    };
    Ok(facts.into_iter().map(moment).collect())
}

async fn of_audit(from: &dyn Backend, run: &Run) -> Result<Vec<ReplayEvent>, Failure> {
    let id = run.id.to_string();
    let nodes = interrupt_nodes(from, run).await?;
    let mut moments = Vec::new();
    let mut pages = Pages::of(listing::PAGE);
    while let Some(rows) = pages.next(|page| from.ask(AskAudit { page })).await? {
        for told in rows.iter().map(AuditLine::of) {
            let is_message = told.what == "message";
            // Messages are shown with their text.
            if told.run.as_deref() == Some(&id) && !is_message {
                moments.extend(audited(told, &nodes));
            }
        }
    }
    Ok(moments)
}

/// The agent of each interrupt of the run, by the interrupt's id.
async fn interrupt_nodes(
    from: &dyn Backend,
    run: &Run,
) -> Result<std::collections::HashMap<String, NodeId>, Failure> {
    let filter = interrupts::store::Filter {
        run: Some(run.id),
        ..Default::default()
    };
    let all = listing::interrupts(from, &filter).await?;
    Ok(all
        .into_iter()
        .map(|interrupt| (interrupt.id.to_string(), interrupt.node))
        .collect())
}

fn audited(
    told: AuditLine,
    nodes: &std::collections::HashMap<String, NodeId>,
) -> Option<ReplayEvent> {
    let at = told.at?;
    let subject = visible_line(&told.subject);
    let is_run = told.run.as_deref() == Some(told.subject.as_str());
    let mut text = if is_run {
        visible_line(&told.what)
    } else {
        format!("{subject} {}", visible_line(&told.what))
    };
    if told.who.is_some() {
        text.push_str(&format!(" by {}", visible_line(told.by())));
    }
    if let Some(detail) = &told.detail {
        text.push_str(&format!(" · {}", visible_line(detail)));
    }
    let mut record = json!({"at": at, "what": "audit", "position": told.position});
    if let (Some(record), Value::Object(entry)) = (record.as_object_mut(), told.entry) {
        record.insert("entry".to_owned(), Value::Object(entry));
    }
    Some(ReplayEvent {
        at,
        tone: if is_run { Tone::Strong } else { Tone::Waiting },
        node: nodes.get(&told.subject).cloned(),
        text,
        record,
    })
}

fn begun(entry: &JournalEntry, has_ended: bool) -> ReplayEvent {
    let intent = &entry.intent;
    let content = kept_json(&intent.content);
    let mut text = match StoredCall::of(entry) {
        Some(StoredCall {
            has_run: false,
            end: Some(_),
            ..
        }) => "asks for a call that never starts".to_owned(),
        _ => match intent.kind.as_str() {
            "model_call" => "asks its model".to_owned(),
            "tool_call" => "calls a tool".to_owned(),
            "model_attempt" => "its call ends early".to_owned(),
            "work" => "a process begins to work".to_owned(),
            other => format!("{} begins", visible_line(other)),
        },
    };
    if let Some(purpose) = content.get("purpose").and_then(Value::as_str) {
        text.push_str(&format!(": {}", visible_line(purpose)));
    }
    if let Some((tool, arguments)) = tool_call(&content) {
        text.push_str(&format!(
            ": {} {}",
            visible_line(tool),
            visible_line(&arguments)
        ));
    }
    // The work of a process that died is read from its other records; none of it is repeated.
    if entry.result.is_none() && intent.kind.as_str() != "work" {
        text.push_str(match intent.repeating {
            _ if has_ended => " · no result: its run has ended",
            Repeating::Idempotent => " · no result: it would be done again",
            Repeating::AskPerson => " · no result: a person would be asked",
        });
    }
    ReplayEvent {
        at: entry.begun_at,
        tone: Tone::Plain,
        node: Some(intent.node.clone()),
        text,
        record: json!({
            "at": entry.begun_at,
            "what": "effect_begun",
            "kind": intent.kind,
            "agent_id": intent.node,
            "effect": intent.effect,
            "place": intent.place,
            "content": content,
        }),
    }
}

fn finished(entry: &JournalEntry) -> Option<ReplayEvent> {
    let result = entry.result.as_ref()?;
    let intent = &entry.intent;
    let content = kept_json(&result.content);
    Some(ReplayEvent {
        at: result.at,
        tone: Tone::Plain,
        node: Some(intent.node.clone()),
        text: format!(
            "{}: {}",
            match intent.kind.as_str() {
                "model_call" => "its model answers".to_owned(),
                "tool_call" => "of its call".to_owned(),
                "model_attempt" => "what had arrived".to_owned(),
                "work" => "the process ends its work".to_owned(),
                other => format!("{} ends", visible_line(other)),
            },
            cut(&visible_line(&gist(&content)), WIDEST_RESULT)
        ),
        record: json!({
            "at": result.at,
            "what": "effect_finished",
            "kind": intent.kind,
            "agent_id": intent.node,
            "effect": intent.effect,
            "place": intent.place,
            "took_ms": result.at.duration_since(entry.begun_at).as_millis().max(0) as u64,
            "content": content,
        }),
    })
}

/// The tool and the arguments of a tool call, if it is one.
fn tool_call(content: &Value) -> Option<(&str, String)> {
    let call = content.get("call")?;
    let given = call.get("arguments").and_then(Value::as_str);
    let arguments = match content.get("arguments") {
        Some(arguments) => in_words(arguments),
        None => given.unwrap_or_default().to_owned(),
    };
    Some((call.get("tool")?.as_str()?, arguments))
}

/// The part of a result that says most: its text if it has one; of a tool call, its outcome.
fn gist(content: &Value) -> String {
    if let Ok(message) = serde_json::from_value::<tools::ToolMessage>(content.clone()) {
        return format!("{}: {}", message.end.word(), message.text());
    }
    let text = ["text", "reply", "target", "summary"]
        .into_iter()
        .find_map(|name| content.get(name).and_then(Value::as_str))
        .filter(|text| !text.is_empty());
    match text.map(serde_json::from_str::<Value>) {
        // A model's answer is one object.
        Some(Ok(answer @ Value::Object(_))) => in_words(&answer),
        Some(Ok(_) | Err(_)) => text.unwrap_or_default().to_owned(),
        None => in_words(content),
    }
}

fn text(run: &Run, moments: &[ReplayEvent], palette: Palette) -> String {
    let mut text = format!(
        "{} was created {}, and is {}.\n",
        run.id,
        instant(run.created_at),
        run.state
    );
    if let Some(goal) = view::goal(run) {
        text.push_str(&format!("“{}”\n", visible_line(&goal)));
    }
    text.push('\n');
    for moment in moments {
        let since = moment.at.duration_since(run.created_at);
        let since = format!("{}.{:03}s", since.as_secs(), since.subsec_millis().abs());
        let node = moment
            .node
            .as_ref()
            .map(|node| format!("{}  ", palette.paint(Tone::Route, node.as_str())))
            .unwrap_or_default();
        text.push_str(&format!(
            "{since:>10}  {node}{}\n",
            palette.paint(moment.tone, &moment.text)
        ));
    }
    if let Some(from) = run.forked_from {
        text.push_str(&format!(
            "\nIt goes on from {} at checkpoint {}: what it took over stands there.\n",
            from.run, from.number
        ));
    }
    text
}
