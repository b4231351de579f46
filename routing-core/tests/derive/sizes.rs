//! The smallest record, the largest one, and records where little room is.

use interrupt_router::{Route, RouteId, RouteSet, Routing};

use super::workflow::{GoalRequest, goal};

#[derive(Debug, Clone, PartialEq, Routing)]
struct Smallest {
    only_request: Option<GoalRequest>,
}

#[test]
fn a_record_of_one_route_has_that_route() {
    assert_eq!(
        RouteSet::<Smallest>::ALL,
        RouteSet::of::<SmallestOnlyRequestRoute>()
    );
    assert!(RouteSet::<Smallest>::EMPTY.complement() == RouteSet::ALL);
    let record = SmallestOnlyRequestRoute::wrap(goal("all"));
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Smallest>(&text).unwrap(), record);
    let (route, _request) = record.into_one().unwrap();
    assert_eq!(route, SmallestOnlyRequestRoute::id());
}

macro_rules! largest {
    ($($field:ident)*) => {
        #[derive(Debug, Clone, PartialEq, Routing)]
        #[routing(rename_all = "snake_case")]
        struct Largest {
            $($field: Option<u8>,)*
        }
        const FIELDS: &[&str] = &[$(stringify!($field)),*];
    };
}

largest! {
    r00 r01 r02 r03 r04 r05 r06 r07 r08 r09 r10 r11 r12 r13 r14 r15
    r16 r17 r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 r31
    r32 r33 r34 r35 r36 r37 r38 r39 r40 r41 r42 r43 r44 r45 r46 r47
    r48 r49 r50 r51 r52 r53 r54 r55 r56 r57 r58 r59 r60 r61 r62 r63
}

#[test]
fn a_record_of_64_routes_holds_every_one_of_them() {
    assert_eq!(FIELDS.len(), 64);
    assert_eq!(RouteSet::<Largest>::ALL.fields(), FIELDS);
    for (index, field) in FIELDS.iter().enumerate() {
        let read: Largest = serde_json::from_str(&format!(r#"{{"{field}":7}}"#)).unwrap();
        let (route, request) = read.into_one().unwrap();
        assert_eq!(Some(route), RouteId::from_index(index));
        assert_eq!(*request.downcast::<u8>().unwrap(), 7);
    }
    assert_eq!(RouteId::<Largest>::from_index(64), None);
    assert_eq!(RouteSet::of::<LargestR63Route>().fields(), ["r63"]);
}

#[test]
fn a_record_may_stand_in_a_function_among_names_that_generated_code_must_not_mistake() {
    #![expect(dead_code, reason = "these names are only in the way")]
    struct Result;
    struct Vec;
    struct Some;
    struct C;
    #[derive(
        Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
    )]
    struct Output {
        text: String,
    }
    #[derive(Debug, Clone, PartialEq, Routing)]
    struct Local {
        index: Option<Output>,
        request: Option<u8>,
        context: Option<u16>,
        set: Option<u32>,
        map: Option<bool>,
    }
    let record = LocalSetRoute::wrap(3);
    assert_eq!(serde_json::to_string(&record).unwrap(), r#"{"set":3}"#);
    assert_eq!(LocalIndexRoute::FIELD, "index");
}
