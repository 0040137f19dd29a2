//! The verdict on a run: memory, files and threads must be flat once the server is warm, disk use
//! must grow as the data does, few requests may be refused, and every load must be sent at nearly
//! its rate. A value that cannot be computed is a failure.

use std::time::Duration;

use crate::LIMIT;
use crate::curve::ServerSample;
use crate::pace::{ScheduleCounts, Totals};

/// Time after which a server is warm: its caches are full, and finished jobs are deleted as fast as
/// others finish.
const WARM_UP: Duration = Duration::from_secs(600);
/// Runs shorter than this are too short to judge slopes.
pub(crate) const LONG_RUN: Duration = Duration::from_secs(900);
/// How much anonymous memory may grow in [`SLOPE_PERIOD_SECONDS`]: this part of its mean, and so
/// many bytes. Each new series, error group and dead job is kept, and uses part of them.
const SLOPE_PART: f64 = 0.02;
const SLOPE_BYTES: f64 = 1_048_576.0;
const SLOPE_PERIOD_SECONDS: f64 = 600.0;
/// How many more threads and open files a warm server may have than before. Files of the database
/// come and go with seals and compactions; a short run has seen few of them before it counts as
/// warm.
const THREADS_GROWTH_MAX: u64 = 16;
const FILES_GROWTH_MAX: u64 = 32;
const FILES_GROWTH_MAX_SHORT: u64 = 128;
/// How much more disk space each stored item may use in the last half than in the second sixth, as
/// a factor.
const DISK_FACTOR: f64 = 1.2;
/// How far resident memory may exceed `memory.limit`, in percent: the overhead of the allocator.
const OVER_LIMIT_PERCENT: u64 = 15;
/// How many requests may be refused, in percent of all sent: a seal or a compaction may take a
/// second.
const REFUSED_PERCENT: u64 = 2;
/// How much of its schedule each load must meet, in percent. A debug build on a busy machine is
/// slow for a while.
const MET_PERCENT: u64 = 90;
const MET_PERCENT_SHORT: u64 = 50;

/// Returns what is wrong with the curve and the totals of a run of this length on a server with
/// this `memory.limit`.
pub(crate) fn violations(
    curve: &[ServerSample],
    totals: &Totals,
    length: Duration,
    limit_bytes: u64,
) -> Vec<String> {
    let is_long = length >= LONG_RUN;
    let warm = if is_long { WARM_UP } else { length / 3 }.as_secs_f64();
    let (before, after) = curve.split_at(curve.partition_point(|sample| sample.seconds < warm));
    if before.is_empty() || after.len() < 2 {
        return vec![format!("{} samples are too few", curve.len())];
    }
    let files_growth_max = if is_long { FILES_GROWTH_MAX } else { FILES_GROWTH_MAX_SHORT };
    let mut found = vec![
        grows_at_most("threads", before, after, THREADS_GROWTH_MAX, |sample| sample.threads),
        grows_at_most("open files", before, after, files_growth_max, |sample| sample.files),
        below_limit(curve, limit_bytes),
    ];
    if is_long {
        found.push(memory_is_flat(after));
        found.push(disk_follows_data(curve, length));
    }
    found.push(refusals_are_few(totals));
    let met_percent = if is_long { MET_PERCENT } else { MET_PERCENT_SHORT };
    found.into_iter().flatten().chain(behind_schedule(totals, met_percent)).collect()
}

/// Reports a quantity whose maximum after the warm-up far exceeds the maximum before.
fn grows_at_most(
    what: &str,
    before: &[ServerSample],
    after: &[ServerSample],
    growth_max: u64,
    of: impl Fn(&ServerSample) -> u64,
) -> Option<String> {
    let maximum = |samples: &[ServerSample]| samples.iter().map(&of).max().unwrap_or(0);
    let (before, after) = (maximum(before), maximum(after));
    (after > before + growth_max).then(|| format!("{what} grew from {before} to {after}"))
}

