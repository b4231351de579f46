//! What can be wrong.

use interrupt_router::{EventId, InterruptId, RunId};
use interrupts::EffectId;
use interrupts::life::State;

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// P1: it was acknowledged to its publisher, and is not there.
    Lost {
        /// The publisher's key.
        key: String,
    },
    /// P2: it is there, and nobody has published it.
    Phantom {
        /// Which one.
        interrupt: InterruptId,
        /// Its key.
        key: String,
    },
    /// P3: the store has another interrupt under the key than the one that its publisher was told of.
    OtherAnswer {
        /// The publisher's key.
        key: String,
        /// What the publisher was told.
        told: InterruptId,
        /// What is there.
        found: InterruptId,
    },
    /// P4: two states that must not follow each other, or a version or epoch that went back.
    IllegalStep {
        /// Which one.
        interrupt: InterruptId,
        /// In words.
        detail: String,
    },
    /// P5 and P21: what the audit says last is not how it stands.
    Unlike {
        /// Which one.
        interrupt: InterruptId,
        /// Its state by the audit; `None` where the audit does not know it.
        audited: Option<State>,
        /// Its state.
        found: State,
    },
    /// P5 and P21: what it says is not what the audit has the digest of.
    OtherContent {
        /// Which one.
        interrupt: InterruptId,
    },
    /// P6: a reroute and the interrupt that is to have used it do not agree.
    RerouteDisagrees {
        /// The reroute's event.
        event: EventId,
        /// In words.
        detail: String,
    },
    /// P8: a decision leads where it must not.
    WrongDestination {
        /// Which interrupt.
        interrupt: InterruptId,
        /// In words.
        detail: String,
    },
    /// P9: it was decided more than once.
    DecidedTwice {
        /// Which one.
        interrupt: InterruptId,
        /// How often.
        times: usize,
    },
    /// P10: a decision was dispatched not at all, or more than once.
    NotDispatchedOnce {
        /// Which interrupt.
        interrupt: InterruptId,
        /// How many dispatches its run's journal has.
        times: usize,
    },
    /// What was decided is not what was carried out.
    NotCarriedOut {
        /// Which interrupt.
        interrupt: InterruptId,
        /// In words.
        detail: String,
    },
    /// An effect of a run that has ended has no result.
    Unfinished {
        /// The run.
        run: RunId,
        /// The effect.
        effect: EffectId,
        /// Its place in the run.
        place: String,
    },
    /// P26: an interrupt of a run that has ended has not.
    Stuck {
        /// Which one.
        interrupt: InterruptId,
        /// Its state.
        state: State,
    },
    /// A target was asked again for what its journal had already.
    AskingOutcome {
        /// The place in the run of the effect whose result was there.
        place: String,
        /// The number of the call whose answer is in the journal.
        kept: u64,
        /// The number of the later call.
        again: u64,
    },
    /// A result in the journal that no target has given.
    Invented {
        /// The place in the run.
        place: String,
    },
    /// P21: the audit is not what it was.
    BrokenAudit {
        /// In words.
        detail: String,
    },
}
