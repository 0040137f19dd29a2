//! Runs the rounds of a campaign on several lanes and writes one line of JSON per round.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use object_store::path::Path;
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::lane::{Lane, Shared};
use super::rig::Rig;
use super::round::{self, Fault, Finding};
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::print_line;
use crate::seeded::Seeded;
use crate::stopwatch::{Latencies, Stopwatch, run_number};
use crate::store::{connect, probe};

/// Rounds on the same shard before the next one begins with an empty shard.
const ROUNDS_PER_SHARD: u64 = 5;

/// The rig has namespaces for six nodes.
const LANES_MAX: u64 = 3;

/// What all rounds of one kind have shown.
#[derive(Debug, Default)]
struct Total {
    rounds: u64,
    takeovers: Latencies,
    stuck: u64,
    violations: u64,
}

/// The state of a running campaign.
#[derive(Debug)]
struct Campaign {
    next: AtomicU64,
    end: u64,
    seed: u64,
    only: Option<Fault>,
    /// No round begins while this file exists.
    hold: PathBuf,
    file: std::sync::Mutex<std::fs::File>,
    totals: Mutex<BTreeMap<String, Total>>,
    acknowledged: AtomicU64,
    /// Owners that ended for another reason than a newer one.
    failures: AtomicU64,
}

/// Runs rounds `--first` to `--first + --rounds`; the seed of round n is `--seed + n`. No round
/// begins while the file `--hold` exists, so that the machine can be had for something else.
pub(crate) async fn campaign(options: &Options) -> Outcome<()> {
    let first = options.within("first", 0, 0..=u64::from(u32::MAX))?;
    let lanes = options.within("lanes", 1, 1..=LANES_MAX)?;
    let only = options.get("fault", String::new())?;
    let campaign = Arc::new(Campaign {
        next: AtomicU64::new(first),
        end: first + options.within("rounds", 10, 1..=u64::from(u32::MAX))?,
        seed: options.within("seed", 1, 0..=u64::from(u32::MAX))?,
        only: if only.is_empty() { None } else { Some(round::parse(&only)?) },
        hold: options.get("hold", PathBuf::new())?,
        file: std::sync::Mutex::new(std::fs::File::create(options.required("out")?)?),
        totals: Mutex::default(),
        acknowledged: AtomicU64::new(0),
        failures: AtomicU64::new(0),
    });
    let run = run_number();
    let shared = Arc::new(Shared {
        rig: Rig::new(options.get("rig", "tools/cluster-up".to_owned())?),
        gateways: options.get("gateways", "10.77.0.31:8333,10.77.0.32:8333".to_owned())?,
        bucket: "telltale".to_owned(),
        run,
        boundaries: options.get("boundaries", true)?,
        confirms: options.get("confirm", true)?,
        caches: std::env::temp_dir().join(format!("telltale-cluster-{run}")),
        store_fault: Mutex::default(),
    });
    let gateways = shared.gateways.split(',');
    let stores = gateways.map(|gateway| connect(&format!("http://{gateway}/{}", shared.bucket)));
    let stores = stores.collect::<Outcome<Vec<_>>>()?;
    let probed = probe(&stores, &Path::from(format!("probe-{run}")), 10).await;
    let capabilities = probed.map_err(|refusal| Failure::Usage(refusal.to_string()))?;
    print_line(&format!("the store is accepted: {capabilities:?}"));
    let stopwatch = Stopwatch::start();
    let mut running = JoinSet::new();
    for number in 0..lanes {
        let lane = Lane::start(Arc::clone(&shared), number)?;
        running.spawn(run_lane(lane, Arc::clone(&campaign)));
    }
    while let Some(ended) = running.join_next().await {
        ended.map_err(|error| Failure::Stopped(error.to_string()))??;
    }
    match tokio::fs::remove_dir_all(&shared.caches).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    summary(&campaign, stopwatch).await
}

async fn run_lane(mut lane: Lane, campaign: Arc<Campaign>) -> Outcome<()> {
    let mut rounds = 0;
    lane.ready().await?;
    loop {
        while tokio::fs::try_exists(&campaign.hold).await.unwrap_or(false) {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        let number = campaign.next.fetch_add(1, Ordering::Relaxed);
        if number >= campaign.end {
            return Ok(());
        }
        if rounds % ROUNDS_PER_SHARD == 0 {
            lane.begin_shard(number).await;
        }
        rounds += 1;
        let seed = campaign.seed + number;
        let fault = campaign.only.unwrap_or_else(|| Fault::draw(&mut Seeded::new(!seed)));
        let (before, failed) = (lane.acknowledged(), lane.failures().len());
        let stopwatch = Stopwatch::start();
        let finding = match Box::pin(round::run(&mut lane, fault, seed)).await {
            Ok(finding) => finding,
            Err(error) => {
                // Whatever the shard is like, the next round begins with another one.
                rounds = 0;
                Finding::unfinished(error.to_string())
            }
        };
        let acknowledged = lane.acknowledged() - before;
        campaign.acknowledged.fetch_add(acknowledged as u64, Ordering::Relaxed);
        let failures: Vec<_> = lane.failures().into_iter().skip(failed).collect();
        campaign.failures.fetch_add(failures.len() as u64, Ordering::Relaxed);
        let judged = &finding.judgement;
        let line = serde_json::json!({
            "round": number,
            "seed": seed,
            "fault": format!("{fault:?}"),
            "seconds": stopwatch.elapsed().as_secs_f64(),
            "takeover_ms": finding.takeover_millis,
            "acknowledged": acknowledged,
            "records": judged.records,
            "packs": judged.packs,
            "deleted_wal": judged.deleted_wal,
            "violations": judged.violations.iter().take(10).map(|v| format!("{v:?}"))
                .collect::<Vec<_>>(),
            "evidence": judged.evidence,
            "stuck": finding.stuck,
            "failures": failures,
        });
        campaign.add(fault, finding, &line.to_string()).await?;
    }
}

impl Campaign {
    async fn add(&self, fault: Fault, finding: Finding, line: &str) -> Outcome<()> {
        let judged = &finding.judgement;
        if !judged.violations.is_empty() || !finding.stuck.is_empty() {
            print_line(line);
        }
        let mut totals = self.totals.lock().await;
        let total = totals.entry(format!("{fault:?}")).or_default();
        total.rounds += 1;
        total.stuck += finding.stuck.len() as u64;
        total.violations += judged.violations.len() as u64;
        if let Some(millis) = finding.takeover_millis {
            total.takeovers.add(millis);
        }
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(writeln!(file, "{line}")?)
    }
}

async fn summary(campaign: &Campaign, stopwatch: Stopwatch) -> Outcome<()> {
    print_line("fault                rounds violations stuck  takeover ms p50    p99");
    let mut violations = 0;
    for (fault, total) in campaign.totals.lock().await.iter_mut() {
        violations += total.violations;
        let (p50, p99) = (total.takeovers.quantile(0.5), total.takeovers.quantile(0.99));
        print_line(&format!(
            "{fault:20} {:6} {:10} {:5} {p50:16.0} {p99:6.0}",
            total.rounds, total.violations, total.stuck
        ));
    }
    let acknowledged = campaign.acknowledged.load(Ordering::Relaxed);
    let seconds = stopwatch.elapsed().as_secs();
    let failures = campaign.failures.load(Ordering::Relaxed);
    print_line(&format!(
        "{acknowledged} acknowledged writes in {seconds} s; {failures} owners ended otherwise than \
         by a newer one"
    ));
    if violations > 0 {
        return Err(Failure::Damaged(format!("{violations} violations")));
    }
    Ok(())
}
