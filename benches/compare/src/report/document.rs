//! `RESULTS.md` and its charts.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::chart::{Axis, Bar, Group, draw};
use super::facts::Facts;
use super::markdown::{Table, number};
use super::{growth, ingest, queries, space, targets};
use crate::contest::PEERS;
use crate::outcome::Outcome;
use crate::parts::{Context, PARTS};
use crate::results::Row;

const HOW_TO_READ: &str = "\
Client and server share the cores; all traffic is on loopback; one peer runs at a time, on the same data. *Best peer* is the best of the
others: Telltale is better with a ratio below 1× for times and bytes, above 1× for rates. Servers receive data over two keep-alive connections,
each request sent after the response to the previous one; the embedded engines (ClickHouse, DuckDB) are loaded with Arrow batches, without
network or text, so their loads are not comparable. CPU is the user and system time of the server per million points: until the last
response, until it had flushed and was idle, and until it had merged. Medians of the runs. Differences below a fifth are not significant.";

const ABOUT_QUERIES: &str = "\
q1 average of a metric of one host by minute over an hour · q2 maximum of five metrics of one host by hour over all hours ·
q3 average by host and hour over all hours · q4 average by region and 5 minutes over 6 hours · q5 50th, 95th and 99th percentile of all
latencies by 5 minutes · q6 distinct users by hour (*approximate*: from a set metric, or a sketch) ·
q7 newest 100 events by prefix of the name and country · q8 events by country and hour · q9 statistics of one name ·
q10 average by region and day over all days. First / median / 99th percentile in ms,
CPU ms in parentheses. *telltale raw* is measured before blocks are merged, without rollups: q1 to q4 then read every point, as the
peers do; afterwards they read one-minute and one-hour rollups. Distributions are stored as one-minute cells from the start.";

/// Writes the report of the measurements at the scale of the options.
pub(crate) fn write(context: &Context) -> Outcome<()> {
    let facts = Facts::read(context)?;
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks"));
    std::fs::create_dir_all(&folder)?;
    let pictures = pictures(&facts, &folder)?;
    let reached = targets::table(&facts);
    let scale = context.options.scale.name();
    let command = if scale == "full" {
        "make compare SCALE=full".to_owned()
    } else {
        "make compare".to_owned()
    };
    let mut text = format!(
        "# Telltale and its peers\n\nWritten by `{command}`, which updates it; `benches/compare/README.md` describes the method. {}\n\n{HOW_TO_READ}\n\n",
        machine()?
    );
    for (title, about, body) in [
        ("Targets", "", reached.clone()),
        ("Pictures", "", pictures),
        ("Peers", "", peers(&facts)),
        ("Ingest", "", ingest::section(&facts)),
        (
            "Bytes per point",
            "Bytes allocated to all files of the data directory, after flush and merge.",
            space::disk(&facts),
        ),
        (
            "Peak memory, MB",
            "Resident memory until the load was flushed; for embedded engines including Python and its batches.",
            space::memory(&facts),
        ),
        ("Queries", ABOUT_QUERIES, queries::times(&facts)),
        (
            "Queries of single series",
            "Throughput of q1 over two connections.",
            queries::throughput(&facts),
        ),
        (
            "Restart",
            "SIGTERM after all of the above; SIGKILL immediately after the last response of a load of lines. A complete response is one to q1 with all minutes of the last hour. *close*: an embedded engine, closed and opened again.",
            space::restarts(&facts),
        ),
        ("Late points", "", growth::late(&facts)),
        ("Many series", "", growth::cardinality(&facts)),
        (
            "Replaced series",
            "10 000 active series, all replaced every ten minutes.",
            growth::load_of(&facts, "churn"),
        ),
        ("A month", "A point a minute.", growth::load_of(&facts, "month")),
        (
            "First queries of a month",
            "Each after a restart, with none of the files in the memory of the system.",
            growth::evicted(&facts),
        ),
        (
            "Answers",
            "The count of the numbers of each result, and their sum. Percentiles and approximate counts may differ by 2 %.",
            queries::answers(&facts),
        ),
        ("Not measured", "", missing(&facts, &context.options.home)),
    ] {
        if !body.is_empty() {
            let about = if about.is_empty() { String::new() } else { format!("{about}\n\n") };
            text.push_str(&format!("## {title}\n\n{about}{body}\n"));
        }
    }
    let path = folder.join("RESULTS.md");
    std::fs::write(&path, format!("{}\n", text.trim_end()))?;
    crate::print_line(&format!("\n{reached}\nfull report: {}", path.canonicalize()?.display()));
    Ok(())
}

