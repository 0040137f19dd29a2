//! Facts about this process from the operating system: host name, memory, CPU time, open files.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Units of CPU time in `/proc`: 100 per second on Linux, on every machine.
const TICKS_PER_SECOND: f64 = 100.0;

/// Measures CPU use between calls.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuMeter {
    /// CPU time in seconds at the last call, and the time of the call.
    last: Option<(f64, Duration)>,
}

impl CpuMeter {
    /// Returns the CPU use since the last call, in percent of one core; `None` at the first call.
    /// `now` must be monotonic.
    pub(crate) fn percent(&mut self, now: Duration) -> Option<f64> {
        let used = cpu_seconds()?;
        let (before, then) = self.last.replace((used, now))?;
        let passed = now.checked_sub(then)?.as_secs_f64();
        (passed > 0.0).then(|| ((used - before) / passed * 1_000.0).round() / 10.0)
    }
}

/// Returns the resident memory of the process in bytes, its code included, if the system reports
/// it.
pub(crate) fn resident_bytes() -> Option<u64> {
    let sizes = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(rustix::param::page_size() as u64)
}

/// Returns whether this process was started to ignore SIGHUP, as `nohup` does; `false` if the
/// system does not report it.
pub(crate) fn ignores_hang_ups() -> bool {
    /// The bit of SIGHUP, whose number is 1.
    const HANG_UP: u128 = 1;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u128::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & HANG_UP != 0)
}

/// Returns the memory that this process may use, in bytes: that of the machine, or of its control
/// group if that is less; `None` if the system reports neither.
pub(crate) fn memory_bytes() -> Option<u64> {
    [machine_bytes(), cgroup_bytes()].into_iter().flatten().min()
}

/// Returns the memory of the machine in bytes, if the system reports it.
fn machine_bytes() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns the number of cores that this process may use; two if the system does not report it.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// Returns the lowest memory limit of the process's control group and its ancestors, for cgroup
/// versions 1 and 2.
fn cgroup_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut least = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            // A line of another form says nothing about memory; the others do.
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            all if all.split(',').any(|one| one == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let inside = path.trim_start_matches('/');
        for group in Path::new(inside).ancestors() {
            let limit = fs::read_to_string(Path::new(root).join(group).join(file)).ok();
            let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
            least = [least, limit].into_iter().flatten().min();
        }
    }
    least
}

/// Raises the soft limit of open files, sockets included, to the hard limit, and returns the
/// result.
pub(crate) fn files_max() -> usize {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let given = getrlimit(Resource::Nofile);
    // Without a hard limit for the process, the limit of the system applies.
    let of_system = fs::read_to_string("/proc/sys/fs/nr_open").ok();
    let of_system = of_system.and_then(|text| text.trim().parse().ok());
    let possible = [given.maximum, of_system].into_iter().flatten().min();
    let wanted = rustix::process::Rlimit { current: possible, maximum: given.maximum };
    let raised = if setrlimit(Resource::Nofile, wanted).is_ok() { wanted } else { given };
    raised.current.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

/// Returns the host name, or `localhost` if the system reports none.
pub(crate) fn hostname() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Returns the CPU time of all threads so far, in seconds.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program name may contain spaces and parentheses: the fields follow the last parenthesis.
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_may_open_files() {
        let files = files_max();
        assert!(files >= 256, "{files}");
        assert_eq!(files_max(), files);
    }

    #[test]
    fn linux_reports_on_this_process() {
        if !cfg!(target_os = "linux") {
            return;
        }
        assert!(resident_bytes().is_some_and(|bytes| bytes > 1 << 20));
        assert!(cpu_seconds().is_some_and(|seconds| seconds >= 0.0));
        assert!(!hostname().is_empty());
        let mut meter = CpuMeter::default();
        assert_eq!(meter.percent(Duration::from_secs(1)), None, "there is nothing to compare with");
        assert!(meter.percent(Duration::from_secs(2)).is_some_and(|percent| percent >= 0.0));
    }
}
