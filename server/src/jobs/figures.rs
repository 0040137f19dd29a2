//! Figures of the ledger that can be read without a request to its thread.

use std::sync::atomic::{AtomicU64, Ordering};

use super::state::State;

/// The figures of the ledger, for monitoring.
#[derive(Debug, Default)]
pub struct LedgerFigures {
    waiting: AtomicU64,
    waiting_bytes: AtomicU64,
    refused: AtomicU64,
    panics: AtomicU64,
}

impl LedgerFigures {
    /// Returns the number of waiting jobs: ready, scheduled or to be retried.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the approximate memory of the waiting jobs, in bytes.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of new jobs refused because too many are waiting.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Returns the number of panics of the ledger.
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
