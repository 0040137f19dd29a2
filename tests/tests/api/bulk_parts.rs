//! Bodies of agents that are stored in several writes: a kill between them, and the request
//! repeated.

use std::fmt::Write as _;

use prost::Message;
use serde_json::{Value, json};
use telltale_tests::remote_write::{RequestV2, WriteRequest, packed, sample, series};
use telltale_tests::{Client, Response, Server, Setup, eventually, iso};

use crate::points::{T0, total};

/// Samples of a body, all of one metric called `c`.
const POINTS: usize = 120_000;
/// Samples of a part, before a kill and after it.
const PART: usize = 500;
const OTHER_PART: usize = 777;

/// A route for bodies.
struct Door<'a> {
    path: &'a str,
    headers: &'a [(&'a str, &'a str)],
    body: Vec<u8>,
    /// A body of which nothing is stored.
    other: Vec<u8>,
    status: u16,
}

impl Door<'_> {
    fn send(&self, client: &Client, body: &[u8]) -> Option<Response> {
        let mut request = client.request("POST", self.path).header("idempotency-key", "k");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(body).try_send().ok()
    }

    /// Kills the server in the middle of the body twice, and counts the samples at the end.
    #[track_caller]
    fn counts_once(self) {
        let setting = |points: usize| format!("bodies.bulk_write_points = {points}\n");
        let mut server = Setup::new().set("bodies.bulk_write_points", &PART.to_string()).start();
        let file = server.home().join("telltale.toml");
        let settings = std::fs::read_to_string(&file).unwrap_or_default();
        for kill in 0..2 {
            let before = stored(&server);
            self.kill_in_the_middle(&mut server, before);
            let size = if kill == 0 { OTHER_PART } else { PART };
            let settings = settings.replace(&setting(PART), &setting(size));
            assert!(std::fs::write(&file, settings).is_ok());
            server.restart();
            let after = stored(&server);
            assert!((before + 1..POINTS).contains(&after), "{after} points before the repetition");
            let refused = self.send(&server.client(), &self.other);
            refused.map(|response| response.refused(409, "conflict"));
        }
        let client = server.client();
        for is_replay in [false, true] {
            let Some(response) = self.send(&client, &self.body) else { panic!("no response") };
            assert_eq!(response.status, self.status, "{}", response.summary());
            assert_eq!(response.header("idempotency-replayed").is_some(), is_replay);
            assert_eq!(stored(&server), POINTS);
        }
        server.kill9();
        server.restart();
        assert_eq!(stored(&server), POINTS);
    }

    fn kill_in_the_middle(&self, server: &mut Server, before: usize) {
        let client = server.client();
        std::thread::scope(|scope| {
            scope.spawn(|| self.send(&client, &self.body));
            eventually("some parts to be stored", || {
                (stored(server) >= before + 2 * PART).then_some(())
            });
            server.kill9();
        });
    }
}

/// Returns the sample counts of the metric over time.
fn stored(server: &Server) -> usize {
    let response = server.client().get("/api/v1/metrics/c");
    if response.status == 404 {
        return 0;
    }
    usize::try_from(response.data(200)["data_points"].as_u64().unwrap_or(0)).unwrap_or(0)
}

fn ms(point: usize) -> i64 {
    T0 + i64::try_from(point).unwrap_or(0)
}

#[test]
fn lines_of_json_are_stored_once() {
    let mut body = String::new();
    for point in 0..POINTS {
        let time = iso(ms(point));
        let line = json!({"name": "c", "type": "counter", "value": 1, "timestamp": time});
        let _written = writeln!(body, "{line}");
    }
    let (body, other) = (body.into_bytes(), b"{}".to_vec());
    Door { path: "/api/v1/import", headers: &[], body, other, status: 200 }.counts_once();
}

#[test]
fn lines_of_influx_are_stored_once() {
    let mut body = String::new();
    for point in 0..POINTS {
        let _written = writeln!(body, "c,host=a value={point} {}", ms(point));
    }
    let body = body.into_bytes();
    for path in ["/api/v1/influx/write", "/api/v1/influx/api/v2/write"] {
        let path = format!("{path}?precision=ms");
        let other = b"c value=wrong".to_vec();
        Door { path: &path, headers: &[], body: body.clone(), other, status: 204 }.counts_once();
    }
}

/// Values of a few series: a part ends within a series.
fn samples() -> impl Iterator<Item = (String, Vec<(i64, f64)>)> {
    const SERIES: usize = 20;
    (0..SERIES).map(|host| {
        let samples = (0..POINTS / SERIES).map(|point| (ms(point), 1.0));
        (format!("h{host}"), samples.collect())
    })
}

