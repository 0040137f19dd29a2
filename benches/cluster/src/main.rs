//! Measures whether SlateDB on an object store carries a shard: races, faults, figures.
//!
//! `benches/cluster/README.md` lists the commands.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for people")]

mod campaign;
mod checks;
mod figures;
mod options;
mod outcome;
mod seeded;
mod shard;
mod simulation;
mod stopwatch;
mod store;

use std::process::ExitCode;

use object_store::path::Path;

use options::Options;
use outcome::{Failure, Outcome};

const USAGE: &str = "usage: cluster COMMAND [--name value]…
  probe     --store ADDRESS,… [--races N]        races for objects; fails on a store to refuse
  campaign  --out FILE [--rounds N --lanes N]    faults on processes in the rig
  simulate  [--seeds N --first N]                faults in process, on virtual time
  latency   [--store ADDRESS --seconds N]        acknowledgements by PUT latency and flush interval
  costs     [--mib N]                            CPU, bytes and requests per byte logged
  takeover  [--store ADDRESS --mib A,B]          time to open a shard, by the size of its log
  packs     [--store ADDRESS]                    uploads of packs of 1 to 64 MB
  node, proxy                                    parts of a campaign";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cluster: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    // The HTTP client asks for a provider even where it does not encrypt. Only a second call fails.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let options = Options::parse(arguments)?;
    if command == "simulate" {
        return simulation::simulate(&options);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(Box::pin(async {
        match command.as_str() {
            "probe" => probe(&options).await,
            "node" => campaign::node(&options).await,
            "proxy" => campaign::proxy(&options).await,
            "campaign" => campaign::campaign(&options).await,
            "latency" => figures::latency(&options).await,
            "costs" => figures::costs(&options).await,
            "takeover" => figures::takeover(&options).await,
            "packs" => figures::packs(&options).await,
            _ => Err(Failure::Usage(USAGE.to_owned())),
        }
    }));
    // Background tasks of a database that was fenced may never end.
    runtime.shutdown_background();
    result
}

async fn probe(options: &Options) -> Outcome<()> {
    options.required("store")?;
    let addresses: Vec<String> = options.list("store", "")?;
    let stores = addresses.iter().map(|address| store::connect(address));
    let stores = stores.collect::<Outcome<Vec<_>>>()?;
    let prefix = Path::from(format!("probe-{}", stopwatch::run_number()));
    let races = options.within("races", 50, 1..=1_000_000)?;
    match store::probe(&stores, &prefix, races).await {
        Ok(capabilities) => {
            print_line(&format!("accepted after {races} races; {capabilities:?}"));
            Ok(())
        }
        Err(refusal) => Err(Failure::Usage(format!("refused: {refusal}"))),
    }
}

/// Prints progress and results.
fn print_line(line: &str) {
    println!("{line}");
}
