//! A real Prometheus writes to the server: scraped samples are stored exactly once, whatever
//! restarts in between.

use prost::Message;
use telltale_tests::{
    Client, DAY_MS, HOUR_MS, Prometheus, Relay, ScrapedPage, Server, eventually, now_ms,
};

use crate::points::{pairs, query_metric, total};

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the exposition of a program that has completed this many jobs.
fn shown(jobs: u32, depth: f64) -> String {
    let (quick, all) = (jobs / 2, jobs);
    format!(
        "# TYPE jobs_total counter\n\
         jobs_total{{kind=\"a\",empty=\"\"}} {jobs}\n\
         jobs_total{{kind=\"b\"}} 5\n\
         # TYPE depth gauge\n\
         depth {depth}\n\
         # TYPE latency_seconds histogram\n\
         latency_seconds_bucket{{le=\"0.5\"}} {quick}\n\
         latency_seconds_bucket{{le=\"+Inf\"}} {all}\n\
         latency_seconds_sum {all}.5\n\
         latency_seconds_count {all}\n\
         # TYPE nothing gauge\n\
         nothing NaN\n"
    )
}

/// Returns the increase of a counter since the test began.
fn grown(client: &Client, name: &str) -> f64 {
    total(client, name, now_ms() - HOUR_MS, now_ms() + HOUR_MS)
}

fn exists(client: &Client, name: &str) -> bool {
    client.get(&format!("/api/v1/metrics/{name}")).status == 200
}

/// Waits until a counter has a second sample, which can be compared with the first.
fn is_compared(client: &Client, name: &str) {
    eventually("two readings", || {
        let response =
            query_metric(client, name, now_ms() - HOUR_MS, now_ms() + HOUR_MS, "&interval=1d");
        let has_points = response.status == 200 && !pairs(&response.data(200)["series"]).is_empty();
        has_points.then_some(())
    });
}

#[track_caller]
fn grows_to(client: &Client, name: &str, expected: f64) {
    eventually(&format!("{name} to grow to {expected}"), || {
        let grown = grown(client, name);
        assert!(grown <= expected, "{name} grew to {grown}, more than {expected}");
        (grown == expected).then_some(())
    });
}

/// Exposes a gauge that nothing else exposes, and waits until it is stored: then everything exposed
/// before is stored too.
#[track_caller]
fn catches_up(client: &Client, page: &ScrapedPage, jobs: u32, depth: f64) {
    page.show(shown(jobs, depth));
    eventually("the newest gauge", || {
        let rest = "&aggregation=last&interval=1d";
        let response = query_metric(client, "depth", now_ms() - HOUR_MS, now_ms() + HOUR_MS, rest);
        let last = pairs(&response.data(200)["series"]).last().map(|(_, value)| *value);
        (last == Some(depth)).then_some(())
    });
}

fn is_scraped_again(page: &ScrapedPage) {
    let before = page.scrapes();
    // The scrape in progress may have begun before, and Prometheus may abandon one when the machine
    // is busy.
    eventually("some more scrapes", || (page.scrapes() >= before + 4).then_some(()));
}

#[test]
fn counters_gauges_and_histograms_are_stored() {
    let server = Server::start();
    let client = server.client();
    let page = ScrapedPage::new(TEXT, shown(10, 1.0));
    let _prometheus = Prometheus::start(page.address(), server.address());
    is_compared(&client, "jobs_total");
    is_compared(&client, "latency_seconds_bucket");
    catches_up(&client, &page, 30, -2.5);
    grows_to(&client, "jobs_total", 20.0);
    for (name, kind) in [
        ("jobs_total", "counter"),
        ("depth", "gauge"),
        ("latency_seconds_bucket", "counter"),
        ("latency_seconds_sum", "counter"),
        ("latency_seconds_count", "counter"),
        ("up", "gauge"),
        ("scrape_duration_seconds", "gauge"),
    ] {
        let definition = client.get(&format!("/api/v1/metrics/{name}")).data(200);
        assert_eq!(definition["type"], kind, "{name}");
    }
    let by = |name: &str, tag: &str| {
        let rest = format!("&aggregation=sum&interval=1d&group_by=tags.{tag}");
        let data =
            query_metric(&client, name, now_ms() - HOUR_MS, now_ms() + DAY_MS, &rest).data(200);
        move |value: &str| {
            let series = pairs(&data["groups"][value]);
            series.iter().map(|(_, value)| value).sum::<f64>()
        }
    };
    let jobs = by("jobs_total", "kind");
    assert_eq!((jobs("a"), jobs("b")), (20.0, 0.0));
    let buckets = by("latency_seconds_bucket", "le");
    assert_eq!((buckets("0.5"), buckets("+Inf")), (10.0, 20.0));
    assert_eq!(grown(&client, "latency_seconds_sum"), 20.0);
    let tags = client.get("/api/v1/metrics/jobs_total/tags").data(200).to_string();
    for (tag, there) in [("instance", true), ("job", true), ("kind", true), ("empty", false)] {
        assert_eq!(tags.contains(&format!("\"{tag}\"")), there, "{tag} in {tags}");
    }
    assert!(!exists(&client, "nothing"), "what is no number is no point");
}

