//! What orders have on the wire, for the document.
//!
//! A schema and nothing else: `control` defines each order itself.

use serde_json::Value;
use utoipa::ToSchema;

use super::named::{ModeName, ScopeName, TypeName};

macro_rules! schemas {
    ($(#[doc = $doc:literal] $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* })*) => {$(
        #[doc = $doc]
        #[derive(Default, ToSchema)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct $name { $($(#[$about])* $field: $type,)* }
    )*};
}

schemas! {
    /// An interrupt that shall be requested.
    InterruptBody {
        /// What it does; without it the run is paused.
        r#type: TypeName,
        /// How to stop.
        mode: ModeName,
        /// How far it reaches.
        scope: ScopeName,
        /// Why, in words.
        reason: String,
        /// Words beside the reason.
        message: Option<String>,
        /// After how many milliseconds a graceful stop becomes immediate.
        #[schema(minimum = 1, maximum = 2147483647)]
        deadline_ms: Option<u32>,
        /// Whatever shall be kept with it.
        #[schema(value_type = Option<Object>)]
        #[expect(dead_code, reason = "only describes the JSON")]
        metadata: Option<Value>,
    }
    /// How a run shall be ended.
    CancelBody {
        /// How to stop.
        mode: ModeName,
        /// Why.
        reason: String,
    }
    /// How a run shall go on.
    ResumeBody {
        /// From the checkpoint with this number, as a run of its own; where it stands otherwise.
        checkpoint: Option<u64>,
        /// New input.
        #[schema(min_length = 1)]
        input: Option<String>,
        /// Accept an incompatible version of its workflow: open questions with changed schemas are asked again. Not together
        /// with a checkpoint.
        accept_catalogue: bool,
        /// With a checkpoint alone: go on without answers, messages and reroutes that the run has not carried out.
        drop_pending: bool,
    }
}

#[cfg(test)]
mod tests {
    use control::{CancelOrder, ResumeOrder, StopOrder};
    use serde::de::DeserializeOwned;
    use utoipa::PartialSchema;

    use super::{CancelBody, InterruptBody, ResumeBody};

    /// Reads an object with the members of a schema and one unknown: all but that one have to be known.
    fn check<Order: DeserializeOwned, Schema: PartialSchema>() {
        let schema = serde_json::to_value(Schema::schema()).unwrap();
        let described = schema["properties"].as_object().unwrap().keys();
        let mut described: Vec<&str> = described.map(String::as_str).collect();
        let unknown = serde_json::from_str::<Order>(r#"{"?": 1}"#).err();
        let unknown = unknown.expect("an unknown member is refused").to_string();
        let (_, read) = unknown.split_once("expected").unwrap();
        let mut read: Vec<&str> = read.split('`').skip(1).step_by(2).collect();
        described.sort_unstable();
        read.sort_unstable();
        assert_eq!(described, read);
    }

    #[test]
    fn the_document_describes_what_orders_read() {
        check::<StopOrder, InterruptBody>();
        check::<CancelOrder, CancelBody>();
        check::<ResumeOrder, ResumeBody>();
    }
}
