//! The memory of an answer.

use super::share::MemoryShare;

/// The memory of an answer: it counts until the answer is dropped. A copy of an answer does not count, and answers with the same
/// content are equal.
#[derive(Debug, Default)]
pub struct AnswerMemory(Option<MemoryShare>);

impl AnswerMemory {
    /// How many bytes count.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, MemoryShare::bytes)
    }
}

impl Clone for AnswerMemory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for AnswerMemory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl From<MemoryShare> for AnswerMemory {
    fn from(share: MemoryShare) -> Self {
        Self(Some(share))
    }
}
