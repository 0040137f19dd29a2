//! The verdict on a run: memory, files and threads are flat once the server is warm, disk grows as the data does, few requests
//! were refused, and every load was sent at nearly its rate. A figure that cannot be computed is a failure.

use std::time::Duration;

use crate::LIMIT;
use crate::curve::Sample;
use crate::pace::{Met, Totals};

/// After this time a server is warm: caches are filled, and finished jobs are forgotten as fast as others finish.
const WARM: Duration = Duration::from_secs(600);
/// Runs shorter than this say nothing about slopes.
pub(crate) const LONG: Duration = Duration::from_secs(900);
/// By how much anonymous memory may grow in [`SLOPE_PERIOD_SECONDS`]: this part of its mean, and so many bytes. Each new series,
/// group of errors and dead job is there to stay, and takes its part of them.
const SLOPE_PART: f64 = 0.02;
const SLOPE_BYTES: f64 = 1_048_576.0;
const SLOPE_PERIOD_SECONDS: f64 = 600.0;
/// By how many threads and files a warm server may have more than before. Tables of the database come and go with seals and
/// compactions; a short run has seen few of them before it counts as warm.
const THREADS_MORE: u64 = 16;
const FILES_MORE: u64 = 32;
const FILES_MORE_SHORT: u64 = 128;
/// By how much disk for each stored item may be more in the last half than in the second sixth.
const DISK_FACTOR: f64 = 1.2;
/// By how much resident memory may be above `memory.limit`: the overhead of the allocator, in percent.
const OVER_LIMIT_PERCENT: u64 = 15;
/// How many requests may be refused, in percent of all that were sent: a seal or a merge may need a second.
const REFUSED_PERCENT: u64 = 2;
/// Which part of its schedule each load must meet, in percent. A debug build on a busy machine is slow for a while.
const MET_PERCENT: u64 = 90;
const MET_PERCENT_SHORT: u64 = 50;

/// What is wrong with the curve and the totals of a run of this length on a server with this `memory.limit`.
pub(crate) fn complaints(
    curve: &[Sample],
    totals: &Totals,
    length: Duration,
    limit_bytes: u64,
) -> Vec<String> {
    let is_long = length >= LONG;
    let warm = if is_long { WARM } else { length / 3 }.as_secs_f64();
    let (before, after) = curve.split_at(curve.partition_point(|sample| sample.seconds < warm));
    if before.is_empty() || after.len() < 2 {
        return vec![format!("{} samples are too few", curve.len())];
    }
    let files_more = if is_long { FILES_MORE } else { FILES_MORE_SHORT };
    let mut found = vec![
        stays("threads", before, after, THREADS_MORE, |sample| sample.threads),
        stays("open files", before, after, files_more, |sample| sample.files),
        below_limit(curve, limit_bytes),
    ];
    if is_long {
        found.push(memory_is_flat(after));
        found.push(disk_follows_data(curve, length));
    }
    found.push(few_refused(totals));
    let met_percent = if is_long { MET_PERCENT } else { MET_PERCENT_SHORT };
    found.into_iter().flatten().chain(behind_plan(totals, met_percent)).collect()
}

/// Complains when the most of something after warming up is much above the most before.
fn stays(
    what: &str,
    before: &[Sample],
    after: &[Sample],
    more: u64,
    of: impl Fn(&Sample) -> u64,
) -> Option<String> {
    let most = |samples: &[Sample]| samples.iter().map(&of).max().unwrap_or(0);
    let (before, after) = (most(before), most(after));
    (after > before + more).then(|| format!("{what} grew from {before} to {after}"))
}

fn below_limit(curve: &[Sample], limit_bytes: u64) -> Option<String> {
    let most = curve.iter().map(|sample| sample.resident).max().unwrap_or(0);
    let allowed = limit_bytes + limit_bytes / 100 * OVER_LIMIT_PERCENT;
    (most > allowed)
        .then(|| format!("resident memory reached {most} bytes, of a limit of {limit_bytes}"))
}

fn memory_is_flat(warm: &[Sample]) -> Option<String> {
    let points: Vec<(f64, f64)> =
        warm.iter().map(|sample| (sample.seconds, sample.anonymous as f64)).collect();
    let grown = slope(&points) * SLOPE_PERIOD_SECONDS;
    let mean = mean(points.iter().map(|(_, bytes)| *bytes));
    let allowed = mean * SLOPE_PART + SLOPE_BYTES;
    // Without a slope there is nothing that fits.
    let fits = grown <= allowed;
    (!fits).then(|| {
        format!(
            "anonymous memory of {mean:.0} bytes grows by {grown:.0} in {SLOPE_PERIOD_SECONDS} s, more than {allowed:.0}"
        )
    })
}

