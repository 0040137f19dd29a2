//! Returns unused memory of the allocator to the operating system at once while memory is short.
//!
//! Otherwise jemalloc keeps unused pages for a second, which makes allocations faster.

use std::ffi::CStr;
use std::ptr::null_mut;

/// The jemalloc control that purges the unused pages of all arenas. 4096 is `MALLCTL_ARENAS_ALL`.
const PURGE_ALL: &CStr = c"arena.4096.purge";

/// Purges unused pages if the process uses more than five eighths of its limit. Returns whether it
/// did.
pub(crate) fn give_back(resident_bytes: u64, limit_bytes: u64) -> bool {
    let is_over = resident_bytes > limit_bytes / 8 * 5;
    if is_over {
        purge();
    }
    is_over
}

/// Purges the unused pages of all arenas. Fails only if jemalloc does not know the control, and
/// then has no effect.
#[expect(
    unsafe_code,
    reason = "jemalloc has no safe interface for it; it may be called at any time, by any thread"
)]
fn purge() {
    // SAFETY: the name is NUL-terminated, nothing is read or written through the other pointers,
    // and memory in use is not affected.
    let _ = unsafe {
        tikv_jemalloc_sys::mallctl(PURGE_ALL.as_ptr(), null_mut(), null_mut(), null_mut(), 0)
    };
}
