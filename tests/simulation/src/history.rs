//! Histories: what a seed decides, and whoever lives through it.

use std::fmt::Debug;

use crate::disk::Disk;
use crate::failing::Outcome;
use crate::image::Loss;
use crate::random::Random;

/// Everything that a seed decides: plain data, so that a failing history is printed, and shrunk by leaving steps out.
#[derive(Clone, Debug)]
pub struct History<Setup, Step> {
    /// The seed.
    pub seed: u64,
    /// How the program is opened.
    pub setup: Setup,
    /// What happens.
    pub steps: Vec<Step>,
}

/// The history that a driver lives through.
pub type HistoryOf<D> = History<<D as Driver>::Setup, <D as Driver>::Step>;

/// How a program ends without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed: all that was written stays.
    Kill,
    /// The machine loses its power; the number decides what is lost of all that was not synced.
    PowerLoss(Loss, u64),
}

impl Crash {
    /// Any crash.
    pub fn any(random: &mut Random) -> Self {
        if random.percent(50) {
            return Self::Kill;
        }
        let loss = *random.pick(&[Loss::Journal, Loss::Any]);
        Self::PowerLoss(loss, random.number())
    }
}

/// A program on a simulated disk with a model beside it, and how it lives through a history.
pub trait Driver: Sized {
    /// How the program is opened.
    type Setup: Clone + Debug;
    /// One thing that happens.
    type Step: Clone + Debug;

    /// The package whose test it is, to be named where a history fails.
    const PACKAGE: &'static str;

    /// The history of a seed.
    fn history(seed: u64) -> HistoryOf<Self>;

    /// Opens the program on a new disk.
    fn new(seed: u64, setup: &Self::Setup) -> Outcome<Self>;

    /// Does a step. The disk may have stopped meanwhile.
    fn act(&mut self, step: &Self::Step) -> Outcome;

    /// Ends the program and begins it anew on what the disk holds after a crash, with no faults armed.
    fn restart(&mut self, crash: Crash) -> Outcome;

    /// Looks at all that must hold at the end.
    fn end(&mut self) -> Outcome;

    /// The disk.
    fn disk(&self) -> &Disk;

    /// What decides that which the steps leave open.
    fn random(&mut self) -> &mut Random;

    /// Whether calls have failed since the program was opened.
    fn is_troubled(&self) -> bool;

    /// How often it has crashed.
    fn crashes(&self) -> u64;

    /// Does one step, and recovers from the crash that it met.
    fn step(&mut self, step: &Self::Step) -> Outcome {
        self.act(step)?;
        if self.disk().is_stopped() {
            let crash = Crash::any(self.random());
            self.restart(crash)?;
        } else if self.is_troubled() && self.random().percent(30) {
            // Somebody looks after a program that fails.
            self.disk().disarm();
            self.restart(Crash::Kill)?;
        }
        Ok(())
    }
}
