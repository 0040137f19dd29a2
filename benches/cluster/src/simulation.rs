//! Histories in one process on virtual time: owners come and go on a store that faults, by a seed.
//!
//! A frozen handle of the store stands for SIGSTOP, one that is never thawed for SIGKILL. Every
//! owner has a wall clock of its own. Time is that of tokio, paused, so an hour takes moments. The
//! seed fixes faults, sizes and pauses; the order in which tasks run is SlateDB's, so a seed
//! repeats the circumstances of a history, not each of its steps.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use object_store::ObjectStore;
use object_store::path::Path;
use slatedb_common::clock::{DefaultSystemClock, SystemClock, SystemClockTicker};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::checks::{Note, Violation, violations};
use crate::options::Options;
use crate::outcome::{Failure, Outcome};
use crate::print_line;
use crate::seeded::Seeded;
use crate::shard::{Contents, DocumentRevision, Entry, Opening, Owner, Tuning};
use crate::store::{AgedStore, Faults, FaultyStore};

const CLIENTS: u64 = 6;
const PREFIX: &str = "shard";
/// Longer than any fault of the store lasts.
const OPENING: Duration = Duration::from_secs(600);

/// A wall clock that is ahead of, or behind, that of the store.
#[derive(Debug)]
struct SkewedClock {
    /// The clock of the simulation: that of tokio, which all owners share.
    inner: Arc<DefaultSystemClock>,
    skew: TimeDelta,
}

impl SystemClock for SkewedClock {
    fn now(&self) -> DateTime<Utc> {
        self.inner.now() + self.skew
    }

    fn sleep<'a>(&'a self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        self.inner.sleep(time)
    }

    fn ticker<'a>(&'a self, period: Duration) -> SystemClockTicker<'a> {
        SystemClockTicker::new(self, period)
    }
}

type History = Arc<Mutex<Vec<Note>>>;

/// What one history has shown.
#[derive(Debug, Default)]
struct Summary {
    violations: Vec<Violation>,
    acknowledged: usize,
    owners: u64,
    fenced: usize,
    /// Owners that ended, or could not open the shard, for another reason than a newer one.
    failures: Vec<String>,
    faults: u64,
}

/// What all histories of a run have in common.
#[derive(Clone, Copy, Debug)]
struct Circumstances {
    /// Wall clocks are up to this much ahead or behind.
    skew_seconds: u64,
    faults: Faults,
    boundaries: bool,
    confirms: bool,
    sets_clock: bool,
}

impl Default for Circumstances {
    fn default() -> Self {
        Self {
            skew_seconds: 0,
            faults: Faults::of_a_bad_day(),
            boundaries: true,
            confirms: true,
            sets_clock: true,
        }
    }
}

/// Runs `--seeds` histories from `--first` on; fails if one breaks a promise, or if an owner ends
/// without a newer one.
pub(crate) fn simulate(options: &Options) -> Outcome<()> {
    let first = options.within("first", 1, 0..=u64::from(u32::MAX))?;
    let seeds = options.within("seeds", 20, 1..=u64::from(u32::MAX))?;
    let circumstances = Circumstances {
        skew_seconds: options.within("skew", 0, 0..=1_000_000)?,
        faults: Faults {
            forgotten: options.within("forget", 0, 0..=1000)?,
            ..Faults::of_a_bad_day()
        },
        boundaries: options.get("boundaries", true)?,
        confirms: options.get("confirm", true)?,
        sets_clock: options.get("set-clock", true)?,
    };
    let mut total = Summary::default();
    let hold = options.get("hold", PathBuf::new())?;
    for seed in first..first + seeds {
        while hold.exists() {
            std::thread::park_timeout(Duration::from_secs(1));
        }
        let summary = history(seed, circumstances)?;
        if !summary.violations.is_empty() || !summary.failures.is_empty() {
            let shown: Vec<_> = summary.violations.iter().take(5).collect();
            print_line(&format!(
                "seed {seed}: {} violations {shown:?} failures {:?}",
                summary.violations.len(),
                summary.failures
            ));
        }
        total.add(summary);
    }
    print_line(&format!(
        "{seeds} histories from seed {first}: {} owners, {} fenced, {} acknowledged writes, \
         {} faults of the store, {} other failures, {} violations",
        total.owners,
        total.fenced,
        total.acknowledged,
        total.faults,
        total.failures.len(),
        total.violations.len()
    ));
    let (violations, failures) = (total.violations.len(), total.failures.len());
    if violations + failures == 0 {
        return Ok(());
    }
    Err(Failure::Damaged(format!("{violations} violations, {failures} other failures")))
}

