//! The commands on a run of an orchestrator of somebody else, one of whose kinds is called as one of ours.

use interrupt_router::NodeId;
use interrupts::catalogue::{Catalogue, SharedCatalogue};
use interrupts::life::{Admission, Interrupt};
use interrupts::store::{Catalogues, NodeActivity, Nodes, Run};
use interrupts::{KindName, RouteName};
use serde_json::{Value, json};

use crate::program::Ended;
use crate::seed::{Seed, node, question};
use crate::served::Served;

/// A desk whose requests have pages, and those to lawyers a paragraph.
fn desk() -> Catalogue {
    let route = |name: &str, field: &str, property: &str| {
        json!({
            "name": name, "field": field, "request": "Matter",
            "schema": {
                "type": "object", "required": [field], "additionalProperties": false,
                "properties": {(field): {"type": "object", "required": [property],
                    "additionalProperties": false, "properties": {(property): {"type": "integer"}}}},
            },
        })
    };
    let catalogue = json!({
        "name": "desk", "record": "DeskRouting",
        "kinds": [{"name": "ORCHESTRATOR", "origin": "ORCHESTRATOR", "asks": ["HUMAN_REVIEW"]}],
        "routes": [route("ORCHESTRATOR", "orchestrator", "pages"), route("LEGAL", "legal", "paragraph")],
    });
    serde_json::from_value(catalogue).unwrap()
}

fn route(text: &str) -> RouteName {
    RouteName::new(text).unwrap()
}

/// A run of the desk, whose first agent asks.
fn asking(seed: &Seed) -> (Run, Interrupt) {
    let run = seed.run();
    let catalogue = SharedCatalogue::new(desk());
    seed.wait(async {
        let followed = seed
            .store
            .follow_catalogue(run.id, run.epoch, catalogue, None);
        followed.await.unwrap();
        let rows = vec![node(&run, "desk", "ORCHESTRATOR", NodeActivity::Running)];
        seed.store.put_nodes(run.id, run.epoch, rows).await.unwrap();
    });
    let asked = seed.raised(Admission {
        node: NodeId::new("desk").unwrap(),
        kind: KindName::new("ORCHESTRATOR").unwrap(),
        origin: route("ORCHESTRATOR"),
        routes: vec![route("ORCHESTRATOR"), route("LEGAL")],
        ..question(&run)
    });
    (run, asked)
}

/// Beside the store, and through a server over another one in which the same has happened.
fn each_way(check: impl Fn(&Seed, &Run, &Interrupt, &dyn Fn(&[&str]) -> Ended)) {
    let seed = Seed::new();
    let (run, asked) = asking(&seed);
    check(&seed, &run, &asked, &|arguments| seed.end(arguments));
    let seed = Seed::new();
    let (run, asked) = asking(&seed);
    let served = Served::over(&seed.path());
    check(&seed, &run, &asked, &|arguments| served.end(arguments));
}

#[test]
fn an_answer_goes_to_a_route_of_the_catalogue_and_to_no_other() {
    each_way(|seed, _run, asked, irq| {
        let id = asked.id.to_string();
        let ours = irq(&["reroute", &id, "--to", "ticket-orchestrator"]);
        assert!(
            ours.exits_with(2)
                .error_output
                .contains("known are: ORCHESTRATOR, LEGAL")
        );
        irq(&["reroute", &id, "--to", "legal"]).exits_with(0);
        let decided = seed.interrupt(asked.id).decision.unwrap();
        assert_eq!(decided.target, route("LEGAL"));
    });
}

#[test]
fn an_agent_is_asked_to_send_its_answer_to_a_route_of_the_catalogue() {
    each_way(|seed, run, _asked, irq| {
        let agent = format!("{}/desk", run.id);
        let ours = irq(&["reroute", &agent, "--to", "DISCOVERY_ORCHESTRATOR"]);
        assert!(
            ours.exits_with(2)
                .error_output
                .contains("known are: ORCHESTRATOR, LEGAL")
        );
        let asked = irq(&["reroute", &agent, "--to", "LEGAL", "--json"]).exits_with(0);
        let asked: Value = serde_json::from_str(&asked.output).unwrap();
        let id = asked["id"].as_str().unwrap().parse().unwrap();
        let row = seed.interrupt(id);
        assert_eq!(row.catalogue, Some(desk().digest()));
        assert_eq!(row.routes, [route("ORCHESTRATOR"), route("LEGAL")]);
        let event: Value = serde_json::from_str(&row.content).unwrap();
        assert_eq!(event["rerouteToAgentType"], "LEGAL");
    });
}

#[test]
fn an_edited_request_is_checked_by_the_schema_of_the_catalogue() {
    each_way(|seed, _run, asked, irq| {
        let id = asked.id.to_string();
        let edit =
            |payload: &str| irq(&["review", &id, "--decision", "edit", "--payload", payload]);
        let refused = edit(r#"{"editedRequest": {"pages": "many"}}"#);
        assert_ne!(refused.code, Some(0));
        assert!(
            refused.error_output.contains("pages"),
            "{}",
            refused.error_output
        );
        edit(r#"{"editedRequest": {"pages": 3}}"#).exits_with(0);
        let decided = seed.interrupt(asked.id).decision.unwrap();
        assert!(decided.content.unwrap().contains(r#""pages":3"#));
    });
}

#[test]
fn only_the_program_that_has_the_workflow_is_said_to_go_on_with_its_run() {
    let seed = Seed::new();
    for workflow in ["desk", "agents"] {
        let run = seed.run_of(&json!({"version": 4, "goal": "A cup", "workflow": workflow}));
        let asked = seed.question(&run);
        seed.abandon(&run);
        let way = match workflow {
            "desk" => "with: the program that has the workflow `desk`\n".to_owned(),
            _ => format!(
                "with: irq resume --store {} {}\n",
                seed.path().display(),
                run.id
            ),
        };
        let id = asked.id.to_string();
        let decided = seed.end(&["review", &id, "--decision", "approve", "--choose", "left"]);
        let told = decided.exits_with(0).output;
        assert!(told.contains(&way), "{told}");
    }
}
