//! From a model's answer to a typed request and its dispatch, beside `serde_json` reading the same bytes
//! into the same request.
//!
//! `cargo bench -p interrupt-router-agents --bench answers`. The target is at most 2 times `serde_json`.

use agents::records::{DiscoveryAgentRequests, DiscoveryDispatchRoute, InterruptRouting};
use divan::{AllocProfiler, Bencher, black_box};
use interrupt_router::answer::read_within;
use interrupt_router::planner::{ActionInfo, BlackboardRoutingPlanner, Next, Step};
use interrupt_router::{Route, RouteSet};
use serde::Deserialize;
use serde_json::json;

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

const SIZES: [usize; 2] = [1_000, 100_000];

/// An answer of about this many bytes.
fn answer(bytes: usize) -> Vec<u8> {
    let entry = json!({
        "goal": "Find out how the store keeps a checkpoint whole when the process dies between two writes",
        "subdomainFocus": "store/src/checkpoint",
    });
    let entries = (bytes / entry.to_string().len()).max(1);
    let requests: Vec<_> = std::iter::repeat_n(entry, entries).collect();
    let record = json!({ "discoveryAgentRequests": {
        "requests": requests,
        "goal": "Understand the store",
        "delegationRationale": "One worker for each folder",
    }});
    record.to_string().into_bytes()
}

#[divan::bench(args = SIZES)]
fn serde_json_alone(bencher: Bencher, bytes: usize) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Plain {
        discovery_agent_requests: DiscoveryAgentRequests,
    }
    let answer = answer(bytes);
    bencher.bench_local(|| {
        serde_json::from_slice::<Plain>(black_box(&answer)).map(|it| it.discovery_agent_requests)
    });
}

#[divan::bench(args = SIZES)]
fn read_narrowed_and_dispatch(bencher: Bencher, bytes: usize) {
    let mut planner = BlackboardRoutingPlanner::<(), usize, std::convert::Infallible>::new();
    let info = ActionInfo {
        name: "discovery dispatch",
        rerunnable: true,
        cost: 1,
    };
    let added = planner.add(info, |requests: DiscoveryAgentRequests, (): &()| {
        Box::pin(async move { Ok(Next::Finished(requests.requests.len())) })
    });
    assert!(added.is_ok(), "the action was not taken");
    let allowed = RouteSet::<InterruptRouting>::only(DiscoveryDispatchRoute::id());
    let answer = answer(bytes);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let Ok(runtime) = runtime else {
        panic!("no runtime")
    };
    let _entered = runtime.enter();
    bencher.bench_local(|| {
        let routing = read_within::<InterruptRouting>(black_box(&answer), allowed);
        let Ok(routing) = routing else {
            panic!("the answer does not fit")
        };
        // The action never waits, so polling it once runs it to its end.
        let dispatched =
            futures_util::FutureExt::now_or_never(planner.dispatch(Step::of(routing), &()));
        assert!(
            matches!(dispatched, Some(Ok(Next::Finished(1..)))),
            "the action did not run"
        );
    });
}
