//! The CPU time of this process: what other programs do meanwhile, and waiting for the disk, do not count.

/// Clock ticks of a second in `/proc`: the same on every Linux.
const TICKS: f64 = 100.0;

/// Seconds of CPU that this process has taken so far, on all cores, in user and in kernel mode.
pub(crate) fn seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program stands in parentheses and may contain anything; user and system time are fields 14 and 15.
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum();
    ticks as f64 / TICKS
}
