//! A lane: one shard at a time, two namespaces whose nodes own it in turn, and a judge.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use object_store::ObjectStore;
use object_store::path::Path;
use tokio::sync::Mutex;

use super::evidence;
use super::process::{History, Node, ProxyProcess};
use super::rig::Rig;
use crate::checks::{Note, Violation, violations};
use crate::outcome::{Failure, Outcome};
use crate::print_line;
use crate::shard::{Contents, Opening, Owner, Tuning};
use crate::store::{delete_below, deleted_wal};

/// Attempts to open a shard that could not be opened.
const ATTEMPTS: u32 = 5;

/// What all lanes share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) rig: Rig,
    /// Addresses of the gateways, `host:port`.
    pub(crate) gateways: String,
    pub(crate) bucket: String,
    pub(crate) run: u64,
    pub(crate) boundaries: bool,
    pub(crate) confirms: bool,
    /// The data directories of all nodes.
    pub(crate) caches: PathBuf,
    /// Held while a member of the store is down: one at a time.
    pub(crate) store_fault: Mutex<()>,
}

/// One of the two namespaces of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

impl Side {
    /// Returns the other side.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// The lane.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) shared: Arc<Shared>,
    number: u64,
    left: ProxyProcess,
    right: ProxyProcess,
    /// Connects the judge with the store.
    _judge: ProxyProcess,
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    history: History,
    writers: u64,
}

impl Lane {
    /// Starts the proxies of a lane: lane 0 has the namespaces of node1 and node2.
    pub(crate) fn start(shared: Arc<Shared>, number: u64) -> Outcome<Self> {
        let proxy = |namespace: &str, listen: &str| {
            let arguments = ["proxy", "--listen", listen, "--to", &shared.gateways, "--first", "1"];
            ProxyProcess::start(namespace, &arguments.map(str::to_owned))
        };
        let listen = format!("127.0.0.1:{}", 9100 + number);
        let store = crate::store::connect(&format!("http://{listen}/{}", shared.bucket))?;
        Ok(Self {
            left: proxy(&namespace(number, Side::Left), "127.0.0.1:9000")?,
            right: proxy(&namespace(number, Side::Right), "127.0.0.1:9000")?,
            _judge: proxy("tt-hub", &listen)?,
            store,
            prefix: Path::from(format!("campaign-{}/{number}", shared.run)),
            history: History::default(),
            writers: 0,
            number,
            shared,
        })
    }

    /// Waits until the proxy of the judge accepts connections.
    pub(crate) async fn ready(&self) -> Outcome<()> {
        let listen = format!("127.0.0.1:{}", 9100 + self.number);
        for _ in 0..300 {
            if tokio::net::TcpStream::connect(&listen).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(Failure::Stopped(format!("no proxy listens on {listen}")))
    }

    /// Begins with a new, empty shard.
    pub(crate) async fn begin_shard(&mut self, round: u64) {
        let used = self.prefix.clone();
        self.prefix = Path::from(format!("campaign-{}/{}/{round}", self.shared.run, self.number));
        self.history = History::default();
        // A store that is too busy to delete keeps some garbage; the rig is thrown away anyway.
        if let Err(error) = delete_below(self.store.as_ref(), &used).await {
            print_line(&format!("objects of {used} are left: {error}"));
        }
    }

    /// Starts a node on a side.
    pub(crate) fn node(&mut self, side: Side, seed: u64) -> Outcome<Node> {
        self.writers += 1;
        let writer = self.writers;
        let cache = self.shared.caches.join(format!("{}-{writer}", self.number));
        let store = format!("http://127.0.0.1:9000/{}", self.shared.bucket);
        let (writer, seed) = (writer.to_string(), seed.to_string());
        let (boundaries, confirms) =
            (self.shared.boundaries.to_string(), self.shared.confirms.to_string());
        let arguments = [
            ("--store", store.as_str()),
            ("--prefix", self.prefix.as_ref()),
            ("--writer", &writer),
            ("--seed", &seed),
            ("--boundaries", &boundaries),
            ("--confirm", &confirms),
        ];
        let arguments = arguments.into_iter().flat_map(|(name, value)| [name, value]);
        let arguments: Vec<String> =
            std::iter::once("node").chain(arguments).map(str::to_owned).collect();
        Node::start(&namespace(self.number, side), &arguments, cache, &self.history)
    }

    /// Sends a command to the proxy of a side.
    pub(crate) async fn order(&mut self, side: Side, command: &str) -> Outcome<()> {
        match side {
            Side::Left => self.left.order(command).await,
            Side::Right => self.right.order(command).await,
        }
    }

    /// Returns the member of the rig whose link is that of a side.
    pub(crate) fn member(&self, side: Side) -> String {
        member(self.number, side)
    }

    /// Returns how many writes of this shard were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.iter().filter(|note| matches!(note, Note::Acknowledged { .. })).count()
    }

