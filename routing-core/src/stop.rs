//! Stopping: a token that is never cleared, with the reason beside it.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// How to stop. Modes are ordered and only go up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopMode {
    /// Finish the current step, then stop.
    Graceful,
    /// Stop now.
    Immediate,
}

impl StopMode {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graceful => "graceful",
            Self::Immediate => "immediate",
        }
    }
}

/// Who asks for the stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopSource {
    /// A person: a key, a command, a request over the network.
    User,
    /// A limit of time, money or resources.
    System,
    /// Code: a hook, a policy, a denied permission.
    Programmatic,
}

impl StopSource {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::User, Self::Programmatic, Self::System];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Programmatic => "programmatic",
            Self::System => "system",
        }
    }

    /// Its place among sources, the most human first.
    pub const fn place(self) -> u8 {
        match self {
            Self::User => 0,
            Self::Programmatic => 1,
            Self::System => 2,
        }
    }
}

/// Why something was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReason {
    /// Who asked.
    pub source: StopSource,
    /// How.
    pub mode: StopMode,
    /// In words, for people.
    pub message: String,
    /// When it was asked.
    pub timestamp: Timestamp,
}

/// Something that may be stopped, and everything below it.
///
/// A stop is level-triggered: once requested it stays, and a caller that looks later sees it too. There is no way to
/// clear it; new work gets a new scope. A child is stopped with its parent, never the other way round.
///
/// This scope stops at once. Code that finishes its current step first checks [`StopScope::is_stopping`] between steps,
/// and is not torn down by a graceful stop.
#[derive(Debug, Clone)]
pub struct StopScope {
    node: Arc<ScopeNode>,
}

#[derive(Debug)]
struct ScopeNode {
    /// Cancelled by any stop.
    asked: CancellationToken,
    /// Cancelled by an immediate stop only.
    now: CancellationToken,
    graceful: OnceLock<StopReason>,
    immediate: OnceLock<StopReason>,
    parent: Option<Arc<ScopeNode>>,
}

impl ScopeNode {
    fn immediate(&self) -> Option<&StopReason> {
        self.immediate
            .get()
            .or_else(|| self.parent.as_ref().and_then(|parent| parent.immediate()))
    }

    fn graceful(&self) -> Option<&StopReason> {
        self.graceful
            .get()
            .or_else(|| self.parent.as_ref().and_then(|parent| parent.graceful()))
    }
}

impl Default for StopScope {
    fn default() -> Self {
        Self::new()
    }
}

impl StopScope {
    /// A scope that only a call of [`StopScope::stop`] stops.
    pub fn new() -> Self {
        Self {
            node: Arc::new(ScopeNode {
                asked: CancellationToken::new(),
                now: CancellationToken::new(),
                graceful: OnceLock::new(),
                immediate: OnceLock::new(),
                parent: None,
            }),
        }
    }

