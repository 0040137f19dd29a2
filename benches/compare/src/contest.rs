//! Runs every part with every peer. A peer that is not available, or fails, leaves a row with the
//! reason.

use std::process::Command;

use crate::clock::Stopwatch;
use crate::data::Format;
use crate::outcome::Outcome;
use crate::parts::{Context, PARTS, Part};
use crate::peers::{
    Durability, Engine, InfluxDb, Peer, Telltale, VictoriaMetrics, debian_program, python,
};
use crate::results::{Cell, Row};

/// Names of all peers, in the order of the report.
pub(crate) const PEERS: [&str; 6] =
    ["telltale", "telltale-interval", "victoria-metrics", "influxdb", "clickhouse", "duckdb"];

/// The peers that are measured repeatedly. The others take several times as long.
const REPEATED: [&str; 2] = ["telltale", "victoria-metrics"];

/// An available peer.
enum Contestant {
    Server(Box<dyn Peer>),
    Embedded(Engine),
}

/// Runs the parts and peers of the options.
pub(crate) fn run(context: &Context) -> Outcome<()> {
    let parts = chosen(&context.options.parts, PARTS.iter().collect(), |part| part.name)?;
    let peers = chosen(&context.options.peers, PEERS.to_vec(), |peer| peer)?;
    let mut contestants = Vec::new();
    for peer in peers {
        contestants.push((peer, contestant(context, peer)));
    }
    // Programs that were fetched are on disk before anything is measured.
    rustix::fs::sync();
    for part in parts {
        let mut cells = Vec::new();
        for (peer, contestant) in &contestants {
            if runs_with(part, peer) {
                let cell = Cell::new(&context.results(), part.name, peer)?;
                cells.push((*peer, contestant, cell));
            }
        }
        // The peers take turns: the speed of a machine changes from minute to minute.
        for run in 0..context.options.runs * part.repeats {
            for (peer, contestant, cell) in &mut cells {
                if run == 0 || REPEATED.contains(peer) {
                    measure(context, part, (peer, contestant), cell)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the items with these names, or all if there are none; an unknown name is an error.
fn chosen<T>(names: &[String], all: Vec<T>, name: impl Fn(&T) -> &str) -> Outcome<Vec<T>> {
    for wanted in names {
        if !all.iter().any(|one| name(one) == wanted) {
            let known: Vec<&str> = all.iter().map(&name).collect();
            return Err(format!("there is no {wanted}; there are {}", known.join(", ")).into());
        }
    }
    let is_chosen = |one: &T| names.is_empty() || names.iter().any(|n| n == name(one));
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Returns whether a part runs with a peer. A different acknowledgement only affects loads.
pub(crate) fn runs_with(part: &Part, peer: &str) -> bool {
    match peer {
        "telltale-interval" => part.name == "tsbs-small",
        "clickhouse" | "duckdb" => part.embedded,
        _ => true,
    }
}

fn measure(
    context: &Context,
    part: &Part,
    (peer, contestant): (&str, &Outcome<Contestant>),
    cell: &mut Cell,
) -> Outcome<()> {
    crate::print_line(&format!("{} · {peer}", part.name));
    let clock = Stopwatch::start();
    let set = (part.set)(context.options.scale);
    let done = match contestant {
        Err(error) => Err(format!("not installed: {error}").into()),
        Ok(Contestant::Server(server)) => describe(server.as_ref(), cell)
            .and_then(|()| (part.serve)(context, server.as_ref(), set, cell)),
        Ok(Contestant::Embedded(engine)) => {
            let scale = context.options.scale;
            set.ensure(&context.data(), &[Format::Columns])
                .and_then(|folder| engine.run(part.name, scale, &folder, &context.scratch(), cell))
        }
    };
    if let Err(error) = done {
        cell.add(Row::Missing { reason: error.to_string() })?;
    }
    crate::print_line(&format!("  {:.0} s", clock.seconds()));
    cell.save()
}

fn describe(peer: &dyn Peer, cell: &mut Cell) -> Outcome<()> {
    let load = std::fs::read_to_string("/proc/loadavg")?;
    let load_average = load.split(' ').next().unwrap_or_default().parse()?;
    cell.add(Row::Peer {
        version: peer.version()?,
        durability: peer.durability().to_owned(),
        day: today()?,
        load_average,
    })
}

fn today() -> Outcome<String> {
    let output = Command::new("date").args(["-u", "+%F"]).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn contestant(context: &Context, peer: &str) -> Outcome<Contestant> {
    let options = &context.options;
    let server = |peer| Ok(Contestant::Server(peer));
    let telltale = |durability| match &options.telltale {
        Some(program) if program.is_file() => {
            server(Box::new(Telltale { program: program.clone(), durability }))
        }
        Some(program) => Err(format!("{} is not a file", program.display()).into()),
        None => Err("TELLTALE_BIN is not set".into()),
    };
    let debian = |named, package, program| debian_program(&options.home, named, package, program);
    match peer {
        "telltale" => telltale(Durability::Sync),
        "telltale-interval" => telltale(Durability::Interval),
        "victoria-metrics" => {
            let named = options.victoria_metrics.as_deref();
            let program = debian(named, "victoria-metrics", "victoria-metrics")?;
            server(Box::new(VictoriaMetrics { program }))
        }
        "influxdb" => server(Box::new(InfluxDb { program: debian(None, "influxdb", "influxd")? })),
        "clickhouse" => embedded(context, "clickhouse"),
        _ => embedded(context, "duckdb"),
    }
}

fn embedded(context: &Context, name: &'static str) -> Outcome<Contestant> {
    let python = python(&context.options.home)?;
    Ok(Contestant::Embedded(Engine { name, python }))
}