fn below_limit(curve: &[ServerSample], limit_bytes: u64) -> Option<String> {
    let maximum = curve.iter().map(|sample| sample.resident).max().unwrap_or(0);
    let allowed = limit_bytes + limit_bytes / 100 * OVER_LIMIT_PERCENT;
    (maximum > allowed)
        .then(|| format!("resident memory reached {maximum} bytes, of a limit of {limit_bytes}"))
}

fn memory_is_flat(warm: &[ServerSample]) -> Option<String> {
    let points: Vec<(f64, f64)> =
        warm.iter().map(|sample| (sample.seconds, sample.anonymous as f64)).collect();
    let grown = slope(&points) * SLOPE_PERIOD_SECONDS;
    let mean = mean(points.iter().map(|(_, bytes)| *bytes));
    let allowed = mean * SLOPE_PART + SLOPE_BYTES;
    // Not `grown > allowed`: without a slope `grown` is NaN, and that must fail.
    let fits = grown <= allowed;
    (!fits).then(|| {
        format!(
            "anonymous memory of {mean:.0} bytes grows by {grown:.0} in {SLOPE_PERIOD_SECONDS} s, more than {allowed:.0}"
        )
    })
}

/// Compares the disk space of all data with the number of all items, not the growth of both between
/// two samples: a compaction releases at once what many samples added. The space that an empty
/// server uses is subtracted.
fn disk_follows_data(curve: &[ServerSample], length: Duration) -> Option<String> {
    let empty = curve.first().map_or(0, |sample| sample.disk);
    let part = |from: f64, to: f64| {
        let range = length.as_secs_f64() * from..length.as_secs_f64() * to;
        let inside = curve.iter().filter(|s| range.contains(&s.seconds) && s.stored > 0);
        mean(inside.map(|sample| sample.disk.saturating_sub(empty) as f64 / sample.stored as f64))
    };
    let (early, late) = (part(1.0 / 6.0, 1.0 / 3.0), part(0.5, f64::INFINITY));
    // Not `late > early …`: without samples the ratios are NaN, and that must fail.
    let fits = late <= early * DISK_FACTOR;
    (!fits).then(|| format!("disk for each stored item grew from {early:.2} to {late:.2} bytes"))
}

fn refusals_are_few(totals: &Totals) -> Option<String> {
    let Totals { requests, refused, .. } = totals;
    let fits = *requests > 0 && refused * 100 <= requests * REFUSED_PERCENT;
    (!fits).then(|| format!("{refused} of {requests} requests were refused"))
}

/// Reports loads that did not meet their schedule. The exact counts show that all that was sent is
/// stored, so a load that met its schedule has stored what was planned.
fn behind_schedule(totals: &Totals, percent: u64) -> impl Iterator<Item = String> {
    let none = totals.schedules.is_empty().then(|| "no load has a schedule".to_owned());
    let behind = totals
        .schedules
        .iter()
        .filter(move |(_, load)| load.planned == 0 || load.met * 100 < load.planned * percent);
    none.into_iter().chain(behind.map(|(name, load)| {
        format!("{name} met {} of {} due times of its schedule", load.met, load.planned)
    }))
}

