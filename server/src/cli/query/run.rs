//! `telltale query`: builds the request from the flags, sends it and prints the result.

use http::Method;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use telltale_engine::{Clock, TimestampMs};

use super::response::QueryResponse;
use super::show;
use crate::cli::args::{QueryArgs, Show};
use crate::cli::error::CliError;
use crate::cli::output::out;
use crate::cli::target::{Destination, Target};
use crate::platform::settings::Period;
use crate::platform::time;

/// Runs the query and prints the result.
pub(in crate::cli) async fn run(
    destination: &Destination,
    args: &QueryArgs,
) -> Result<(), CliError> {
    let path = request_path(args, Clock::system().now())?;
    let mut target = Target::open(destination).await?;
    let response = target.send(Method::GET, &path, None).await;
    target.close().await?;
    let body = response?;
    if args.show.json {
        return out(&format!("{body}\n"));
    }
    let names: Vec<&str> = args.aggregation.iter().flat_map(|list| list.split(',')).collect();
    let response = QueryResponse::read(&body, &names)
        .ok_or_else(|| CliError::Found("cannot parse the response of the server".to_owned()))?;
    out(&show::render(&response, &args.group_by, &args.show))
}

fn request_path(args: &QueryArgs, now: TimestampMs) -> Result<String, CliError> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut add = |key: &str, value: &str| pairs.push((key.to_owned(), value.to_owned()));
    if let Some(last) = &args.last {
        let period = Period::parse(last).map_err(CliError::Usage)?;
        let ms = i64::try_from(period.duration().as_millis()).unwrap_or(i64::MAX);
        add("from", &time::format(TimestampMs(now.0.saturating_sub(ms).max(0))));
        add("to", &time::format(now));
    }
    let options = [
        ("from", &args.from),
        ("to", &args.to),
        ("interval", &args.interval),
        ("aggregation", &args.aggregation),
    ];
    for (key, value) in options {
        value.iter().for_each(|value| add(key, value));
    }
    for tag in &args.tags {
        let (key, value) = tag
            .split_once('=')
            .ok_or_else(|| CliError::Usage(format!("--tags {tag:?} is not KEY=VALUE")))?;
        add(&format!("tags[{key}]"), value);
    }
    if !args.group_by.is_empty() {
        let keys: Vec<String> = args.group_by.iter().map(|key| with_prefix(key)).collect();
        add("group_by", &keys.join(","));
    }
    if let Show { sparkline: true, .. } = args.show {
        add("fill", "null");
    }
    let query: Vec<String> =
        pairs.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value))).collect();
    Ok(format!("/api/v1/metrics/{}/query?{}", encode(&args.metric), query.join("&")))
}

/// Adds the prefix `tags.` unless it is there: `host` and `tags.host` are equivalent.
fn with_prefix(key: &str) -> String {
    if key.starts_with("tags.") { key.to_owned() } else { format!("tags.{key}") }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::args::{Cli, Command};

    fn path_of(line: &str) -> String {
        let Command::Query(args) = Cli::parse_from(line.split(' ')).command else {
            panic!("{line} is a query");
        };
        request_path(&args, TimestampMs(1_767_323_045_678)).unwrap_or_else(|error| error.line())
    }

    #[test]
    fn flags_become_the_parameters_of_the_http_query() {
        for (line, expected) in [
            ("telltale query cpu", "/api/v1/metrics/cpu/query?"),
            ("telltale query a/b", "/api/v1/metrics/a%2Fb/query?"),
            (
                "telltale query cpu --from 2026-01-02 --interval 5m --aggregation avg,max",
                "/api/v1/metrics/cpu/query?from=2026%2D01%2D02&interval=5m&aggregation=avg%2Cmax",
            ),
            (
                "telltale query cpu --last 1h --sparkline",
                "/api/v1/metrics/cpu/query?from=2026%2D01%2D02T02%3A04%3A05%2E678Z\
                 &to=2026%2D01%2D02T03%3A04%3A05%2E678Z&fill=null",
            ),
            (
                "telltale query cpu --tags host=a,b --group-by host,tags.dc",
                "/api/v1/metrics/cpu/query?tags%5Bhost%5D=a%2Cb&group%5Fby=tags%2Ehost%2Ctags%2Edc",
            ),
            ("telltale query cpu --tags host", "--tags \"host\" is not KEY=VALUE"),
            (
                "telltale query cpu --last soon",
                "\"soon\" is not a duration such as \"250ms\", \"10m\" or \"30d\"",
            ),
        ] {
            assert_eq!(path_of(line), expected, "{line}");
        }
    }
}
