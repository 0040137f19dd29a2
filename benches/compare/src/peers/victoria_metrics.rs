//! VictoriaMetrics, single node, configured for Influx lines as documented, without query limits.
//! The result cache is bypassed, as by dashboards whose time range moves.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::Value;

use super::fetch::Program;
use super::peer::{Feed, Mode, Peer, Write};
use super::text::query_string;
use crate::clock::pause;
use crate::data::{Format, HOUR_MS, T0_MS};
use crate::feed::Wrap;
use crate::outcome::Outcome;
use crate::queries::{Aggregate, Digest, MetricQuery, Query};
use crate::server::{Launch, Server};

const PROTOBUF: &str = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n\
    X-Prometheus-Remote-Write-Version: 0.1.0\r\n";
/// All data sets are within this many hours of the first timestamp.
const ALL_HOURS: i64 = 31 * 24;

/// The program.
pub(crate) struct VictoriaMetrics {
    pub(crate) program: Program,
}

impl Peer for VictoriaMetrics {
    fn name(&self) -> &'static str {
        "victoria-metrics"
    }

    fn version(&self) -> Outcome<String> {
        self.program.version("-version")
    }

    fn durability(&self) -> &'static str {
        "in memory, written within seconds, no log"
    }

    fn launch(&self, folder: &Path, address: SocketAddr, _: Mode) -> Outcome<Launch> {
        let arguments = [
            format!("-httpListenAddr={address}"),
            format!("-storageDataPath={}", folder.display()),
            "-retentionPeriod=100y".to_owned(),
            "-influxSkipSingleField".to_owned(),
            "-search.maxSamplesPerQuery=2000000000".to_owned(),
            "-search.maxUniqueTimeseries=10000000".to_owned(),
            "-search.maxQueryDuration=120s".to_owned(),
        ];
        Ok(Launch {
            program: self.program.path.clone(),
            arguments: arguments.into(),
            environment: Vec::new(),
            ready: "/health",
            headers: String::new(),
        })
    }

    fn write(&self, feed: Feed) -> Option<Write> {
        let (path, headers) = match feed {
            Feed::Metrics(Format::Lines | Format::Wide) => ("/write", ""),
            Feed::Metrics(Format::RemoteWrite(_)) => ("/api/v1/write", PROTOBUF),
            Feed::Metrics(Format::Json | Format::Columns) | Feed::Events | Feed::EventUsers => {
                return None;
            }
        };
        Some(Write { path, headers, wrap: Wrap::NOTHING, file: "" })
    }

    fn flush(&self, server: &mut Server) -> Outcome<()> {
        server.success_body("GET", "/internal/force_flush").map(drop)
    }

    fn merge(&self, server: &mut Server) -> Outcome<Option<()>> {
        server.success_body("GET", "/internal/force_merge")?;
        // The response comes before the work begins.
        pause(1.0);
        Ok(Some(()))
    }

    fn count(&self, server: &mut Server, _: Feed) -> Outcome<u64> {
        let expression = format!(r#"sum(count_over_time({{__name__!=""}}[{ALL_HOURS}h]))"#);
        let time = ((T0_MS + ALL_HOURS * HOUR_MS) / 1_000 - 1).to_string();
        let fields = [("query", expression.as_str()), ("time", &time), ("nocache", "1")];
        let response =
            server.success_body("GET", &format!("/api/v1/query?{}", query_string(&fields)))?;
        let response: Value = serde_json::from_slice(&response)?;
        let count = response["data"]["result"][0]["value"][1].as_str();
        // Without any point there is no result.
        Ok(count.map_or(Ok(0.0), str::parse::<f64>)? as u64)
    }

    fn requests(&self, query: &Query) -> Option<Vec<String>> {
        match query {
            Query::Metric(query) => metric_query(query).map(|path| vec![path]),
            Query::Event(_) => None,
        }
    }

    fn digest(&self, _: &Query, bodies: &[Vec<u8>]) -> Outcome<Digest> {
        let mut digest = Digest::default();
        for body in bodies {
            let response: Value = serde_json::from_slice(body)?;
            for series in response["data"]["result"].as_array().into_iter().flatten() {
                for point in series["values"].as_array().into_iter().flatten() {
                    digest.add_value(&point[1]);
                }
            }
        }
        Ok(digest)
    }
}

fn metric_query(query: &MetricQuery) -> Option<String> {
    let host = query.host.as_ref().map(|host| format!(r#"hostname="{host}""#));
    let step_s = query.step_s;
    let metrics = query.names('_');
    let (one, several) = match metrics.as_slice() {
        [one] => (one.as_str(), None),
        several => ("", Some(format!(r#"__name__=~"{}""#, several.join("|")))),
    };
    let matchers: Vec<String> = [several.clone(), host].into_iter().flatten().collect();
    let selector = format!("{one}{{{}}}[{step_s}s]", matchers.join(","));
    let names = if several.is_some() { " keep_metric_names" } else { "" };
    let buckets = match query.aggregate {
        Aggregate::Average => format!("avg_over_time({selector}){names}"),
        Aggregate::Maximum => format!("max_over_time({selector}){names}"),
        Aggregate::Percentiles => format!(
            r#"histogram_quantiles("phi", 0.5, 0.95, 0.99, sum(histogram_over_time({selector})) by (vmrange))"#
        ),
        Aggregate::Distinct => return None,
    };
    let expression = match query.group_by {
        Some(key) => format!("avg by ({key}) ({buckets})"),
        None => buckets,
    };
    // The bucket of t covers (t - step, t]; with t one millisecond earlier it covers [t - step, t).
    let seconds = |ms: i64| format!("{}.{:03}", (ms - 1) / 1_000, (ms - 1) % 1_000);
    let fields = [
        ("query", expression.as_str()),
        ("start", &seconds(query.from_ms + step_s * 1_000)),
        ("end", &seconds(query.to_ms)),
        ("step", &step_s.to_string()),
        ("nocache", "1"),
    ];
    Some(format!("/api/v1/query_range?{}", query_string(&fields)))
}
