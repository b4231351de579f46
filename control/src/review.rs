//! What holds for everybody who answers.

use jiff::SignedDuration;

/// How long a claim holds where nobody says how long.
pub const CLAIM: SignedDuration = SignedDuration::from_mins(5);
