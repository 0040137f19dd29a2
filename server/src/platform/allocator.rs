//! The allocator's one setting that we change while we run: how soon freed memory goes back to the system.
//!
//! The delay, a second, makes allocations quicker, and under load a process takes up to twice what it uses. So memory goes back much
//! sooner while it is short.

use std::ffi::c_long;
use std::sync::atomic::{AtomicBool, Ordering};

/// `mi_option_purge_delay` of mimalloc 2 and 3: milliseconds.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
/// Its default, and what it is while memory is short.
const DELAY_MS: c_long = 1_000;
const SHORT_DELAY_MS: c_long = 10;

static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// Looks at how much memory the process takes of what it may.
pub(crate) fn look(resident_bytes: u64, limit_bytes: u64) {
    let was = IS_SHORT.load(Ordering::Relaxed);
    let from = if was { limit_bytes / 2 } else { limit_bytes / 8 * 5 };
    let is = resident_bytes > from;
    IS_SHORT.store(is, Ordering::Relaxed);
    if is != was {
        set_delay(if is { SHORT_DELAY_MS } else { DELAY_MS });
    }
    if is {
        collect();
    }
}

#[expect(
    unsafe_code,
    reason = "the options of mimalloc have no safe door; any value of this one is allowed at any time"
)]
fn set_delay(ms: c_long) {
    // SAFETY: the option exists, and mimalloc reads it anew at each use.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, ms) }
}

/// Gives back what threads that ended have left, and what has waited.
#[expect(
    unsafe_code,
    reason = "mimalloc has no safe door to it; it may be called at any time, by any thread"
)]
fn collect() {
    // SAFETY: it takes no pointers, and what is in use stays.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
