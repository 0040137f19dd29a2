//! Ends processes of Chromium that take too much memory: the heap of a page has a limit in
//! Chromium, its other memory has none.

use rustix::process::{Pid, Signal, kill_process};

use crate::areas::snapshots::capture::limits::PROCESS_BYTES_MAX;

/// Kills the processes of a group that hold more memory than the limit. Chromium reports the end of
/// a page; if it is the browser itself, its connection ends. Blocks.
pub(super) fn kill_oversized(group: u32) {
    let Ok(entries) = std::fs::read_dir("/proc") else { return };
    let page_bytes = rustix::param::page_size() as u64;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| Pid::from_raw(name.parse().ok()?));
        let stat = std::fs::read_to_string(entry.path().join("stat"));
        let (Some(pid), Ok(stat)) = (pid, stat) else { continue };
        let Some((of, bytes)) = group_and_bytes(&stat, page_bytes) else { continue };
        if of == group && bytes > PROCESS_BYTES_MAX {
            tracing::warn!(pid = pid.as_raw_nonzero(), bytes, "a page takes too much memory");
            // It may have ended meanwhile.
            kill_process(pid, Signal::KILL).ok();
        }
    }
}

/// Returns the process group and the bytes in memory from the contents of `/proc/<pid>/stat`.
fn group_and_bytes(stat: &str, page_bytes: u64) -> Option<(u32, u64)> {
    // The name of the program is in parentheses, and may contain any character.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let group = fields.nth(2)?.parse().ok()?;
    let pages: u64 = fields.nth(18)?.parse().ok()?;
    Some((group, pages.saturating_mul(page_bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_and_memory_are_read_from_the_state_of_a_process() {
        let stat = "77 (a) b ) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9 1000 25 184467";
        assert_eq!(group_and_bytes(stat, 4_096), Some((42, 25 * 4_096)));
        assert_eq!(group_and_bytes("77 (a) S 1", 4_096), None);
    }
}
