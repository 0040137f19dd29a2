//! The CPU time of this process, which does not include other programs and waits for the disk.

use rustix::time::{ClockId, clock_gettime};

/// Set by `tools/costs-instructions`, which counts instructions and needs no times: the clock of
/// CPU time does not work under valgrind.
const INSTRUCTIONS: &str = "TELLTALE_COSTS_INSTRUCTIONS";

/// Returns the CPU seconds of this process so far, on all cores, in user and in kernel mode. Never
/// inlined: `tools/costs-instructions` has valgrind cut its counts here.
#[inline(never)]
#[expect(clippy::disallowed_methods, reason = "no setting: it says which tool runs the program")]
pub(crate) fn seconds() -> f64 {
    if std::env::var_os(INSTRUCTIONS).is_some() {
        return 0.0;
    }
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
