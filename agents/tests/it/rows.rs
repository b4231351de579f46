//! Every schema that there is: a record, in a situation, in a dialect.

use agents::RouteType;
use agents::catalogue::{RecordInfo, RecordKind, SchemaQuery, records, schema};
use interrupt_router::RouteInfo;
use interrupt_router::schema::{AnswerSchema, Dialect};

/// A record in a situation.
pub(crate) struct Row {
    pub(crate) record: &'static RecordInfo,
    /// `full`, a field, or `returning-` and a field.
    pub(crate) name: String,
    /// Whether a model is ever shown it. Records that are narrowed first are never shown in full.
    pub(crate) shown: bool,
    pub(crate) query: SchemaQuery,
}

impl Row {
    pub(crate) fn schema(&self) -> &'static AnswerSchema {
        schema(self.record.name, &self.query).unwrap()
    }
}

/// Every row in a dialect.
pub(crate) fn rows(dialect: Dialect) -> Vec<Row> {
    records()
        .iter()
        .flat_map(|record| rows_of(record, dialect))
        .collect()
}

fn rows_of(record: &'static RecordInfo, dialect: Dialect) -> Vec<Row> {
    let is_narrowed = record.kind == RecordKind::InterruptAnswer;
    let mut rows = vec![Row {
        record,
        name: "full".to_owned(),
        shown: !is_narrowed && record.returns().next().is_none(),
        query: SchemaQuery::new(dialect),
    }];
    rows.extend(record.routes.iter().filter_map(|route| {
        let mut query = SchemaQuery::new(dialect);
        let name = if is_narrowed {
            query.reroute_to = Some(target(route));
            route.field.to_owned()
        } else if route.returns {
            query.caller = Some(target(route));
            format!("returning-{}", route.field)
        } else {
            return None;
        };
        Some(Row {
            record,
            name,
            shown: true,
            query,
        })
    }));
    rows
}

/// Where a route leads.
pub(crate) fn target(route: &RouteInfo) -> RouteType {
    route.agent_type.unwrap().parse().unwrap()
}
