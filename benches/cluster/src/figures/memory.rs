//! The memory of this process.

/// Returns the resident memory in MB: now and at its peak, from `/proc/self/status`.
pub(crate) fn resident_mb() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
        kilobytes.and_then(|text| text.parse::<u64>().ok()).unwrap_or_default() / 1024
    };
    (field("VmRSS:"), field("VmHWM:"))
}
