//! One round: a node owns the shard, something happens, another node takes over, and the judge
//! compares what clients were promised with what is there.

use std::time::Duration;

use tokio::time::sleep;

use super::lane::{Judgement, Lane, Side};
use super::process::Node;
use crate::outcome::{Failure, Outcome};
use crate::seeded::Seeded;

/// How long a node may take to open a shard, with members of the store down.
const OPENING: Duration = Duration::from_secs(60);
/// How long an owner that was replaced may take to notice it, once it can reach the store.
const NOTICING: Duration = Duration::from_secs(40);
/// Writes that an owner acknowledges before anything happens to it.
const WRITES: u64 = 100;
/// Longer than garbage collection keeps what nothing names, see `Tuning::campaign`.
const BEYOND_GARBAGE: Duration = Duration::from_millis(3500);

/// What happens in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The owner is killed with SIGKILL and its data directory is deleted.
    Killed,
    /// The owner is stopped, replaced, and goes on.
    Paused,
    /// The same; meanwhile its replacement has deleted garbage.
    PausedBeyondGarbage,
    /// The owner is stopped for as long, but nobody replaces it.
    PausedAlone,
    /// The link of the owner is down; it is replaced; the link comes back.
    LinkCut,
    /// The store applies what the owner sends, but its responses do not arrive.
    AnswersLost,
    /// A volume server of the store is killed under load.
    VolumeKilled,
    /// A gateway of the store is killed under load.
    GatewayKilled,
    /// Two nodes open the shard at the same time while a third owns it.
    Duel,
}

impl Fault {
    /// All faults.
    pub(crate) const ALL: [Self; 9] = [
        Self::Killed,
        Self::Paused,
        Self::PausedBeyondGarbage,
        Self::PausedAlone,
        Self::LinkCut,
        Self::AnswersLost,
        Self::VolumeKilled,
        Self::GatewayKilled,
        Self::Duel,
    ];

    /// Draws a fault; those that slow other lanes are rarer.
    pub(crate) fn draw(random: &mut Seeded) -> Self {
        match random.below(100) {
            0..30 => Self::Killed,
            30..42 => Self::Paused,
            42..54 => Self::PausedBeyondGarbage,
            54..60 => Self::PausedAlone,
            60..70 => Self::LinkCut,
            70..82 => Self::AnswersLost,
            82..87 => Self::VolumeKilled,
            87..92 => Self::GatewayKilled,
            _ => Self::Duel,
        }
    }
}

/// What a round has shown.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) judgement: Judgement,
    /// Milliseconds from the start of the process that takes over until it has opened the shard.
    pub(crate) takeover_millis: Option<f64>,
    /// What did not happen in time although nothing forbade it.
    pub(crate) stuck: Vec<String>,
}

impl Finding {
    /// Returns the finding of a round that could not be judged.
    pub(crate) fn unfinished(reason: String) -> Self {
        Self { judgement: Judgement::default(), takeover_millis: None, stuck: vec![reason] }
    }
}

struct Round<'a> {
    lane: &'a mut Lane,
    random: Seeded,
    side: Side,
    stuck: Vec<String>,
    takeover: Option<f64>,
}

/// Runs one round on a lane.
pub(crate) async fn run(lane: &mut Lane, fault: Fault, seed: u64) -> Outcome<Finding> {
    let mut random = Seeded::new(seed);
    let side = if random.happens(500) { Side::Left } else { Side::Right };
    let mut round = Round { lane, random, side, stuck: Vec::new(), takeover: None };
    let owner = round.open(side, false).await?;
    round.load(400).await;
    let survivors = match fault {
        Fault::Killed => round.killed(owner).await?,
        Fault::Paused => round.paused(owner, Duration::from_millis(400)).await?,
        Fault::PausedBeyondGarbage => round.paused(owner, BEYOND_GARBAGE).await?,
        Fault::PausedAlone => round.paused_alone(owner).await?,
        Fault::LinkCut => round.link_cut(owner).await?,
        Fault::AnswersLost => round.answers_lost(owner).await?,
        Fault::VolumeKilled | Fault::GatewayKilled => round.member_killed(owner, fault).await?,
        Fault::Duel => round.duel(owner).await?,
    };
    for survivor in survivors {
        survivor.kill().await?;
    }
    let Round { stuck, takeover, lane, .. } = round;
    let judgement = lane.judge().await?;
    Ok(Finding { judgement, takeover_millis: takeover, stuck })
}

