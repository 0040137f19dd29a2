//! VictoriaMetrics, single node, as its documentation says for Influx lines; the limits on queries
//! are lifted, and its cache of answers is passed by, as dashboards that move with the time do.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::Value;

use super::fetch::Program;
use super::peer::{Feed, Mode, Peer, Write};
use super::text::query;
use crate::ask::{Aggregate, Digest, MetricQuestion, Question};
use crate::clock::pause;
use crate::data::{Format, HOUR_MS, T0_MS};
use crate::feed::Wrap;
use crate::outcome::Outcome;
use crate::server::{Launch, Server};

const PROTOBUF: &str = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n\
    X-Prometheus-Remote-Write-Version: 0.1.0\r\n";
/// All sets lie within so many hours from the first instant.
const ALL_HOURS: i64 = 96;

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
        server.good("GET", "/internal/force_flush").map(drop)
    }

    fn merge(&self, server: &mut Server) -> Outcome<Option<()>> {
        server.good("GET", "/internal/force_merge")?;
        // The answer comes before the work begins.
        pause(1.0);
        Ok(Some(()))
    }

    fn count(&self, server: &mut Server, _: Feed) -> Outcome<u64> {
        let expression = format!(r#"sum(count_over_time({{__name__!=""}}[{ALL_HOURS}h]))"#);
        let time = ((T0_MS + ALL_HOURS * HOUR_MS) / 1_000 - 1).to_string();
        let fields = [("query", expression.as_str()), ("time", &time), ("nocache", "1")];
        let answer = server.good("GET", &format!("/api/v1/query?{}", query(&fields)))?;
        let answer: Value = serde_json::from_slice(&answer)?;
        let count = answer["data"]["result"][0]["value"][1].as_str();
        // Without any point there is no result.
        Ok(count.map_or(Ok(0.0), str::parse::<f64>)? as u64)
    }

    fn requests(&self, question: &Question) -> Option<Vec<String>> {
        match question {
            Question::Metric(question) => metric_query(question).map(|path| vec![path]),
            Question::Event(_) => None,
        }
    }

    fn digest(&self, _: &Question, bodies: &[Vec<u8>]) -> Outcome<Digest> {
        let mut digest = Digest::default();
        for body in bodies {
            let answer: Value = serde_json::from_slice(body)?;
            for series in answer["data"]["result"].as_array().into_iter().flatten() {
                for point in series["values"].as_array().into_iter().flatten() {
                    digest.add_value(&point[1]);
                }
            }
        }
        Ok(digest)
    }
}

fn metric_query(question: &MetricQuestion) -> Option<String> {
    let host = question.host.as_ref().map(|host| format!(r#"hostname="{host}""#));
    let step_s = question.step_s;
    let (one, several) = match question.metrics.as_slice() {
        [one] => (*one, None),
        several => ("", Some(format!(r#"__name__=~"{}""#, several.join("|")))),
    };
    let matchers: Vec<String> = [several.clone(), host].into_iter().flatten().collect();
    let selector = format!("{one}{{{}}}[{step_s}s]", matchers.join(","));
    let names = if several.is_some() { " keep_metric_names" } else { "" };
    let buckets = match question.aggregate {
        Aggregate::Average => format!("avg_over_time({selector}){names}"),
        Aggregate::Maximum => format!("max_over_time({selector}){names}"),
        Aggregate::Percentiles => format!(
            r#"histogram_quantiles("phi", 0.5, 0.95, 0.99, sum(histogram_over_time({selector})) by (vmrange))"#
        ),
        Aggregate::Distinct => return None,
    };
    let expression = match question.group_by {
        Some(key) => format!("avg by ({key}) ({buckets})"),
        None => buckets,
    };
    // A bucket is what lies in (t - step, t], so that t a millisecond early holds exactly [t -
    // step, t).
    let seconds = |ms: i64| format!("{}.{:03}", (ms - 1) / 1_000, (ms - 1) % 1_000);
    let fields = [
        ("query", expression.as_str()),
        ("start", &seconds(question.from_ms + step_s * 1_000)),
        ("end", &seconds(question.to_ms)),
        ("step", &step_s.to_string()),
        ("nocache", "1"),
    ];
    Some(format!("/api/v1/query_range?{}", query(&fields)))
}
