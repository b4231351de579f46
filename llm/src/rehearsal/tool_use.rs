//! The tools that the rehearsal asks for: few, always the same ones, and each for a reason that it was given.
//!
//! A discovery agent looks at its part of the folder before it answers. A working agent runs what the goal names
//! between backquotes: a command, or a tool with its arguments. Nothing else is ever run.

use routing_core::model::{Message, ModelCall, ModelCaller, Role, ToolOffer, ToolRequest};
use serde_json::{Value, json};

use super::facts::Facts;

/// The types of agents that look before they answer.
const DISCOVERS: &str = "DISCOVERY_AGENT";

/// The types of agents that do what the goal names.
const WORKS: [&str; 2] = ["TICKET_AGENT", "EXECUTOR"];

/// What a look searches for.
const UNFINISHED: &str = "TODO|FIXME";

/// How many of the files that were listed are read.
const MOST_READ: usize = 2;

/// What it asks for now; nothing where it answers.
pub(super) fn wanted(call: &ModelCall, facts: &Facts) -> Vec<ToolRequest> {
    let offers = Offers(&call.tools);
    if call.tools.is_empty() || call.caller.correction > 0 {
        return Vec::new();
    }
    let rounds = call.messages.iter();
    let rounds = rounds
        .filter(|message| !message.tool_requests.is_empty())
        .count();
    let is_first_turn = call.caller.turn == 1;
    let calls = match (call.caller.agent_type, rounds) {
        (DISCOVERS, 0) if is_first_turn => offers.look(facts),
        (DISCOVERS, 1) if is_first_turn => offers.read(&call.messages),
        (worker, 0) if WORKS.contains(&worker) && is_the_first(&call.caller) => {
            offers.named(&facts.goal)
        }
        _ => Vec::new(),
    };
    let numbered = calls.into_iter().enumerate();
    numbered
        .map(|(index, (tool, arguments))| {
            ToolRequest::new(
                format!("call_{rounds}_{index}"),
                tool,
                arguments.to_string(),
            )
        })
        .collect()
}

/// Whether it is the one of several workers that does what the goal names: once is enough. A plan's first step comes
/// right after the plan was made.
fn is_the_first(caller: &ModelCaller) -> bool {
    if caller.agent_type == "EXECUTOR" {
        return caller.turn == 2;
    }
    let own = caller.node.as_str().rsplit('/').next().unwrap_or_default();
    caller.turn == 1 && (own == "worker-1" || own.starts_with("launched-"))
}

struct Offers<'a>(&'a [ToolOffer]);

impl Offers<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|offer| offer.name == name)
    }

    fn if_there(&self, name: &str, arguments: Value) -> Option<(String, Value)> {
        self.has(name).then(|| (name.to_owned(), arguments))
    }

    /// A look at the agent's part of the folder.
    fn look(&self, facts: &Facts) -> Vec<(String, Value)> {
        let part = facts.labelled("your part").map(|part| {
            let name = part.rsplit_once(" (").map_or(part, |(name, _count)| name);
            name.to_owned()
        });
        let folder = part.filter(|part| facts.folders.contains(part) && !part.starts_with('('));
        let list = match folder {
            Some(folder) => json!({ "path": folder }),
            None => json!({ "depth": 2 }),
        };
        let search = json!({ "pattern": UNFINISHED });
        let list = self.if_there("list_files", list);
        list.into_iter()
            .chain(self.if_there("search_files", search))
            .collect()
    }

    /// The first of the files that were listed.
    fn read(&self, messages: &[Message]) -> Vec<(String, Value)> {
        let listed = messages.iter().find(|message| message.role == Role::Tool);
        let lines = listed.map(|message| message.text.lines());
        let files = lines.into_iter().flatten().filter(|line| {
            let is_path = line.contains('.') && !line.contains(' ') && !line.starts_with('[');
            is_path && !line.ends_with('/')
        });
        files
            .take(MOST_READ)
            .filter_map(|file| self.if_there("read_file", json!({ "path": file })))
            .collect()
    }

    /// What the goal names between backquotes.
    fn named(&self, goal: &str) -> Vec<(String, Value)> {
        let quoted = goal.split('`').skip(1).step_by(2);
        quoted
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .filter_map(|text| {
                let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
                let arguments = serde_json::from_str::<Value>(rest).ok();
                match arguments.filter(|arguments| arguments.is_object() && self.has(name)) {
                    Some(arguments) => Some((name.to_owned(), arguments)),
                    None => self.if_there("shell", json!({ "command": text })),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use routing_core::model::ToolOffer;
    use serde_json::json;

    use super::Offers;

    fn offers(names: &[&str]) -> Vec<ToolOffer> {
        let offers = names.iter().map(|name| ToolOffer {
            name: (*name).to_owned(),
            description: String::new(),
            arguments: json!({}),
        });
        offers.collect()
    }

    #[test]
    fn what_the_goal_names_between_backquotes_is_run_and_nothing_else() {
        let offers = offers(&["shell", "write_file"]);
        let named = Offers(&offers)
            .named("Run `make test` and `write_file {\"path\":\"a\",\"content\":\"b\"}` please");
        assert_eq!(
            named,
            [
                ("shell".to_owned(), json!({"command": "make test"})),
                (
                    "write_file".to_owned(),
                    json!({"path": "a", "content": "b"})
                ),
            ]
        );
        assert!(Offers(&offers).named("Describe this project").is_empty());
        assert!(Offers(&[]).named("Run `ls`").is_empty());
    }
}