/// Runs the history of a seed. A panic of SlateDB is a failure like others.
fn history(seed: u64, circumstances: Circumstances) -> Outcome<Summary> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    let simulation = Simulation::new(seed, circumstances);
    let ended = runtime.block_on(async { tokio::spawn(Box::pin(simulation.run())).await });
    runtime.shutdown_background();
    Ok(ended.unwrap_or_else(|panic| {
        let failures = vec![panic.to_string()];
        Summary { failures, ..Summary::default() }
    }))
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.violations.extend(other.violations);
        self.failures.extend(other.failures);
        self.acknowledged += other.acknowledged;
        self.owners += other.owners;
        self.fenced += other.fenced;
        self.faults += other.faults;
    }
}

/// An owner and the clients that write to it.
struct Running {
    store: Arc<FaultyStore>,
    _clients: JoinSet<()>,
}

struct Simulation {
    random: Seeded,
    bucket: Arc<dyn ObjectStore>,
    clock: Arc<DefaultSystemClock>,
    history: History,
    running: Vec<Running>,
    summary: Summary,
    circumstances: Circumstances,
}

impl Simulation {
    fn new(seed: u64, circumstances: Circumstances) -> Self {
        Self {
            random: Seeded::new(seed),
            bucket: Arc::new(AgedStore::new()),
            clock: Arc::new(DefaultSystemClock::new()),
            history: History::default(),
            running: Vec::new(),
            summary: Summary::default(),
            circumstances,
        }
    }

    async fn run(mut self) -> Summary {
        for _ in 0..3 + self.random.below(4) {
            self.take_over().await;
            self.pass(20_000).await;
            self.disturb().await;
        }
        // Paused owners go on, and have time to notice that they were replaced.
        for owner in &self.running {
            if self.random.happens(700) {
                owner.store.freeze(false);
            }
        }
        self.pass(120_000).await;
        for owner in &self.running {
            owner.store.freeze(true);
            self.summary.faults += owner.store.injected();
        }
        let contents = match timeout(OPENING, self.judge()).await {
            Ok(contents) => contents,
            Err(_) => Err(Failure::Stopped("the shard could not be read in time".to_owned())),
        };
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.summary.violations = match contents {
            Ok(contents) => violations(&history, &contents),
            Err(error) => vec![Violation::Unreadable { reason: error.to_string() }],
        };
        for note in history {
            match note {
                Note::Acknowledged { .. } => self.summary.acknowledged += 1,
                Note::Fenced { .. } => self.summary.fenced += 1,
                Note::Failed { writer, reason } => {
                    self.summary.failures.push(format!("{writer}: {reason}"));
                }
                Note::Opened { .. } => {}
            }
        }
        self.summary
    }

    async fn pass(&mut self, millis_max: u64) {
        sleep(Duration::from_millis(self.random.below(millis_max))).await;
    }

    fn opening(&mut self, store: Arc<dyn ObjectStore>, writer: u64) -> Opening {
        let Circumstances { skew_seconds, boundaries, confirms, sets_clock, .. } =
            self.circumstances;
        let skew =
            self.random.below(2 * skew_seconds + 1).cast_signed() - skew_seconds.cast_signed();
        let clock = SkewedClock {
            inner: Arc::clone(&self.clock),
            skew: TimeDelta::try_seconds(skew).unwrap_or_default(),
        };
        let tuning =
            Tuning { block_cache: false, boundaries, confirms, sets_clock, ..Tuning::campaign() };
        Opening {
            store,
            prefix: Path::from(PREFIX),
            writer,
            tuning,
            seal_records: 40,
            clock: Some(Arc::new(clock)),
            seed: self.random.next(),
        }
    }

