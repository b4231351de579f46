//! The live feed in the reference, which OpenAPI cannot describe.

use maud::{Markup, html};

use super::prose;
use crate::events::{TOLD, event_type};
use crate::feed::FrameType;
use crate::routes::accepted_types;

/// What the feed sends, and what it accepts.
pub(super) fn part() -> Markup {
    html! {
        h2 id="feed" { "The live feed" }
        p {
            "The same events come as server-sent events (" a href="#get_v1_events" { "GET /v1/events" } ") and over a WebSocket (" a href="#get_v1_ws" { "GET /v1/ws" }
            "). Each is a CloudEvent 1.0 in JSON. Its " code { "sequence" } " is its position, which is its " code { "id" } " too: whoever comes back says the last one that he has and misses nothing, with "
            code { "Last-Event-ID" } " or " code { "after_seq" } ". A client that cannot send headers buys a ticket (" a href="#post_v1_tickets" { "POST /v1/tickets" } ")."
        }
        h3 id="events" { "What is told" }
        p { "A filter by " code { "topics" } " has the names without " code { "dev.irq." } " and the version, such as " code { "interrupt.*" } "." }
        dl { @for (topic, meaning) in TOLD {
            dt { code { (event_type(topic)) } }
            dd { (prose(meaning)) }
        } }
        h3 id="events-in" { "CloudEvents that are accepted" }
        p { "By " a href="#post_v1_events" { "POST /v1/events" } ", each as the request that it stands for:" }
        ul { @for name in accepted_types() { li { code { (name) } } } }
        h3 id="frames" { "Frames that a socket accepts" }
        p { "A frame is an object with " code { "type" } ", " code { "id" } " where the reply shall repeat one, and " code { "payload" } ":" }
        dl { @for frame in FrameType::ALL {
            dt { code { (frame.name()) } }
            dd { (prose(frame.meaning())) }
        } }
    }
}
