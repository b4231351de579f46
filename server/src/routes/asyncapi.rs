//! The description of the bus by AsyncAPI 3.0, made of the same lists as the feed and the commands.

use serde_json::{Map, Value, json};

use super::cloud_events::subjects;
use super::openapi;
use crate::events::{TOLD, event_type};

/// The type of events in their structured mode.
const MEDIA_TYPE: &str = "application/cloudevents+json";
/// What is taken over from the description of the interface, with all that these schemas refer to.
const SCHEMAS: [&str; 4] = ["CloudEventBody", "EventResults", "EventResult", "Problem"];

/// The description of the events and commands on the bus, as it is served at `/asyncapi.json`.
pub fn asyncapi() -> Value {
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Interrupt Router",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What Interrupt Router tells over NATS, and the commands that it takes there. All are CloudEvents.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": MEDIA_TYPE,
        "servers": {
            "nats": {
                "host": "localhost:4222",
                "protocol": "nats",
                "description": "The broker of `irq serve --bus`. Events are in its JetStream stream `IRQ_EVENTS`.",
            },
        },
        "channels": channels(),
        "operations": operations(),
        "components": {"messages": messages(), "schemas": schemas()},
    })
}

fn channels() -> Value {
    let mut channels = Map::new();
    let told = TOLD.iter().map(|(name, _)| (*name).to_owned());
    channels.insert(
        "events".to_owned(),
        json!({
            "address": "irq.v1.{tenant}.{run_id}.{agent_id}.{noun}.{verb}",
            "title": "What happens",
            "parameters": {
                "tenant": {"description": "The tenant of the server, `local` where none is named."},
                "run_id": {"description": "The run, or `-` where it is about none."},
                "agent_id": {"description": "The agent's id in its run, or `-` where it is about none."},
                "noun": {"description": "The first part of the event's name."},
                "verb": {"description": "The second part of the event's name."},
            },
            "messages": told.map(|name| (name.clone(), reference("messages", &name))).collect::<Map<_, _>>(),
        }),
    );
    for (verb, _types) in subjects() {
        channels.insert(
            format!("command.{verb}"),
            json!({
                "address": format!("irq.v1.{{tenant}}.cmd.{verb}"),
                "title": format!("Commands to {verb}"),
                "parameters": {"tenant": {"description": "The tenant of the server."}},
                "messages": {"command": reference("messages", &format!("command.{verb}"))},
            }),
        );
    }
    channels.insert(
        "answers".to_owned(),
        json!({
            "address": null,
            "title": "The reply subject of a command",
            "messages": {
                "accepted": reference("messages", "accepted"),
                "problem": reference("messages", "problem"),
            },
        }),
    );
    channels.into()
}

fn operations() -> Value {
    let mut operations = Map::new();
    let tell = json!({
        "action": "send",
        "channel": {"$ref": "#/channels/events"},
        "summary": "Each event is told at least once and in order; the broker drops the ones that come again.",
    });
    operations.insert("tell".to_owned(), tell);
    for (verb, _types) in subjects() {
        operations.insert(
            format!("take.{verb}"),
            json!({
                "action": "receive",
                "channel": {"$ref": format!("#/channels/command.{verb}")},
                "summary": "The servers of a store share the commands; one that comes again is the same one.",
                "reply": {
                    "address": {
                        "location": "$message.header#/reply",
                        "description": "The reply subject of the NATS message.",
                    },
                    "channel": {"$ref": "#/channels/answers"},
                },
            }),
        );
    }
    operations.into()
}

fn messages() -> Value {
    let mut messages = Map::new();
    for (name, meaning) in TOLD {
        messages.insert(
            name.to_owned(),
            json!({
                "name": event_type(name),
                "summary": meaning,
                "contentType": MEDIA_TYPE,
                "payload": {"allOf": [
                    reference("schemas", "CloudEvent"),
                    {"type": "object", "properties": {"type": {"const": event_type(name)}}},
                ]},
            }),
        );
    }
    for (verb, types) in subjects() {
        messages.insert(
            format!("command.{verb}"),
            json!({
                "summary": "`data` has what the request of REST has in its body, and the id that it has in its address.",
                "contentType": MEDIA_TYPE,
                "headers": {
                    "type": "object",
                    "required": ["Authorization"],
                    "properties": {
                        "Authorization": {"type": "string", "description": "`Bearer` and a token of `irq token create`."},
                        "Content-Type": {"type": "string"},
                    },
                },
                "payload": {"allOf": [
                    reference("schemas", "CloudEventBody"),
                    {"type": "object", "properties": {"type": {"enum": types}}},
                ]},
            }),
        );
    }
    messages.insert(
        "accepted".to_owned(),
        answer("application/json", "EventResults"),
    );
    messages.insert(
        "problem".to_owned(),
        answer("application/problem+json", "Problem"),
    );
    messages.into()
}

fn answer(media_type: &str, schema: &str) -> Value {
    json!({"contentType": media_type, "payload": reference("schemas", schema)})
}

fn schemas() -> Value {
    let api = openapi();
    let taken = SCHEMAS.map(|name| (name.to_owned(), api["components"]["schemas"][name].clone()));
    let mut schemas: Map<String, Value> = taken.into_iter().collect();
    schemas.insert(
        "CloudEvent".to_owned(),
        json!({
            "type": "object",
            "description": "An event of the feed, the same as of `GET /v1/events`.",
            "required": ["specversion", "id", "source", "type", "time", "datacontenttype", "sequence", "data"],
            "properties": {
                "specversion": {"const": "1.0"},
                "id": {"type": "string"},
                "source": {"type": "string"},
                "type": {"type": "string"},
                "subject": {"type": "string"},
                "time": {"type": "string", "format": "date-time"},
                "datacontenttype": {"const": "application/json"},
                "sequence": {"type": "string", "description": "Its place among all events of the store."},
                "data": {"type": "object"},
            },
        }),
    );
    schemas.into()
}

/// A reference to a component. A name in a pointer has no `/` here, so nothing is escaped.
fn reference(kind: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{kind}/{name}")})
}
