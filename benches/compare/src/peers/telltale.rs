//! Telltale: the release build, without request limits and expiry.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::peer::{Feed, Mode, Peer, Write};
use super::text::{escaped, query_string};
use crate::data::{EVENTS_JSON, Format, HOUR_MS, T0_MS, USERS_JSON, iso};
use crate::feed::Wrap;
use crate::outcome::Outcome;
use crate::queries::{Aggregate, Digest, EventQuery, MetricQuery, Query};
use crate::server::{Launch, Server};

const ADMIN_KEY: &str = "tt_compare0_0123456789abcdefghijABCDEFGHIJ0123456789abc";
const JSON: &str = "Content-Type: application/json\r\n";
const PROTOBUF: &str = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n\
    X-Prometheus-Remote-Write-Version: 0.1.0\r\n";
/// The comma after the last item of a batch, and its line end.
const COMMA_AND_END: usize = 2;

/// When a write is acknowledged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Sync,
    Interval,
}

/// The program at a path, with one durability.
pub(crate) struct Telltale {
    pub(crate) program: PathBuf,
    pub(crate) durability: Durability,
}

impl Peer for Telltale {
    fn name(&self) -> &'static str {
        match self.durability {
            Durability::Sync => "telltale",
            Durability::Interval => "telltale-interval",
        }
    }

    fn version(&self) -> Outcome<String> {
        let output = Command::new(&self.program).arg("--version").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn durability(&self) -> &'static str {
        match self.durability {
            Durability::Sync => "in the log, synced to disk",
            Durability::Interval => "in the log, synced every 250 ms",
        }
    }

    fn launch(&self, folder: &Path, address: SocketAddr, _: Mode) -> Outcome<Launch> {
        let durability = match self.durability {
            Durability::Sync => "sync",
            Durability::Interval => "interval:250",
        };
        let mut settings = vec![format!("storage.durability={durability}")];
        for tier in ["raw", "minute", "five_minutes", "hour", "day", "events"] {
            settings.push(format!("storage.retention.{tier}=100y"));
        }
        for class in ["batch", "query", "single", "other"] {
            settings.push(format!("limits.{class}=unlimited"));
        }
        settings.push("metrics.series_per_metric=10000000".to_owned());
        let mut arguments = vec!["serve".to_owned(), "--listen".to_owned(), address.to_string()];
        arguments.extend(["--data".to_owned(), folder.display().to_string()]);
        arguments.extend(settings.into_iter().flat_map(|s| ["--set".to_owned(), s]));
        Ok(Launch {
            program: self.program.clone(),
            arguments,
            environment: vec![("TELLTALE_ADMIN_KEY".to_owned(), ADMIN_KEY.to_owned())],
            ready: "/readyz",
            headers: format!("Authorization: Bearer {ADMIN_KEY}\r\n"),
        })
    }

    fn write(&self, feed: Feed) -> Option<Write> {
        let metrics = Wrap { before: r#"{"metrics":["#, after: "]}", cut: COMMA_AND_END };
        let events = Wrap { before: r#"{"events":["#, ..metrics };
        let (path, headers, wrap, file) = match feed {
            Feed::Metrics(Format::Lines | Format::Wide) => {
                ("/api/v1/influx/write?precision=ns", "", Wrap::NOTHING, "")
            }
            Feed::Metrics(Format::RemoteWrite(_)) => ("/api/v1/write", PROTOBUF, Wrap::NOTHING, ""),
            Feed::Metrics(Format::Json) => ("/api/v1/metrics/batch", JSON, metrics, ""),
            Feed::Metrics(Format::Columns) => return None,
            Feed::Events => ("/api/v1/events/batch", JSON, events, EVENTS_JSON),
            Feed::EventUsers => ("/api/v1/metrics/batch", JSON, metrics, USERS_JSON),
        };
        Some(Write { path, headers, wrap, file })
    }

    fn flush(&self, server: &mut Server) -> Outcome<()> {
        server.success_body("POST", "/api/v1/admin/seal").map(drop)
    }

    fn merge(&self, server: &mut Server) -> Outcome<Option<()>> {
        server.success_body("POST", "/api/v1/admin/merge").map(|_| Some(()))
    }

    fn differs_in_acknowledgement_alone(&self) -> bool {
        self.durability == Durability::Interval
    }

    /// A merge writes rollups.
    fn merge_changes_plans(&self) -> bool {
        true
    }

    fn count(&self, server: &mut Server, feed: Feed) -> Outcome<u64> {
        if feed == Feed::Events {
            let (from, to) = six_hours();
            let path = format!("/api/v1/events/count?from={from}&to={to}&interval=1d");
            let response: Value = serde_json::from_slice(&server.success_body("GET", &path)?)?;
            return response["data"]["total"].as_u64().ok_or_else(|| "no total".into());
        }
        let listed = server.success_body("GET", "/api/v1/metrics?limit=1000")?;
        let listed: Value = serde_json::from_slice(&listed)?;
        let names = listed["data"].as_array().into_iter().flatten();
        let names = names.filter_map(|metric| metric["name"].as_str());
        let mut points = 0;
        // Metrics of the server about itself do not count.
        for name in names.filter(|name| !name.starts_with("telltale.")) {
            let response =
                server.success_body("GET", &format!("/api/v1/metrics/{}", escaped(name)))?;
            let response: Value = serde_json::from_slice(&response)?;
            points += response["data"]["data_points"].as_u64().unwrap_or(0);
        }
        Ok(points)
    }

    fn requests(&self, query: &Query) -> Option<Vec<String>> {
        Some(match query {
            Query::Metric(query) => vec![metric_query(query)],
            Query::Event(query) => event_queries(query),
        })
    }

    fn digest(&self, query: &Query, bodies: &[Vec<u8>]) -> Outcome<Digest> {
        let mut digest = Digest::default();
        for body in bodies {
            let response: Value = serde_json::from_slice(body)?;
            let data = &response["data"];
            match query {
                Query::Event(EventQuery::Newest { .. }) => {
                    let events = data.as_array().into_iter().flatten();
                    events.for_each(|event| digest.add_value(&event["value"]));
                }
                Query::Event(EventQuery::UsersByHour) => {
                    let hours = data["series"].as_array().into_iter().flatten();
                    hours.for_each(|hour| digest.add_value(&hour["distinct"]));
                }
                Query::Event(EventQuery::CountsByCountryAndHour) => {
                    add_points(&mut digest, &data["series"]);
                }
                Query::Event(EventQuery::Statistics { .. }) => {
                    let numbers = data.as_object().into_iter().flatten();
                    numbers.for_each(|(_, number)| digest.add_value(number));
                }
                Query::Metric(_) => {
                    let several = data.as_array().map_or(std::slice::from_ref(data), Vec::as_slice);
                    for response in several {
                        add_points(&mut digest, &response["series"]);
                        add_points(&mut digest, &response["groups"]);
                    }
                }
            }
        }
        Ok(digest)
    }
}

/// Adds the numbers of a series, or of each series of an object.
fn add_points(digest: &mut Digest, series: &Value) {
    if let Some(groups) = series.as_object() {
        groups.values().for_each(|series| add_points(digest, series));
    }
    for point in series.as_array().into_iter().flatten() {
        let fields = point.as_object().into_iter().flatten();
        fields.filter(|(_, value)| value.is_number()).for_each(|(_, v)| digest.add_value(v));
    }
}

fn metric_query(query: &MetricQuery) -> String {
    let aggregation = match query.aggregate {
        Aggregate::Average => "avg",
        Aggregate::Maximum => "max",
        Aggregate::Percentiles => "p50,p95,p99",
        Aggregate::Distinct => "count",
    };
    let (from, to) = (iso(query.from_ms), iso(query.to_ms));
    let interval = interval(query.step_s);
    let mut fields = vec![
        ("from", from.as_str()),
        ("to", to.as_str()),
        ("aggregation", aggregation),
        ("interval", interval),
    ];
    let group = query.group_by.map(|key| format!("tags.{key}"));
    if let Some(group) = &group {
        fields.push(("group_by", group));
    }
    if let Some(host) = &query.host {
        fields.push(("tags[hostname]", host));
    }
    let names = query.names('.');
    if let [metric] = names.as_slice() {
        return format!("/api/v1/metrics/{}/query?{}", escaped(metric), query_string(&fields));
    }
    fields.extend(names.iter().map(|metric| ("metric", metric.as_str())));
    format!("/api/v1/query?{}", query_string(&fields))
}

fn interval(step_s: i64) -> &'static str {
    match step_s {
        60 => "1m",
        300 => "5m",
        86_400 => "1d",
        _ => "1h",
    }
}

fn event_queries(query: &EventQuery) -> Vec<String> {
    let (from, to) = six_hours();
    match query {
        // Exact, unlike `unique_users` of widgets, which is approximate above a thousand.
        EventQuery::UsersByHour => {
            vec![format!("/api/v1/events/count?from={from}&to={to}&interval=1h&distinct=user_id")]
        }
        EventQuery::Newest { prefix, country } => vec![format!(
            "/api/v1/events?name={prefix}*&from={from}&to={to}&limit=100&tags%5Bcountry%5D={country}"
        )],
        EventQuery::CountsByCountryAndHour => vec![format!(
            "/api/v1/events/count?from={from}&to={to}&interval=1h&group_by=tags.country"
        )],
        EventQuery::Statistics { name } => {
            vec![format!("/api/v1/events/stats?name={name}&from={from}&to={to}")]
        }
    }
}

fn six_hours() -> (String, String) {
    (iso(T0_MS), iso(T0_MS + 6 * HOUR_MS))
}
