//! What a strict reading notes of the fault that it meets.
//!
//! An answer is read without notes first, for nearly all of them are right. Only a wrong one is read
//! again with them, so that the right ones pay nothing for good explanations.

use std::cell::{Cell, RefCell};

use super::AnswerFault;

/// Notified of the kind of fault that is about to be returned as an error.
pub(crate) trait Watch: Copy {
    /// A fault, and the key that it is about if the path does not have it yet.
    fn note(self, fault: AnswerFault, key: Option<&str>);

    /// A value of any type is about to be read: perhaps into a buffer, where reading is not strict.
    #[inline]
    fn buffers(self) {}
}

/// Notes nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    #[inline]
    fn note(self, _fault: AnswerFault, _key: Option<&str>) {}
}

/// Notes no fault, but whether a part of the answer was read as a value of any type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffered<'a>(pub(crate) &'a Cell<bool>);

impl Watch for Buffered<'_> {
    #[inline]
    fn note(self, _fault: AnswerFault, _key: Option<&str>) {}

    #[inline]
    fn buffers(self) {
        self.0.set(true);
    }
}

/// The first fault that was noted.
#[derive(Debug, Default)]
pub(crate) struct Notes(RefCell<Option<Note>>);

/// One fault.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) fault: AnswerFault,
    pub(crate) key: Option<String>,
}

impl Notes {
    /// The first note, if there is one.
    pub(crate) fn into_first(self) -> Option<Note> {
        self.0.into_inner()
    }
}

impl Watch for &Notes {
    fn note(self, fault: AnswerFault, key: Option<&str>) {
        self.0.borrow_mut().get_or_insert_with(|| Note {
            fault,
            key: key.map(str::to_owned),
        });
    }
}
