//! Processes that Chromium started and that are not in its process group: its crash handlers.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::{Pid, geteuid};

/// Returns the processes of this user on whose command line a path in the directory occurs.
pub(super) fn with_path_in(directory: &Path) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    // Directories may have names that begin with this one's.
    let prefix = [directory.as_os_str().as_bytes(), b"/"].concat();
    let needle = memchr::memmem::Finder::new(&prefix);
    let user = geteuid().as_raw();
    let pid_of = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        if entry.metadata().ok()?.uid() != user {
            return None;
        }
        let command_line = std::fs::read(entry.path().join("cmdline")).ok()?;
        needle.find(&command_line)?;
        Pid::from_raw(pid)
    };
    entries.flatten().filter_map(pid_of).collect()
}
