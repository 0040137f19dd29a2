//! What a borrower has of the account.

use std::fmt;
use std::sync::Arc;

use super::account::{Account, MemoryFull};
use super::owner::MemoryOwner;

/// What a borrower has. Gives it back when dropped.
pub struct MemoryShare {
    account: Arc<Account>,
    owner: MemoryOwner,
    bytes: u64,
    /// How much of it is of the reserve.
    of_reserve: u64,
}

impl MemoryShare {
    pub(super) fn empty(account: Arc<Account>, owner: MemoryOwner) -> Self {
        Self { account, owner, bytes: 0, of_reserve: 0 }
    }

    /// How much it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How much of it is beyond the limit, of the reserve for requests that make stores smaller.
    pub fn of_reserve(&self) -> u64 {
        self.of_reserve
    }

    /// Moves all of it to another share, and leaves an empty one.
    pub fn take_all(&mut self) -> Self {
        let (bytes, of_reserve) = (self.bytes, self.of_reserve);
        (self.bytes, self.of_reserve) = (0, 0);
        Self { account: Arc::clone(&self.account), owner: self.owner, bytes, of_reserve }
    }

    /// Borrows more, or fails and stays what it was.
    pub fn grow(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.account.look_before(bytes);
        self.account.add(self.owner, bytes, self.account.limit_of(self.owner, bytes))?;
        self.bytes += bytes;
        Ok(())
    }

    /// Borrows more for a request that makes a store smaller: of all that the limit leaves, and where that is too little, of the
    /// reserve beyond it. Fails, and stays what it was, where the reserve is too small too.
    pub fn grow_to_drain(&mut self, bytes: u64) -> Result<(), MemoryFull> {
        self.account.look_before(bytes);
        if let Err(full) = self.account.add(self.owner, bytes, self.account.limit()) {
            if !self.account.add_of_reserve(self.owner, bytes) {
                return Err(full);
            }
            self.of_reserve += bytes;
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Takes more, whether there is room or not.
    pub fn grow_anyway(&mut self, bytes: u64) {
        self.account.add_anyway(self.owner, bytes);
        self.bytes += bytes;
    }

    /// Gives back what is above so many bytes.
    pub fn shrink_to(&mut self, bytes: u64) {
        let over = self.bytes.saturating_sub(bytes);
        self.account.give_back(self.owner, over);
        self.bytes -= over;
        let of_reserve = self.of_reserve.saturating_sub(self.bytes);
        self.account.give_back_reserve(of_reserve);
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
