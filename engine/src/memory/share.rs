//! Shares of the account: transient memory.

use std::fmt;
use std::sync::Arc;

use super::account::{Account, MemoryFull};
use super::owner::MemoryOwner;

/// Transient memory taken from the account. Released when dropped.
pub struct MemoryShare {
    account: Arc<Account>,
    owner: MemoryOwner,
    bytes: u64,
    /// The part of `bytes` that was taken from the reserve.
    of_reserve: u64,
}

impl MemoryShare {
    pub(super) fn empty(account: Arc<Account>, owner: MemoryOwner) -> Self {
        Self { account, owner, bytes: 0, of_reserve: 0 }
    }

    /// Returns the bytes taken.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes taken beyond the limit, from the reserve for requests that shrink stores.
    pub fn of_reserve(&self) -> u64 {
        self.of_reserve
    }

    /// Moves all bytes to another share, and leaves this one empty.
    pub fn take_all(&mut self) -> Self {
        let (bytes, of_reserve) = (self.bytes, self.of_reserve);
        (self.bytes, self.of_reserve) = (0, 0);
        Self { account: Arc::clone(&self.account), owner: self.owner, bytes, of_reserve }
    }

    /// Takes more bytes, or fails and changes nothing.
    pub fn grow(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.account.measure_before(bytes);
        self.account.add(self.owner, bytes, self.account.limit_of(self.owner, bytes))?;
        self.bytes += bytes;
        Ok(())
    }

    /// Takes more bytes for a request that shrinks a store: within the full limit, or else from the
    /// reserve above it. Fails and changes nothing if the reserve does not have enough left either.
    pub fn grow_from_reserve(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.account.measure_before(bytes);
        if let Err(full) = self.account.add(self.owner, bytes, self.account.limit()) {
            if !self.account.add_from_reserve(self.owner, bytes) {
                return Err(full);
            }
            self.of_reserve += bytes;
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Takes more bytes even beyond the limit.
    pub fn grow_unchecked(&mut self, bytes: u64) {
        self.account.add_anyway(self.owner, bytes);
        self.bytes += bytes;
    }

    /// Releases everything above `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let over = self.bytes.saturating_sub(bytes);
        self.account.release(self.owner, over);
        self.bytes -= over;
        let of_reserve = self.of_reserve.saturating_sub(self.bytes);
        self.account.release_reserve(of_reserve);
        self.of_reserve -= of_reserve;
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl fmt::Debug for MemoryShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryShare")
            .field("owner", &self.owner)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
