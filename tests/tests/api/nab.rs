//! Real data: the series of the Numenta Anomaly Benchmark, imported and queried, and compared with
//! a direct computation from the files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use telltale_tests::{Client, DAY_MS, HOUR_MS, MINUTE_MS, Server, Setup, iso, parse_iso};

use crate::cli::stdout_of;
use crate::points::encoded;

/// The directory of the files, beside the repository.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/nab");
/// The maximum number of buckets in a response.
const BUCKETS_MAX: i64 = 50_000;
const INTERVALS: [(&str, i64); 4] =
    [("1m", MINUTE_MS), ("5m", 5 * MINUTE_MS), ("1h", HOUR_MS), ("1d", DAY_MS)];

/// The values of one series by time: of two rows with the same time the later one counts.
type Rows = BTreeMap<i64, f64>;

/// Computes one bucket directly.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    sum: f64,
    count: f64,
    min: f64,
    max: f64,
    last: f64,
}

fn csv_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            csv_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "csv") {
            files.push(path);
        }
    }
    files.sort();
}

#[track_caller]
fn rows(path: &Path) -> Rows {
    let Ok(text) = std::fs::read_to_string(path) else { panic!("{} unreadable", path.display()) };
    let row = |line: &str| {
        let (time, value) = line.trim().split_once(',')?;
        let time = parse_iso(&format!("{}.000Z", time.replace(' ', "T")));
        Some((time, value.parse().ok()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}

fn buckets(rows: &Rows, width: i64) -> BTreeMap<i64, Bucket> {
    let mut buckets: BTreeMap<i64, Bucket> = BTreeMap::new();
    for (time, value) in rows {
        let value = *value;
        let start = time - time.rem_euclid(width);
        let fresh = Bucket { sum: 0.0, count: 0.0, min: value, max: value, last: value };
        let bucket = buckets.entry(start).or_insert(fresh);
        bucket.sum += value;
        bucket.count += 1.0;
        bucket.min = bucket.min.min(value);
        bucket.max = bucket.max.max(value);
        bucket.last = value;
    }
    buckets
}

/// Queries all buckets of a metric, in as many requests as the response limit requires.
fn asked(
    client: &Client,
    name: &str,
    rows: &Rows,
    interval: &str,
    width: i64,
    rest: &str,
) -> Vec<Value> {
    let first = rows.keys().next().copied().unwrap_or(0);
    let end = rows.keys().next_back().copied().unwrap_or(0) + 1;
    let step = width * (BUCKETS_MAX - 1);
    let mut responses = Vec::new();
    let mut from = first - first.rem_euclid(width);
    while from < end {
        let to = end.min(from + step);
        let path = format!(
            "/api/v1/metrics/{}/query?interval={interval}&aggregation=avg,min,max,last&from={}&to={}{rest}",
            encoded(name),
            iso(from),
            iso(to)
        );
        responses.push(client.get(&path).data(200));
        from = to;
    }
    responses
}

#[track_caller]
fn agree(series: &[&Value], expected: &BTreeMap<i64, Bucket>, reported: &str) {
    let points: Vec<&Value> =
        series.iter().flat_map(|s| s.as_array().into_iter().flatten()).collect();
    assert_eq!(points.len(), expected.len(), "{reported}: buckets");
    for (point, (start, bucket)) in points.iter().zip(expected) {
        let number = |name: &str| point[name].as_f64().unwrap_or(f64::NAN);
        assert_eq!(
            parse_iso(point["timestamp"].as_str().unwrap_or_default()),
            *start,
            "{reported}"
        );
        assert_eq!(number("min"), bucket.min, "{reported} {point}");
        assert_eq!(number("max"), bucket.max, "{reported} {point}");
        assert_eq!(number("last"), bucket.last, "{reported} {point}");
        // Sums depend on the order of additions.
        let avg = bucket.sum / bucket.count;
        assert!(
            (number("avg") - avg).abs() <= avg.abs() * 1e-12,
            "{reported}: {point} is not {avg}"
        );
    }
}

#[track_caller]
fn all_agree(client: &Client, series: &[(String, Rows)]) {
    for (name, rows) in series {
        let definition = client.get(&format!("/api/v1/metrics/{}", encoded(name))).data(200);
        assert_eq!(definition["first_seen"], iso(*rows.keys().next().unwrap_or(&0)), "{name}");
        assert_eq!(definition["last_seen"], iso(*rows.keys().next_back().unwrap_or(&0)), "{name}");
        for (interval, width) in INTERVALS {
            let responses = asked(client, name, rows, interval, width, "");
            let parts: Vec<&Value> = responses.iter().map(|response| &response["series"]).collect();
            agree(&parts, &buckets(rows, width), &format!("{name} by {interval}"));
        }
    }
}

/// Starts a server with a retention of more than ten years.
#[track_caller]
fn server() -> Server {
    Setup::new()
        .set("storage.retention.raw", "\"100y\"")
        .set("storage.retention.hour", "\"100y\"")
        .set("storage.retention.day", "\"100y\"")
        .start()
}

#[expect(clippy::print_stderr, reason = "says why nothing was shown")]
fn found() -> Vec<PathBuf> {
    let mut files = Vec::new();
    csv_files(Path::new(FOLDER), &mut files);
    if files.is_empty() {
        eprintln!("skipped: the benchmark's files are not at {FOLDER}");
    }
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

#[test]
fn queries_of_every_series_agree_with_its_file() {
    let files = found();
    if files.is_empty() {
        return;
    }
    let mut server = server();
    stdout_of(&server.cli(["import", "csv", "--prefix", "nab.", FOLDER]));
    let series: Vec<(String, Rows)> =
        files.iter().map(|path| (format!("nab.{}", stem(path)), rows(path))).collect();
    all_agree(&server.client(), &series);
    for path in ["/api/v1/admin/seal", "/api/v1/admin/merge"] {
        assert_eq!(server.client().request("POST", path).send().status, 200);
    }
    all_agree(&server.client(), &series);
    server.kill9();
    server.restart();
    all_agree(&server.client(), &series);
}

#[test]
fn queries_of_a_metric_from_many_files_agree_grouped_and_together() {
    let files: Vec<PathBuf> =
        found().into_iter().filter(|path| path.to_string_lossy().contains("realTraffic")).collect();
    if files.is_empty() {
        return;
    }
    let server = server();
    let mut series: Vec<(String, Rows)> = Vec::new();
    for path in &files {
        let name = stem(path);
        let tag = format!("sensor={name}");
        let path_text = path.to_string_lossy();
        stdout_of(&server.cli(["import", "csv", "--metric", "traffic", "--tag", &tag, &path_text]));
        series.push((name, rows(path)));
    }
    let client = server.client();
    // The range of all of them.
    let everything: Rows = series.iter().flat_map(|(_, rows)| rows.clone()).collect();
    for (interval, width) in INTERVALS {
        let responses =
            asked(&client, "traffic", &everything, interval, width, "&group_by=tags.sensor");
        for (name, rows) in &series {
            let parts: Vec<&Value> =
                responses.iter().map(|response| &response["groups"][name]).collect();
            agree(&parts, &buckets(rows, width), &format!("{name} of all by {interval}"));
        }
        let (name, rows) = &series[0];
        let filter = format!("&tags[sensor]={name}");
        let responses = asked(&client, "traffic", &everything, interval, width, &filter);
        let parts: Vec<&Value> = responses.iter().map(|response| &response["series"]).collect();
        agree(&parts, &buckets(rows, width), &format!("{name} alone by {interval}"));
    }
    together(&client, &series, &everything);
}

/// Over all sensors: the average weighs every sample equally, the extremes are those of any sensor.
fn together(client: &Client, series: &[(String, Rows)], everything: &Rows) {
    let mut expected: BTreeMap<i64, Bucket> = BTreeMap::new();
    for (_, rows) in series {
        for (start, one) in buckets(rows, DAY_MS) {
            let all = expected.entry(start).or_insert(Bucket { sum: 0.0, count: 0.0, ..one });
            all.sum += one.sum;
            all.count += one.count;
            all.min = all.min.min(one.min);
            all.max = all.max.max(one.max);
        }
    }
    let responses = asked(client, "traffic", everything, "1d", DAY_MS, "");
    let points: Vec<&Value> =
        responses.iter().flat_map(|a| a["series"].as_array().into_iter().flatten()).collect();
    assert_eq!(points.len(), expected.len());
    for (point, bucket) in points.iter().zip(expected.values()) {
        let number = |name: &str| point[name].as_f64().unwrap_or(f64::NAN);
        assert_eq!((number("min"), number("max")), (bucket.min, bucket.max), "{point}");
        let avg = bucket.sum / bucket.count;
        assert!((number("avg") - avg).abs() <= avg.abs() * 1e-12, "{point} is not {avg}");
    }
}