/// What the data takes in all over how much it is, not what came to each between two samples: a compaction gives back at once
/// what many samples took. What an empty server takes is no data.
fn disk_follows_data(curve: &[Sample], length: Duration) -> Option<String> {
    let empty = curve.first().map_or(0, |sample| sample.disk);
    let part = |from: f64, to: f64| {
        let range = length.as_secs_f64() * from..length.as_secs_f64() * to;
        let inside = curve.iter().filter(|s| range.contains(&s.seconds) && s.stored > 0);
        mean(inside.map(|sample| sample.disk.saturating_sub(empty) as f64 / sample.stored as f64))
    };
    let (early, late) = (part(1.0 / 6.0, 1.0 / 3.0), part(0.5, f64::INFINITY));
    // Without samples there is no ratio, and nothing that fits.
    let fits = late <= early * DISK_FACTOR;
    (!fits).then(|| format!("disk for each stored item grew from {early:.2} to {late:.2} bytes"))
}

fn few_refused(totals: &Totals) -> Option<String> {
    let Totals { requests, refused, .. } = totals;
    let fits = *requests > 0 && refused * 100 <= requests * REFUSED_PERCENT;
    (!fits).then(|| format!("{refused} of {requests} requests were refused"))
}

/// What was sent is stored, as exact counts show; so a load that met its schedule has stored what was planned.
fn behind_plan(totals: &Totals, percent: u64) -> impl Iterator<Item = String> {
    let none = totals.met.is_empty().then(|| "no load has a schedule".to_owned());
    let behind = totals
        .met
        .iter()
        .filter(move |(_, load)| load.planned == 0 || load.met * 100 < load.planned * percent);
    none.into_iter().chain(behind.map(|(name, load)| {
        format!("{name} met {} of {} moments of its schedule", load.met, load.planned)
    }))
}

/// The slope of the line with the least squares of distances to the points.
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

/// A curve of an hour, a sample each five seconds, with what `change` makes of a server that is flat.
fn hour(change: impl Fn(&mut Sample, u64)) -> Vec<Sample> {
    samples(720, 5, change)
}

fn samples(count: u64, period: u64, change: impl Fn(&mut Sample, u64)) -> Vec<Sample> {
    let sample = |at: u64| {
        let seconds = at * period;
        let mut sample = Sample {
            seconds: seconds as f64,
            // It fills up in the first minutes, and then goes up and down.
            anonymous: 40 * MIB + seconds.min(300) * MIB / 10 + at % 7 * MIB,
            resident: 100 * MIB,
            files: 90 + at % 11,
            threads: 20 + at % 5,
            disk: 20 * MIB + seconds * 2_000,
            stored: 1 + seconds * 1_500,
            ..Sample::default()
        };
        change(&mut sample, seconds);
        sample
    };
    (0..count).map(sample).collect()
}

/// The totals of a run with one load, whose schedule has 200 moments.
fn totals(requests: u64, refused: u64, met: u64) -> Totals {
    Totals { requests, refused, met: [("load", Met { planned: 200, met })].into() }
}

#[track_caller]
fn found(curve: &[Sample], seconds: u64) -> String {
    complaints(curve, &totals(1_000, 0, 200), Duration::from_secs(seconds), LIMIT).join("; ")
}

#[test]
fn a_flat_curve_has_nothing_wrong() {
    assert_eq!(found(&hour(|_, _| ()), 3_600), "");
    assert_eq!(found(&samples(60, 1, |_, _| ()), 60), "");
}

#[test]
fn what_grows_for_an_hour_is_found() {
    // Some 80 MiB may grow by 2.6 MiB in ten minutes.
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
        complaints(&curve, totals, Duration::from_secs(seconds), LIMIT).join("; ")
    };
    assert_eq!(judged(&totals(1_000, 20, 180), 3_600), "");
    assert_eq!(judged(&totals(1_000, 21, 200), 3_600), "21 of 1000 requests were refused");
    assert_eq!(judged(&totals(0, 0, 200), 3_600), "0 of 0 requests were refused");
    let behind = "load met 179 of 200 moments of its schedule";
    assert_eq!(judged(&totals(1_000, 0, 179), 3_600), behind);
    assert_eq!(judged(&totals(1_000, 0, 179), 600), "", "a short run may be slower");
    assert!(judged(&totals(1_000, 0, 99), 600).starts_with("load met 99 "));
    let none = Totals { requests: 1, ..Totals::default() };
    assert_eq!(judged(&none, 3_600), "no load has a schedule");
}

#[test]
fn what_cannot_be_computed_is_wrong() {
    // All samples at one time have no slope, and no data has no ratio to disk.
    let still = hour(|sample, seconds| sample.seconds = if seconds < 600 { 0.0 } else { 3_000.0 });
    assert!(found(&still, 3_600).starts_with("anonymous memory"), "{}", found(&still, 3_600));
    let empty = hour(|sample, _| sample.stored = 0);
    assert!(found(&empty, 3_600).starts_with("disk"), "{}", found(&empty, 3_600));
}
