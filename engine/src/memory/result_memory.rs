//! The memory of a query result.

use super::share::MemoryShare;

/// The memory of a query result, counted until the result is dropped. A clone counts nothing. All
/// values compare equal, so results with equal content are equal.
#[derive(Debug, Default)]
pub struct ResultMemory(Option<MemoryShare>);

impl ResultMemory {
    /// Returns the counted bytes.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, MemoryShare::bytes)
    }

    /// Releases all but `bytes`, for a result of which only a part is kept.
    pub fn shrink_to(&mut self, bytes: u64) {
        if let Some(share) = &mut self.0 {
            share.shrink_to(bytes);
        }
    }
}

impl Clone for ResultMemory {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for ResultMemory {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl From<MemoryShare> for ResultMemory {
    fn from(share: MemoryShare) -> Self {
        Self(Some(share))
    }
}
