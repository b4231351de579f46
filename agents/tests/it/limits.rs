//! Providers take what they are given.

use agents::catalogue::{SchemaQuery, schema};
use agents::plan_execute::{ExecutorRouting, PlannerRouting, ReplannerRouting};
use agents::records::*;
use interrupt_router::Routing;
use interrupt_router::schema::{Dialect, check_limits};

use crate::rows::rows;

#[test]
fn every_schema_that_a_model_is_shown_keeps_its_providers_limits() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for dialect in Dialect::ALL {
        for row in rows(dialect).iter().filter(|row| row.shown) {
            checked += 1;
            for violation in check_limits(row.schema()) {
                broken.push(format!("{} {}: {violation}", row.record.name, row.name));
            }
        }
    }
    // 14 narrowed routes, 14 records without return routes, 4 + 4 + 13 callers, and the review.
    assert_eq!(checked, 5 * (14 + 14 + 21 + 1));
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Why there is narrowing: all fourteen routes at once are more than a provider takes.
#[test]
fn the_full_answer_to_an_interrupt_breaks_a_providers_limit() {
    let broken: Vec<String> = Dialect::ALL
        .into_iter()
        .flat_map(|dialect| {
            check_limits(schema("InterruptRouting", &SchemaQuery::new(dialect)).unwrap())
        })
        .map(|violation| violation.to_string())
        .collect();
    assert_eq!(
        broken,
        ["anthropic: optional parameters in all: 26 at #, at most 24"]
    );
}

/// Answers are validated a second time only where types cannot keep a rule; ours can.
#[test]
fn no_schema_needs_more_than_its_types() {
    for dialect in Dialect::ALL {
        for row in rows(dialect) {
            assert!(
                !row.schema().has_constraints(),
                "{} {}",
                row.record.name,
                row.name
            );
        }
    }
}

#[test]
fn every_record_allows_what_its_reader_takes_and_what_providers_take() {
    let records = [
        InterruptRouting::check,
        OrchestratorRouting::check,
        OrchestratorCollectorRouting::check,
        DiscoveryOrchestratorRouting::check,
        DiscoveryDispatchRouting::check,
        DiscoveryAgentRouting::check,
        DiscoveryCollectorRouting::check,
        PlanningOrchestratorRouting::check,
        PlanningDispatchRouting::check,
        PlanningAgentRouting::check,
        PlanningCollectorRouting::check,
        TicketOrchestratorRouting::check,
        TicketDispatchRouting::check,
        TicketAgentRouting::check,
        TicketCollectorRouting::check,
        ReviewRouting::check,
        MergerRouting::check,
        ContextManagerResultRouting::check,
        PlannerRouting::check,
        ExecutorRouting::check,
        ReplannerRouting::check,
    ];
    for check in records {
        check().unwrap();
    }
}
