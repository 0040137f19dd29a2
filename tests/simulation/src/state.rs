//! What a disk does with each call: the faults that strike it, and the changes it makes.

use std::collections::{BTreeMap, BTreeSet};

use crate::faults::{Call, Effect, Errno, Fault, FileKind};
use crate::names::NodeId;
use crate::random::Random;
use crate::tree::Tree;

/// Maximum faults of one disk that are kept to be printed with a failure.
const JOURNAL_LINES_MAX: usize = 200;
/// Calls after which unnamed files are dropped.
const SWEEP_CALLS: u32 = 256;

/// The damage that decay did to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decay {
    /// The path below the root of the disk.
    pub path: String,
    /// The offset in the file.
    pub offset: usize,
    /// The number of zeroed bytes, or 0 when one bit was flipped.
    pub zeroed: usize,
}

/// The outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The kernel executes it.
    Go,
    /// The kernel executes this many bytes of it.
    Part(usize),
    /// The kernel executes this many bytes of it, and the call fails.
    PartThenFail(usize),
    /// It fails.
    Fail(Errno),
    /// It does nothing and succeeds.
    Pretend,
}

/// The state of a disk, accessed under its lock.
#[derive(Debug)]
pub(crate) struct DiskState {
    pub(crate) tree: Tree,
    pub(crate) open: BTreeMap<i32, NodeId>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) stopped: bool,
    pub(crate) random: Random,
    pub(crate) journal: Vec<String>,
    /// How often each effect struck.
    pub(crate) struck: BTreeMap<(FileKind, Call, Effect), u64>,
    calls: u32,
}

impl DiskState {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            tree: Tree::default(),
            open: BTreeMap::new(),
            faults: Vec::new(),
            stopped: false,
            random: Random::new(seed),
            journal: Vec::new(),
            struck: BTreeMap::new(),
            calls: 0,
        }
    }

    /// Decides the outcome of a call of this many bytes.
    pub(crate) fn decide(
        &mut self,
        path: &str,
        kind: FileKind,
        call: Call,
        bytes: usize,
    ) -> Verdict {
        if self.stopped {
            return if call.changes() { Verdict::Fail(Errno::Io) } else { Verdict::Go };
        }
        self.sweep();
        let mut struck = None;
        for fault in &mut self.faults {
            if fault.strikes(kind, call) {
                struck = struck.or(Some(fault.effect));
            }
        }
        let Some(effect) = struck else { return Verdict::Go };
        *self.struck.entry((kind, call, effect)).or_default() += 1;
        if self.journal.len() < JOURNAL_LINES_MAX {
            self.journal.push(format!("{effect:?} at {call:?} of {path}"));
        }
        match effect {
            Effect::Fail(errno) => Verdict::Fail(errno),
            Effect::Short if call == Call::Write && bytes > 1 => {
                Verdict::Part(1 + self.random.index(bytes - 1))
            }
            Effect::Short => Verdict::Go,
            Effect::FalseSuccess if call == Call::Sync => Verdict::Pretend,
            Effect::FalseSuccess => Verdict::Go,
            Effect::Stop => {
                self.stopped = true;
                match call {
                    Call::Write => Verdict::PartThenFail(self.random.index(bytes + 1)),
                    _ => Verdict::Fail(Errno::Io),
                }
            }
        }
    }

    /// Periodically drops files that have no name and are not open.
    fn sweep(&mut self) {
        self.calls += 1;
        if self.calls.is_multiple_of(SWEEP_CALLS) {
            let open: BTreeSet<NodeId> = self.open.values().copied().collect();
            self.tree.drop_unnamed(&open);
        }
    }
}