/// Draws the charts and returns the Markdown that shows them.
fn pictures(facts: &Facts, folder: &Path) -> Outcome<String> {
    let rivals = || PEERS.into_iter().filter(|peer| *peer != "telltale-interval");
    let group = |label: String, value: &dyn Fn(&str) -> Option<f64>| {
        let bar = |peer| value(peer).map(|value| Bar { peer, value });
        Group { label, bars: rivals().filter_map(bar).collect() }
    };
    let mut cpu = Vec::new();
    for (label, format, per) in [
        ("lines of one field", "lines", 5_000),
        ("lines of ten fields", "wide lines", 500),
        ("remote write", "remote write", 5_000),
        ("JSON", "JSON", 500),
    ] {
        cpu.push(group(label.to_owned(), &|peer| {
            facts.load("tsbs-small", peer, "", format, per).and_then(|load| load.cpu_all())
        }));
    }
    let disk: Vec<Group> = space::WEIGHED
        .map(|part| group(part.to_owned(), &|peer| facts.bytes_per_point(part, peer)))
        .into();
    let mut times = Vec::new();
    for (part, shape) in [
        ("tsbs-medium", "q1"),
        ("tsbs-medium", "q2"),
        ("tsbs-medium", "q3"),
        ("tsbs-medium", "q4"),
        ("latencies", "q5"),
        ("events", "q6"),
        ("events", "q7"),
        ("events", "q8"),
        ("events", "q9"),
    ] {
        let mut group =
            group(format!("{shape} · {part}"), &|peer| queries::p50(facts, part, peer, shape));
        if let Some(raw) = facts.query(part, "telltale", shape, "raw") {
            group.bars.insert(0, Bar { peer: "telltale raw", value: raw.p50_ms });
        }
        times.push(group);
    }
    let mut text = String::new();
    for (file, title, axis, groups) in [
        ("ingest.svg", "Server CPU seconds per million points, merge included", Axis::Linear, cpu),
        ("disk.svg", "Bytes per point on disk", Axis::Logarithmic, disk),
        ("queries.svg", "Median time of a query, ms", Axis::Logarithmic, times),
    ] {
        let groups: Vec<Group> = groups.into_iter().filter(|g| !g.bars.is_empty()).collect();
        if let Some(drawn) = draw(title, axis, &groups) {
            std::fs::write(folder.join(file), drawn)?;
            text.push_str(&format!("![{title}]({file})\n\n"));
        }
    }
    Ok(text)
}

fn peers(facts: &Facts) -> String {
    let mut table = Table::new(&[
        "peer",
        "version",
        "guarantee of an acknowledgement",
        "day",
        "load of the machine before",
    ]);
    for peer in PEERS {
        let rows = || PARTS.iter().flat_map(|part| facts.rows(part.name, peer));
        let mut loads = Vec::new();
        let mut description = None;
        for row in rows() {
            if let Row::Peer { version, durability, day, load_average } = row {
                loads.push(*load_average);
                description = Some((version, durability, day));
            }
        }
        if let Some((version, durability, day)) = description {
            let most = loads.iter().copied().fold(0.0, f64::max);
            table.row([
                peer.to_owned(),
                version.clone(),
                durability.clone(),
                day.clone(),
                format!("up to {}", number(most)),
            ]);
        }
    }
    table.finish()
}

/// Lists what was not measured. Paths of this machine are removed from the reasons.
fn missing(facts: &Facts, home: &Path) -> String {
    let mut text = String::new();
    for part in PARTS {
        for peer in PEERS {
            for row in facts.rows(part.name, peer) {
                if let Row::Missing { reason } = row {
                    let reason = reason.replace(&home.display().to_string(), "…");
                    text.push_str(&format!("- {} · {peer}: {reason}\n", part.name));
                }
            }
        }
    }
    text
}

fn machine() -> Outcome<String> {
    let cpus = std::fs::read_to_string("/proc/cpuinfo")?;
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.and_then(|line| line.split_once(':')).map_or("?", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism()?;
    let memory = std::fs::read_to_string("/proc/meminfo")?;
    let kb = memory.split_whitespace().nth(1).unwrap_or("0").parse::<f64>()?;
    let kernel = Command::new("uname").arg("-sr").output()?;
    let kernel = String::from_utf8_lossy(&kernel.stdout).trim().to_owned();
    Ok(format!(
        "The machine: {cores} cores of {model}, {:.0} GiB, {kernel}.",
        kb / f64::from(1 << 20)
    ))
}
