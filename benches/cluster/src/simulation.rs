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
use crate::store::{AgedStore, ConfirmedStore, Faults, FaultyStore};

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
    failures: Vec<String>,
    faults: u64,
}

/// Runs `--seeds` histories from `--first` on; fails if one breaks a promise.
pub(crate) fn simulate(options: &Options) -> Outcome<()> {
    let first: u64 = options.get("first", 1)?;
    let seeds: u64 = options.get("seeds", 20)?;
    let skew: u64 = options.get("skew", 0)?;
    let boundaries = options.get("boundaries", true)?;
    let confirms = options.get("confirm", true)?;
    let mut total = Summary::default();
    let hold = options.get("hold", PathBuf::new())?;
    for seed in first..first + seeds {
        while hold.exists() {
            std::thread::park_timeout(Duration::from_secs(1));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()?;
        let simulation = Simulation::new(seed, skew, boundaries, confirms);
        let summary = runtime.block_on(Box::pin(simulation.run()))?;
        runtime.shutdown_background();
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
        "{seeds} histories from seed {first}: {} owners, {} fenced, {} acknowledged writes, {} faults \
         of the store, {} other failures, {} violations",
        total.owners,
        total.fenced,
        total.acknowledged,
        total.faults,
        total.failures.len(),
        total.violations.len()
    ));
    if total.violations.is_empty() {
        return Ok(());
    }
    Err(Failure::Damaged(format!("{} violations", total.violations.len())))
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
    skew_seconds: u64,
    boundaries: bool,
    /// Whether "already exists" is confirmed before it is believed.
    confirms: bool,
}

impl Simulation {
    fn new(seed: u64, skew_seconds: u64, boundaries: bool, confirms: bool) -> Self {
        Self {
            random: Seeded::new(seed),
            bucket: Arc::new(AgedStore::new()),
            clock: Arc::new(DefaultSystemClock::new()),
            history: History::default(),
            running: Vec::new(),
            summary: Summary::default(),
            skew_seconds,
            boundaries,
            confirms,
        }
    }

    async fn run(mut self) -> Outcome<Summary> {
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
        let contents = self.judge().await?;
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.summary.violations = violations(&history, &contents);
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
        Ok(self.summary)
    }

    async fn pass(&mut self, millis_max: u64) {
        sleep(Duration::from_millis(self.random.below(millis_max))).await;
    }

    fn opening(&mut self, store: Arc<dyn ObjectStore>, writer: u64) -> Opening {
        let skew = self.random.below(2 * self.skew_seconds + 1).cast_signed()
            - self.skew_seconds.cast_signed();
        let clock = SkewedClock {
            inner: Arc::clone(&self.clock),
            skew: TimeDelta::try_seconds(skew).unwrap_or_default(),
        };
        let tuning =
            Tuning { block_cache: false, boundaries: self.boundaries, ..Tuning::campaign() };
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
        let faults = Faults::of_a_bad_day();
        let store = FaultyStore::new(Arc::clone(&self.bucket), faults, self.random.next());
        let store = Arc::new(store);
        let seen: Arc<dyn ObjectStore> = if self.confirms {
            Arc::new(ConfirmedStore::new(Arc::clone(&store) as _))
        } else {
            Arc::clone(&store) as _
        };
        let opening = self.opening(seen, writer);
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