#[test]
fn samples_of_remote_write_are_stored_once() {
    let timeseries =
        samples().map(|(host, samples)| series(&[("__name__", "c"), ("host", &host)], &samples));
    let request = WriteRequest { timeseries: timeseries.collect(), metadata: Vec::new() };
    let (body, other) = (packed(&request), packed(&WriteRequest::default()));
    let headers = [("content-encoding", "snappy")];
    Door { path: "/api/v1/write", headers: &headers, body, other, status: 204 }.counts_once();
}

#[test]
fn samples_of_remote_write_2_are_stored_once() {
    let mut request = RequestV2::new();
    for (host, samples) in samples() {
        request.series(&[("__name__", "c"), ("host", &host)]).samples =
            samples.into_iter().map(|(ms, value)| sample(ms, value)).collect();
    }
    let (body, other) = (packed(&request), packed(&RequestV2::new()));
    let content_type = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
    let headers = [("content-encoding", "snappy"), ("content-type", content_type)];
    Door { path: "/api/v1/write", headers: &headers, body, other, status: 204 }.counts_once();
}

/// The OTLP messages as encoded by a protobuf library, as far as a delta sum needs them.
mod otlp {
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct NumberPoint {
        #[prost(fixed64, tag = "3")]
        pub(super) time_ns: u64,
        #[prost(double, tag = "4")]
        pub(super) value: f64,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Sum {
        #[prost(message, repeated, tag = "1")]
        pub(super) points: Vec<NumberPoint>,
        #[prost(int32, tag = "2")]
        pub(super) temporality: i32,
        #[prost(bool, tag = "3")]
        pub(super) is_monotonic: bool,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Metric {
        #[prost(string, tag = "1")]
        pub(super) name: String,
        #[prost(message, optional, tag = "7")]
        pub(super) sum: Option<Sum>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Scope {
        #[prost(message, repeated, tag = "2")]
        pub(super) metrics: Vec<Metric>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Resource {
        #[prost(message, repeated, tag = "2")]
        pub(super) scopes: Vec<Scope>,
    }

    #[derive(Clone, PartialEq, Message)]
    pub(super) struct Request {
        #[prost(message, repeated, tag = "1")]
        pub(super) resources: Vec<Resource>,
    }
}

#[test]
fn data_points_of_otlp_are_stored_once() {
    let time_ns = |point| u64::try_from(ms(point)).unwrap_or(0) * 1_000_000;
    let points = (0..POINTS).map(|point| otlp::NumberPoint { time_ns: time_ns(point), value: 1.0 });
    let sum = otlp::Sum { points: points.collect(), temporality: 1, is_monotonic: true };
    let metric = otlp::Metric { name: "c".into(), sum: Some(sum) };
    let scope = otlp::Scope { metrics: vec![metric] };
    let request = otlp::Request { resources: vec![otlp::Resource { scopes: vec![scope] }] };
    let headers = [("content-type", "application/x-protobuf")];
    let (body, other) = (request.encode_to_vec(), Vec::new());
    Door { path: "/v1/metrics", headers: &headers, body, other, status: 200 }.counts_once();

    let points: Vec<Value> = (0..POINTS)
        .map(|point| json!({"timeUnixNano": time_ns(point).to_string(), "asInt": "1"}))
        .collect();
    let sum = json!({"aggregationTemporality": 1, "isMonotonic": true, "dataPoints": points});
    let metrics = json!([{"name": "c", "sum": sum}]);
    let body = json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": metrics}]}]});
    let (body, other) = (body.to_string().into_bytes(), b"{}".to_vec());
    let headers = [("content-type", "application/json")];
    Door { path: "/v1/metrics", headers: &headers, body, other, status: 200 }.counts_once();
}

/// With parts of the default size, and a sum that a single repeated part would change.
#[test]
fn a_body_of_more_than_a_million_points_is_stored_once() {
    const MANY: usize = 1_100_000;
    let line = "{\"name\":\"c\",\"type\":\"counter\",\"value\":1,\"timestamp\":\"2024-03-05T00:00:00Z\"}\n";
    let body = line.repeat(MANY).into_bytes();
    let mut server = Setup::new().set("bodies.bulk", "\"128MiB\"").start();
    let client = server.client();
    let send = |client: &Client, body: &[u8]| {
        let request = client.request("POST", "/api/v1/import").header("idempotency-key", "k");
        request.body(body).try_send()
    };
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| send(&client, &body));
        eventually("the first part to be stored", || (stored(&server) > 0).then_some(()));
        server.kill9();
        assert!(sender.join().is_ok());
    });
    server.restart();
    let client = server.client();
    match send(&client, &body) {
        Ok(response) => assert_eq!(response.data(200)["accepted"], MANY),
        Err(error) => panic!("{error}"),
    }
    assert_eq!(total(&client, "c", T0, T0 + 1_000), MANY as f64);
}