#[test]
fn resets_and_restarts_neither_lose_nor_duplicate_samples() {
    let mut server = Server::start();
    let relay = Relay::to(server.address());
    let page = ScrapedPage::new(TEXT, shown(0, 0.0));
    let mut prometheus = Prometheus::start(page.address(), relay.address());
    is_compared(&server.client(), "jobs_total");
    page.show(shown(10, 1.0));
    grows_to(&server.client(), "jobs_total", 10.0);

    // The server is killed, and the program continues to count and is restarted meanwhile.
    server.kill9();
    for jobs in [25, 30, 4] {
        page.show(shown(jobs, 2.0));
        is_scraped_again(&page);
    }
    server.restart();
    relay.lead_to(server.address());
    grows_to(&server.client(), "jobs_total", 34.0);

    // A stored request is repeated when its response is lost, until there is a response.
    relay.lead_nowhere();
    server.kill9();
    page.show(shown(9, 3.0));
    is_scraped_again(&page);
    server.restart();
    let lost = relay.lost();
    relay.lose_answers_of(server.address());
    eventually("three dropped responses", || (relay.lost() >= lost + 3).then_some(()));
    relay.lead_nowhere();
    page.show(shown(12, 4.0));
    is_scraped_again(&page);
    relay.lead_to(server.address());
    grows_to(&server.client(), "jobs_total", 42.0);

    // Both stop regularly, with blocks in between.
    let client = server.client();
    assert_eq!(client.post("/api/v1/admin/seal", &serde_json::json!({})).status, 200);
    prometheus.restart();
    assert!(server.terminate().success());
    server.restart();
    relay.lead_to(server.address());
    catches_up(&server.client(), &page, 13, 5.0);
    grows_to(&server.client(), "jobs_total", 43.0);
    catches_up(&server.client(), &page, 13, 6.0);
    assert_eq!(grown(&server.client(), "jobs_total"), 43.0);
    assert_eq!(grown(&server.client(), "latency_seconds_count"), 43.0);
}

/// The messages of the protobuf exposition format with native histograms.
#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, optional, tag = "7")]
    histogram: Option<Shown>,
}

#[derive(Clone, PartialEq, Message)]
struct Shown {
    #[prost(uint64, tag = "1")]
    sample_count: u64,
    #[prost(double, tag = "2")]
    sample_sum: f64,
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(double, tag = "6")]
    zero_threshold: f64,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<telltale_tests::remote_write::BucketSpan>,
    #[prost(sint64, repeated, tag = "13")]
    positive_delta: Vec<i64>,
}

/// Returns a histogram of this many values in (1, 2], with the sum 1.5 × the count.
fn native(values: u32) -> Vec<u8> {
    let histogram = Shown {
        sample_count: u64::from(values),
        sample_sum: f64::from(values) * 1.5,
        schema: 0,
        zero_threshold: 1e-9,
        positive_span: vec![telltale_tests::remote_write::BucketSpan { offset: 1, length: 1 }],
        positive_delta: vec![i64::from(values)],
    };
    let family = MetricFamily {
        name: "size".to_owned(),
        kind: 4,
        metric: vec![Metric { histogram: Some(histogram) }],
    };
    family.encode_length_delimited_to_vec()
}

#[test]
fn native_histograms_become_distributions() {
    const PROTOBUF: &str = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
    let mut server = Server::start();
    let relay = Relay::to(server.address());
    let page = ScrapedPage::new(PROTOBUF, native(10));
    let _prometheus = Prometheus::start(page.address(), relay.address());
    // Values from before the first scrape are not stored; only that Prometheus sends is visible.
    eventually("the first scrape", || exists(&server.client(), "up").then_some(()));
    is_scraped_again(&page);
    let count = |client: &Client| {
        let rest = "&aggregation=count&interval=1d";
        let response = query_metric(client, "size", now_ms() - HOUR_MS, now_ms() + HOUR_MS, rest);
        pairs(&response.data(200)["series"]).iter().map(|(_, value)| value).sum::<f64>()
    };
    page.show(native(25));
    eventually("15 values", || (count(&server.client()) == 15.0).then_some(()));
    server.kill9();
    page.show(native(5));
    is_scraped_again(&page);
    server.restart();
    relay.lead_to(server.address());
    eventually("5 more", || (count(&server.client()) == 20.0).then_some(()));
    let client = server.client();
    assert_eq!(client.get("/api/v1/metrics/size").data(200)["type"], "distribution");
    assert_eq!(grown(&client, "size"), 30.0, "the sum of the 20 values");
    let rest = "&aggregation=p50&interval=1d";
    let data =
        query_metric(&client, "size", now_ms() - HOUR_MS, now_ms() + HOUR_MS, rest).data(200);
    for (_, median) in pairs(&data["series"]) {
        assert!((1.0..=2.0).contains(&median), "{median}");
    }
}
