//! Processes that Chromium started and that are not in its process group: its crash handlers.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::Pid;

/// Returns the processes on whose command line a path occurs.
pub(super) fn with_path(path: &Path) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let needle = memchr::memmem::Finder::new(path.as_os_str().as_bytes());
    let pid_of = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let command_line = std::fs::read(entry.path().join("cmdline")).ok()?;
        needle.find(&command_line)?;
        Pid::from_raw(pid)
    };
    entries.flatten().filter_map(pid_of).collect()
}
