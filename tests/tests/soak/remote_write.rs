//! Remote write: an agent that sends a counter and a gauge of each pod a few times a second, while
//! pods are replaced by others with new names, and one that sends samples of hours ago, whose
//! windows are compacted again and again.

use std::time::Duration;

use telltale_tests::remote_write::{TimeSeries, WriteRequest, packed, series};
use telltale_tests::{Client, HOUR_MS, now_ms};

use crate::pace::Run;
use crate::random::Random;
use crate::sender::Sender;
use crate::tally::{Kind, Tally};

/// Time between two requests: 200 a minute.
const PERIOD: Duration = Duration::from_millis(300);
/// Pods at any time, with two series each: 500 series a request.
const PODS: usize = 250;
/// Requests between two pods that are replaced: 25 pods, and so 50 series, a minute.
const REPLACED_EVERY: u64 = 8;
/// Requests between two requests of the late agent.
const LATE_EVERY: u64 = 16;
/// Samples of each of its requests, and milliseconds between them: together they cover the time
/// between two requests.
const LATE_SAMPLES: u64 = 20;
const LATE_STEP_MS: i64 = 240;
/// How far the late agent is behind.
const LATE_MS: i64 = 6 * HOUR_MS;
/// The value that marks the end of a series (a stale marker).
const STALE: f64 = f64::from_bits(0x7ff0_0000_0000_0002);

const COUNTER: &str = "soak_requests_total";
const GAUGE: &str = "soak_queue_length";
const LATE: &str = "soak_backfilled";

/// A pod, whose counter is sent as cumulative samples.
#[derive(Debug)]
struct Pod {
    name: String,
    cumulative: u64,
    has_start: bool,
}

/// What the agents sent.
#[derive(Debug)]
pub(crate) struct RemoteWrite {
    counter: Tally,
    gauge: Tally,
    late: Tally,
    pods: Vec<Pod>,
    pods_created: u64,
    /// The time of the first sample of the late agent.
    late_start_ms: i64,
    random: Random,
    last_ms: i64,
}

/// Sends until the run is over.
pub(crate) fn send(run: &Run, client: Client) -> RemoteWrite {
    let mut sender = Sender::new(run, client, "remote-write");
    let mut agent = RemoteWrite::new();
    let mut schedule = run.schedule("remote-write", PERIOD);
    let mut requests = 0;
    while schedule.wait() {
        let before = agent.samples();
        let mut timeseries = Vec::with_capacity(2 * PODS + 2);
        if requests % REPLACED_EVERY == REPLACED_EVERY - 1 {
            agent.replace_pod(&mut timeseries);
        }
        agent.collect(&mut timeseries);
        write(&mut sender, timeseries);
        if requests % LATE_EVERY == 0 {
            let late = agent.late_samples();
            write(&mut sender, vec![late]);
        }
        run.add_stored(agent.samples() - before);
        requests += 1;
    }
    agent
}

#[track_caller]
fn write(sender: &mut Sender<'_>, timeseries: Vec<TimeSeries>) {
    let body = packed(&WriteRequest { timeseries, metadata: Vec::new() });
    let response = sender.send(|client, key| {
        let request = client.request("POST", "/api/v1/write").header("idempotency-key", key);
        let request = request.header("content-type", "application/x-protobuf");
        request.header("content-encoding", "snappy").body(body.clone()).send()
    });
    assert_eq!(response.status, 204, "{}", response.summary());
}

impl RemoteWrite {
    fn new() -> Self {
        let mut agent = Self {
            counter: Tally::new(COUNTER, Kind::Counter),
            gauge: Tally::new(GAUGE, Kind::Gauge),
            late: Tally::new(LATE, Kind::Gauge),
            pods: Vec::with_capacity(PODS),
            pods_created: 0,
            late_start_ms: now_ms() - LATE_MS,
            random: Random::new(1),
            last_ms: now_ms(),
        };
        for _ in 0..PODS {
            let pod = agent.new_pod();
            agent.pods.push(pod);
        }
        agent
    }

    fn new_pod(&mut self) -> Pod {
        self.pods_created += 1;
        let suffix = self.random.bits() & 0xff_ffff;
        let name = format!("web-{}-{suffix:06x}", self.pods_created);
        Pod { name, cumulative: self.random.below(1_000), has_start: false }
    }

    /// Replaces a pod by a new one, and sends stale markers for the series of the old one.
    fn replace_pod(&mut self, timeseries: &mut Vec<TimeSeries>) {
        let at = self.random.below(PODS as u64) as usize;
        let new = self.new_pod();
        let old = std::mem::replace(&mut self.pods[at], new);
        let time = self.next_ms();
        for metric in [COUNTER, GAUGE] {
            timeseries.push(series(&labels(metric, &old.name), &[(time, STALE)]));
        }
    }

    /// Adds the samples of all pods, at a time later than any before.
    fn collect(&mut self, timeseries: &mut Vec<TimeSeries>) {
        let time = self.next_ms();
        for pod in &mut self.pods {
            // The first sample of a series stores nothing: it is the start value of the deltas.
            let increase = 1 + self.random.below(9);
            pod.cumulative += increase;
            if pod.has_start {
                self.counter.add(time, increase);
            }
            pod.has_start = true;
            let level = self.gauge.samples();
            self.gauge.add(time, level);
            let (cumulative, level) = (pod.cumulative as f64, level as f64);
            timeseries.push(series(&labels(COUNTER, &pod.name), &[(time, cumulative)]));
            timeseries.push(series(&labels(GAUGE, &pod.name), &[(time, level)]));
        }
    }

    /// Returns the next samples of the late agent, each at a time of its own.
    fn late_samples(&mut self) -> TimeSeries {
        let first = self.late.samples();
        let mut samples = Vec::new();
        for value in first..first + LATE_SAMPLES {
            let time = self.late_start_ms + value as i64 * LATE_STEP_MS;
            self.late.add(time, value);
            samples.push((time, value as f64));
        }
        series(&[("__name__", LATE), ("agent", "late")], &samples)
    }

    /// Returns the current time, or a later one that follows the last.
    fn next_ms(&mut self) -> i64 {
        self.last_ms = now_ms().max(self.last_ms + 1);
        self.last_ms
    }

    fn samples(&self) -> u64 {
        self.counter.samples() + self.gauge.samples() + self.late.samples()
    }

    /// Fails unless the server has exactly these samples and series.
    #[track_caller]
    pub(crate) fn check(&self, client: &Client) {
        for tally in [&self.counter, &self.gauge, &self.late] {
            tally.check(client);
        }
        for metric in [COUNTER, GAUGE] {
            let path = format!("/api/v1/metrics/{metric}/tags/pod/values?limit=1");
            let known = client.get(&path).expect(200);
            assert_eq!(known["meta"]["total"], self.pods_created, "pods of {metric}");
        }
    }
}

fn labels<'a>(metric: &'a str, pod: &'a str) -> [(&'a str, &'a str); 3] {
    [("__name__", metric), ("namespace", "shop"), ("pod", pod)]
}