/// Returns the slope of the least-squares line through the points.
fn slope(points: &[(f64, f64)]) -> f64 {
    let (x, y) = (mean(points.iter().map(|(x, _)| *x)), mean(points.iter().map(|(_, y)| *y)));
    let along: f64 = points.iter().map(|(px, py)| (px - x) * (py - y)).sum();
    let square: f64 = points.iter().map(|(px, _)| (px - x) * (px - x)).sum();
    along / square
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

const MIB: u64 = 1 << 20;

/// Returns the curve of an hour, one sample each five seconds: a flat one that `change` modifies.
fn hour(change: impl Fn(&mut ServerSample, u64)) -> Vec<ServerSample> {
    samples(720, 5, change)
}

fn samples(count: u64, period: u64, change: impl Fn(&mut ServerSample, u64)) -> Vec<ServerSample> {
    let sample = |at: u64| {
        let seconds = at * period;
        let mut sample = ServerSample {
            seconds: seconds as f64,
            // Memory grows in the first minutes, and then varies.
            anonymous: 40 * MIB + seconds.min(300) * MIB / 10 + at % 7 * MIB,
            resident: 100 * MIB,
            files: 90 + at % 11,
            threads: 20 + at % 5,
            disk: 20 * MIB + seconds * 2_000,
            stored: 1 + seconds * 1_500,
            ..ServerSample::default()
        };
        change(&mut sample, seconds);
        sample
    };
    (0..count).map(sample).collect()
}

/// Returns the totals of a run with one load, whose schedule has 200 due times.
fn totals(requests: u64, refused: u64, met: u64) -> Totals {
    Totals { requests, refused, schedules: [("load", ScheduleCounts { planned: 200, met })].into() }
}

#[track_caller]
fn found(curve: &[ServerSample], seconds: u64) -> String {
    violations(curve, &totals(1_000, 0, 200), Duration::from_secs(seconds), LIMIT).join("; ")
}

#[test]
fn a_flat_curve_passes() {
    assert_eq!(found(&hour(|_, _| ()), 3_600), "");
    assert_eq!(found(&samples(60, 1, |_, _| ()), 60), "");
}

#[test]
fn growth_over_an_hour_is_found() {
    // The allowed growth of 80 MiB is 2.6 MiB in ten minutes.
    let leak =
        |mib: u64| hour(move |sample, seconds| sample.anonymous += seconds * mib * MIB / 600);
    assert_eq!(found(&leak(1), 3_600), "");
    assert!(found(&leak(4), 3_600).starts_with("anonymous memory"), "{}", found(&leak(4), 3_600));
    let files = hour(|sample, seconds| sample.files += seconds / 60);
    assert!(found(&files, 3_600).starts_with("open files"), "{}", found(&files, 3_600));
    let threads = hour(|sample, seconds| sample.threads += seconds / 120);
    assert!(found(&threads, 3_600).starts_with("threads"), "{}", found(&threads, 3_600));
    let disk = hour(|sample, seconds| sample.disk += seconds * seconds);
    assert!(found(&disk, 3_600).starts_with("disk"), "{}", found(&disk, 3_600));
}

#[test]
fn a_short_run_is_judged_by_its_limits() {
    let files = samples(60, 1, |sample, seconds| sample.files += seconds * 4);
    assert!(found(&files, 60).starts_with("open files"), "{}", found(&files, 60));
    let memory = samples(60, 1, |sample, seconds| sample.resident += seconds * 4 * MIB);
    assert!(found(&memory, 60).starts_with("resident memory"), "{}", found(&memory, 60));
    assert_eq!(found(&[], 60), "0 samples are too few");
}

#[test]
fn refusals_and_loads_that_fall_behind_are_found() {
    let judged = |totals: &Totals, seconds: u64| {
        let curve = samples(seconds / 5, 5, |_, _| ());
        violations(&curve, totals, Duration::from_secs(seconds), LIMIT).join("; ")
    };
    assert_eq!(judged(&totals(1_000, 20, 180), 3_600), "");
    assert_eq!(judged(&totals(1_000, 21, 200), 3_600), "21 of 1000 requests were refused");
    assert_eq!(judged(&totals(0, 0, 200), 3_600), "0 of 0 requests were refused");
    let behind = "load met 179 of 200 due times of its schedule";
    assert_eq!(judged(&totals(1_000, 0, 179), 3_600), behind);
    assert_eq!(judged(&totals(1_000, 0, 179), 600), "", "a short run may be slower");
    assert!(judged(&totals(1_000, 0, 99), 600).starts_with("load met 99 "));
    let none = Totals { requests: 1, ..Totals::default() };
    assert_eq!(judged(&none, 3_600), "no load has a schedule");
}

#[test]
fn a_value_that_cannot_be_computed_is_a_failure() {
    // Samples that all have one time have no slope, and without data disk use has no ratio.
    let still = hour(|sample, seconds| sample.seconds = if seconds < 600 { 0.0 } else { 3_000.0 });
    assert!(found(&still, 3_600).starts_with("anonymous memory"), "{}", found(&still, 3_600));
    let empty = hour(|sample, _| sample.stored = 0);
    assert!(found(&empty, 3_600).starts_with("disk"), "{}", found(&empty, 3_600));
}
