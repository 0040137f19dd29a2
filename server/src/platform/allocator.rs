//! What the allocator does while we run: memory that is not used any more goes back to the system at once while there is little.
//!
//! Otherwise it goes back after a second, which makes allocations quicker.

use std::ffi::CStr;
use std::ptr::null_mut;

/// The name of what gives back the unused pages of all arenas: `MALLCTL_ARENAS_ALL` of jemalloc is 4096.
const PURGE_ALL: &CStr = c"arena.4096.purge";

/// Gives back what is not used, where the process takes much of what it may. Returns whether it did.
pub(crate) fn give_back(resident_bytes: u64, limit_bytes: u64) -> bool {
    let is_much = resident_bytes > limit_bytes / 8 * 5;
    if is_much {
        purge();
    }
    is_much
}

/// Gives back what is not used. It can fail only where jemalloc does not know the name, and changes nothing then.
#[expect(
    unsafe_code,
    reason = "jemalloc has no safe door to it; it may be called at any time, by any thread"
)]
fn purge() {
    // SAFETY: the name ends with a zero, nothing is read or written through the other pointers, and what is in use stays.
    let _ = unsafe {
        tikv_jemalloc_sys::mallctl(PURGE_ALL.as_ptr(), null_mut(), null_mut(), null_mut(), 0)
    };
}
