//! Histories, which are generated from seeds, and the drivers that run them.

use std::fmt::Debug;

use crate::disk::Disk;
use crate::failure::Outcome;
use crate::image::Loss;
use crate::random::Random;

/// A test case generated from a seed: plain data, so that a failing history can be printed, and
/// shrunk by leaving out steps.
#[derive(Clone, Debug)]
pub struct History<Setup, Step> {
    /// The seed.
    pub seed: u64,
    /// The options with which the program is opened.
    pub setup: Setup,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// The history that a driver runs.
pub type HistoryOf<D> = History<<D as Driver>::Setup, <D as Driver>::Step>;

/// How a program ends without an orderly stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed: everything written is kept.
    Kill,
    /// The machine loses power. The number is the seed of what is lost of the unsynced data.
    PowerLoss(Loss, u64),
}

impl Crash {
    /// Returns a random crash.
    pub fn any(random: &mut Random) -> Self {
        if random.percent(50) {
            return Self::Kill;
        }
        let loss = *random.pick(&[Loss::Journal, Loss::Any]);
        Self::PowerLoss(loss, random.number())
    }
}

/// A program on a simulated disk with a model of it, and how it runs a history.
pub trait Driver: Sized {
    /// The options with which the program is opened.
    type Setup: Clone + Debug;
    /// One step.
    type Step: Clone + Debug;

    /// The package of the test, printed with the command that repeats a failing history.
    const PACKAGE: &'static str;

    /// Generates the history of a seed.
    fn history(seed: u64) -> HistoryOf<Self>;

    /// Opens the program on a new disk.
    fn new(seed: u64, setup: &Self::Setup) -> Outcome<Self>;

    /// Executes a step. The disk may have stopped meanwhile.
    fn execute(&mut self, step: &Self::Step) -> Outcome;

    /// Ends the program, and starts it again on what the disk contains after a crash, without
    /// faults.
    fn restart(&mut self, crash: Crash) -> Outcome;

    /// Checks everything that must hold at the end.
    fn check_end(&mut self) -> Outcome;

    /// Returns the disk.
    fn disk(&self) -> &Disk;

    /// Returns the source of the choices that the steps leave open.
    fn random(&mut self) -> &mut Random;

    /// Returns whether calls have failed since the program was opened.
    fn has_failed_calls(&self) -> bool;

    /// Returns how often it has crashed.
    fn crashes(&self) -> u64;

    /// Executes one step, and recovers from a crash during it.
    fn step(&mut self, step: &Self::Step) -> Outcome {
        self.execute(step)?;
        if self.disk().is_stopped() {
            let crash = Crash::any(self.random());
            self.restart(crash)?;
        } else if self.has_failed_calls() && self.random().percent(30) {
            // An operator attends to a failing program.
            self.disk().disarm();
            self.restart(Crash::Kill)?;
        }
        Ok(())
    }
}