impl Round<'_> {
    /// Starts a node and waits until it owns the shard.
    async fn open(&mut self, side: Side, is_takeover: bool) -> Outcome<Node> {
        let seed = self.random.next();
        let mut node = self.lane.node(side, seed)?;
        match node.opened(OPENING).await {
            Some(millis) => {
                if is_takeover {
                    self.takeover = Some(millis);
                }
                // A round without writes would show nothing.
                if !node.goes_on(WRITES, NOTICING).await {
                    self.stuck.push("an owner did not acknowledge writes".to_owned());
                }
            }
            None => self.stuck.push("a node did not open the shard".to_owned()),
        }
        Ok(node)
    }

    /// Lets nodes write for about this long.
    async fn load(&mut self, millis: u64) {
        sleep(Duration::from_millis(millis / 2 + self.random.below(millis))).await;
    }

    async fn expect_end(&mut self, node: &mut Node) {
        if !node.ended(NOTICING).await {
            self.stuck.push("a replaced owner did not notice it".to_owned());
        }
    }

    async fn killed(&mut self, owner: Node) -> Outcome<Vec<Node>> {
        owner.kill().await?;
        let next = self.open(self.side.other(), true).await?;
        self.load(400).await;
        Ok(vec![next])
    }

    async fn paused(&mut self, mut owner: Node, pause: Duration) -> Outcome<Vec<Node>> {
        owner.pause(true)?;
        let next = self.open(self.side.other(), true).await?;
        sleep(pause).await;
        owner.pause(false)?;
        self.expect_end(&mut owner).await;
        self.load(200).await;
        Ok(vec![owner, next])
    }

    async fn paused_alone(&mut self, mut owner: Node) -> Outcome<Vec<Node>> {
        owner.pause(true)?;
        sleep(BEYOND_GARBAGE).await;
        owner.pause(false)?;
        if !owner.goes_on(1, NOTICING).await {
            self.stuck.push("an owner did not go on after a pause".to_owned());
        }
        self.load(200).await;
        Ok(vec![owner])
    }

    async fn link_cut(&mut self, mut owner: Node) -> Outcome<Vec<Node>> {
        let member = self.lane.member(self.side);
        self.lane.shared.rig.cut(&member).await?;
        let next = self.open(self.side.other(), true).await;
        self.load(400).await;
        self.lane.shared.rig.heal(&member).await?;
        self.expect_end(&mut owner).await;
        Ok(vec![owner, next?])
    }

    async fn answers_lost(&mut self, mut owner: Node) -> Outcome<Vec<Node>> {
        self.lane.order(self.side, "swallow").await?;
        self.load(600).await;
        if self.random.happens(500) {
            self.lane.order(self.side, "pass").await?;
            if !owner.goes_on(1, NOTICING).await {
                self.stuck.push("an owner did not go on after lost answers".to_owned());
            }
            return Ok(vec![owner]);
        }
        let next = self.open(self.side.other(), true).await;
        self.lane.order(self.side, "pass").await?;
        self.expect_end(&mut owner).await;
        self.load(200).await;
        Ok(vec![owner, next?])
    }

    async fn member_killed(&mut self, mut owner: Node, fault: Fault) -> Outcome<Vec<Node>> {
        let member = match fault {
            Fault::VolumeKilled => format!("volume{}", 1 + self.random.below(3)),
            _ => format!("filer{}", 1 + self.random.below(2)),
        };
        let shared = std::sync::Arc::clone(&self.lane.shared);
        let _held = shared.store_fault.lock().await;
        shared.rig.kill(&member).await?;
        self.load(1000).await;
        let takes_over = self.random.happens(500);
        let survivors = if takes_over {
            self.killed(owner).await
        } else {
            if !owner.goes_on(1, NOTICING).await {
                self.stuck.push(format!("an owner did not go on without {member}"));
            }
            Ok(vec![owner])
        };
        shared.rig.revive(&member).await?;
        // The next member may be the one with the other copies.
        sleep(Duration::from_secs(3)).await;
        survivors
    }

    async fn duel(&mut self, mut owner: Node) -> Outcome<Vec<Node>> {
        let seeds = (self.random.next(), self.random.next());
        let mut left = self.lane.node(Side::Left, seeds.0)?;
        let mut right = self.lane.node(Side::Right, seeds.1)?;
        let opened = tokio::join!(left.opened(OPENING), right.opened(OPENING));
        match opened {
            (None, None) => self.stuck.push("nobody won a duel".to_owned()),
            (left, right) => self.takeover = left.or(right),
        }
        self.expect_end(&mut owner).await;
        self.load(400).await;
        let loser_ended = tokio::select! {
            ended = left.ended(NOTICING) => ended,
            ended = right.ended(NOTICING) => ended,
        };
        if !loser_ended {
            self.stuck.push("both nodes believe that they won a duel".to_owned());
        }
        Ok(vec![owner, left, right])
    }
}

/// Parses the name of a fault, as it is printed.
pub(crate) fn parse(name: &str) -> Outcome<Fault> {
    let found = Fault::ALL.into_iter().find(|fault| format!("{fault:?}") == name);
    found.ok_or_else(|| Failure::Usage(format!("no fault '{name}'; one of: {:?}", Fault::ALL)))
}
