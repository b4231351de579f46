//! Choices that look random and depend on the seed and the caller alone.

use interrupt_router::model::{Message, ModelCaller, Purpose, Role};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// A stream of choices, the same on every machine and in every version of the toolchain.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    generator: ChaCha8Rng,
}

impl Random {
    /// The stream of one caller. The run's own id is left out: two runs are alike.
    pub(crate) fn for_caller(seed: u64, caller: &ModelCaller) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(caller.turn.to_le_bytes());
        hash.update(caller.correction.to_le_bytes());
        hash.update([match caller.purpose {
            Purpose::Step => 0,
            Purpose::Resolution => 1,
            Purpose::Review => 2,
            Purpose::Route => 3,
        }]);
        hash.update(caller.node.as_str().as_bytes());
        Self {
            generator: ChaCha8Rng::from_seed(hash.finalize().into()),
        }
    }

    /// The stream of one conversation, as far as it has come.
    pub(crate) fn for_conversation(seed: u64, messages: &[Message]) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        for message in messages {
            hash.update([match message.role {
                Role::System => 0,
                Role::User => 1,
                Role::Assistant => 2,
                Role::Tool => 3,
            }]);
            hash.update(message.text.len().to_le_bytes());
            hash.update(message.text.as_bytes());
        }
        Self {
            generator: ChaCha8Rng::from_seed(hash.finalize().into()),
        }
    }

    /// A number below `bound`; 0 where the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.generator.next_u64() % bound).unwrap_or(0)
    }

    /// One of these, or `None` where there is none.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// The generator itself, for a library that draws from it.
    pub(crate) fn generator(&mut self) -> &mut ChaCha8Rng {
        &mut self.generator
    }
}
