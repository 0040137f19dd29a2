//! Memory of the server under steady ingest: the real program with default settings receives
//! samples of 10 000 series over HTTP, each batch durable before it is acknowledged, and a
//! dashboard query every second. Prints the samples received and the memory used every minute.
//!
//! `TELLTALE_TEST_BIN=<target>/release/telltale cargo run --release -p telltale-benches --example
//! steady_ingest [minutes] [points per second]`
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "its output is for people")]
#![allow(clippy::disallowed_methods, reason = "it paces its load by the clock of the machine")]

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use telltale_tests::{Client, Server, Setup, iso, now_ms};

const SERIES: usize = 10_000;
/// The maximum of one request.
const BATCH: usize = 500;
/// Connections that share the load.
const AGENTS: usize = 4;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let minutes: u64 = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(60);
    let rate: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let server = Setup::new().start();
    let taken = AtomicU64::new(0);
    let begun = Instant::now();
    let end = begun + Duration::from_secs(60 * minutes);
    println!("minute  million points  resident MB  on disk MB  slowest answer ms");
    std::thread::scope(|scope| {
        for agent in 0..AGENTS {
            let (client, taken) = (server.client(), &taken);
            scope.spawn(move || send(&client, agent, rate, end, taken));
        }
        let client = server.client();
        for minute in 1..=minutes {
            let slowest = ask_until(&client, begun + Duration::from_secs(60 * minute));
            println!(
                "{minute:6}  {:14.1}  {:11}  {:10}  {slowest:17.1}",
                taken.load(Relaxed) as f64 / 1e6,
                resident_mb(server.pid()),
                disk_mb(&server)
            );
        }
    });
}

/// Sends the samples of one agent at their rate, series after series.
fn send(client: &Client, agent: usize, rate: usize, end: Instant, taken: &AtomicU64) {
    let every = Duration::from_secs_f64((BATCH * AGENTS) as f64 / rate as f64);
    let mut next = Instant::now() + every * agent as u32 / AGENTS as u32;
    let mut first = agent * BATCH;
    let mut body = String::new();
    while next < end {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next += every;
        body.clear();
        body.push_str(r#"{"metrics":["#);
        let now = now_ms();
        let time = iso(now);
        for series in first..first + BATCH {
            let (host, metric) = (series / 10, series % 10);
            let value = (series as i64 * 7919 + now / 1_000) % 10_000;
            let comma = if series == first { "" } else { "," };
            let zone = host % 20;
            write!(
                body,
                r#"{comma}{{"name":"agent.metric_{metric}","type":"gauge","value":{value},"timestamp":"{time}","tags":{{"host":"host-{host}","zone":"zone-{zone}"}}}}"#
            )
            .unwrap();
        }
        body.push_str("]}");
        let answer = client.post_text("/api/v1/metrics/batch", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        taken.fetch_add(BATCH as u64, Relaxed);
        first = (first + AGENTS * BATCH) % SERIES;
    }
}

/// Queries the last hour of a metric by zone once a second, until `end`. Returns the longest time
/// of a query, in milliseconds.
fn ask_until(client: &Client, end: Instant) -> f64 {
    let mut slowest = Duration::ZERO;
    while Instant::now() < end {
        let asked = Instant::now();
        let now = now_ms();
        let (from, to) = (iso(now - 3_600_000), iso(now));
        let path = format!(
            "/api/v1/metrics/agent.metric_3/query?from={from}&to={to}&aggregation=avg&interval=1m&group_by=tags.zone"
        );
        let answer = client.get(&path);
        // The metric does not exist before the first batch is stored.
        assert!([200, 404].contains(&answer.status), "{answer:?}");
        slowest = slowest.max(asked.elapsed());
        std::thread::sleep(Duration::from_secs(1).saturating_sub(asked.elapsed()));
    }
    slowest.as_secs_f64() * 1e3
}

fn resident_mb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

fn disk_mb(server: &Server) -> u64 {
    let mut folders = vec![server.data().to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        // Files appear and disappear while the server runs.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(of) if of.is_dir() => folders.push(entry.path()),
                Ok(of) => bytes += of.len(),
                Err(_gone) => {}
            }
        }
    }
    bytes >> 20
}
