//! InfluxDB 1.x with its defaults, except the limit on series and the request log.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::Value;

use super::fetch::Program;
use super::peer::{Feed, Mode, Peer, Write};
use super::text::query_string;
use crate::data::{EVENTS_LINES, Format, HOUR_MS, T0_MS};
use crate::feed::Wrap;
use crate::outcome::Outcome;
use crate::queries::{Aggregate, Digest, EventQuery, MetricQuery, Query};
use crate::server::{Launch, Server, free_address};

/// The program.
pub(crate) struct InfluxDb {
    pub(crate) program: Program,
}

impl Peer for InfluxDb {
    fn name(&self) -> &'static str {
        "influxdb"
    }

    fn version(&self) -> Outcome<String> {
        self.program.version("version")
    }

    fn durability(&self) -> &'static str {
        "in the log, synced to disk"
    }

    fn launch(&self, folder: &Path, address: SocketAddr, mode: Mode) -> Outcome<Launch> {
        let folder = folder.display();
        let mut settings = vec![
            ("META_DIR", format!("{folder}/meta")),
            ("DATA_DIR", format!("{folder}/data")),
            ("DATA_WAL_DIR", format!("{folder}/wal")),
            ("HTTP_BIND_ADDRESS", address.to_string()),
            ("BIND_ADDRESS", free_address()?.to_string()),
            ("REPORTING_DISABLED", "true".to_owned()),
            ("MONITOR_STORE_ENABLED", "false".to_owned()),
            ("HTTP_LOG_ENABLED", "false".to_owned()),
            ("DATA_QUERY_LOG_ENABLED", "false".to_owned()),
            ("DATA_MAX_SERIES_PER_DATABASE", "0".to_owned()),
        ];
        if mode == Mode::Merge {
            settings.push(("DATA_COMPACT_FULL_WRITE_COLD_DURATION", "1s".to_owned()));
            settings.push(("DATA_CACHE_SNAPSHOT_WRITE_COLD_DURATION", "1s".to_owned()));
        }
        let variable = |(name, value)| (format!("INFLUXDB_{name}"), value);
        Ok(Launch {
            program: self.program.path.clone(),
            arguments: ["run", "-config", "/dev/null"].map(str::to_owned).into(),
            environment: settings.into_iter().map(variable).collect(),
            ready: "/ping",
            headers: String::new(),
        })
    }

    fn prepare(&self, server: &mut Server) -> Outcome<()> {
        let made =
            server.post(&format!("/query?{}", query_string(&[("q", "CREATE DATABASE b")])))?;
        if made.is_success() { Ok(()) } else { Err(made.summary().into()) }
    }

    fn write(&self, feed: Feed) -> Option<Write> {
        let file = match feed {
            Feed::Metrics(Format::Lines | Format::Wide) => "",
            Feed::Events => EVENTS_LINES,
            Feed::Metrics(_) | Feed::EventUsers => return None,
        };
        Some(Write { path: "/write?db=b", headers: "", wrap: Wrap::NOTHING, file })
    }

    /// Nothing to do: each write is synced to the log.
    fn flush(&self, _: &mut Server) -> Outcome<()> {
        Ok(())
    }

    fn merge(&self, _: &mut Server) -> Outcome<Option<()>> {
        Ok(None)
    }

    fn counted_folder(&self) -> Option<(&'static str, &'static str)> {
        Some((
            "data",
            "its data without its log, which keeps up to 10 MB that are in the data already",
        ))
    }

    fn count(&self, server: &mut Server, feed: Feed) -> Outcome<u64> {
        let fields = if feed == Feed::Events { "value" } else { "*" };
        let path = select(&format!("SELECT count({fields}) FROM /.*/"));
        let digest = digest(&server.success_body("GET", &path)?)?;
        Ok(digest.sum as u64)
    }

    fn requests(&self, query: &Query) -> Option<Vec<String>> {
        Some(vec![match query {
            Query::Metric(query) => metric_query(query),
            Query::Event(query) => event_query(query),
        }])
    }

    fn digest(&self, _: &Query, bodies: &[Vec<u8>]) -> Outcome<Digest> {
        let mut sum = Digest::default();
        for body in bodies {
            let digest = digest(body)?;
            sum.numbers += digest.numbers;
            sum.sum += digest.sum;
        }
        Ok(sum)
    }
}

/// Returns the digest of a response, without the timestamps that begin each row.
fn digest(body: &[u8]) -> Outcome<Digest> {
    let response: Value = serde_json::from_slice(body)?;
    if let Some(error) = response["results"][0]["error"].as_str() {
        return Err(error.to_owned().into());
    }
    let mut digest = Digest::default();
    for series in response["results"][0]["series"].as_array().into_iter().flatten() {
        for row in series["values"].as_array().into_iter().flatten() {
            let values = row.as_array().into_iter().flatten().skip(1);
            values.filter(|value| value.is_number()).for_each(|value| digest.add_value(value));
        }
    }
    Ok(digest)
}

fn metric_query(query: &MetricQuery) -> String {
    // A measurement has the metrics as its fields; else each is a measurement of one field.
    let (fields, measurements) = match query.measurement {
        Some(measurement) => (query.metrics.as_slice(), measurement.to_owned()),
        None => (["value"].as_slice(), query.metrics.join(",")),
    };
    let of = |field: &&str| match query.aggregate {
        Aggregate::Average => format!("mean({field})"),
        Aggregate::Maximum => format!("max({field})"),
        Aggregate::Percentiles => {
            [50, 95, 99].map(|p| format!("percentile({field},{p})")).join(",")
        }
        Aggregate::Distinct => format!("count(distinct({field}))"),
    };
    let aggregates = fields.iter().map(of).collect::<Vec<_>>().join(",");
    let host = query.host.as_ref();
    let host = host.map_or(String::new(), |host| format!("hostname='{host}' AND "));
    let group = query.group_by.map_or(String::new(), |key| format!(",{key}"));
    let within = within(query.from_ms, query.to_ms);
    select(&format!(
        "SELECT {aggregates} FROM {measurements} WHERE {host}{within} GROUP BY time({}s){group}",
        query.step_s
    ))
}

fn event_query(query: &EventQuery) -> String {
    let within = within(T0_MS, T0_MS + 6 * HOUR_MS);
    select(&match query {
        EventQuery::UsersByHour => {
            format!("SELECT count(distinct(user_id)) FROM events WHERE {within} GROUP BY time(1h)")
        }
        EventQuery::Newest { prefix, country } => format!(
            "SELECT id,user_id,value,props FROM events WHERE \"name\" =~ /^{prefix}/ AND country='{country}' AND {within} ORDER BY time DESC LIMIT 100"
        ),
        EventQuery::CountsByCountryAndHour => {
            format!("SELECT count(value) FROM events WHERE {within} GROUP BY time(1h),country")
        }
        EventQuery::Statistics { name } => format!(
            "SELECT count(value),sum(value),mean(value),min(value),max(value),percentile(value,50),percentile(value,95),percentile(value,99) FROM events WHERE \"name\"='{name}' AND {within}"
        ),
    })
}

fn within(from_ms: i64, to_ms: i64) -> String {
    format!("time >= {}s AND time < {}s", from_ms / 1_000, to_ms / 1_000)
}

fn select(statement: &str) -> String {
    format!("/query?{}", query_string(&[("db", "b"), ("epoch", "s"), ("q", statement)]))
}