    /// A scope that stops with this one, and can be stopped alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            node: Arc::new(ScopeNode {
                asked: self.node.asked.child_token(),
                now: self.node.now.child_token(),
                graceful: OnceLock::new(),
                immediate: OnceLock::new(),
                parent: Some(Arc::clone(&self.node)),
            }),
        }
    }

    /// Asks for a stop. The first reason of each mode is kept; a softer request never undoes a harder one.
    ///
    /// May be called from any thread.
    pub fn stop(&self, reason: StopReason) {
        // The reason is set before the token is cancelled, so that a task that wakes finds it.
        match reason.mode {
            StopMode::Graceful => {
                let _first_stands = self.node.graceful.set(reason);
            }
            StopMode::Immediate => {
                let _first_stands = self.node.immediate.set(reason);
                self.node.now.cancel();
            }
        }
        self.node.asked.cancel();
    }

    /// Whether any stop was asked for.
    pub fn is_stopping(&self) -> bool {
        self.node.asked.is_cancelled()
    }

    /// Whether an immediate stop was asked for.
    pub fn is_stopped_now(&self) -> bool {
        self.node.now.is_cancelled()
    }

    /// The reason, the hardest one if there are several; `None` while no stop was requested.
    pub fn reason(&self) -> Option<StopReason> {
        self.node
            .immediate()
            .or_else(|| self.node.graceful())
            .cloned()
    }

    /// Waits until any stop is asked for.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost, since the request for a stop remains.
    pub async fn stopping(&self) -> StopReason {
        self.node.asked.cancelled().await;
        self.reason_of_a_stop()
    }

    /// Waits until an immediate stop is asked for.
    ///
    /// # Cancel safety
    ///
    /// Safe: nothing is lost, since the request for a stop remains.
    pub async fn stopped_now(&self) -> StopReason {
        self.node.now.cancelled().await;
        self.reason_of_a_stop()
    }

    fn reason_of_a_stop(&self) -> StopReason {
        // A token is cancelled only after its reason was set, so the fallback is never taken.
        self.reason().unwrap_or_else(|| StopReason {
            source: StopSource::Programmatic,
            mode: StopMode::Immediate,
            message: "stopped".to_owned(),
            timestamp: Timestamp::UNIX_EPOCH,
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{StopMode, StopReason, StopScope, StopSource};

    fn reason(mode: StopMode, message: &str) -> StopReason {
        StopReason {
            source: StopSource::User,
            mode,
            message: message.to_owned(),
            timestamp: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn modes_only_go_up() {
        let scope = StopScope::new();
        scope.stop(reason(StopMode::Graceful, "first"));
        assert!(scope.is_stopping() && !scope.is_stopped_now());
        scope.stop(reason(StopMode::Immediate, "harder"));
        scope.stop(reason(StopMode::Graceful, "softer"));
        assert_eq!(
            scope.reason().map(|reason| reason.message),
            Some("harder".to_owned())
        );
    }

    #[test]
    fn a_child_stops_with_its_parent_and_a_parent_not_with_its_child() {
        let parent = StopScope::new();
        let child = parent.child();
        child.stop(reason(StopMode::Immediate, "alone"));
        assert!(!parent.is_stopping());
        let sibling = parent.child();
        parent.stop(reason(StopMode::Immediate, "all"));
        assert_eq!(
            sibling.reason().map(|reason| reason.message),
            Some("all".to_owned())
        );
        assert!(
            parent.child().is_stopped_now(),
            "a child made after the stop is stopped"
        );
    }

    #[tokio::test]
    async fn a_stop_before_the_wait_is_seen() {
        let scope = StopScope::new();
        scope.stop(reason(StopMode::Immediate, "early"));
        assert_eq!(scope.stopped_now().await.message, "early");
    }

    #[test]
    fn a_graceful_stop_of_a_parent_is_known_below_and_tears_nothing_down() {
        let parent = StopScope::new();
        let child = parent.child().child();
        parent.stop(reason(StopMode::Graceful, "after this step"));
        assert!(child.is_stopping() && !child.is_stopped_now());
        assert_eq!(
            child.reason().map(|reason| reason.message),
            Some("after this step".to_owned())
        );
        let sibling = parent.child();
        parent.stop(reason(StopMode::Immediate, "now"));
        assert!(child.is_stopped_now() && sibling.is_stopped_now());
    }

    #[tokio::test]
    async fn a_graceful_stop_wakes_who_waits_for_any_stop_and_not_who_waits_for_an_immediate_one() {
        let scope = StopScope::new();
        scope.stop(reason(StopMode::Graceful, "soon"));
        let woken = tokio::select! {
            biased;
            _reason = scope.stopped_now() => "who waits for an immediate stop".to_owned(),
            reason = scope.stopping() => reason.message,
            () = std::future::ready(()) => "nobody".to_owned(),
        };
        assert_eq!(woken, "soon");
        scope.stop(reason(StopMode::Immediate, "at once"));
        assert_eq!(scope.stopped_now().await.message, "at once");
    }
}