    /// Opens the shard with a new owner, and lets clients write.
    async fn take_over(&mut self) {
        self.summary.owners += 1;
        let writer = self.summary.owners;
        let faults = self.circumstances.faults;
        let store = FaultyStore::new(Arc::clone(&self.bucket), faults, self.random.next());
        let store = Arc::new(store);
        let opening = self.opening(Arc::clone(&store) as _, writer);
        let mut clients = JoinSet::new();
        match timeout(OPENING, Box::pin(Owner::open(opening))).await {
            Ok(Ok(owner)) => {
                let found = owner.recovered();
                let (epoch, lsn, sealed) = (found.epoch, found.lsn, found.sealed);
                note(&self.history, Note::Opened { writer, epoch, lsn, sealed, millis: 0.0 });
                let owner = Arc::new(owner);
                for client in 0..CLIENTS {
                    let (owner, history) = (Arc::clone(&owner), Arc::clone(&self.history));
                    let random = Seeded::new(self.random.next());
                    clients.spawn(write_for_ever(owner, history, writer, client, random));
                }
            }
            Ok(Err(Failure::Fenced)) => note(&self.history, Note::Fenced { writer }),
            Ok(Err(error)) => {
                note(&self.history, Note::Failed { writer, reason: error.to_string() });
            }
            Err(_) => {
                let reason = "the shard could not be opened in time".to_owned();
                note(&self.history, Note::Failed { writer, reason });
            }
        }
        self.running.push(Running { store, _clients: clients });
    }

    /// Kills or pauses the newest owner, wakes a paused one, or does nothing: the next owner then
    /// takes the shard from one that works.
    async fn disturb(&mut self) {
        let chosen = self.random.below(4);
        let Some(newest) = self.running.last() else { return };
        match chosen {
            0 => newest.store.freeze(true),
            1 => {
                newest.store.freeze(true);
                self.pass(60_000).await;
                if let Some(newest) = self.running.last() {
                    newest.store.freeze(false);
                }
                self.pass(10_000).await;
            }
            2 => {
                let any = self.random.below(self.running.len() as u64);
                let any = usize::try_from(any).unwrap_or_default();
                if let Some(owner) = self.running.get(any) {
                    owner.store.freeze(false);
                }
            }
            _ => {}
        }
    }

    /// Reads the shard as a last owner, without faults.
    async fn judge(&mut self) -> Outcome<Contents> {
        let bucket = Arc::clone(&self.bucket);
        let opening = self.opening(Arc::clone(&bucket), 0);
        let owner = Box::pin(Owner::open(opening)).await?;
        Contents::read(owner.db(), bucket.as_ref(), &Path::from(PREFIX)).await
    }
}

fn note(history: &History, note: Note) {
    history.lock().unwrap_or_else(PoisonError::into_inner).push(note);
}

async fn write_for_ever(
    owner: Arc<Owner>,
    history: History,
    writer: u64,
    client: u64,
    mut random: Seeded,
) {
    for number in 1.. {
        let document =
            random.happens(200).then_some(DocumentRevision { number: client, revision: number });
        let mut payload = vec![0; usize::try_from(1 + random.below(4096)).unwrap_or(1)];
        random.fill(&mut payload);
        let request = (client << 32) | number;
        let entry = Entry { request, document, payload: Bytes::from(payload) };
        let end = match owner.append(entry).await {
            Ok(acknowledged) => {
                let document = document.map(|document| (document.number, document.revision));
                let lsn = acknowledged.lsn;
                note(&history, Note::Acknowledged { writer, request, lsn, document });
                sleep(Duration::from_millis(random.below(200))).await;
                continue;
            }
            Err(Failure::Fenced) => Note::Fenced { writer },
            Err(error) => Note::Failed { writer, reason: error.to_string() },
        };
        if !history.lock().unwrap_or_else(PoisonError::into_inner).contains(&end) {
            note(&history, end);
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histories_keep_the_promises_also_with_clocks_that_differ() {
        for skew_seconds in [0, 60] {
            for seed in 1..4 {
                let circumstances = Circumstances { skew_seconds, ..Circumstances::default() };
                let summary = history(seed, circumstances).unwrap();
                assert_eq!(summary.violations, [], "seed {seed}, skew {skew_seconds}");
                assert_eq!(summary.failures, [""; 0], "seed {seed}, skew {skew_seconds}");
                assert!(summary.acknowledged > 0 && summary.faults > 0, "seed {seed}");
            }
        }
    }

    /// A store that acknowledges what it does not keep: the whole rig has to notice.
    #[test]
    fn writes_that_the_store_forgets_are_noticed() {
        let faults = Faults { forgotten: 20, ..Faults::default() };
        let circumstances = Circumstances { faults, ..Circumstances::default() };
        let noticed = (1..6).any(|seed| {
            let summary = history(seed, circumstances).unwrap();
            !summary.violations.is_empty()
        });
        assert!(noticed);
    }
}
