//! How often a caller may send requests.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::concurrency_limit::{holding, is_for_a_list, share};
use crate::app::App;
use crate::config::ServerLimits;
use crate::problem::{Code, Problem};
use control::Caller;

/// The other end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Counts what callers do.
pub(crate) struct Pace {
    requests: DefaultKeyedRateLimiter<String>,
    /// Those of workers; many agents are behind each.
    of_workers: DefaultKeyedRateLimiter<String>,
    failures: DefaultKeyedRateLimiter<IpAddr>,
    clock: DefaultClock,
}

impl Pace {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let requests =
            Quota::per_second(limits.requests_per_second).allow_burst(limits.request_burst);
        let times = NonZeroU32::new(16).unwrap_or(NonZeroU32::MIN);
        let of_workers = Quota::per_second(limits.requests_per_second.saturating_mul(times))
            .allow_burst(limits.request_burst.saturating_mul(times));
        Self {
            requests: RateLimiter::keyed(requests),
            of_workers: RateLimiter::keyed(of_workers),
            failures: RateLimiter::keyed(Quota::per_minute(limits.failures_per_minute)),
            clock: DefaultClock::default(),
        }
    }

    /// One more request of a caller.
    pub(crate) fn request(&self, caller: &Caller) -> Result<(), Problem> {
        let name = caller.actor.name.as_str().to_owned();
        let requests = match share(caller) {
            1 => &self.requests,
            _more => &self.of_workers,
        };
        requests
            .check_key(&name)
            .map_err(|until| too_fast(until.wait_time_from(self.clock.now())))
    }

    /// One more failed login attempt from an address.
    pub(crate) fn failure(&self, peer: SocketAddr) -> Result<(), Problem> {
        self.failures
            .check_key(&network_of(peer.ip()))
            .map_err(|until| too_fast(until.wait_time_from(self.clock.now())))
    }

    /// Forgets those who were quiet.
    pub(crate) fn forget_the_quiet(&self) {
        self.requests.retain_recent();
        self.of_workers.retain_recent();
        self.failures.retain_recent();
    }
}

/// A caller with one IPv6 network has all its addresses.
fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

fn too_fast(wait: Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    let problem = Problem::new(
        Code::RateLimited,
        "you ask faster than is allowed",
        format!("wait {seconds} s; subscribe to `/v1/events` instead of asking again and again"),
    );
    match HeaderValue::try_from(seconds.to_string()) {
        Ok(seconds) => problem.header(header::RETRY_AFTER, seconds),
        Err(_) => problem,
    }
}

/// Refuses a caller that sends requests too fast, or too many at once.
pub(crate) async fn limit_rate(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Caller>() else {
        return next.run(request).await;
    };
    let entered = app
        .pace
        .request(caller)
        .and_then(|()| app.crowd.enter(caller));
    match entered {
        Ok(place) => {
            let turn = app.crowd.turn(is_for_a_list(&request)).await;
            let response = next.run(request).await;
            drop(turn);
            holding(place, response)
        }
        Err(problem) => problem.into_response(),
    }
}
