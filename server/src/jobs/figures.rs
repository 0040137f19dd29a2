//! What the ledger's thread shows of itself without being asked.

use std::sync::atomic::{AtomicU64, Ordering};

use super::state::State;

/// How the ledger stands, for whoever watches the server.
#[derive(Debug, Default)]
pub struct LedgerFigures {
    waiting: AtomicU64,
    waiting_bytes: AtomicU64,
    refused: AtomicU64,
    panics: AtomicU64,
}

impl LedgerFigures {
    /// Jobs that wait, whatever for.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Memory that they take, about.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// New jobs that were refused because too many wait.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Panics of the ledger.
    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    pub(super) fn show(&self, state: &mut State) {
        self.waiting.store(state.waiting() as u64, Ordering::Relaxed);
        self.waiting_bytes.store(state.waiting_bytes() as u64, Ordering::Relaxed);
        self.refused.fetch_add(state.take_refused(), Ordering::Relaxed);
    }

    pub(super) fn count_panic(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }
}
