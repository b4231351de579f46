//! Decorators: what a model is shown, by decision, reroute, origin and caller.

use interrupt_router::answer::read_within;
use interrupt_router::context::{
    Decorator as _, FilterPropertiesDecorator, LlmCallContext, RouteSnapshot, Selection,
};
use interrupt_router::model::{Dialect, Message, ModelCaller, Purpose};
use interrupt_router::{InterruptRoutes, Route, RouteSet, Routing, RunId};

use crate::domain::{
    AfterInterrupt, BackToPublisher, BackToWriter, Desk, EditorAsks, EditorRoute, EditorRouting,
    PublisherRoute, WriterRoute, node,
};

fn context<T: Routing>(snapshot: RouteSnapshot<T>) -> LlmCallContext<T> {
    let caller = ModelCaller {
        run: RunId::generate(),
        node: node("root/editor"),
        agent_type: "EDITOR",
        purpose: Purpose::Resolution,
        turn: 1,
        correction: 0,
    };
    let context = LlmCallContext::new(caller, vec![Message::user("Decide.")], snapshot);
    FilterPropertiesDecorator.decorate(context)
}

fn only(selection: Selection<AfterInterrupt>) -> Vec<&'static str> {
    selection.routes().fields()
}

#[test]
fn the_decision_wins_over_the_reroute_and_the_reroute_over_the_origin() {
    let origin = RouteSnapshot {
        origin: Some(EditorRoute::id()),
        ..RouteSnapshot::default()
    };
    let reroute = RouteSnapshot {
        reroute: Some(WriterRoute::id()),
        ..origin
    };
    let decided = RouteSnapshot {
        decided: Some(PublisherRoute::id()),
        ..reroute
    };
    assert_eq!(only(context(origin).selection), ["edit"]);
    assert_eq!(only(context(reroute).selection), ["draft"]);
    assert_eq!(only(context(decided).selection), ["publish"]);
}

#[test]
fn the_same_context_gives_the_same_bytes_each_time_and_in_each_dialect() {
    let snapshot = RouteSnapshot {
        origin: Some(EditorRoute::id()),
        ..RouteSnapshot::default()
    };
    for dialect in Dialect::ALL {
        let call = context(snapshot).to_call(dialect);
        for _ in 0..3 {
            let again = context(snapshot).to_call(dialect);
            assert_eq!(again.schema_text(), call.schema_text());
            assert!(
                std::ptr::eq(again.schema_text(), call.schema_text()),
                "the table was built again"
            );
        }
        assert!(
            call.schema_text().contains("\"edit\"") && !call.schema_text().contains("\"draft\""),
            "{}",
            call.schema_text()
        );
        assert!(
            !call.schema_text().contains("Publish"),
            "another route's definition is left: {}",
            call.schema_text()
        );
    }
}

#[test]
fn a_running_agents_own_schema_is_never_touched_by_a_reroute() {
    let full = EditorRouting::schemas()
        .full(Dialect::JsonSchema)
        .text()
        .to_owned();
    // The snapshot of an agent that a supervisor wants elsewhere: reroute and origin are set.
    let snapshot = RouteSnapshot {
        reroute: Some(BackToWriter::id()),
        origin: Some(BackToWriter::id()),
        ..RouteSnapshot::default()
    };
    let shown = context::<EditorRouting>(snapshot).to_call(Dialect::JsonSchema);
    assert_eq!(shown.schema_text(), full);
}

#[test]
fn return_routes_are_narrowed_to_the_caller() {
    let snapshot = RouteSnapshot {
        caller: Some(BackToPublisher::id()),
        ..RouteSnapshot::default()
    };
    let context = context::<EditorRouting>(snapshot);
    assert_eq!(
        context.selection.routes().fields(),
        ["interruptRequest", "publish"]
    );
    let call = context.to_call(Dialect::JsonSchema);
    let schema = call.schema_text();
    assert!(!schema.contains("\"draft\""), "{}", schema);
    let error =
        read_within(br#"{"draft":{"topic":"law"}}"#, context.selection.routes()).unwrap_err();
    assert_eq!(error.path(), "$.draft");
}

#[test]
fn a_caller_that_nothing_returns_to_narrows_nothing() {
    let snapshot = RouteSnapshot {
        caller: Some(EditorAsks::id()),
        ..RouteSnapshot::default()
    };
    let context = context::<EditorRouting>(snapshot);
    assert!(matches!(context.selection, Selection::All));

    // Chosen by hand, what is shown is what is read.
    let returning = Selection::Returning(EditorAsks::id());
    let full = EditorRouting::schemas().full(Dialect::JsonSchema);
    assert_eq!(returning.schema(Dialect::JsonSchema), full);
    assert_eq!(returning.routes(), RouteSet::ALL);
}

#[test]
fn sets_of_routes_are_constants_with_algebra() {
    const WRITING: RouteSet<AfterInterrupt> =
        RouteSet::of::<WriterRoute>().union(RouteSet::of::<EditorRoute>());
    const REST: RouteSet<AfterInterrupt> = WRITING.complement();
    assert_eq!(REST.single(), Some(PublisherRoute::id()));
    assert!(WRITING.is_subset(RouteSet::ALL) && !REST.is_subset(WRITING));
    assert_eq!(WRITING.intersection(REST), RouteSet::EMPTY);
    assert_eq!(AfterInterrupt::route_to(Desk::Editor), EditorRoute::id());
    assert_eq!(
        AfterInterrupt::agent_type_of(PublisherRoute::id()),
        Desk::Publisher
    );
}