    /// Returns the reasons for which databases gave up other than fencing.
    pub(crate) fn failures(&self) -> Vec<String> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        let reasons = history.iter().filter_map(|note| match note {
            Note::Failed { writer, reason } => Some(format!("{writer}: {reason}")),
            _ => None,
        });
        reasons.collect()
    }

    /// Opens the shard as the last owner and compares it with what the nodes reported. Fails if
    /// the store fails; a shard that cannot be read is a violation.
    pub(crate) async fn judge(&self) -> Outcome<Judgement> {
        match self.read().await {
            Ok(contents) => {
                let history = self.history.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let wal = self.prefix.clone().join("slatedb").join("wal");
                Ok(Judgement {
                    violations: violations(&history, &contents),
                    records: contents.log.len(),
                    packs: contents.packs.len(),
                    deleted_wal: deleted_wal(self.store.as_ref(), &wal).await?,
                    evidence: Vec::new(),
                })
            }
            Err(error) if error.is_damage() => Ok(Judgement {
                violations: vec![Violation::Unreadable { reason: evidence::describe(&error) }],
                evidence: self.evidence().await,
                ..Judgement::default()
            }),
            Err(error) => Err(error),
        }
    }

    /// Collects what may explain why the shard could not be opened.
    async fn evidence(&self) -> Vec<String> {
        let Shared { gateways, bucket, .. } = self.shared.as_ref();
        let mut lines = evidence::listings(gateways, bucket, &self.prefix).await;
        lines.push(self.reopen().await);
        lines.extend(evidence::listings(gateways, bucket, &self.prefix).await);
        lines
    }

    /// Opens the shard again, after growing pauses; says which attempt could read it.
    async fn reopen(&self) -> String {
        let mut last = String::new();
        for attempt in 1..=ATTEMPTS {
            match self.read().await {
                Ok(_) => return format!("attempt {attempt} after it could read the shard"),
                Err(error) => last = evidence::describe(&error),
            }
            tokio::time::sleep(Duration::from_secs(u64::from(attempt))).await;
        }
        format!("no later attempt could read the shard: {last}")
    }

    async fn read(&self) -> Outcome<Contents> {
        let opening = Opening {
            store: Arc::clone(&self.store),
            prefix: self.prefix.clone(),
            writer: 0,
            tuning: Tuning {
                boundaries: self.shared.boundaries,
                confirms: self.shared.confirms,
                ..Tuning::campaign()
            },
            seal_records: 0,
            clock: None,
            seed: self.writers,
        };
        let owner = Box::pin(Owner::open(opening)).await?;
        let read = Contents::read(owner.db(), self.store.as_ref(), &self.prefix);
        let contents = tokio::time::timeout(Duration::from_secs(60), read).await;
        owner.close().await?;
        contents.map_err(std::io::Error::from)?
    }
}

/// What the judge of a round has seen.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) violations: Vec<Violation>,
    /// Records of the log that are not in packs.
    pub(crate) records: usize,
    pub(crate) packs: usize,
    /// Objects of SlateDB's log that garbage collection has deleted since the shard began.
    pub(crate) deleted_wal: u64,
    /// What may explain a violation.
    pub(crate) evidence: Vec<String>,
}

fn member(lane: u64, side: Side) -> String {
    format!("node{}", 2 * lane + if side == Side::Left { 1 } else { 2 })
}

fn namespace(lane: u64, side: Side) -> String {
    format!("tt-{}", member(lane, side))
}
