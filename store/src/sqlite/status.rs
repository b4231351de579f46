//! The status of an open store: whether it can be written, and if not, why.

use interrupts::store::StoreError;

/// The status of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreStatus {
    /// It can be read and written.
    Whole,
    /// It lies where it cannot be written. It can be read.
    ReadOnly,
    /// Its disk is full. It can be read.
    Full,
    /// Rows are missing or not what was written. What is whole can be read; nothing is written.
    Damaged {
        /// What does not fit, in words.
        detail: String,
    },
}

impl StoreStatus {
    /// Why an operation is refused; `None` where it is not.
    pub fn refusal(&self) -> Option<StoreError> {
        match self {
            Self::Whole => None,
            Self::ReadOnly => Some(StoreError::ReadOnly),
            Self::Full => Some(StoreError::Full),
            Self::Damaged { detail } => Some(StoreError::Corrupt {
                detail: detail.clone(),
            }),
        }
    }
}
